"""News for staff that come at the same moment are sent together, and none stops those that follow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kitchen.play.turn import page_broadcast
from kitchen.play.turn.audience_news import EpisodeNews
from kitchen.play.turn.page_broadcast import notify_audience


def news(step: int) -> EpisodeNews:
    return EpisodeNews("some-episode", step, "playing")


class LockWithNewsBehind:
    """A lock after whose first release another thread reports news at once, as it may."""

    def __init__(self) -> None:
        self.releases = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self.releases += 1
        if self.releases == 1:
            notify_audience("study-1", news(2))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The calls that were planned in the event loop."""
    calls: list[tuple[Any, ...]] = []
    loop = SimpleNamespace(call_soon_threadsafe=lambda *call: calls.append(call), call_later=None)
    monkeypatch.setattr(page_broadcast, "_loop", lambda: loop)
    monkeypatch.setattr(page_broadcast, "_gathered", {})
    return calls


def test_news_of_two_threads_at_the_same_moment_are_sent_once_and_together(
    monkeypatch: pytest.MonkeyPatch, planned: list[tuple[Any, ...]]
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(page_broadcast, "_send_to_group", lambda group, message: sent.append(message))
    monkeypatch.setattr(page_broadcast, "_gathering", LockWithNewsBehind())
    notify_audience("study-1", news(1))
    ((_, _, send, audience),) = planned
    send(audience)
    assert [each["step"] for each in sent[0].news] == [1, 2]
    notify_audience("study-1", news(3))
    assert len(planned) == 2


def test_news_that_cannot_be_planned_are_lost_alone(
    monkeypatch: pytest.MonkeyPatch, planned: list[tuple[Any, ...]], caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(page_broadcast, "_loop", refuse)
        notify_audience("study-1", news(1))
    assert "1 news for audience.study-1 were not sent" in caplog.text
    notify_audience("study-1", news(2))
    assert len(planned) == 1
