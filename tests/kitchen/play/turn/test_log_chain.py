"""The log's chain, and the triggers that keep the log as it was written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from kitchen.infra.append_only import (
    ERASES,
    AppendOnly,
    AppendOnlyError,
    append_only_models,
    erasure_allowed,
    erasure_trigger_name,
    guard_triggers,
    trigger_name,
    unguarded_tables,
)
from kitchen.infra.hmac_seals import column_values, make_seal
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.log_integrity import LogVerdict, verify_episode_logs
from kitchen.play.models import Episode, Seal, Step
from kitchen.play.turn import turn_cache
from kitchen.play.turn.step_store import first_chain_hash, next_chain_hash
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]


def played(steps: int = 4, **more: Any) -> Episode:
    episode = make_episode(minds=(mind("random", 1),), seats=2, **more)
    for step in range(1, steps + 1):
        go_on(episode, step)
    return Episode.objects.get(pk=episode.pk)


def go_on(episode: Episode, step: int) -> None:
    assert submit(episode, step, "noop").accepted
    decide_step(episode_id=episode.pk, step=step)


def sql(statement: str, *values: Any) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def unguarded(table: str) -> None:
    """As somebody who may do everything in the database would have it; until the test ends."""
    connection.check_constraints()  # PostgreSQL has something to look at otherwise
    on = f" ON {table}" if connection.vendor == "postgresql" else ""
    sql(f"DROP TRIGGER IF EXISTS {trigger_name(table)}{on}")


def verdict_of(episode: Episode) -> LogVerdict:
    (verdict,) = verify_episode_logs(Episode.objects.filter(pk=episode.pk))
    return verdict


def said(episode: Episode) -> list[str]:
    return [str(fault) for fault in verdict_of(episode).faults]


def test_every_step_holds_the_chain_so_far() -> None:
    episode = played()
    chain = first_chain_hash(episode)
    for row in Step.objects.filter(episode=episode):
        chain = next_chain_hash(chain, vars(row))
        assert row.chain == chain
    assert (verdict_of(episode).faults, verdict_of(episode).chain, verdict_of(episode).steps) == (
        [],
        chain,
        4,
    )


def test_the_same_values_have_the_same_chain_however_a_database_writes_them() -> None:
    row = dict.fromkeys(("number", "state_hash", "opened_at", "taken_at"), 1)
    mine = {**row, "score": {"b": 1e16, "a": 2.0, "c": 0.25}, "commands": ("x",), "events": {3: None}}
    read = {**row, "score": {"a": 2, "b": 10**16, "c": 0.25}, "commands": ["x"], "events": {"3": None}}
    assert next_chain_hash("", mine) == next_chain_hash("", read)
    assert next_chain_hash("", {**mine, "score": {"b": 1e16, "a": 2.5, "c": 0.25}}) != next_chain_hash(
        "", read
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", '{"orders": 99}'),
        ("state_hash", "0" * 64),
        ("events", "[]"),
        ("opened_at", "2020-01-01 00:00:00+00:00"),
        ("taken_at", "2020-01-01 00:00:00+00:00"),
        ("chain", "0" * 64),
    ],
)
def test_a_column_that_was_changed_is_found_at_its_step(column: str, value: str) -> None:
    episode, other = played(), played()
    unguarded("kitchen_step")
    change = f"UPDATE kitchen_step SET {column} = %s"  # noqa: S608 - a column of ours
    sql(f"{change} WHERE episode_id = %s AND number = 2", value, episode.pk)
    assert "step 2 is not what was written" in said(episode)
    assert verdict_of(other).holds


def test_a_step_that_was_written_anew_with_its_hash_is_given_away_by_the_next_one() -> None:
    episode = played()
    before, row = Step.objects.filter(episode=episode)[0:2]
    forged = next_chain_hash(before.chain, {**vars(row), "events": []})
    unguarded("kitchen_step")
    sql("UPDATE kitchen_step SET events = '[]', chain = %s WHERE id = %s", forged, row.pk)
    assert said(episode) == ["step 3 is not what was written"]


def test_what_an_episode_began_with_is_in_its_chain() -> None:
    episode = played()
    Episode.objects.filter(pk=episode.pk).update(seed=8)
    assert said(episode) == ["step 1 is not what was written"]


def test_steps_that_are_gone_are_missed() -> None:
    middle, end = played(), played()
    with erasure_allowed():
        Step.objects.filter(episode=middle, number=2).delete()
        Step.objects.filter(episode=end, number=4).delete()
    assert said(middle) == ["step 2 is missing", "step 3 is not what was written"]
    assert said(end) == ["step 4 is missing"]


def test_a_command_that_was_changed_beside_its_step_is_found() -> None:
    episode = played()
    unguarded("kitchen_seatcommand")
    statement = "UPDATE kitchen_seatcommand SET fallback = 'error' WHERE episode_id = %s AND step = 3"
    sql(statement, episode.pk)
    assert said(episode) == ["step 3 did not run with what the seats were commanded"]


def test_an_episode_that_stands_elsewhere_than_its_log_ends_is_found() -> None:
    episode = played()
    Episode.objects.filter(pk=episode.pk).update(state_hash="0" * 64)
    assert said(episode) == [
        "the state is not the one that it is said to be",
        "step 4 does not lead to the state that the episode is in",
    ]


def seal_of_before(episode: Episode) -> None:
    """As they got it when seals came."""
    names = ["status", "step", "state_hash", "score", "ended_at"]
    facts = dict(zip(names, column_values(episode, names), strict=True))
    mac = make_seal("episode", ["before", episode.key.hex, facts])
    Seal.objects.create(episode=episode, kind="before", facts=facts, mac=mac)


def of_before(episode: Episode, *numbers: int) -> None:
    """These steps as programs of before wrote them."""
    unguarded("kitchen_step")
    for number in numbers:
        sql("UPDATE kitchen_step SET chain = '' WHERE episode_id = %s AND number = %s", episode.pk, number)
    seal_of_before(episode)
    turn_cache._turns.clear()


def test_logs_of_before_have_no_chain_and_are_told_apart() -> None:
    episode = played()
    of_before(episode, 1, 2, 3, 4)
    verdict = verdict_of(episode)
    assert (verdict.holds, verdict.before_chains, verdict.chain) == (True, 4, "")


def test_an_episode_of_before_that_goes_on_is_held_by_its_next_step() -> None:
    episode = played()
    of_before(episode, 1, 2, 3, 4)
    go_on(episode, 5)
    assert verdict_of(episode).holds
    assert verdict_of(episode).before_chains == 0
    unguarded("kitchen_step")
    sql("UPDATE kitchen_step SET events = '[]' WHERE episode_id = %s AND number = 2", episode.pk)
    assert said(episode) == ["step 5 is not what was written, or one of the 4 steps before it"]


def test_a_step_between_that_a_program_of_before_took_is_held_by_the_next_one() -> None:
    episode = played()
    of_before(episode, 4)
    assert said(episode) == ["step 4 has no chain, although steps before it have one"]
    go_on(episode, 5)
    assert verdict_of(episode).holds


def test_no_row_of_any_log_can_be_changed_by_sql() -> None:
    assert len(append_only_models()) >= 6
    assert unguarded_tables() == []
    played()
    for table in ("kitchen_step", "kitchen_seatcommand", "kitchen_decision"):
        for column in columns_of(table):
            with pytest.raises(DatabaseError, match=f"{table} is append-only"):
                sql(f"UPDATE {table} SET {column} = {column}")  # noqa: S608 - names of ours


def test_no_row_of_any_log_can_be_deleted_by_sql_or_by_mistake() -> None:
    episode = played()
    for table in ("kitchen_step", "kitchen_seatcommand", "kitchen_decision"):
        with pytest.raises(DatabaseError, match=f"{table} is append-only"):
            sql(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    with pytest.raises(AppendOnlyError):
        Step.objects.filter(episode=episode).delete()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        episode.delete()  # its log would go with it
    assert Step.objects.filter(episode=episode).count() == 4


def test_an_erasure_ends_with_its_block_even_if_it_fails() -> None:
    episode = played()
    with pytest.raises(RuntimeError), erasure_allowed():
        Step.objects.filter(episode=episode, number=4).delete()
        raise RuntimeError
    with erasure_allowed(), erasure_allowed():
        sql("DELETE FROM kitchen_step WHERE number = 3")
    assert [row.number for row in Step.objects.filter(episode=episode)] == [1, 2, 4]
    with pytest.raises(DatabaseError, match="kitchen_step is append-only"):
        sql("DELETE FROM kitchen_step")
    if connection.vendor == "postgresql":
        with pytest.raises(DatabaseError, match="kitchen_seal is append-only"):
            sql("TRUNCATE kitchen_seal")


def test_another_program_can_delete_nothing() -> None:
    """Their connections have no function that our triggers call."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's setting belongs to a transaction")
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE kitchen_step (id)")
        other.execute(
            guard_triggers(connection, "kitchen_step", ["id"])[erasure_trigger_name("kitchen_step")]
        )
        other.execute("INSERT INTO kitchen_step VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match=f"no such function: {ERASES}"):
            other.execute("DELETE FROM kitchen_step")


def columns_of(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def test_every_column_of_every_log_is_guarded() -> None:
    """A column that a later migration adds is guarded by that migration, too."""
    for model in models_of_logs():
        trigger = trigger_text(model._meta.db_table)
        for field in model._meta.concrete_fields:
            assert f'"{field.column}"' in trigger or field.column in trigger.split(), (model, field.column)


def models_of_logs() -> list[type[AppendOnly]]:
    return append_only_models()


def trigger_text(table: str) -> str:
    """Every trigger of a table, as the database has it."""
    if connection.vendor == "postgresql":
        statement = (
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal"
        )
    else:
        statement = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s"
    with connection.cursor() as cursor:
        cursor.execute(statement, [table])
        return " ".join(text for (text,) in cursor.fetchall()).replace(",", " ")


def test_a_log_can_be_erased() -> None:
    episode = played()
    with erasure_allowed():
        Episode.objects.get(pk=episode.pk).delete()
    assert not Step.objects.exists()
