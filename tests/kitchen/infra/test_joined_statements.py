"""Statements that are collected run together, in order, before anything that might need what they store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from kitchen.infra import joined_statements
from kitchen.infra.joined_statements import (
    Statement,
    StatementResult,
    delayed_statements,
    run_later,
    run_statements,
)
from kitchen.play.models import Episode
from tests.kitchen.factories import make_episode

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def labelled(episode: Episode, label: str, **more: Any) -> Statement:
    return Statement("UPDATE kitchen_episode SET label = %s WHERE id = %s", (label, episode.pk), **more)


def label_of(episode: Episode) -> str:
    return Episode.objects.values_list("label", flat=True).get(pk=episode.pk)


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each round trip has, on a database that is treated as PostgreSQL."""
    counts: list[int] = []

    def run(statements: Sequence[Statement]) -> list[StatementResult]:
        counts.append(len(statements))
        with connection.cursor() as cursor:
            results = []
            for each in statements:
                cursor.execute(each.text, each.values)
                results.append(joined_statements._result(cursor))
        return results

    monkeypatch.setattr(joined_statements, "_run_prepared", run)
    monkeypatch.setattr(connection, "vendor", "postgresql")
    return counts


def test_statements_run_in_order_and_give_their_results() -> None:
    episode = make_episode()
    changed, read = run_statements(
        [
            labelled(episode, "first"),
            Statement("SELECT label FROM kitchen_episode WHERE id = %s", [episode.pk]),
        ]
    )
    assert (changed.count, changed.rows, read.count, read.rows) == (1, [], 1, [("first",)])


def test_collected_statements_run_together_at_the_end(together: list[int]) -> None:
    episode = make_episode()
    with delayed_statements():
        run_later(labelled(episode, "first"))
        run_later(labelled(episode, "second"))
        assert together == []
    assert together == [2] and label_of(episode) == "second"
    run_later(labelled(episode, "third"))
    assert together == [2, 1]


def test_collected_statements_run_before_one_that_could_read_what_they_store(together: list[int]) -> None:
    episode = make_episode()
    with delayed_statements():
        run_later(labelled(episode, "stored"))
        assert label_of(episode) == "stored" and together == [1]
        run_statements([labelled(episode, "last")])
    assert together == [1, 1] and label_of(episode) == "last"


def test_collected_statements_are_dropped_if_the_block_fails(together: list[int]) -> None:
    episode = make_episode()
    with pytest.raises(ZeroDivisionError), delayed_statements():
        run_later(labelled(episode, "half"))
        raise ZeroDivisionError
    assert together == [] and label_of(episode) == episode.label


def test_a_block_inside_another_leaves_its_statements_to_it(together: list[int]) -> None:
    episode = make_episode()
    with delayed_statements():
        run_later(labelled(episode, "first"))
        with delayed_statements():
            run_later(labelled(episode, "second"))
        assert together == []
        run_later(labelled(episode, "third"))
    assert together == [3] and label_of(episode) == "third"


def test_a_savepoint_stores_what_came_before_it_and_takes_back_what_came_after_it() -> None:
    episode = make_episode()
    with delayed_statements():
        run_later(labelled(episode, "kept"))
        with suppress(ZeroDivisionError), transaction.atomic():
            run_later(labelled(episode, "taken back"))
            raise ZeroDivisionError
        run_later(Statement("UPDATE kitchen_episode SET decision_seconds = 77 WHERE id = %s", [episode.pk]))
    stored = Episode.objects.get(pk=episode.pk)
    assert (stored.label, stored.decision_seconds) == ("kept", 77)


def test_an_error_at_the_end_of_a_block_is_raised_and_nothing_waits_after_it() -> None:
    episode = make_episode()
    doubled = Statement("UPDATE kitchen_episode SET key = %s WHERE id = %s", [make_episode().key, episode.pk])
    if connection.vendor == "sqlite":
        doubled = replace(doubled, values=[doubled.values[0].hex, episode.pk])
    with pytest.raises(IntegrityError), transaction.atomic(), delayed_statements():
        run_later(labelled(episode, "half"))
        run_later(doubled)
    assert label_of(episode) == episode.label
    run_later(labelled(episode, "after"))
    assert label_of(episode) == "after"


def test_the_first_of_two_errors_is_raised() -> None:
    episode = make_episode()
    missing = Statement("UPDATE kitchen_episode SET label = %s WHERE id = %s", ("", 0), LookupError("none"))
    wrong = Statement("UPDATE kitchen_episode SET label = NULL WHERE id = %s", [episode.pk])
    with pytest.raises(LookupError, match="none"), transaction.atomic():
        run_statements([missing, wrong])
    with pytest.raises(IntegrityError), transaction.atomic():
        run_statements([wrong, missing])


def test_a_query_without_rows_counts_none() -> None:
    (read,) = run_statements([Statement("SELECT label FROM kitchen_episode WHERE id = %s", [0])])
    assert (read.count, read.rows) == (0, [])


@pytest.mark.parametrize("collected", [False, True])
def test_a_statement_that_must_change_a_row_raises_its_error(collected: bool) -> None:
    episode = make_episode()
    missing = Statement("UPDATE kitchen_episode SET label = %s WHERE id = %s", ("", 0), LookupError("none"))
    with pytest.raises(LookupError, match="none"), transaction.atomic():
        if collected:
            with delayed_statements():
                run_later(labelled(episode, "half"))
                run_later(missing)
        else:
            run_statements([labelled(episode, "half"), missing])
    assert label_of(episode) == episode.label
