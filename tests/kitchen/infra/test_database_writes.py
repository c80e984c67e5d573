"""Plain statements store what the models would, and say so when they cannot."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from kitchen.infra.database_writes import (
    RawJson,
    insert_rows,
    json_from_driver,
    select_rows,
    time_from_driver,
    update_row_where,
)
from kitchen.play.models import Episode, SeatCommand
from tests.kitchen.factories import make_episode

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def row(episode: Episode, seat: int) -> dict[str, object]:
    now = timezone.now()
    given = {"command": ["goto", "pot0"], "chosen_by": "person", "fallback": "", "received_at": now}
    return {"episode_id": episode.pk, "step": 1, "seat": seat, **given}


def test_rows_are_read_by_the_models_as_they_were_inserted() -> None:
    episode = make_episode()
    rows = [row(episode, 0), row(episode, 1)]
    insert_rows(SeatCommand, rows)
    assert list(SeatCommand.objects.values(*rows[0])) == rows


def test_a_row_that_is_there_is_not_inserted_again() -> None:
    episode = make_episode()
    insert_rows(SeatCommand, [row(episode, 0)])
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(SeatCommand, [row(episode, 1), row(episode, 0)])
    assert SeatCommand.objects.count() == 1


def test_a_row_is_changed_only_where_it_is_still_what_it_was() -> None:
    episode = make_episode()
    assert update_row_where(
        Episode, {"label": "new", "state": RawJson('{"a":1}')}, where={"id": episode.pk, "step": 0}
    )
    assert not update_row_where(Episode, {"label": "other"}, where={"id": episode.pk, "step": 7})
    episode.refresh_from_db()
    assert (episode.label, episode.state) == ("new", {"a": 1})


def test_moments_and_json_come_back_as_they_are() -> None:
    episode = make_episode()
    columns = "turn_opened_at, state"
    ((opened, state),) = select_rows(f"SELECT {columns} FROM kitchen_episode WHERE id = %s", [episode.pk])  # noqa: S608
    assert time_from_driver(opened) == episode.turn_opened_at
    assert json_from_driver(state) == episode.state
