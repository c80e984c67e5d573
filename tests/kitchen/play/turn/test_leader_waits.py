"""Steps that wait for a person who leads without a robot, in the schedule in which all think at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen.contract.organisation import END, Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.team_schedules import FREE, IN_ROUNDS, RELAY, TOGETHER
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import close_expired_turn, leave_seat
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Message, SeatCommand, Step
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide, undecided_turns
from kitchen.play.turn.websocket_messages import SayMessage
from kitchen.replay.replay_verification import verify_replays
from tests.kitchen.factories import make_episode, mind, submit
from tests.kitchen.play.test_leading import LEAD, give, led, opened, states

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

LONG_AGO = timedelta(minutes=5)


def end(episode: Episode) -> str:
    return send_message(episode_id=episode.pk, seat=LEAD, say=MessageDraft("", END)).code


def awaited(episode: Episode) -> bool:
    """Whether the open step waits for the leader."""
    with read_turn(episode.pk) as turn:
        return turn.is_open and LEAD in turn.people_to_answer


def go_on(episode: Episode) -> int:
    """Let the pause of the open step be over, and let the agents decide. Return the number of steps taken."""
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at=timezone.now() - LONG_AGO)
    decide_step(episode_id=episode.pk, step=Episode.objects.get(pk=episode.pk).step + 1)
    return Episode.objects.get(pk=episode.pk).step


def in_rounds(**more: Any) -> Episode:
    return led(schedule=IN_ROUNDS, **{"step_seconds": None, **more})


def test_a_round_waits_for_the_leader_until_the_leader_has_no_more_jobs() -> None:
    episode = in_rounds()
    assert awaited(episode) and go_on(episode) == 0
    assert (turns_to_decide(), undecided_turns(timedelta(0))) == ([], [])
    (facts,) = episode_facts([episode.pk]).values()
    assert facts.people_missing == (LEAD,)
    assert give(episode, 1, aim=("fetch", "rice")) == "accepted"
    assert awaited(episode) and go_on(episode) == 0, "two workers have no job yet"
    assert end(episode) == "accepted"
    assert not awaited(episode)
    Episode.objects.update(turn_opened_at=timezone.now() - LONG_AGO)
    assert turns_to_decide() == [(episode.pk, 1)]
    assert go_on(episode) == 1 and not awaited(episode), "a worker is at its job"
    for _ in range(60):
        if not awaited(episode):
            go_on(episode)
    assert awaited(episode), "the next round begins"
    assert states(episode) == {1: "done"}
    rows = Episode.objects.all()
    assert [verdict.holds for verdict in verify_episode_logs(rows)] == [True]
    assert [verdict.fault for verdict in verify_replays(rows)] == [""]


def test_a_round_begins_when_every_worker_has_a_job() -> None:
    episode = in_rounds()
    for worker, thing in enumerate(("rice", "salmon", "tuna")):
        assert awaited(episode)
        give(episode, worker, aim=("fetch", thing))
    assert not awaited(episode) and go_on(episode) == 1


def test_words_alone_do_not_end_the_wait() -> None:
    episode = in_rounds()
    say = MessageDraft("Be quick.")
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).accepted
    assert awaited(episode)


@pytest.mark.parametrize("schedule", [TOGETHER, RELAY, FREE])
def test_no_other_schedule_waits_for_the_leader(schedule: str) -> None:
    episode = led(schedule=schedule, step_seconds=None)
    assert not awaited(episode) and go_on(episode) > 0
    assert not awaited(episode)


def test_the_end_of_the_step_timer_ends_the_wait() -> None:
    episode = in_rounds(step_seconds=20)
    opened(episode)
    assert not close_expired_turn(episode_id=episode.pk, step=1) and awaited(episode)
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    assert overdue_turns() == [(episode.pk, 1)] and turns_to_decide() == []
    assert close_expired_turn(episode_id=episode.pk, step=1) and not awaited(episode)
    assert overdue_turns() == [] and go_on(episode) == 1
    ended = Message.objects.get(kind=END)
    assert (ended.sender, ended.to, ended.data) == (LEAD, [], {"house": True, "ran_out": True})
    assert set(SeatCommand.objects.values_list("seat", flat=True)) == {0, 1, 2}


def test_the_step_timer_does_not_slow_down_steps_in_which_the_leader_is_not_asked() -> None:
    episode = in_rounds(step_seconds=600)
    opened(episode)
    give(episode, aim=("fetch", "rice"))
    Episode.objects.update(turn_opened_at=timezone.now())  # on a slow machine it opened long ago
    decide_step(episode_id=episode.pk, step=1)
    assert not Step.objects.exists(), "people must be able to see each step"
    assert go_on(episode) == 1 and not awaited(episode)
    assert go_on(episode) == 2


def test_messages_that_come_twice_or_late_change_nothing() -> None:
    episode = in_rounds()
    page = opened(episode)
    done = SayMessage("", (), END, after=0, step=1)
    page.say(done)
    page.say(done)
    assert Message.objects.filter(kind=END).count() == 1
    assert go_on(episode) == 1 and awaited(episode), "nobody has a job, so the next round begins"
    answer = "".join(page.say(done).texts)
    assert awaited(episode) and "Nothing was sent" not in answer
    page.say(SayMessage("", (), END, after=1, step=2))
    assert not awaited(episode)
    page.say(SayMessage("", (), END, step=2))
    assert Message.objects.filter(kind=END).count() == 2
    assert go_on(episode) == 2


def test_an_end_of_a_wait_does_not_count_as_a_message_and_reaches_nobody() -> None:
    episode = in_rounds()
    end(episode)
    codes = [give(episode, 1, aim=("fetch", "rice"), text=str(number)) for number in range(4)]
    assert codes == ["accepted"] * 3 + ["too_many"]
    with read_turn(episode.pk) as turn:
        assert turn.mailbox is not None
        assert not any(said.kind == END for said in turn.mailbox.heard(turn.world, 1))


def test_the_page_says_that_the_step_waits_and_has_a_button() -> None:
    episode = in_rounds(step_seconds=20)
    first = "".join(opened(episode).show().texts)
    assert "The step waits for you" in first and 'id="pass-turn">No more jobs now' in first
    assert 'name="step" value="1"' in first and "s left" in first
    page = opened(episode)
    after = "".join(page.say(SayMessage("", (), END, step=1)).texts)
    assert 'id="pass-turn"' not in after and "The step waits" not in after
    assert 'is-reserved" aria-hidden="true">No more jobs now' in after, (
        "nothing moves when the next wait begins"
    )
    assert "Waiting for" in after
    assert "conversation has ended" not in after
    seat = episode.seats.select_related("episode").get(number=LEAD)
    assert current_seat_view(seat).waiting_for == (0, 1, 2)


def test_people_with_a_robot_read_that_the_step_waits_for_the_leader() -> None:
    minds = (mind("follower", 1),)
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    team = make_organisation("tree", members, seats=2, settings={"schedule": IN_ROUNDS})
    episode = make_episode(seats=2, minds=minds, organisation=team)
    submit(episode, 1, "noop")
    seat = episode.seats.select_related("episode").get(number=0)
    view = current_seat_view(seat)
    assert (view.phase, view.waiting_for) == ("waiting", (1, 2))
    assert Step.objects.count() == 0 and turns_to_decide() == []
    assert send_message(episode_id=episode.pk, seat=2, say=MessageDraft("", END)).accepted
    assert current_seat_view(seat).phase == "thinking"
    assert go_on(episode) == 1


def test_a_leader_who_leaves_blocks_nobody() -> None:
    episode = in_rounds()
    assert leave_seat(episode_id=episode.pk, seat=LEAD)
    assert Episode.objects.get().status == Episode.Status.ABANDONED
