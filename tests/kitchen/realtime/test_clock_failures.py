"""How often a real-time episode may fail before it is ended."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from kitchen.realtime import clock_failures
from kitchen.realtime.clock_failures import MOST_FAILURES, ClockFailures, is_outage


async def test_an_episode_is_ended_when_it_fails_again_and_again_at_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(clock_failures, "end_unplayable_episode", ended.append)
    failures = ClockFailures()
    for step in range(MOST_FAILURES + 1):  # it gets further each time
        await failures.add(1, ValueError("a step"), step)
    for failure in range(1, MOST_FAILURES + 1):
        assert not ended
        await failures.add(2, ValueError("a step"), 7 if failure % 2 else 5)  # later ticks were not stored
    assert ended == [2]


def test_an_outage_of_the_database_is_no_failure_of_an_episode() -> None:
    assert is_outage(OperationalError("away")) and not is_outage(FileNotFoundError("a picture"))
