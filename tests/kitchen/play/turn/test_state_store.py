"""Large parts of a state are stored as what changed of them, and lead to the same state for everybody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kitchen.contract.large_map import Changes, LargeMap
from kitchen.contract.world import Event, TurnCommands
from kitchen.contract.world_errors import StateError
from kitchen.infra.append_only import erasure_allowed
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.erase_episode import erase_episode
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.models import Episode, StateChange, Step
from kitchen.play.turn import step_store, turn_cache
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.state_store import PastStep, current_world
from kitchen.play.turn.turn_cache import read_turn
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.replay_verification import verify_replays
from kitchen.replay.step_replay import world_after_steps
from tests.kitchen.factories import make_episode, submit
from tests.kitchen.play.turn.test_log_chain import said, sql, unguarded
from tests.kitchen.worlds.collab_overcooked.games import game
from tests.worlds.boulders import DIG, PUT, REST, Boulders, key_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.usefixtures("boulders")]

BLOCKS = 400


@pytest.fixture(autouse=True)
def committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits are at once, nobody is nudged, and nothing is kept of other tests."""
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act: act())
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *told: None)
    monkeypatch.setattr(turn_cache, "_turns", type(turn_cache._turns)())


def boulders(*, blocks: int = BLOCKS, steps: int = 30, **more: Any) -> Episode:
    settings = {"blocks": blocks, "steps": steps}
    return create_episode(world="boulders", settings=settings, seats=1, seed=3, **more)


def play(episode: Episode, first: int, last: int) -> None:
    """The steps from the first to the last, with a rest in every fourth."""
    for step in range(first, last + 1):
        assert submit(episode, step, *command(step, episode.settings["blocks"])).accepted
    episode.refresh_from_db()


