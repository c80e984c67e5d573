"""Ticks of one episode: what they are taken with, and what is stored of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen.contract.agent import Decision as Agreed
from kitchen.contract.language_model import Call, Message, Request
from kitchen.contract.world_errors import SettingsError
from kitchen.infra import process_pool
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import join_episode, submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.live.seat_view import current_seat_view, seat_states
from kitchen.play.models import Decision, Episode, ModelCall, Seal, Seat, SeatCommand, Ticking
from kitchen.play.turn.play_task_queue import playing_offline
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide, undecided_turns
from kitchen.realtime import realtime_agents
from kitchen.realtime import realtime_episode as ticking
from kitchen.realtime.realtime_episode import RealtimeEpisode, read_realtime_episode
from kitchen.realtime.realtime_storage import (
    ClockEpisode,
    ClockTotals,
    clock_episodes,
    clock_totals,
    is_clock_unclaimed,
    store_tick_groups,
    take_clock_claim,
)
from kitchen.realtime.tick_consumer import TickPage
from kitchen.realtime.tick_messages import TickSource, TickUpdates
from kitchen.registry.world_registry import WORLDS_VARIABLE, get_world
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import replay_faults
from tests.kitchen.realtime.conftest import Lane, rows_of, standing, taken_by
from tests.worlds.lane.page import LanePage
from tests.worlds.relay import LINE as RELAY_LINE

pytestmark = pytest.mark.servers
EAST = ("east",)


def played(game: RealtimeEpisode, ticks: int, begin: float = 0.1) -> None:
    for number in range(ticks):
        game.tick(begin + number * game.pace.seconds)


def stored(owner: str, game: RealtimeEpisode) -> bool:
    found = store_tick_groups(owner, [game.written()])
    return game.episode.pk in found


def press(game: RealtimeEpisode, *command: str, seat: int = 0, page: str = "", now: float = 0.0) -> bool:
    return game.press(seat, page or f"page-of-{seat}", command, down=True, number=1, now=now)


@pytest.mark.parametrize(
    ("speed", "synthetic", "tick_ms"), [(5, True, 33), (1, True, 167), (100, True, 20), (5, False, 167)]
)
def test_the_clock_is_faster_for_programs_and_the_row_has_it(
    lane: Lane, settings: Any, speed: float, synthetic: bool, tick_ms: int
) -> None:
    settings.SYNTHETIC_SPEED = speed
    episode = lane(tick_ms=167, synthetic=synthetic)
    assert (episode.tick_ms, episode.settings["tick_ms"]) == (tick_ms, 167)


def test_stored_ticks_replay_and_are_chained_and_sealed(lane: Lane) -> None:
    episode = lane("walker", seats=2, steps=4)
    game = taken_by("me", episode)
    press(game, "east")
    played(game, 2)
    assert stored("me", game)
    played(game, 2, begin=0.3)
    assert game.is_over
    assert stored("me", game)
    episode.refresh_from_db()
    assert (episode.step, episode.status) == (4, Episode.Status.OVER)
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.filter(pk=episode.pk))] == [[]]
    assert Seal.objects.filter(episode=episode).count() == 1
    world = get_world("lane").create(seats=2, settings=episode.settings)
    world.reset(episode.seed)
    for row in rows_of(episode):
        world.step([(each["seat"], tuple(each["command"])) for each in row.commands])
        assert (row.state_hash, row.score) == (world.state_hash(), world.score())
    assert world.observe(0)["at"] == [4, 4]  # the key was held down


@pytest.mark.parametrize("person", [0, 1])
def test_a_seat_whose_agent_is_out_has_one_command_a_step_and_another_owner_goes_on(
    person: int, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second seat of this environment is out after step 2, whoever has it."""
    monkeypatch.setenv(WORLDS_VARIABLE, RELAY_LINE)
    minds = [MindPlan("random", (1 - person,))]
    settings = {"steps": 5}
    episode = create_episode(
        world="clocked_relay", settings=settings, seats=2, seed=3, minds=minds, passes_by=True
    )
    Seat.objects.filter(episode=episode, number=person).update(page="mine")
    game = taken_by("me", episode)
    played(game, 3)
    assert stored("me", game)
    Ticking.objects.filter(episode=episode).update(until=None)  # its owner was killed
    game = taken_by("another", episode)
    played(game, 2)
    assert game.is_over and stored("another", game)
    rows = rows_of(episode)
    assert [len(row.commands) for row in rows] == [2] * 5
    chosen = [next(each["chosen_by"] for each in row.commands if each["seat"] == 1) for row in rows]
    assert chosen[2:] == ["world"] * 3 != chosen[:2]
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.filter(pk=episode.pk))] == [[]]
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    assert list(replay_faults(record)) == []


