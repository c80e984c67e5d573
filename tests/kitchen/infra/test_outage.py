"""What must not be lost waits for the database, and no longer than the database is away."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError

from kitchen.infra import db_retry, prometheus_metrics
from kitchen.infra.db_retry import MAX_RETRY_SECONDS, retry_while_unreachable


class Away:
    """A database that is away for so long, by a clock of its own; each try takes its time."""

    def __init__(self, seconds: float, monkeypatch: pytest.MonkeyPatch, *, a_try: float = 0.0) -> None:
        self.seconds, self.a_try, self.now = seconds, a_try, 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.pass_by)
        monkeypatch.setattr(db_retry, "time", clock)
        monkeypatch.setattr(db_retry, "close_failed_connection", lambda trouble: None)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds

    def store(self) -> float:
        if self.now < self.seconds:
            self.pass_by(self.a_try)
            raise OperationalError("the connection is closed")
        return self.now


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1.5, 3.5, 8.0, 15.0])
def test_it_is_stored_within_half_a_second_after_the_database_is_back(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seconds <= retry_while_unreachable(Away(seconds, monkeypatch).store, "a decision") <= seconds + 0.5


@pytest.mark.parametrize("a_try", [0.0, 1.0, settings.LOCK_SECONDS])
def test_a_database_that_stays_away_is_waited_for_no_longer_and_told_and_counted_once(
    a_try: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    away, before = Away(600, monkeypatch, a_try=a_try), outages()
    with pytest.raises(OperationalError), caplog.at_level(logging.INFO):
        retry_while_unreachable(away.store, "a decision")
    assert 15 < away.now <= MAX_RETRY_SECONDS + a_try
    assert caplog.text.count("a decision is tried again") == 1 and outages() == before + 1


def outages() -> float:
    return sum(
        sample.value
        for family in prometheus_metrics.outages.labels("database").collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    )


def test_any_other_error_is_raised_at_once() -> None:
    def store() -> None:
        raise DatabaseError("no such thing")

    with pytest.raises(DatabaseError):
        retry_while_unreachable(store, "a decision")
