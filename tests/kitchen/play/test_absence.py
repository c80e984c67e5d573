"""People who are gone: their seats are taken over or the episode ends, and log and pages say so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.organisation import organise
from kitchen.contract.talk import Say
from kitchen.contract.world import SettingsError
from kitchen.play import clock
from kitchen.play.absence import Absence
from kitchen.play.creating import members_of
from kitchen.play.deciding import decide_step
from kitchen.play.going import seat_leave
from kitchen.play.models import Episode, Message, Seat, Step
from kitchen.play.open_page import GONE, TAKEN_OVER, page_opened
from kitchen.play.seating import seat_take
from kitchen.play.selectors import seat_view
from kitchen.play.services import turn_close
from kitchen.play.shell import shell, talk_panel
from kitchen.play.talking import message_send
from kitchen.play.verifying import log_verify
from kitchen.registry.worlds import get_page
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

PLANNER = Absence(2, "planner", {})


def together(absence: Absence | None = PLANNER, *, seats: int = 2, **more: Any) -> Episode:
    """Two people whose pages are open, and co-players in the other seats."""
    minds = tuple(mind("planner", seat) for seat in range(2, seats))
    episode = make_episode(seats=seats, minds=minds, absence=absence, **more)
    for seat in episode.seats.filter(mind=None):
        seat_take(seat, page=f"page-of-{seat.number}", newest=True)
    return episode


def time_runs_out(episode: Episode) -> None:
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=0.1))
    turn_close(episode_id=episode.pk, step=Episode.objects.get(pk=episode.pk).step + 1)


def chosen_by(seat: int) -> list[str]:
    rows = Step.objects.order_by("number").values_list("commands", flat=True)
    return [entry["chosen_by"] for row in rows for entry in row if entry["seat"] == seat]


def seen_by(episode: Episode, seat: int) -> Any:
    return seat_view(Seat.objects.get(episode=episode, number=seat))


def test_who_misses_so_many_turns_in_a_row_is_replaced_and_the_others_are_told() -> None:
    episode = together(step_seconds=5)
    for step in (1, 2):
        submit(episode, step, "noop")
        time_runs_out(episode)
    episode.refresh_from_db()
    assert episode.gone == {"1": {"step": 3, "why": "away", "said": 0}} and episode.step == 2
    submit(episode, 3, "noop")
    decide_step(episode_id=episode.pk, step=3)
    assert chosen_by(1) == ["timeout", "timeout", "planner"] and chosen_by(0) == ["person"] * 3
    assert seen_by(episode, 0).taken_over == ((1, 3, "away"),)
    for later, over in ((3, True), (5, False)):  # over the page for a while, below the game for ever
        panels = {one.id: one for one in shell(get_page("cuisine"), replace(seen_by(episode, 0), step=later))}
        told = ("From step 3 on, Robot 2 goes on without its person, who is away.",)
        assert panels["replaced"].shows == (told,) and panels["gone"].shows == ((told if over else ()),)
    assert all(verdict.holds for verdict in log_verify(Episode.objects.all()))


def test_a_turn_that_is_not_missed_begins_the_count_anew() -> None:
    episode = together(step_seconds=5)
    for step, comes in enumerate((False, True, False), start=1):
        submit(episode, step, "noop")
        if comes:
            submit(episode, step, "noop", seat=1)
        else:
            time_runs_out(episode)
    assert Episode.objects.get().gone is None and Episode.objects.get().step == 3


def test_the_page_of_who_was_away_is_told_and_commands_nothing_any_more() -> None:
    episode = together(Absence(1, "planner"), step_seconds=5)
    key = Seat.objects.get(number=1).key
    page, _ = page_opened(key, "page-of-1", newest=True, json=True)
    submit(episode, 1, "noop")
    time_runs_out(episode)
    assert page and page.look().close == TAKEN_OVER
    assert page_opened(key, "page-of-1", newest=True, json=True)[1].close == TAKEN_OVER


def test_where_nobody_is_to_take_over_the_episode_ends() -> None:
    episode = together(Absence(1), step_seconds=5)
    submit(episode, 1, "noop")
    time_runs_out(episode)
    episode.refresh_from_db()
    assert (episode.status, episode.gone) == (Episode.Status.ABANDONED, None)
    assert seen_by(episode, 0).abandoned_because == "somebody who played in it was away"
    assert all(verdict.holds for verdict in log_verify(Episode.objects.all()))


def test_when_all_people_are_away_nobody_pays_for_co_players_that_play_alone() -> None:
    episode = together(Absence(1, "planner"), step_seconds=5)
    time_runs_out(episode)
    assert Episode.objects.get().status == Episode.Status.ABANDONED


def test_alone_one_is_away_for_as_long_as_one_wants() -> None:
    episode = make_episode(step_seconds=5)
    seat_take(episode.seats.get(), page="page-of-0", newest=True)
    for _ in range(4):
        time_runs_out(episode)
    assert Episode.objects.get().status == Episode.Status.PLAYING


def test_who_leaves_is_replaced_at_once_and_the_key_opens_nothing() -> None:
    episode = together(Absence(None, "planner"), seats=3)
    key = Seat.objects.get(number=1).key
    submit(episode, 1, "noop")
    assert seat_leave(episode_id=episode.pk, seat=1)
    assert page_opened(key, "page-of-1", newest=True, json=True)[1] == GONE
    decide_step(episode_id=episode.pk, step=1)
    assert Episode.objects.get().step == 1 and chosen_by(1) == ["planner"]
    assert seen_by(episode, 0).taken_over == ((1, 1, "left"),)
    assert not seat_leave(episode_id=episode.pk, seat=1)
    assert len(Episode.objects.get().gone or {}) == 1


def test_what_somebody_had_chosen_before_they_left_is_done() -> None:
    episode = together(Absence(None, "planner"))
    submit(episode, 1, "noop", seat=1)
    seat_leave(episode_id=episode.pk, seat=1)
    submit(episode, 1, "noop")
    submit(episode, 2, "noop")
    decide_step(episode_id=episode.pk, step=2)
    assert Episode.objects.get().gone == {"1": {"step": 2, "why": "left", "said": 0}}
    assert chosen_by(1) == ["person", "planner"]


def test_without_a_rule_who_leaves_ends_the_episode_as_before() -> None:
    episode = together(None)
    assert seat_leave(episode_id=episode.pk, seat=1)
    assert Episode.objects.get().ended_because == "somebody who played in it left the study"
    assert seen_by(episode, 0).taken_over is None


def test_who_takes_over_is_written_to_as_a_co_player() -> None:
    made = organise("central", members_of((), seats=2), seats=2, settings={})
    assert made.is_silent
    made = organise("graph", members_of((), seats=2), seats=2)
    episode = together(Absence(None, "planner"), organisation=made)
    assert message_send(episode_id=episode.pk, seat=0, say=Say("fetch rice", "say", (1,))).accepted
    seat_leave(episode_id=episode.pk, seat=1)
    say = Say("robot 2, stop", "say", (1,))
    assert message_send(episode_id=episode.pk, seat=0, say=say).accepted and Message.objects.count() == 2
    stored = Episode.objects.get().organisation or {}
    assert [one["person"] for one in stored["members"]] == [True, False]
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1)
    assert Episode.objects.get().step == 1
    assert (
        Message.objects.latest("number").text == "Robot 2: waiting."
    )  # what its person was told is no order


def test_a_conversation_ends_when_one_of_the_two_is_replaced_and_the_other_is_told() -> None:
    made = organise("pairwise", members_of((), seats=3), seats=3)
    episode = make_episode(seats=3, absence=PLANNER, organisation=made)
    assert message_send(episode_id=episode.pk, seat=1, say=Say("hello", to=(0,))).accepted
    assert seen_by(episode, 0).partner == 1
    seat_leave(episode_id=episode.pk, seat=1)
    view = seen_by(episode, 0)
    last = view.messages[-1]
    assert view.partner is None and (last.kind, last.data) == ("system", {"code": "gone", "member": 1})
    assert seen_by(episode, 2).messages == ()
    line: Any = talk_panel(view).parts[-1].shows
    assert line.text == "The person who played Robot 2 is gone: that conversation is over."
    assert message_send(episode_id=episode.pk, seat=0, say=Say("hello", to=(2,))).accepted
    assert Episode.objects.get().gone == {"1": {"step": 1, "why": "left", "said": 1}}


def test_the_clock_does_not_wait_for_ever_for_who_never_opens_the_page() -> None:
    episode = make_episode(seats=2, absence=PLANNER, step_seconds=5)
    seat_take(Seat.objects.get(number=0), page="page-of-0", newest=True)
    tasks.pick_up_open_turns()
    assert Episode.objects.get().turn_closes_at is None
    Episode.objects.update(created_at=timezone.now() - clock.ARRIVAL)
    tasks.pick_up_open_turns()
    assert Episode.objects.get(pk=episode.pk).turn_closes_at is not None


def test_a_rule_that_cannot_be_is_refused() -> None:
    with pytest.raises(SettingsError, match="absent_steps"):
        make_episode(absence=Absence(0, "planner"))