def test_staff_are_notified_sometimes_and_at_the_end(lane: Lane) -> None:
    episode = lane(steps=12, tick_ms=250)
    Episode.objects.filter(pk=episode.pk).update(audience="us")
    game, found = taken_by("me", episode), []
    while not game.is_over:
        game.tick(game.pace.due)
        found.append(game.written().audience)
    assert found == ["us", "", "", ""] * 2 + ["us", "", "", "us"]


def test_a_clock_writes_the_same_as_turns_do(lane: Lane) -> None:
    ticked, turned = lane(seats=2, steps=2), lane(seats=2, steps=2, tick_ms=0)
    game = taken_by("me", ticked)
    for number in (1, 2):
        for seat in (0, 1):
            press(game, "east", seat=seat)
        game.tick(number / 10)
        both = [SubmittedCommand(seat, EAST) for seat in (0, 1)]
        assert submit_commands(episode_id=turned.pk, step=number, commands=both).accepted
    assert stored("me", game)
    assert [_values(row) for row in rows_of(ticked)] == [_values(row) for row in rows_of(turned)]
    rows = [SeatCommand.objects.filter(episode=one) for one in (ticked, turned)]
    known = [list(each.values_list("step", "seat", "command", "chosen_by", "fallback")) for each in rows]
    assert known[0] == known[1]


def _values(row: Any) -> list[Any]:
    of_commands = [{**each, "received_at": ""} for each in row.commands]
    return [row.number, of_commands, row.events, row.score]


def test_a_player_without_keys_idles_and_the_log_has_it(lane: Lane) -> None:
    episode = lane(steps=2)
    game = taken_by("me", episode)
    played(game, 2)
    assert stored("me", game)
    known = SeatCommand.objects.filter(episode=episode).values_list("command", "chosen_by")
    assert list(known) == [(["stay"], "clock")] * 2


def test_a_key_is_of_the_page_that_plays_and_of_its_own_seat(lane: Lane) -> None:
    game = taken_by("me", lane(seats=2))
    press(game, "east", page="another-page")
    press(game, "east", seat=1, page="page-of-0")
    assert not press(game, "north")
    played(game, 1)
    assert game.turn.world.observe(0)["at"] == [0, 0]
    game.sit(0, "another-page")
    press(game, "east", page="another-page")
    press(game, "east", page="page-of-0", seat=0)
    played(game, 1)
    game.leave(0, "another-page", "a-connection")
    played(game, 1)
    assert game.turn.world.observe(0)["at"] == [1, 0]


