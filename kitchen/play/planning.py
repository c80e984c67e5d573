"""A person puts another plan in the place of what is left of theirs (`contract.plans`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from kitchen.contract.world import Command
from kitchen.play import clock, stream
from kitchen.play.kept import bring_up_to_date
from kitchen.play.services import Receipt
from kitchen.play.turns import OpenTurn


def plan_replace(
    turn: OpenTurn, *, seat: int, then: Sequence[Command], page: str, step: int | None = None
) -> Receipt:
    """Put another plan in the place of what is left of a person's, or end it where that is empty. What the
    seat does in the open step stands. With `step`, the one that was open where the person did that, nothing
    comes of it in another one; but a plan that was there then is ended later, too. The caller has taken the
    turn; it is up to date afterwards."""
    with transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if code := _plan_refusal(turn, seat, page) or _not_now(turn, seat, then, step):
            return Receipt(code, turn.episode.step)
        turn.replan(seat, then, chosen_by=clock.PERSON)
        if len(turn.people) > 1:  # the others may be shown it, and the stamp knows nothing of plans
            transaction.on_commit(partial(stream.nudge_pages, turn.episode.pk))
    return Receipt("accepted", turn.episode.step)


def _plan_refusal(turn: OpenTurn, seat: int, page: str) -> str | None:
    """Whose command is still to come plans with it."""
    if not turn.is_open:
        return "over"
    if page != turn.pages.get(seat):
        return "elsewhere"
    plans = turn.episode.offers_plans and seat in turn.people and seat not in turn.choosing
    return None if plans else "not_offered"


def _not_now(turn: OpenTurn, seat: int, then: Sequence[Command], step: int | None) -> str | None:
    """Why nothing comes of what was meant for that step."""
    if step is None or step == turn.step:
        return None
    if step > turn.step:
        return "early"
    left = turn.plans.get(seat)
    return None if not then and left and left.step <= step else "late"
