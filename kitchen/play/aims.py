"""Jobs with an aim of the world: whether it may be asked for, and what is stored with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils import translation

from kitchen.contract.organisation import Organisation
from kitchen.contract.talk import Say
from kitchen.contract.world import Aim
from kitchen.play.turns import OpenTurn
from kitchen.registry.worlds import get_page


def may_be_asked(turn: OpenTurn, organisation: Organisation, to: Sequence[int], say: Say) -> bool:
    """Whether each of these members has a seat with the aim of this job, if it has one."""
    if "aim" not in say.data:
        return True
    held = (organisation.member(number).seats for number in to)
    return all(seats and _aim(say) in turn.world.aims(seats[0]) for seats in held)


def with_aim(turn: OpenTurn, organisation: Organisation, to: Sequence[int], say: Say) -> Say:
    """The same with what its world wants to know later; and where nothing was written, what it is about in
    plain English: so it is read by those who know no aims."""
    if not (aim := _aim(say)):
        return say
    seats = {number: organisation.member(number).seats for number in to}
    since = {str(number): turn.world.aim_mark(held[0], aim) for number, held in seats.items()}
    others = [seat for held in seats.values() for seat in held[1:]]
    marks = {"marks": {str(seat): turn.world.aim_mark(seat, aim) for seat in others}} if others else {}
    with translation.override("en"):
        text = get_page(turn.episode.world).aimed(turn.world.public_brief(), aim)
    data = {**say.data, "since": since, **marks}
    if say.text.strip():
        return replace(say, data=data)
    return replace(say, text=text, data={**data, "plain": True})


def _aim(say: Say) -> Aim:
    aim = say.data.get("aim")
    return tuple(aim) if isinstance(aim, list | tuple) else ()