def command(step: int, blocks: int) -> tuple[str, ...]:
    """Round by round it digs all blocks out and puts bricks in their place."""
    done = step - 1 - (step - 1) // 4
    return REST if step % 4 == 0 else (DIG, PUT)[done // blocks % 2]


def played(steps: int = 6, **more: Any) -> Episode:
    episode = boulders(**more)
    play(episode, 1, steps)
    return episode


def by_rules(steps: int, *, blocks: int = BLOCKS) -> Boulders:
    """The world as it is after these steps, which was never stored."""
    world = Boulders.create(seats=1, settings={"blocks": blocks, "steps": 30})
    world.reset(3)
    for step in range(1, steps + 1):
        world.step({0: command(step, blocks)})
    return world


def rows(episode: Episode, **which: Any) -> list[StateChange]:
    return list(StateChange.objects.filter(episode=episode, **which).order_by("step"))


def forget() -> None:
    """As in a process that has read nothing yet."""
    turn_cache._turns.clear()


def spoken(counted: CaptureQueriesContext) -> list[str]:
    said = [query["sql"].strip() for query in counted.captured_queries]
    return [sql for sql in said if not sql.startswith(("SAVEPOINT", "RELEASE SAVEPOINT"))]


def test_a_step_stores_what_it_changed_and_the_state_has_only_the_root() -> None:
    episode, before, after = played(1), by_rules(0), by_rules(1)
    first, second = rows(episode)
    assert (first.step, first.is_whole, json.loads(first.changed)) == (0, True, before.blocks)
    assert (second.step, second.is_whole, json.loads(second.removed)) == (1, False, [key_of(0)])
    mossy = {key: block for key, block in after.blocks.items() if "moss" in block}
    assert json.loads(second.changed) == mossy and len(mossy) == 1
    assert episode.state == {**after.to_dict(), "blocks": second.root}
    assert episode.state_hash == after.state_hash() == Step.objects.get(episode=episode).state_hash


def test_a_step_that_changes_nothing_of_a_part_stores_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def rest(world: Boulders, turn: TurnCommands) -> tuple[Event, ...]:
        world.clock += 1
        return ()

    monkeypatch.setattr(Boulders, "step", rest)
    assert [row.step for row in rows(played(3))] == [0]


def test_worlds_without_large_parts_store_none_and_speak_no_more_statements() -> None:
    episode = make_episode()
    submit(episode, 1, "noop")
    with CaptureQueriesContext(connection) as counted:
        submit(episode, 2, "noop")
    assert not StateChange.objects.exists()
    assert not [statement for statement in spoken(counted) if "statechange" in statement]
    episode.refresh_from_db()
    assert episode.state == current_world(episode).to_dict()


def test_any_process_goes_on_from_what_is_stored() -> None:
    episode = boulders()
    for step in range(1, 31):
        forget()
        play(episode, step, step)
        assert episode.state_hash == by_rules(step).state_hash()
    assert episode.status == Episode.Status.OVER
    assert current_world(episode).to_dict() == by_rules(30).to_dict()
    assert not said(episode)


def test_a_process_that_has_the_turn_reads_nothing_of_the_parts() -> None:
    episode = played(2)
    with CaptureQueriesContext(connection) as counted:
        play(episode, 3, 3)
    assert [statement.split()[0] for statement in spoken(counted) if "statechange" in statement] == ["INSERT"]


def test_a_process_that_knows_an_older_state_reads_only_what_was_stored_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = played(2)
    mine = turn_cache._take(episode.pk)
    assert mine
    play(episode, 3, 5)
    forget()
    turn_cache._put(mine)
    applied: list[Changes] = []
    apply = LargeMap.apply

    def count(part: LargeMap, changes: Changes) -> None:
        applied.append(changes)
        apply(part, changes)

    monkeypatch.setattr(LargeMap, "apply", count)
    with read_turn(episode.pk) as turn:
        assert turn is mine
        assert turn.world.to_dict() == by_rules(5).to_dict()
    assert len(applied) == 3
    play(episode, 6, 8)
    assert not said(episode)


def test_an_older_state_that_does_not_lead_on_is_read_anew() -> None:
    episode = played(2)
    mine = turn_cache._take(episode.pk)
    assert mine
    play(episode, 3, 4)
    forget()
    mine.world.large_parts()["blocks"]["0,0"] = "was never there"
    turn_cache._put(mine)
    with read_turn(episode.pk) as turn:
        assert turn is mine
        assert turn.world.to_dict() == by_rules(4).to_dict()


def test_two_processes_take_steps_in_turn() -> None:
    episode = boulders(blocks=20)
    mine: OpenTurn | None = None
    theirs: OpenTurn | None = None
    for step in range(1, 25):
        play(episode, step, step)
        if step % 3:
            mine, theirs = theirs, turn_cache._take(episode.pk)
            if mine:
                turn_cache._put(mine)
    assert episode.state_hash == by_rules(24, blocks=20).state_hash()
    assert sum(row.is_whole for row in rows(episode)) > 1
    assert not said(episode)


def test_a_whole_row_comes_when_what_changed_is_longer_than_the_part() -> None:
    episode = played(30, blocks=20)
    since = 0
    for row in rows(episode)[1:]:
        whole = json.dumps(by_rules(row.step, blocks=20).blocks, separators=(",", ":"), sort_keys=True)
        before = by_rules(row.step - 1, blocks=20).blocks.freeze()
        changes = by_rules(row.step, blocks=20).blocks.freeze().changes_since(before)
        assert changes
        since += changes.length
        assert row.is_whole == (since > len(whole))
        assert (row.changed, row.removed) == (
            (whole, "[]") if row.is_whole else (changes.changed, changes.removed)
        )
        since = 0 if row.is_whole else since
    assert sum(row.is_whole for row in rows(episode)) > 2
    assert not said(episode)


def test_a_process_that_has_just_read_the_parts_knows_how_long_the_changes_are() -> None:
    kept_turn, read_anew = played(30, blocks=20), boulders(blocks=20)
    for step in range(1, 31):
        forget()
        play(read_anew, step, step)
    wholes = [[row.step for row in rows(each, is_whole=True)] for each in (kept_turn, read_anew)]
    assert wholes[0] == wholes[1]


def test_a_step_that_is_rolled_back_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played(2)
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(step_store, "_store_log_row", lambda *told: 1 / 0)
        submit(episode, 3, *DIG)
    assert [row.step for row in rows(episode)] == [0, 1, 2]
    play(episode, 3, 8)
    assert episode.state_hash == by_rules(8).state_hash()
    assert not said(episode)


def test_a_step_that_was_worked_out_in_vain_leaves_no_trace() -> None:
    episode = played(2)
    with read_turn(episode.pk) as turn:
        turn.state.compute([(0, DIG)])
    with read_turn(episode.pk) as turn:
        assert turn.world.to_dict() == by_rules(2).to_dict()
    play(episode, 3, 8)
    assert episode.state_hash == by_rules(8).state_hash()
    assert not said(episode)


def test_the_log_replays_and_an_exported_file_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "kitchen.replay.step_replay.seat_layout", lambda *told: ""
    )  # the world's page has none
    episode = played(30)
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    assert world_after_steps(record, 7).to_dict() == by_rules(7).to_dict()
    assert [verdict.fault for verdict in verify_replays(Episode.objects.all())] == [""]
    opened = read_episode_file(export_episode(record))
    assert export_episode(opened) == export_episode(record)