def test_a_co_player_remembers_from_owner_to_owner(lane: Lane) -> None:
    episode = lane("walker", seats=2, steps=9)
    first = taken_by("first", episode)
    played(first, 3)
    assert stored("first", first)
    played(first, 2)  # and dies: these are gone
    Ticking.objects.update(until=timezone.now())
    second = taken_by("second", episode)
    assert second.episode.step == 3
    played(second, 1)
    assert stored("second", second)
    made = Decision.objects.filter(mind__episode=episode).order_by("step")
    assert list(made.values_list("step", "number", "memory")) == [(n, n, n) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(("kind", "fallback"), [("stumbler", "error"), ("ponderer", "timeout")])
def test_a_failed_or_late_co_player_idles_and_stops_nobody(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, kind: str, fallback: str
) -> None:
    monkeypatch.setattr(process_pool, "submit", lambda *found: Future())
    episode = lane(kind, seats=2, steps=3)
    game = taken_by("me", episode)
    played(game, 3)
    assert stored("me", game)
    known = SeatCommand.objects.filter(episode=episode, seat=1).values_list("command", "fallback")
    assert list(known) == [(["stay"], fallback)] * 3
    assert Decision.objects.filter(mind__episode=episode, fallback=fallback).count() == 3


def test_the_time_of_a_decision_ends_with_its_answer_not_with_the_tick(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Future[Any]] = []
    now = [100.0]
    monkeypatch.setattr("kitchen.realtime.realtime_agents.time.monotonic", lambda: now[0])

    def ask(*found: object) -> Future[Any]:
        asked.append(Future())
        return asked[-1]

    monkeypatch.setattr(process_pool, "submit", ask)
    episode = lane("ponderer", seats=2, steps=3)
    game = taken_by("me", episode)
    now[0] += 0.02
    asked[0].set_result(Agreed({1: EAST}))
    now[0] += 3  # the countdown
    played(game, 1)
    assert stored("me", game)
    assert Decision.objects.get(mind__episode=episode).milliseconds == pytest.approx(20)


def test_a_thinking_co_player_keeps_acting_and_uses_its_late_decision(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Future[Any]] = []
    kept: list[Any] = []

    def ask(deciding: Coroutine[Any, Any, Any]) -> Future[Any]:
        deciding.close()
        asked.append(Future())
        return asked[-1]

    async def storing(*told: Any) -> None: ...

    def keep(*told: Any) -> Coroutine[Any, Any, None]:
        kept.append(told)
        return storing()

    monkeypatch.setattr(realtime_agents, "start_in_loop", ask)
    monkeypatch.setattr(realtime_agents, "run_once_in_db_thread", keep)
    episode = lane("thinker", seats=2, steps=5)
    game = taken_by("me", episode)
    played(game, 2)
    (standing_now,) = clock_episodes()
    assert read_realtime_episode(
        standing_now, 0.0, game.minds
    )  # somebody has taken a seat: who thinks is not asked anew
    assert len(asked) == 1
    call = Call("stand-in", Request(model="m", messages=(Message("user", "where to?"),)))
    asked[0].set_result(Agreed({1: EAST}, memory=["thought"], calls=(call,)))
    played(game, 1, begin=0.3)
    asked[1].set_result(Agreed({1: EAST}, memory=["in time"]))
    played(game, 2, begin=0.4)
    assert stored("me", game)
    assert len(asked) == 3  # one at a time
    rows = Decision.objects.filter(mind__episode=episode).order_by("number")
    found = list(rows.values_list("step", "seen_step", "memory", "fallback"))
    assert found == [
        (1, 0, ["stayed"], ""),
        (2, 1, ["stayed", "stayed"], ""),
        (3, 0, ["stayed", "stayed", "thought"], ""),
        (4, 3, ["in time"], ""),
        (5, 4, ["in time", "stayed"], ""),
    ]
    assert [call.decision.step for call in ModelCall.objects.all()] == [3]
    known = SeatCommand.objects.filter(episode=episode, seat=1).values_list("command", flat=True)
    assert list(known) == [["stay"], ["stay"], ["east"], ["east"], ["stay"]]
    game.minds.leave(game.episode)
    asked[2].set_result(Agreed({1: EAST}, calls=(call,)))
    store, *told = kept[0]
    store(*told)  # in another thread: it is kept
    assert [row.step for row in rows.filter(dropped="over")] == [5]
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.all())] == [[]]


def test_a_former_owner_stores_nothing(lane: Lane) -> None:
    episode, other = lane(), lane()
    first, own = taken_by("first", episode), taken_by("first", other)
    assert not is_clock_unclaimed(standing(episode))
    played(first, 2)
    played(own, 1)
    Ticking.objects.filter(pk=episode.pk).update(until=timezone.now() - timedelta(seconds=1))
    second = taken_by("second", episode)
    played(second, 1)
    assert stored("second", second)
    assert store_tick_groups("first", [first.written(), own.written()]) == {other.pk}
    assert [len(rows_of(one)) for one in (episode, other)] == [1, 1]


def test_only_one_of_two_owners_claims_a_free_episode(lane: Lane) -> None:
    one = standing(lane())
    assert [take_clock_claim(owner, one) for owner in ("a", "b")] == [True, False]


def test_ticks_that_failed_to_store_are_stored_with_later_ones(lane: Lane) -> None:
    episode = lane(steps=4)
    game = taken_by("me", episode)
    played(game, 1)
    lost = game.written()
    played(game, 1, begin=0.2)
    game.put_back(lost)
    assert game.unstored_since == 0.1
    assert stored("me", game)
    assert [row.number for row in rows_of(episode)] == [1, 2]


