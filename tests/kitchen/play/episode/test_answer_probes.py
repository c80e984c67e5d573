"""Questions hold the game after a step until everybody has answered, and both are in the sealed log."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen.contract.world import Json
from kitchen.play.episode.absent_players import AbsencePolicy
from kitchen.play.episode.advance_episode import answer_probes, close_expired_turn, leave_seat
from kitchen.play.episode.answer_probes import rate
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, ProbeAnswer, Seat, SliderRating, Step
from kitchen.play.turn.step_timer import start_first_turn_timer
from kitchen.play.turn.submitted_commands import Receipt
from kitchen.play.turn.turn_cache import exclusive_turn
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.servers, pytest.mark.django_db]

TRUST: dict[str, Json] = {
    "key": "trust",
    "step": 1,
    "limit_seconds": 30,
    "items": [{"key": "q1", "kind": "likert", "text": "I trust it.", "low": "no", "high": "yes"}],
}


def answer(episode: Episode, seat: int, value: Json, step: int = 1) -> Receipt:
    with exclusive_turn(episode.pk) as turn:
        return answer_probes(turn, seat=seat, step=step, answers={"trust": {"q1": value}})


def held(**more: Any) -> Episode:
    """An episode of two people that is held after its first step."""
    episode = make_episode(seats=2, probes=[TRUST], **more)
    for seat in (0, 1):
        submit(episode, 1, "noop", seat=seat)
    episode.refresh_from_db()
    assert (episode.step, episode.probing) == (1, True)
    return episode


def test_nobody_can_act_until_the_last_person_has_answered() -> None:
    episode = held()
    views = [current_seat_view(seat) for seat in episode.seats.all()]
    assert [view.phase for view in views] == ["probe", "probe"]
    assert submit(episode, 2, "noop").code == "probing"
    assert answer(episode, 0, 9).code == "unanswered"
    assert answer(episode, 0, "6").accepted
    assert answer(episode, 0, 2).code == "repeated"
    seats = episode.seats.all()
    assert [current_seat_view(seat).waiting_for for seat in seats] == [(1,), (1,)]
    assert current_seat_view(seats[0]).phase == "waiting"
    assert answer(episode, 1, 3).accepted
    for seat in (0, 1):
        assert submit(episode, 2, "noop", seat=seat).accepted
    assert list(ProbeAnswer.objects.values_list("step", "seat", "probe", "answers")) == [
        (1, 0, "trust", {"q1": 6}),
        (1, 1, "trust", {"q1": 3}),
    ]
    pause = [event for event in Step.objects.get(number=2).events if event["kind"] == "probe_pause"]
    assert len(pause) == 1 and pause[0]["milliseconds"] >= 0


def timed(**more: Any) -> Episode:
    """An episode of two people in which a time limit ran before it was held."""
    episode = make_episode(seats=2, probes=[TRUST], step_seconds=5.0, **more)
    start_first_turn_timer(episode_id=episode.pk, everybody=False)
    for seat in (0, 1):
        submit(episode, 1, "noop", seat=seat)
    return episode


def test_a_time_limit_stands_still_and_begins_anew() -> None:
    episode = timed()
    episode.refresh_from_db()
    assert episode.turn_closes_at and overdue_turns() == []
    assert episode.turn_closes_at - episode.turn_opened_at == timedelta(seconds=30), "that of the answer"
    answer(episode, 0, 1)
    answer(episode, 1, 1)
    episode.refresh_from_db()
    assert not episode.probing and episode.asked_at and episode.turn_closes_at
    assert episode.turn_closes_at - episode.asked_at == timedelta(seconds=5)


def test_the_limit_of_an_answer_stays_when_the_last_person_has_no_limit_of_a_step() -> None:
    episode = timed(absence=AbsencePolicy(None, "planner", is_untimed_alone=True))
    assert leave_seat(episode_id=episode.pk, seat=1)
    episode.refresh_from_db()
    assert episode.probing and episode.step_seconds is None and episode.turn_closes_at
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    assert close_expired_turn(episode_id=episode.pk, step=2)
    missing = ProbeAnswer.objects.order_by("seat").values_list("seat", "missing")
    assert list(missing) == [(0, "limit"), (1, "left")]
    episode.refresh_from_db()
    assert not episode.probing and episode.turn_closes_at is None


def test_answers_that_are_missing_after_the_limit_are_marked_and_the_game_goes_on() -> None:
    episode = held()
    answer(episode, 0, 4)
    assert not close_expired_turn(episode_id=episode.pk, step=2)
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=1))
    assert overdue_turns() == [(episode.pk, 2)]
    assert close_expired_turn(episode_id=episode.pk, step=2)
    assert list(ProbeAnswer.objects.order_by("seat").values_list("answers", "missing")) == [
        ({"q1": 4}, ""),
        (None, "limit"),
    ]
    episode.refresh_from_db()
    assert not episode.probing and episode.turn_closes_at is None
    assert answer(episode, 1, 4).code == "probe_over"


def test_co_players_are_not_asked_while_a_question_is_open() -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),), probes=[TRUST])
    Episode.objects.update(step=1, probing=True, turn_opened_at=timezone.now() - timedelta(seconds=9))
    state = {"hold": {"probes": ["trust"], "seats": [0], "at": timezone.now().isoformat(), "timed": False}}
    Episode.objects.update(probe_state=state)
    assert turns_to_decide() == []
    assert episode.pk


def test_who_leaves_has_left_and_the_partner_saw_the_episode_end() -> None:
    episode = held()
    episode.seats.update(page="open")
    assert leave_seat(episode_id=episode.pk, seat=0)
    missing = ProbeAnswer.objects.order_by("seat").values_list("seat", "missing")
    assert list(missing) == [(0, "left"), (1, "ended")]


def test_answers_and_ratings_are_sealed_and_an_open_question_is_marked_at_the_end() -> None:
    episode = held(rating_slider={"text": "Trust", "low": "none", "high": "full"})
    episode.seats.update(page="open")
    answer(episode, 0, 5)
    assert not rate(episode_id=episode.pk, seat=0, step=1, value=60, page="an older one")
    assert rate(episode_id=episode.pk, seat=0, step=1, value=70, page="open")
    end_episode(episode_id=episode.pk, reason="a test")
    assert not rate(episode_id=episode.pk, seat=0, step=1, value=20)
    assert ProbeAnswer.objects.get(seat=1).missing == "ended"
    episode.refresh_from_db()
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]
    assert SliderRating.objects.count() == 1 and Seat.objects.count() == 2
