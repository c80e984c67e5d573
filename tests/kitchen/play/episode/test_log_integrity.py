"""What an episode has come to is sealed: whoever writes the log anew, chain and all, is found."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection

from kitchen.infra.append_only import erasure_allowed, guard_triggers, trigger_name, unguarded_tables
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.log_integrity import (
    LATER_COLUMNS,
    _beside_steps,
    _without_columns_of_later,
    seal_episode,
    verify_episode_logs,
)
from kitchen.play.models import Decision, Episode, ModelCall, Seal, Step
from kitchen.play.turn.step_store import first_chain_hash, next_chain_hash
from tests.kitchen.factories import make_episode, mind
from tests.kitchen.play.turn.test_log_chain import go_on, said, seal_of_before, sql, unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]

STEPS = 4


def over(**more: Any) -> Episode:
    episode = make_episode(minds=(mind("random", 1),), seats=2, steps=STEPS, **more)
    for step in range(1, STEPS + 1):
        go_on(episode, step)
    episode.refresh_from_db()
    assert episode.status != Episode.Status.PLAYING
    return episode


def cut_off(episode: Episode, left: int) -> None:
    """As the reviewer did: the last steps are gone, and the episode stands where the others end."""
    with erasure_allowed():
        Decision.objects.filter(mind__episode=episode, step__gt=left).delete()
        episode.commands.filter(step__gt=left).delete()
        Step.objects.filter(episode=episode, number__gt=left).delete()
    last = Step.objects.filter(episode=episode).last()
    fresh = {"state_hash": last.state_hash, "score": last.score} if last else {}
    Episode.objects.filter(pk=episode.pk).update(step=left, **fresh)


def chains_anew(episode: Episode) -> None:
    """Whoever can write everything writes the chain anew: it has no key."""
    unguarded("kitchen_step")
    chain = first_chain_hash(episode)
    for row in Step.objects.filter(episode=episode):
        chain = next_chain_hash(chain, vars(row))
        sql("UPDATE kitchen_step SET chain = %s WHERE id = %s", chain, row.pk)


def test_an_episode_that_is_over_holds_however_it_ended() -> None:
    played, stopped = over(), make_episode()
    end_episode(episode_id=stopped.pk, reason="asleep")
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True, True]
    assert set(Seal.objects.values_list("episode", "kind")) == {(played.pk, "end"), (stopped.pk, "end")}


def test_steps_that_were_cut_off_the_end_are_missed() -> None:
    some, all_of_them = over(), over()
    cut_off(some, 2)
    cut_off(all_of_them, 0)
    assert "its step is not what was sealed" in said(some)
    assert "the state is not the one that it is said to be" in said(some)
    assert "its step is not what was sealed" in said(all_of_them)


def test_an_episode_that_lost_its_chains_is_not_one_of_before() -> None:
    episode = over()
    unguarded("kitchen_step")
    sql("UPDATE kitchen_step SET chain = '', score = '{}' WHERE episode_id = %s", episode.pk)
    assert "step 1 has no chain, although the episode began when there were chains" in said(episode)


def test_a_chain_that_was_written_anew_is_found_by_the_seal() -> None:
    episode = over()
    unguarded("kitchen_step")
    sql("UPDATE kitchen_step SET score = '{}' WHERE episode_id = %s AND number = 2", episode.pk)
    chains_anew(episode)
    assert said(episode) == ["its last hash is not what was sealed"]


@pytest.mark.parametrize(
    ("table", "change", "name"),
    [
        ("kitchen_decision", "note = '1'", "log of decisions, calls and who played"),
        ("kitchen_mind", "kind = 'planner'", "log of decisions, calls and who played"),
        ("kitchen_episode", "status = 'aborted'", "status"),
        ("kitchen_episode", "label = 'Team B'", "label"),
        ("kitchen_episode", "created_at = '2020-01-01 00:00:00+00:00'", "created_at"),
    ],
)
def test_what_no_chain_holds_is_sealed(table: str, change: str, name: str) -> None:
    over()
    if table == "kitchen_decision":
        unguarded(table)
    sql(f"UPDATE {table} SET {change}")  # noqa: S608 - names of ours
    (verdict,) = verify_episode_logs(Episode.objects.all())
    assert [str(fault) for fault in verdict.faults] == [f"its {name} is not what was sealed"]


def asked_a_model(**kept: Any) -> Episode:
    """Over, with one call beside the first decision, and sealed as it is."""
    episode = over()
    facts: dict[str, Any] = {
        "provider": "p",
        "model_asked": "m",
        "sampling": {},
        "attempts": [],
        "seconds": 1,
    }
    tokens = {f"tokens_{name}": 1 for name in ("input", "output", "cache_read", "cache_write")}
    first = Decision.objects.filter(mind__episode=episode).order_by("step")[0]
    ModelCall.objects.create(decision=first, number=1, **facts, **tokens, **kept)
    with erasure_allowed():
        Seal.objects.filter(episode=episode).delete()
    seal_episode(episode)
    return episode


def test_what_was_sealed_before_a_call_had_its_reasoning_holds() -> None:
    episode = asked_a_model()
    (rows,) = (rows for rows in _beside_steps([episode.pk]) if rows.model is ModelCall)
    later = LATER_COLUMNS[ModelCall]
    assert rows.query.values_select[-len(later) :] == later
    values = list(rows.get())
    assert _without_columns_of_later(values, len(later), 1) == values[: -len(later)]


@pytest.mark.parametrize(
    ("row", "hashed"),
    [
        (["x", None, "", None], ["x"]),
        (["x", {}, "hm", None], ["x", {}, "hm"]),
        (["x", {}, "hm", 0], ["x", {}, "hm"]),
        (["x", {}, "hm", 7], ["x", {}, "hm", 7]),
        (["x", None, "", 7], ["x", None, "", 7]),
    ],
)
def test_a_row_is_hashed_with_the_columns_of_its_version(row: list[Any], hashed: list[Any]) -> None:
    assert _without_columns_of_later(row, 3, 1) == hashed


def test_what_a_model_thought_and_was_sent_is_sealed() -> None:
    episode = asked_a_model(reasoning="hm", parameters={"max_tokens": 9})
    assert said(episode) == []
    unguarded("kitchen_modelcall")
    sql("UPDATE kitchen_modelcall SET reasoning = ''")
    assert said(episode) == ["its log of decisions, calls and who played is not what was sealed"]


def test_a_seal_that_is_gone_or_made_elsewhere_is_found(settings: Any) -> None:
    gone, elsewhere = over(), over()
    with erasure_allowed():
        Seal.objects.filter(episode=gone).delete()
    assert said(gone) == ["it is over, and was not sealed"]
    settings.SECRET_KEY = "x" * 50
    assert said(elsewhere) == ["its seal was not made with this installation's key"]


def test_what_was_there_before_seals_is_said_to_be_and_held_from_then_on() -> None:
    episode = over()
    with erasure_allowed():
        Seal.objects.all().delete()
    seal_of_before(episode)
    unguarded("kitchen_step")
    sql("UPDATE kitchen_step SET chain = ''")
    (verdict,) = verify_episode_logs(Episode.objects.all())
    assert (verdict.holds, verdict.before_chains) == (True, STEPS)
    cut_off(episode, 2)
    assert "its step is not what was sealed" in said(episode)


def test_no_row_takes_the_place_of_another() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has REPLACE")
    over()
    for table in ("kitchen_step", "kitchen_seatcommand", "kitchen_decision", "kitchen_seal"):
        with connection.cursor() as cursor:
            names = [column.name for column in connection.introspection.get_table_description(cursor, table)]
        for taken in (names, [name for name in names if name != "id"]):
            listed = ", ".join(f'"{name}"' for name in taken)
            copied = f"INSERT OR REPLACE INTO {table} ({listed}) SELECT {listed} FROM {table}"  # noqa: S608
            with pytest.raises(DatabaseError, match=f"{table} is append-only"):
                sql(copied)


def test_a_trigger_of_the_same_name_that_does_nothing_is_found() -> None:
    table, name = "kitchen_step", trigger_name("kitchen_step")
    unguarded(table)
    made = guard_triggers(connection, table, ["id"])[name]
    if connection.vendor == "sqlite":
        made = made.partition("BEGIN")[0] + "BEGIN SELECT 1; END"
    sql(made)
    assert unguarded_tables() == [table]


def test_a_function_that_lets_everything_pass_is_found() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's triggers call none")
    nothing = "$$ BEGIN RETURN NEW; END $$"
    sql(f"CREATE OR REPLACE FUNCTION brigade_append_only() RETURNS trigger LANGUAGE plpgsql AS {nothing}")
    assert "kitchen_step" in unguarded_tables()
