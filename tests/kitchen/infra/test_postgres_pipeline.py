"""Statements sent to PostgreSQL together store exact values, and the connection survives failures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from psycopg import IsolationLevel, generators
from psycopg.pq import ExecStatus
from pytest_django import DjangoAssertNumQueries

from kitchen.infra import postgres_pipeline
from kitchen.infra.database_writes import insert_rows, json_from_driver, select_rows, update_row_where
from kitchen.infra.joined_statements import Statement, delayed_statements, run_later, run_statements
from kitchen.infra.postgres_pipeline import PostgresPipeline
from kitchen.play.models import Episode, SeatCommand
from tests.kitchen.factories import make_episode

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.servers,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about PostgreSQL's protocol"),
]


def command(episode: Episode, step: int, **more: Any) -> dict[str, Any]:
    row = {"episode_id": episode.pk, "step": step, "seat": 0, "command": ["noop"], "chosen_by": "person"}
    row |= {"fallback": "", "received_at": timezone.now(), "to_follow": None, "planned_in": None}
    return row | more


def stored(episode: Episode, step: int) -> SeatCommand:
    return SeatCommand.objects.get(episode=episode, step=step)


def test_values_of_each_kind_are_stored_exactly() -> None:
    episode = make_episode()
    words = ["say", 'it\'s 100 % \\ "ünï" 厨房 \x01', 1.5, None, True]
    rows = [command(episode, 8, command=words), command(episode, 9, planned_in=7)]
    insert_rows(SeatCommand, rows)
    assert stored(episode, 8).command == words
    assert [stored(episode, step).planned_in for step in (8, 9)] == [None, 7]
    assert stored(episode, 8).received_at == rows[0]["received_at"]
    read = "SELECT step, command, received_at FROM kitchen_seatcommand WHERE episode_id = %s AND step = 8"
    (row,) = select_rows(read, [episode.pk])
    assert (row[0], json_from_driver(row[1]), row[2]) == (8, words, rows[0]["received_at"])


def test_many_rows_are_inserted_by_one_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    episode = make_episode()
    with django_assert_num_queries(1):
        insert_rows(SeatCommand, [command(episode, step) for step in range(10, 510)])
    assert SeatCommand.objects.filter(episode=episode, step__gte=10).count() == 500


def test_a_text_that_the_server_cannot_store_whole_is_refused() -> None:
    episode = make_episode()
    with pytest.raises(DataError), transaction.atomic():
        update_row_where(Episode, {"label": "half\0gone"}, where={"id": episode.pk})
    assert update_row_where(Episode, {"label": "whole"}, where={"id": episode.pk})


def test_a_failed_statement_stops_those_after_it_and_the_connection_goes_on() -> None:
    episode = make_episode()
    insert_rows(SeatCommand, [command(episode, 5)])
    again = Statement(
        "INSERT INTO kitchen_seatcommand (episode_id, step, seat, command, chosen_by, fallback, received_at)"
        " VALUES (%s, %s, 0, '[]', 'person', '', now())",
        [episode.pk, 5],
    )
    later = Statement("UPDATE kitchen_episode SET label = %s WHERE id = %s", ["later", episode.pk])
    for _ in range(2):
        with pytest.raises(IntegrityError, match="duplicate key"), transaction.atomic():
            run_statements([again, later])
    assert Episode.objects.get(pk=episode.pk).label != "later"
    assert run_statements([later])[0].count == 1


def test_a_connection_keeps_a_limited_number_of_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_pipeline, "MAX_NAMED_STATEMENTS", 3)
    for number in range(10):
        text = f"SELECT {number} FROM kitchen_episode WHERE id = %s"  # noqa: S608 - a number
        assert run_statements([Statement(text, [0])])[0].rows == []
    ((kept,),) = select_rows("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'brigade%%'", [])
    assert kept <= 4


def test_statements_that_wait_are_sent_and_announced_before_one_that_follows() -> None:
    episode, announced = make_episode(), list[str]()

    def watch(execute: Callable[..., Any], text: str, *more: Any) -> Any:
        announced.append(text)
        return execute(text, *more)

    change = "UPDATE kitchen_episode SET label = %s WHERE id = %s"
    with connection.execute_wrapper(watch), delayed_statements():
        run_later(Statement(change, ["first", episode.pk]))
        run_later(Statement(change, ["second", episode.pk]))
        read = "SELECT label FROM kitchen_episode WHERE id = %s"
        assert select_rows(read, [episode.pk]) == [("second",)]
        assert announced == [change, change, read]
        run_later(Statement(change, ["third", episode.pk]))
    assert announced == [change, change, read, change]


@pytest.mark.django_db(transaction=True)
def test_a_row_that_stays_locked_is_an_error_and_the_connection_goes_on() -> None:
    episode = make_episode()
    read = "SELECT id FROM kitchen_episode WHERE id = %s"
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute(f"{read} FOR UPDATE", [episode.pk])
        with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
            run_statements([Statement("SET LOCAL lock_timeout = 20", [])])
            select_rows(read, [episode.pk], lock=f"{read} FOR UPDATE")
    with transaction.atomic():
        assert select_rows(read, [episode.pk], lock=f"{read} FOR UPDATE") == [(episode.pk,)]


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_begins_with_our_statement_is_rolled_back() -> None:
    episode = make_episode()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        assert update_row_where(Episode, {"label": "half"}, where={"id": episode.pk})
        raise ZeroDivisionError
    assert Episode.objects.get(pk=episode.pk).label == episode.label


@pytest.mark.django_db(transaction=True)
def test_a_transaction_has_the_isolation_level_of_its_connection() -> None:
    connection.ensure_connection()
    connection.connection.isolation_level = IsolationLevel.SERIALIZABLE
    try:
        with transaction.atomic():
            assert select_rows("SHOW transaction_isolation", []) == [("serializable",)]
    finally:
        connection.connection.isolation_level = None


def test_two_threads_use_their_own_connections_at_the_same_time() -> None:
    both = threading.Barrier(2)

    def backends(_: int) -> set[int]:
        try:
            both.wait(10)
            return {select_rows("SELECT pg_backend_pid()", [])[0][0] for _ in range(20)}
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(backends, range(2))
    assert len(first) == len(second) == 1 and first != second


def test_a_connection_knows_its_statements_in_each_thread() -> None:
    read = Statement("SELECT id FROM kitchen_episode WHERE id = %s", [0])
    run_statements([read])
    with psycopg.connect(**connection.get_connection_params()) as other:
        for used in (other, connection.connection, other):
            assert list(PostgresPipeline(used).run([(read.text, read.values)])) == [(0, [])]


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
def test_a_connection_whose_answers_were_not_read_is_closed(failure: type[BaseException]) -> None:
    def read_half(pgconn: Any, answers: list[Any], count: int) -> Any:
        yield from reader(pgconn, answers, count - 1)
        raise failure

    reader = postgres_pipeline._read_answers
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        pipeline = PostgresPipeline(other)
        with patch.object(postgres_pipeline, "_read_answers", read_half), pytest.raises(failure):
            pipeline.run([("SELECT 1", [])])
        assert other.closed


@pytest.mark.parametrize(
    ("text", "reason"), [("SELECT 1", "fewer answers"), ("SELECT 1 / 0", "division by zero")]
)
def test_missing_answers_are_a_database_error_after_the_first_error(text: str, reason: str) -> None:
    def fetch(pgconn: Any) -> Any:
        found = yield from fetch_many(pgconn)
        return found if found[0].status != ExecStatus.PIPELINE_SYNC else []

    fetch_many = generators.fetch_many
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        with patch.object(generators, "fetch_many", fetch), pytest.raises(psycopg.Error, match=reason):
            PostgresPipeline(other).run([(text, [])])
        assert other.closed


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_an_error_and_the_next_connection_prepares_anew() -> None:
    episode = make_episode()
    assert select_rows("SELECT id FROM kitchen_episode WHERE id = %s", [episode.pk]) == [(episode.pk,)]
    with pytest.raises(OperationalError):
        run_statements([Statement("SELECT pg_terminate_backend(pg_backend_pid())", [])])
    connection.close()
    assert select_rows("SELECT id FROM kitchen_episode WHERE id = %s", [episode.pk]) == [(episode.pk,)]