def test_staff_see_how_long_it_lasts() -> None:
    episode = played(2)
    assert episode_facts([episode.pk])[episode.pk].length == 30


def test_an_erased_episode_leaves_no_row() -> None:
    episode, other = played(2), played(2)
    end_episode(episode_id=episode.pk, reason="withdrawn")
    erase_episode(episode.pk)
    assert {row.episode_id for row in StateChange.objects.all()} == {other.pk}


OTHER = "step {} did not lead to what is stored of blocks, a large part of the state"


@pytest.mark.parametrize(
    ("step", "change", "found"),
    [
        (0, "changed = REPLACE(changed, 'stone', 'straw')", 0),
        (0, "changed = 'no JSON'", 0),
        (2, "changed = '{}'", 2),
        (2, "removed = '[]'", 2),
        (2, "changed = '[]', removed = '{'", 2),
        (2, "root = ''", 2),
        (5, "is_whole = {yes}", 5),
    ],
)
def test_a_row_that_was_changed_is_found(step: int, change: str, found: int) -> None:
    episode, sound = played(), played()
    unguarded("kitchen_statechange")
    change = change.replace("{yes}", "true" if connection.vendor == "postgresql" else "1")
    sql(f"UPDATE kitchen_statechange SET {change} WHERE episode_id = %s AND step = %s", episode.pk, step)  # noqa: S608
    assert said(episode) == [OTHER.format(found)]
    assert not said(sound)


@pytest.mark.parametrize(("gone", "found"), [([0], 1), ([3], 4), ([6], 6), ([0, 1, 2, 3, 4, 5, 6], 6)])
def test_a_row_that_is_missing_is_found(gone: list[int], found: int) -> None:
    episode = played()
    with erasure_allowed():
        StateChange.objects.filter(episode=episode, step__in=gone).delete()
    assert said(episode) == [OTHER.format(found)]


def test_rows_are_verified_where_the_world_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.delenv("BRIGADE_WORLDS")
    assert not said(episode)
    unguarded("kitchen_statechange")
    sql("UPDATE kitchen_statechange SET removed = '[]' WHERE step = 2")
    assert said(episode) == [OTHER.format(2)]


def test_what_does_not_lead_to_the_state_is_not_gone_on_from() -> None:
    changed, missing = played(), played()
    unguarded("kitchen_statechange")
    sql("UPDATE kitchen_statechange SET removed = '[]' WHERE episode_id = %s AND step = 2", changed.pk)
    with erasure_allowed():
        StateChange.objects.filter(episode=missing).delete()
    forget()
    for episode in (changed, missing):
        with pytest.raises(StateError, match="blocks: what is stored of this part"):
            submit(episode, 7, *DIG)
        assert Episode.objects.get(pk=episode.pk).step == 6


def test_what_the_parts_became_is_sealed() -> None:
    episode = played(30)
    assert not said(episode)
    row = rows(episode)[3]
    straw = {key: {"kind": "straw"} for key in json.loads(row.changed)}
    told = by_rules(2).blocks
    told.update(straw)
    for key in json.loads(row.removed):
        del told[key]
    unguarded("kitchen_statechange")
    sql(
        "UPDATE kitchen_statechange SET changed = %s, root = %s WHERE id = %s",
        json.dumps(straw),
        told.freeze().root,
        row.pk,
    )
    assert "its log of decisions, calls and who played is not what was sealed" in said(episode)


def test_a_step_tells_each_seat_whether_it_had_something_to_choose() -> None:
    given = {"command": ["wait"], "fallback": ""}
    entries = [
        {**given, "seat": 0, "chosen_by": "person"},
        {**given, "seat": 1, "chosen_by": "world"},
        {**given, "seat": 2, "chosen_by": "person", "planned_in": 3},
    ]
    step, world = PastStep(4, entries, [], ""), game("boiled_egg")
    assert [step.known(world, seat).unasked for seat in range(3)] == [False, True, True]
