"""Accept people's answers to probes, end a hold whose time is over, and store the values of the slider."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from kitchen.contract.probes import SLIDER_END
from kitchen.play.models import Episode, ProbeAnswer, Seat, SliderRating
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.probe_holds import Answers, end_hold, open_probes, read_answers, store_answers
from kitchen.play.turn.submitted_commands import Receipt
from kitchen.play.turn.turn_cache import refresh_turn
from kitchen.uptime.outage_queries import deadline_counts


def refresh_and_answer(turn: OpenTurn, *, seat: int, step: int, answers: Answers, page: str = "") -> Receipt:
    """Store a person's answers to the probes that hold the game after `step` steps. Return a receipt, which
    also reports a refusal. The same answers sent twice count once.

    Call this in a transaction, on a turn from `exclusive_turn`. The caller lets the game go on.
    """
    refresh_turn(turn, lock=True)
    if page and page != turn.pages.get(seat):
        return Receipt("elsewhere", turn.episode.step)
    if seat not in turn.probed_seats or step != turn.episode.step:
        known = ProbeAnswer.objects.filter(episode=turn.episode, seat=seat, step=step, missing="")
        return Receipt("repeated" if known.exists() else "probe_over", turn.episode.step)
    try:
        stored = read_answers(open_probes(turn), answers)
    except ValueError:
        return Receipt("unanswered", turn.episode.step)
    store_answers(turn, seat, stored)
    end_answered_hold(turn)
    return Receipt("accepted", turn.episode.step)


def end_answered_hold(turn: OpenTurn) -> bool:
    """End the hold if nobody still has to answer. Return True if it was ended."""
    if turn.is_probing and not turn.probed_seats:
        end_hold(turn)
        return True
    return False


def end_expired_hold(turn: OpenTurn) -> bool:
    """End the hold if its time is over, and no outage has shortened it. Return True if it was ended."""
    closes_at = turn.episode.turn_closes_at
    is_over = closes_at is not None and timezone.now() >= closes_at and deadline_counts(closes_at)
    if turn.is_probing and is_over:
        end_hold(turn)
        return True
    return False


def rate(*, episode_id: int, seat: int, step: int, value: int, page: str = "") -> bool:
    """Store a value of the slider that a person has moved after `step` steps. Return False if the episode has
    no slider, or is over, or if another page than `page` plays the seat."""
    if not 0 <= value <= SLIDER_END:
        return False
    with transaction.atomic():
        playing = Episode.objects.select_for_update().filter(pk=episode_id, status=Episode.Status.PLAYING)
        slider = playing.values_list("rating_slider", flat=True).first()
        plays = not page or Seat.objects.filter(episode=episode_id, number=seat, page=page).exists()
        if slider and plays:
            SliderRating.objects.create(episode_id=episode_id, seat=seat, step=step, value=value)
        return bool(slider) and plays
