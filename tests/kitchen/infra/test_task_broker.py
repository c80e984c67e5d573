"""Tasks are sent by name: the names fit, go to their queues, and nobody is held up where no broker is."""

from __future__ import annotations

import logging
import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from celery import current_app

import kitchen.experiments.experiment_services
import kitchen.experiments.tasks
import kitchen.play.turn.play_task_queue
import kitchen.tasks
import study.task_queue
import study.tasks
from kitchen.infra.log_context import log_context
from kitchen.infra.task_broker import REQUEST_HEADER, SENT_AT_HEADER, is_broker_reachable, send_task

QUEUES = (kitchen.play.turn.play_task_queue, kitchen.experiments.experiment_services, study.task_queue)
TASKS = (kitchen.tasks, kitchen.experiments.tasks, study.tasks)


def words_of(module: Any) -> set[str]:
    """Return the names of tasks that a module sends: constants such as `kitchen.decide`."""
    values = (value for name, value in vars(module).items() if name.isupper() and isinstance(value, str))
    return {value for value in values if re.fullmatch(r"(kitchen|study)\.\w+", value)}


def test_every_name_that_is_sent_is_that_of_a_task_and_every_task_is_sent_by_somebody() -> None:
    names = set().union(*map(words_of, QUEUES))
    ours = {one.name for module in TASKS for one in vars(module).values() if hasattr(one, "apply_async")}
    assert names == ours
    assert len(names) == 16


def test_what_nobody_waits_for_goes_to_the_queue_of_experiments(settings: Any) -> None:
    def queue_of(name: str) -> str:
        return str(current_app.amqp.router.route({}, name)["queue"].name)

    apart = {
        kitchen.experiments.experiment_services.EXPERIMENT_LANE,
        kitchen.experiments.experiment_services.PICK_UP_EXPERIMENTS,
    }
    apart |= {study.task_queue.DRY_RUN, study.task_queue.ERASE_SYNTHETIC, study.task_queue.MAKE_EXPORT}
    for name in set().union(*map(words_of, QUEUES)):
        own = settings.EXPERIMENTS_QUEUE if name in apart else settings.CELERY_TASK_DEFAULT_QUEUE
        assert queue_of(name) == own, name


def test_a_task_is_sent_once_with_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    app = SimpleNamespace(send_task=lambda name, **more: sent.append((name, more)))
    monkeypatch.setattr("kitchen.infra.task_broker.current_app", app)
    before = time.time()
    with log_context(request="from-a-page"):
        assert send_task("a.task", 3, 4, otherwise="nothing happens", countdown=2.0)
    headers = sent[0][1].pop("headers")
    assert headers[SENT_AT_HEADER] >= before + 2  # it cannot be begun before
    assert headers[REQUEST_HEADER] == "from-a-page"
    assert sent == [("a.task", {"args": (3, 4), "retry": False, "countdown": 2.0})]


def test_without_a_broker_whoever_asked_is_told_and_the_log_says_what_waits(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OSError("no route")

    monkeypatch.setattr("kitchen.infra.task_broker.current_app", SimpleNamespace(send_task=away))
    with caplog.at_level(logging.WARNING):
        assert not kitchen.experiments.experiment_services.queue_episodes(7, 3)
        assert not study.task_queue.ask_dry_run(8)
    assert caplog.messages == [
        "broker away, experiment 7 waits: no route",
        "broker away, dry run 8 is not walked: no route",
    ]


def test_a_broker_that_is_not_there_answers_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = current_app.connection_for_write(url="redis://127.0.0.1:9/0")
    app = SimpleNamespace(connection_for_write=lambda: nowhere)
    monkeypatch.setattr("kitchen.infra.task_broker.current_app", app)
    assert not is_broker_reachable()
