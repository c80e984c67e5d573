"""People who are gone: their seats are taken over or the episode ends, and log and pages say so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import (
    close_expired_turn,
    join_episode,
    leave_seat,
    submit_commands,
)
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.common_panels import shared_panels, talk_panel
from kitchen.play.live.page_session import EPISODE_ERASED, TAKEN_OVER_CLOSE_CODE, open_page, take_seat
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision, Episode, Message, Mind, Seat, Step
from kitchen.play.turn import step_timer
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from kitchen.registry.world_registry import get_page
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

PLANNER = AbsencePolicy(2, "planner", {})


def together(absence: AbsencePolicy | None = PLANNER, *, seats: int = 2, **more: Any) -> Episode:
    """Two people whose pages are open, and co-players in the other seats."""
    minds = tuple(mind("planner", seat) for seat in range(2, seats))
    episode = make_episode(seats=seats, minds=minds, absence=absence, **more)
    for seat in episode.seats.filter(mind=None):
        take_seat(seat, page=f"page-of-{seat.number}", newest=True)
    return episode


def time_runs_out(episode: Episode) -> None:
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=0.1))
    close_expired_turn(episode_id=episode.pk, step=Episode.objects.get(pk=episode.pk).step + 1)


def chosen_by(seat: int) -> list[str]:
    rows = Step.objects.order_by("number").values_list("commands", flat=True)
    return [entry["chosen_by"] for row in rows for entry in row if entry["seat"] == seat]


def seen_by(episode: Episode, seat: int) -> Any:
    return current_seat_view(Seat.objects.get(episode=episode, number=seat))


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
        panels = {
            one.id: one
            for one in shared_panels(get_page("cuisine"), replace(seen_by(episode, 0), step=later))
        }
        told = ("From step 3 on, a program plays Robot 2 because the person is away.",)
        assert panels["replaced"].shows == (told,) and panels["gone"].shows == ((told if over else ()),)
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


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
    episode = together(AbsencePolicy(1, "planner"), step_seconds=5)
    key = Seat.objects.get(number=1).key
    page, _ = open_page(key, "page-of-1", newest=True, json=True)
    submit(episode, 1, "noop")
    time_runs_out(episode)
    assert page and page.look().close == TAKEN_OVER_CLOSE_CODE
    assert open_page(key, "page-of-1", newest=True, json=True)[1].close == TAKEN_OVER_CLOSE_CODE


def test_where_nobody_is_to_take_over_the_episode_ends() -> None:
    episode = together(AbsencePolicy(1), step_seconds=5)
    submit(episode, 1, "noop")
    time_runs_out(episode)
    episode.refresh_from_db()
    assert (episode.status, episode.gone) == (Episode.Status.ABANDONED, None)
    assert seen_by(episode, 0).result.abandoned_because == "somebody who played in it was away"
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_when_all_people_are_away_nobody_pays_for_co_players_that_play_alone() -> None:
    episode = together(AbsencePolicy(1, "planner"), step_seconds=5)
    time_runs_out(episode)
    assert Episode.objects.get().status == Episode.Status.ABANDONED


def test_alone_one_is_away_for_as_long_as_one_wants() -> None:
    episode = make_episode(step_seconds=5)
    take_seat(episode.seats.get(), page="page-of-0", newest=True)
    for _ in range(4):
        time_runs_out(episode)
    assert Episode.objects.get().status == Episode.Status.PLAYING


def test_who_leaves_is_replaced_at_once_and_the_key_opens_nothing() -> None:
    episode = together(AbsencePolicy(None, "planner"), seats=3)
    key = Seat.objects.get(number=1).key
    submit(episode, 1, "noop")
    assert leave_seat(episode_id=episode.pk, seat=1)
    assert open_page(key, "page-of-1", newest=True, json=True)[1] == EPISODE_ERASED
    decide_step(episode_id=episode.pk, step=1)
    assert Episode.objects.get().step == 1 and chosen_by(1) == ["planner"]
    assert seen_by(episode, 0).taken_over == ((1, 1, "left"),)
    assert not leave_seat(episode_id=episode.pk, seat=1)
    assert len(Episode.objects.get().gone or {}) == 1


def test_what_somebody_had_chosen_before_they_left_is_done() -> None:
    episode = together(AbsencePolicy(None, "planner"))
    submit(episode, 1, "noop", seat=1)
    leave_seat(episode_id=episode.pk, seat=1)
    submit(episode, 1, "noop")
    submit(episode, 2, "noop")
    decide_step(episode_id=episode.pk, step=2)
    assert Episode.objects.get().gone == {"1": {"step": 2, "why": "left", "said": 0}}
    assert chosen_by(1) == ["person", "planner"]


def test_without_a_rule_who_leaves_ends_the_episode_as_before() -> None:
    episode = together(None)
    assert leave_seat(episode_id=episode.pk, seat=1)
    assert Episode.objects.get().ended_because == "somebody who played in it left the study"
    assert seen_by(episode, 0).taken_over is None


def test_who_takes_over_is_written_to_as_a_co_player() -> None:
    made = make_organisation("central", members_of_plans((), seats=2), seats=2, settings={})
    assert made.is_silent
    made = make_organisation("graph", members_of_plans((), seats=2), seats=2)
    episode = together(AbsencePolicy(None, "planner"), organisation=made)
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("fetch rice", "say", (1,))).accepted
    leave_seat(episode_id=episode.pk, seat=1)
    say = MessageDraft("robot 2, stop", "say", (1,))
    assert send_message(episode_id=episode.pk, seat=0, say=say).accepted and Message.objects.count() == 2
    stored = Episode.objects.get().organisation or {}
    assert [one["person"] for one in stored["members"]] == [True, False]
    submit(episode, 1, "noop")
    decide_step(episode_id=episode.pk, step=1)
    assert Episode.objects.get().step == 1
    # what its person was told is no order
    answer = "Understood: Robot 2 waits. This holds until you write “Go on”."
    assert Message.objects.latest("number").text == answer


def test_a_conversation_ends_when_one_of_the_two_is_replaced_and_the_other_is_told() -> None:
    made = make_organisation("pairwise", members_of_plans((), seats=3), seats=3)
    episode = make_episode(seats=3, absence=PLANNER, organisation=made)
    assert send_message(episode_id=episode.pk, seat=1, say=MessageDraft("hello", to=(0,))).accepted
    assert seen_by(episode, 0).talk.partner == 1
    leave_seat(episode_id=episode.pk, seat=1)
    view = seen_by(episode, 0)
    last = view.talk.messages[-1]
    assert view.talk.partner is None and (last.kind, last.data) == ("system", {"code": "gone", "member": 1})
    assert seen_by(episode, 2).talk.messages == ()
    line: Any = talk_panel(get_page("cuisine"), view).parts[-1].shows
    assert line.text == "The person who played Robot 2 has left. The conversation is over."
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft("hello", to=(2,))).accepted
    assert Episode.objects.get().gone == {"1": {"step": 1, "why": "left", "said": 1}}


def test_the_clock_does_not_wait_for_ever_for_who_never_opens_the_page() -> None:
    episode = make_episode(seats=2, absence=PLANNER, step_seconds=5)
    take_seat(Seat.objects.get(number=0), page="page-of-0", newest=True)
    tasks.pick_up_open_turns()
    assert Episode.objects.get().turn_closes_at is None
    Episode.objects.update(created_at=timezone.now() - step_timer.ARRIVAL)
    tasks.pick_up_open_turns()
    assert Episode.objects.get(pk=episode.pk).turn_closes_at is not None


def test_a_rule_that_cannot_be_is_refused() -> None:
    with pytest.raises(SettingsError, match="absent_steps"):
        make_episode(absence=AbsencePolicy(0, "planner"))


def test_what_an_agent_decides_for_a_place_that_a_person_has_taken_is_not_done() -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),), absence=PLANNER, free=[1])
    submit(episode, 1, "noop")
    row = Decision(
        mind=Mind.objects.get(), step=1, memory=None, note=None, played_by="planner", milliseconds=1
    )
    assert join_episode(episode_id=episode.pk, step_seconds=5) == 1
    late = submit_commands(
        episode_id=episode.pk,
        step=1,
        commands=[SubmittedCommand(1, ("goto", "storage0"), "planner")],
        decisions=[SubmittedDecision(row)],
    )
    assert late.code == "taken" and join_episode(episode_id=episode.pk) is None
    decide_step(episode_id=episode.pk, step=1)
    submit(episode, 1, "noop", seat=1)
    assert chosen_by(1) == ["person"] and Episode.objects.get().step_seconds == 5
    assert seen_by(episode, 0).taken_over == ((1, 1, "joined"),)
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
