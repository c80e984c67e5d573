"""Long computations go to workers with low priority first, and are done once."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from pydantic import TypeAdapter

from kitchen.infra.task_broker import WorkerHealth
from study import task_queue
from study.analysis.analysis_results import cache_result, cached_result


@pytest.fixture(autouse=True)
def experimenters(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """How many workers of experiments answered lately."""
    found: list[int | None] = [None]
    monkeypatch.setattr(task_queue, "cached_worker_health", lambda: WorkerHealth(experimenters=found[0]))
    return found


def test_a_long_computation_is_offered_to_the_workers_of_experiments_first(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    sent: list[dict[str, Any]] = []

    def send(task: str, *arguments: int | str, otherwise: str, **options: Any) -> bool:
        sent.append({"task": task, "arguments": arguments, **options})
        return True

    monkeypatch.setattr(task_queue, "send_task", send)
    assert task_queue.ask_report(7, "people")
    first, second = sent
    assert (first.pop("queue"), first.pop("expires")) == (settings.EXPERIMENTS_QUEUE, second.pop("countdown"))
    assert first == second == {"task": "study.make_report", "arguments": (7, "people", False, False)}


def test_without_a_broker_nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_queue, "send_task", lambda *_, **__: False)
    assert not task_queue.ask_analysis(7, "people")
    assert not task_queue.ask_export(7, "all.zip", "", "key", expires=3)


def test_workers_who_are_not_there_are_asked_nothing(
    monkeypatch: pytest.MonkeyPatch, experimenters: list[int | None]
) -> None:
    experimenters[0] = 0
    sent: list[dict[str, Any]] = []

    def send(*_: object, **options: Any) -> bool:
        sent.append(options)
        return True

    monkeypatch.setattr(task_queue, "send_task", send)
    assert task_queue.ask_report(7, "people")
    assert not task_queue.ask_export(7, "all.zip", "", "key", expires=3)
    assert sent == [{"otherwise": "the report of study 7 waits"}]


def test_what_another_worker_computes_is_not_computed_twice() -> None:
    adapter, made = TypeAdapter(int), list[int]()

    def make() -> int:
        made.append(1)
        cache_result(adapter, "key", lambda: "stamp", make)  # as another worker would, meanwhile
        return 3

    cache_result(adapter, "key", lambda: "stamp", make)
    assert (made, cached_result(adapter, "key", "stamp")) == ([1], 3)
    cache.delete("key")  # the data of somebody were erased
    cache_result(adapter, "key", lambda: "stamp", lambda: 4)
    assert cached_result(adapter, "key", "stamp") == 4
