"""What looks ask workers for, again and again."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache

from kitchen.play.turn import play_task_queue

Sent = list[tuple[str, int, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What was sent, at once."""
    told: Sent = []
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **_: told.append(task))
    return told


def test_looks_one_after_another_ask_once_for_what_waits(sent: Sent, settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    for _ in range(3):
        play_task_queue.ask_coplayers_again(1, 7)
        play_task_queue.close_turn_again(1, 7)
    play_task_queue.ask_coplayers_again(1, 8)
    assert sent == [
        (play_task_queue.DECIDE, 1, 7),
        (play_task_queue.CLOSE_TURN, 1, 7),
        (play_task_queue.DECIDE, 1, 8),
    ]


def test_where_redis_is_away_a_look_asks(sent: Sent, settings: Any) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": nowhere}}
    play_task_queue.ask_coplayers_again(1, 7)
    assert sent == [(play_task_queue.DECIDE, 1, 7)]