def test_time_that_was_lost_is_in_the_log_and_counted(lane: Lane) -> None:
    episode = lane(steps=9)
    game = taken_by("me", episode)
    played(game, 1)
    assert game.tick(2.2) == 2000
    assert stored("me", game)
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at=timezone.now() - timedelta(seconds=3))
    Ticking.objects.update(until=None)
    resumed = taken_by("other", episode)
    played(resumed, 1, begin=resumed.pace.due)
    assert stored("other", resumed)
    found = [[one for one in row.events if one["kind"] == "time_lost"] for row in rows_of(episode)]
    assert [len(each) for each in found] == [0, 1, 1]
    assert found[1][0]["milliseconds"] == 2000
    assert 3000 <= found[2][0]["milliseconds"] < 4000
    ticking = Ticking.objects.get()
    assert (ticking.late, ticking.lost_ms) == (1, 2000 + found[2][0]["milliseconds"])


def test_staff_see_stopped_clocks_and_late_steps(lane: Lane) -> None:
    episode, waits = lane(steps=9), lane()
    game = taken_by("me", episode)
    waits.seats.update(page="")
    game.tick(0.2)
    assert stored("me", game)
    assert clock_totals() == ClockTotals(running=1, stopped=0, steps=1, late=1)
    facts = episode_facts([episode.pk])[episode.pk]
    assert (facts.late, facts.people_missing) == (1, ())
    long_ago = timezone.now() - timedelta(minutes=1)
    Ticking.objects.update(until=long_ago)
    Episode.objects.update(turn_opened_at=long_ago)
    assert clock_totals().stopped == 1


def test_an_episode_ended_by_staff_keeps_its_stored_ticks(lane: Lane) -> None:
    episode = lane()
    game = taken_by("me", episode)
    played(game, 2)
    assert end_episode(episode_id=episode.pk, reason="a fire alarm")
    assert not stored("me", game)
    assert not rows_of(episode)
    assert clock_episodes() == []
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.all())] == [[]]
    assert read_realtime_episode(ClockEpisode(episode.pk, "", None, ""), 0.0) is None


def test_the_clock_begins_when_all_have_opened_their_page(lane: Lane) -> None:
    episode = lane(seats=2)
    episode.seats.filter(number=1).update(page="")
    assert clock_episodes() == []
    Episode.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    assert [one.episode_id for one in clock_episodes()] == [episode.pk]


def test_a_background_agent_does_not_wait_for_the_clock(lane: Lane) -> None:
    with playing_offline():
        episode = lane(steps=1)
        assert submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, EAST)]).accepted
    assert len(rows_of(episode)) == 1


def test_turns_leave_it_alone(lane: Lane) -> None:
    episode = lane("walker", seats=2)
    receipt = submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, EAST)])
    assert receipt.code == "clocked"
    alone = lane("walker")
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(minutes=1))
    assert turns_to_decide() == overdue_turns() == undecided_turns(timedelta()) == []
    assert [one.episode_id for one in clock_episodes()] == [episode.pk, alone.pk]


