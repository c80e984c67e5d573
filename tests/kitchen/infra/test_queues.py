"""What waits in a queue, and for how long."""

from __future__ import annotations

import time
from typing import Any

import pytest
from redis import RedisError

from kitchen.infra.log_context import log_context
from kitchen.infra.task_broker import known_queue, queue_statuses, redis_connection, send_task

pytestmark = pytest.mark.servers


@pytest.fixture(autouse=True)
def queues(valkey: str, settings: Any) -> None:
    """Queues of our own on a real server."""
    settings.REDIS_URL = valkey
    settings.CELERY_TASK_DEFAULT_QUEUE = f"waiting-{time.time_ns()}"
    settings.EXPERIMENTS_QUEUE = f"{settings.CELERY_TASK_DEFAULT_QUEUE}.experiments"


def test_the_first_task_tells_how_long_it_waits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = settings.CELERY_TASK_DEFAULT_QUEUE
    now = time.time()
    for seconds_ago in (40, 10):
        monkeypatch.setattr(time, "time", lambda ago=seconds_ago: now - ago)
        with log_context(request="abcdefgh"):
            assert send_task("kitchen.nothing", 1, otherwise="nothing", queue=name)
        monkeypatch.undo()
    with redis_connection() as client:
        found = queue_statuses(client)
        assert b"abcdefgh" in client.lindex(name, -1)
        client.delete(name)
    assert found["people"].tasks == 2
    assert 40 <= found["people"].seconds < 100
    assert found["experiments"].tasks == found["experiments"].seconds == 0
    assert (known_queue(name), known_queue("another")) == ("people", "")


def test_what_somebody_else_put_there_has_no_age(settings: Any) -> None:
    with redis_connection() as client:
        client.lpush(settings.EXPERIMENTS_QUEUE, b"\xff no task")
        found = queue_statuses(client)["experiments"]
        client.delete(settings.EXPERIMENTS_QUEUE)
    assert (found.tasks, found.seconds) == (1, 0)


def test_a_redis_that_is_away_is_said_at_once(settings: Any) -> None:
    settings.REDIS_URL = "unix:///nowhere.sock?db=0"
    with pytest.raises((RedisError, OSError)), redis_connection() as client:
        client.ping()
