"""From an event loop to the database in one hop, also over a connection that broke."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connections

from kitchen.infra import db_retry

pytestmark = pytest.mark.django_db


class Away:
    """Fails as often as it is told, then answers."""

    def __init__(self, times: int) -> None:
        self.left, self.asked = times, 0

    def __call__(self) -> str:
        self.asked += 1
        if self.asked <= self.left:
            raise OperationalError("server closed the connection")
        return "here"


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Connections that were closed."""
    told: list[bool] = []
    monkeypatch.setattr(connections["default"], "close", lambda: told.append(True))
    return told


def test_over_a_connection_that_broke_it_is_made_again(
    closed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections["default"], "is_usable", lambda: False)
    assert db_retry._visit(Away(1)) == "here"
    assert closed == [True]


def test_a_database_that_is_away_for_a_moment_is_waited_for(
    closed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(connections["default"], "is_usable", lambda: False)
    monkeypatch.setattr("kitchen.infra.db_retry.time.sleep", waited.append)
    assert db_retry._visit(Away(6)) == "here"
    assert waited == list(db_retry.THREAD_RETRY_WAITS[:6])
    with pytest.raises(OperationalError):
        db_retry._visit(Away(99))
    assert 4 < sum(db_retry.THREAD_RETRY_WAITS) < 6, (
        "longer than a server takes to come up, shorter than a page's patience"
    )


def test_what_fails_over_a_good_connection_fails_once(
    closed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections["default"], "is_usable", lambda: True)
    away = Away(1)
    with pytest.raises(OperationalError):
        db_retry._visit(away)
    assert (away.asked, closed) == (1, [])


def test_a_connection_is_looked_at_only_after_it_was_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(connections["default"], "close_if_unusable_or_obsolete", lambda: looked.append(1))
    db_retry._visit(Away(0))
    assert looked == []
    db_retry._connection_use.used -= db_retry.IDLE_CHECK_SECONDS + 1
    db_retry._visit(Away(0))
    assert looked == [1]


def test_a_connection_stays_while_its_transaction_is_open(closed: list[bool]) -> None:
    assert connections["default"].in_atomic_block
    db_retry.drop_broken_connection()
    assert not closed


def test_a_broken_connection_is_closed_outside_of_a_transaction(
    closed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connections["default"]
    monkeypatch.setattr(connection, "in_atomic_block", False)
    monkeypatch.setattr(connection, "get_autocommit", lambda: True)
    monkeypatch.setattr(connection, "errors_occurred", True)
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    db_retry.drop_broken_connection()
    assert closed == [True]