@pytest.mark.parametrize(
    "more",
    [
        {"minds": ("slow",), "seats": 2},
        {"step_seconds": 5.0},
        {"absence": AbsencePolicy(kind="slow")},
    ],
)
def test_agents_too_slow_for_a_clock_are_refused(lane: Lane, more: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        lane(*more.pop("minds", ()), **more)


def test_a_clock_is_refused_in_a_world_whose_page_supports_turns_only(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LanePage, "supports_clock", False)
    with pytest.raises(SettingsError, match="lane has a clock, but its page"):
        lane()
    assert not Episode.objects.exists()


@pytest.mark.parametrize(("clock", "next_one"), [("turn", True), ("tick", False)])
def test_hints_reach_practice_players_and_instructions_everybody(
    db: None, clock: str, next_one: bool
) -> None:
    settings = {"layout": "cramped_room", "clock": clock}
    minds = [MindPlan("stay", (1,))]
    episode = create_episode(world="overcooked", settings=settings, seats=2, seed=1, minds=minds, hints=True)
    view = current_seat_view(episode.seats.get(number=0))
    assert view.choice.hints[0].startswith("Your cook has a ring around it.")
    assert (view.choice.hinted is not None) is next_one
    assert (
        next_one
        or view.choice.hints[-1] == "Turn to what you want to use. Then press space or the large button."
    )


def test_a_page_reads_news_that_no_tick_carries(lane: Lane) -> None:
    """Forty pages that look at once after every few ticks would be late with the next."""
    episode = lane("walker", seats=2)
    seat = Seat.objects.select_related("episode").get(episode=episode, mind=None)
    page = TickPage(seat, "page-of-0", json=True)

    def shows() -> bool:
        return page.shows(seat_states([seat.pk]))

    game = taken_by("me", episode)
    played(game, 2)
    assert stored("me", game) and shows()
    Episode.objects.filter(pk=episode.pk).update(gone={"1": {"step": 1, "why": "left"}})
    assert not shows()
    assert [json.loads(text) for text in page.look().texts] == [
        {"type": "gone", "said": ["A program plays Player 2 because the person has left."]}
    ]
    assert shows() and not page.look().texts
    Episode.objects.filter(pk=episode.pk).update(status=Episode.Status.OVER)
    assert not shows()
    page.is_over = True
    assert shows()
    Seat.objects.filter(pk=seat.pk).update(page="another")
    assert not shows()
    assert not page.shows({})


def asked_at_once(deciding: Coroutine[Any, Any, Any]) -> Future[Any]:
    made = Future[Any]()
    made.set_result(asyncio.run(deciding))
    return made


@pytest.mark.django_db
def test_pages_that_show_intents_receive_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticking, "LEAD_IN_SECONDS", 0.0)
    monkeypatch.setattr(realtime_agents, "start_in_loop", asked_at_once)
    chosen = {"model": "stand-in", "level": "aip", "tell_foreseen": True}
    for shows in (False, True):
        episode = create_episode(
            world="overcooked",
            settings={"layout": "cramped_room", "clock": "tick", "tick_ms": 100, "ticks": 8},
            seats=2,
            seed=3,
            minds=[MindPlan("proagent", (1,), chosen)],
            shows_intents=shows,
        )
        Seat.objects.filter(episode=episode, mind=None).update(page="page-of-0")
        game = taken_by("me", episode)
        updates = TickUpdates(game, TickSource())
        assert updates.whole()["seats"]["0"].get("intents") == ({} if shows else None)
        found = []
        for tick in range(2):
            game.tick(0.1 * (tick + 1))
            found.append(updates.tick()["seats"]["0"].get("intents"))
        at = {"do": "pickup", "item": "onion", "of": "0", "foresees": "pickup", "what": "onion"}
        assert found == ([{"1": at}, None] if shows else [None, None])
        assert updates.whole()["seats"]["0"].get("intents") == ({"1": at} if shows else None)


@pytest.mark.django_db
@pytest.mark.parametrize("hints", [False, True])
def test_under_a_clock_hints_name_an_errand_and_not_single_moves(
    hints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticking, "LEAD_IN_SECONDS", 0.0)
    episode = create_episode(
        world="overcooked",
        settings={"layout": "cramped_room", "clock": "tick", "tick_ms": 100, "ticks": 8},
        seats=2,
        seed=3,
        minds=[MindPlan("stay", (1,))],
        hints=hints,
    )
    Seat.objects.filter(episode=episode, mind=None).update(page="page-of-0")
    game = taken_by("me", episode)
    updates = TickUpdates(game, TickSource())
    found = [updates.whole()["seats"]["0"]]
    for tick, verb in enumerate(("north", "west", "interact")):
        press(game, verb, page="page-of-0", now=0.1 * (tick + 1))
        game.tick(0.1 * (tick + 1))
        found.append(updates.tick()["seats"]["0"])
    onion = {"do": "pickup", "item": "onion", "at": "0,1 4,1"}
    pot = {"do": "put_onion_in_pot", "at": "2,0"}
    assert [each.get("errand") for each in found] == ([onion, None, None, pot] if hints else [None] * 4)


def test_a_person_takes_the_place_of_an_agent_while_the_clock_runs(lane: Lane) -> None:
    episode = lane("walker", seats=2, absence=AbsencePolicy(kind="walker"), free=[1])
    game = taken_by("me", episode)
    played(game, 1)
    assert stored("me", game)
    before = standing(episode).seats_given
    assert join_episode(episode_id=episode.pk, step_seconds=5) == 1
    assert standing(episode).seats_given != before, "so its owner reads it again"
    again = read_realtime_episode(standing(episode), 0.2, game.minds)
    assert again and sorted(again.keys) == [0, 1] and again.turn.minds == []
    played(again, 1, begin=0.3)
    assert stored("me", again)
    assert [row["chosen_by"] for row in rows_of(episode)[1].commands] == ["clock", "clock"]
    episode.refresh_from_db()
    assert episode.step_seconds is None
