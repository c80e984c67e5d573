"""What finds open turns, and what a step must not pay for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kitchen.play.models import Episode
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide, unanswered_turns
from kitchen.realtime.realtime_storage import clock_episodes
from kitchen.tasks import pick_up_open_turns

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]

CHANGED = {
    "step",
    "state",
    "state_hash",
    "score",
    "turn_opened_at",
    "turn_closes_at",
    "deciding_until",
    "deciding_by",
}
"""What a step writes into an episode's row."""


def test_nothing_that_every_step_changes_is_in_an_index() -> None:
    with connection.cursor() as cursor:
        table = connection.introspection.get_constraints(cursor, Episode._meta.db_table)
    indexes = [one["columns"] for one in table.values() if one["index"] or one["unique"]]
    indexed = {column for columns in indexes for column in columns or ()}
    assert {"id", "key", "audience", "ended_at"} <= indexed
    assert indexed & CHANGED == set()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only there a row is written in place")
def test_pages_keep_room_for_the_next_state() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = %s", [Episode._meta.db_table])
        assert cursor.fetchone() == (["fillfactor=70"],)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plans")
@pytest.mark.parametrize("look", [turns_to_decide, overdue_turns, unanswered_turns])
def test_a_look_reads_those_that_play_however_many_ever_did(look: object) -> None:
    assert callable(look)
    with CaptureQueriesContext(connection) as asked:
        look()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked.captured_queries[0]['sql']}")
        assert "SCAN kitchen_episode USING INDEX episodes_playing" in [row[3] for row in cursor.fetchall()]


def test_where_nobody_plays_a_look_asks_one_short_question(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert pick_up_open_turns() == 0
    with django_assert_num_queries(1):
        assert clock_episodes() == []
