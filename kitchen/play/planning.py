"""A person puts another plan in the place of what is left of theirs (`filling`)."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from kitchen.contract.world import Command
from kitchen.play import clock
from kitchen.play.kept import bring_up_to_date
from kitchen.play.services import Receipt
from kitchen.play.turns import OpenTurn


def plan_replace(turn: OpenTurn, *, seat: int, then: Sequence[Command], page: str) -> Receipt:
    """Put another plan in the place of what is left of a person's, or end it where that is empty. What the
    seat does in the open step stands. The caller has taken the turn; it is up to date afterwards."""
    with transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if code := _plan_refusal(turn, seat, page):
            return Receipt(code, turn.episode.step)
        turn.replan(seat, then, chosen_by=clock.PERSON)
    return Receipt("accepted", turn.episode.step)


def _plan_refusal(turn: OpenTurn, seat: int, page: str) -> str | None:
    """Whose command is still to come plans with it."""
    if not turn.is_open:
        return "over"
    if page != turn.pages.get(seat):
        return "elsewhere"
    return None if turn.episode.offers_plans and seat in turn.given else "not_offered"
