"""Statements sent to PostgreSQL together store exact values, and the connection survives failures."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from kitchen.infra import postgres_pipeline
from kitchen.infra.database_writes import insert_rows, json_from_driver, select_rows, update_row_where
from kitchen.infra.joined_statements import Statement, run_statements
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


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_an_error_and_the_next_connection_prepares_anew() -> None:
    episode = make_episode()
    assert select_rows("SELECT id FROM kitchen_episode WHERE id = %s", [episode.pk]) == [(episode.pk,)]
    with pytest.raises(OperationalError):
        run_statements([Statement("SELECT pg_terminate_backend(pg_backend_pid())", [])])
    connection.close()
    assert select_rows("SELECT id FROM kitchen_episode WHERE id = %s", [episode.pk]) == [(episode.pk,)]
