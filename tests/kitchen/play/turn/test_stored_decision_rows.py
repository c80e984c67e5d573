"""Rows of decisions are stored with little work."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kitchen.infra.joined_statements import delayed_statements
from kitchen.play.models import Decision, Episode
from kitchen.play.turn.decision_records import store_decision_rows
from tests.kitchen.factories import make_episode, mind

NOW = timezone.now()

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]


def test_rows_are_the_same_with_and_without_ids_and_take_one_statement() -> None:
    episode = make_episode(seats=3, minds=(mind("random", 1), mind("random", 2)))
    one, other = made(episode, 1), made(episode, 2)
    with CaptureQueriesContext(connection) as queries:
        store_decision_rows(one, with_ids=False)
    assert len(queries) == 1
    assert [row.pk for row in one] == [None, None]
    store_decision_rows(other, with_ids=True)
    assert None not in [row.pk for row in other]
    assert stored(1) == stored(2)


def test_without_ids_rows_wait_for_the_other_statements_of_their_step() -> None:
    rows = made(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))), 1)
    with CaptureQueriesContext(connection) as queries:
        with delayed_statements():
            store_decision_rows(rows, with_ids=False)
            assert len(queries) == (0 if connection.vendor == "postgresql" else 1)
        assert len(queries) == 1
    assert len(stored(1)) == 2


def made(episode: Episode, number: int) -> list[Decision]:
    facts = {"number": number, "step": 1, "played_by": "random", "milliseconds": 4.5, "decided_at": NOW}
    first, second = episode.minds.order_by("number")
    wishes = {"wishes": ["salmon"]}
    return [Decision(mind=first, memory=wishes, **facts), Decision(mind=second, note=[1], **facts)]


def stored(number: int) -> list[dict[str, Any]]:
    rows = Decision.objects.filter(number=number).order_by("mind").values()
    return [{name: value for name, value in row.items() if name not in {"id", "number"}} for row in rows]
