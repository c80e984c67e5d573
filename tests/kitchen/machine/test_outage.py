"""What must not be lost waits for the database, and no longer than the database is away."""

from __future__ import annotations

import logging
import time

import pytest
from django.db import DatabaseError, OperationalError

from kitchen.machine import outage
from kitchen.machine.outage import WAITS, outlast


class Away:
    """A database that is away for so long, by a clock of its own."""

    def __init__(self, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.now = seconds, 0.0
        monkeypatch.setattr(time, "sleep", self.pass_by)
        monkeypatch.setattr(outage, "let_go", lambda trouble: None)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds

    def store(self) -> float:
        if self.now < self.seconds:
            raise OperationalError("the connection is closed")
        return self.now


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1.5, 3.5, 8.0, 15.0])
def test_it_is_stored_within_half_a_second_after_the_database_is_back(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seconds <= outlast(Away(seconds, monkeypatch).store, "a decision") <= seconds + 0.5


def test_a_database_that_stays_away_is_waited_for_no_longer_and_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away = Away(60, monkeypatch)
    with pytest.raises(OperationalError), caplog.at_level(logging.INFO):
        outlast(away.store, "a decision")
    assert away.now == pytest.approx(sum(WAITS)) and 15 < sum(WAITS) < 20
    assert caplog.text.count("a decision is tried again") == 1


def test_any_other_error_is_raised_at_once() -> None:
    def store() -> None:
        raise DatabaseError("no such thing")

    with pytest.raises(DatabaseError):
        outlast(store, "a decision")
