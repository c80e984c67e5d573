"""What a database says that cannot store, in its own words and numbers, and what is told from it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import (
    DatabaseError,
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.test import RequestFactory

from brigade.error_pages import storage_page
from kitchen.infra import db_errors, db_retry
from kitchen.infra.db_errors import DatabaseProblem, database_problem
from kitchen.play.models import Episode

Break = Callable[[sqlite3.Connection, Path], object]


def failed(file: Path, break_it: Break, statement: str = "INSERT INTO things VALUES (2)") -> Error:
    """What Django makes of a statement over a database that was broken so."""
    made = sqlite3.connect(file, timeout=0, isolation_level=None)
    made.executescript("CREATE TABLE things (number INTEGER NOT NULL); INSERT INTO things VALUES (1)")
    break_it(made, file)
    with pytest.raises(sqlite3.Error) as raised:
        made.execute(statement)
    error = OperationalError(*raised.value.args)
    error.__cause__ = raised.value
    return error


def lock(_: sqlite3.Connection, file: Path) -> None:
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    LOCKED.append(other)


LOCKED: list[sqlite3.Connection] = []


@pytest.mark.parametrize(
    ("break_it", "statement", "trouble"),
    [
        (lock, "INSERT INTO things VALUES (2)", DatabaseProblem.BUSY),
        (
            lambda made, _: made.execute("PRAGMA query_only = 1"),
            "DELETE FROM things",
            DatabaseProblem.READ_ONLY,
        ),
        (
            lambda made, _: made.execute("PRAGMA max_page_count = 2"),
            "INSERT INTO things SELECT zeroblob(9999)",
            DatabaseProblem.FULL,
        ),
        (lambda *_: None, "SELECT * FROM others", DatabaseProblem.UPDATING),
        (lambda *_: None, "SELECT name FROM things", DatabaseProblem.UPDATING),
        (lambda *_: None, "INSERT INTO things (name) VALUES (1)", DatabaseProblem.UPDATING),
        (lambda *_: None, "SELECT * FROM", None),
        (
            lambda _, file: file.write_bytes(b"no database" * 900),
            "SELECT * FROM things",
            DatabaseProblem.DAMAGED,
        ),
    ],
)
def test_sqlite_says_what_is_wrong_by_a_number(
    tmp_path: Path, break_it: Break, statement: str, trouble: DatabaseProblem | None
) -> None:
    assert database_problem(failed(tmp_path / "db", break_it, statement)) is trouble
    while LOCKED:
        LOCKED.pop().close()


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        ("55P03", DatabaseProblem.BUSY),
        ("53100", DatabaseProblem.FULL),
        ("25006", DatabaseProblem.READ_ONLY),
        ("57P03", DatabaseProblem.AWAY),
        ("08006", DatabaseProblem.AWAY),
        ("42703", DatabaseProblem.UPDATING),
        ("42P01", DatabaseProblem.UPDATING),
        ("23505", None),
    ],
)
def test_postgresql_says_it_by_five_characters(state: str, trouble: DatabaseProblem | None) -> None:
    class Said(Exception):  # noqa: N818 - as a driver's
        sqlstate = state

    error = DatabaseError("in words of any language")
    error.__cause__ = Said()
    assert database_problem(error) is trouble


def test_what_came_of_it_is_the_same_trouble() -> None:
    try:
        try:
            raise InterfaceError("connection already closed")
        except InterfaceError:
            raise RuntimeError("the session was deleted")  # noqa: B904 - as Django does
    except RuntimeError as error:
        assert database_problem(error) is DatabaseProblem.AWAY
    assert database_problem(ValueError("no database in it")) is None


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.django_db
def test_a_column_of_a_later_version_that_may_not_be_empty_is_an_update(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO kitchen_mind (id) VALUES (1)")
    monkeypatch.setattr(db_errors, "database_is_newer", lambda: True)
    assert database_problem(raised.value) is DatabaseProblem.UPDATING
    monkeypatch.setattr(db_errors, "database_is_newer", lambda: False)
    assert database_problem(raised.value) is None


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.django_db
def test_a_migration_that_this_process_did_not_come_with_makes_the_database_newer() -> None:
    assert not db_errors.database_is_newer()
    MigrationRecorder(connection).record_applied("kitchen", "9999_of_tomorrow")
    assert db_errors.database_is_newer()


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.django_db
def test_what_may_only_be_read_is_told_by_either_database() -> None:
    only_read = {"sqlite": "PRAGMA query_only = 1", "postgresql": "SET TRANSACTION READ ONLY"}
    with connection.cursor() as cursor:
        cursor.execute(only_read[connection.vendor])
        try:
            with pytest.raises(Error) as raised, transaction.atomic():
                Episode.objects.update(label="other")
        finally:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA query_only = 0")
    assert database_problem(raised.value) is DatabaseProblem.READ_ONLY


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.django_db
def test_after_a_lock_nobody_waits_long_for_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked() -> None:
        error = OperationalError("locked")
        error.__cause__ = type("Said", (Exception,), {"sqlstate": "55P03"})()
        raise error

    waited: list[int] = []
    monkeypatch.setattr(db_retry, "_busy_until", 0.0)
    monkeypatch.setattr(db_retry, "_local", threading.local())
    monkeypatch.setattr(db_retry, "_wait_at_most", waited.append)
    with pytest.raises(OperationalError):
        db_retry._visit(locked)
    db_retry._visit(lambda: None)
    db_retry.lock_timeout_middleware(lambda request: HttpResponse())(RequestFactory().get("/"))
    assert waited == [db_retry.HURRIED_MILLISECONDS]  # once for this thread
    monkeypatch.setattr(db_retry, "_busy_until", 0.0)  # some seconds later
    db_retry._visit(lambda: None)
    assert waited == [db_retry.HURRIED_MILLISECONDS, 5000]


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.django_db
def test_a_page_that_met_a_lock_spares_the_others_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_retry, "_busy_until", 0.0)
    storage_page(RequestFactory().get("/"), DatabaseProblem.BUSY)
    assert db_retry._busy_until > 0
    monkeypatch.setattr(db_retry, "_local", threading.local())
    db_retry.set_lock_timeout()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout" if connection.vendor == "sqlite" else "SHOW lock_timeout")
        assert str(cursor.fetchone()[0]).removesuffix("ms") == "200"
    monkeypatch.setattr(db_retry, "_busy_until", 0.0)
    db_retry.set_lock_timeout()
