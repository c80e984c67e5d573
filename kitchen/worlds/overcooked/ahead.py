"""What is in front of a cook, and what using it would do, as far as the page can tell. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import COUNTER, DISPENSERS, FLOOR, POT, SERVING, beside, is_floor
from kitchen.worlds.overcooked.things import DISH, FILLED, LAID, POTTED, SERVED, STARTED, TOOK


class Ahead(NamedTuple):
    """The cell that a seat faces: what stands there (a space for floor), what lies there or is in its pot."""

    letter: str
    thing: Json
    """As an observation has it; None for nothing, and for what is no counter."""
    pot: Mapping[str, Json] | None


def ahead(brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> Ahead:
    """What this seat faces."""
    me = observation["players"][seat]
    x, y = cell = beside(tuple(me["at"]), me["face"])
    letter = brief["grid"][y][x]
    things = {tuple(each["at"]): each["thing"] for each in observation["counters"]}
    pots = {tuple(each["at"]): each for each in observation["pots"]}
    return Ahead(FLOOR if is_floor(letter) else letter, things.get(cell), pots.get(cell))


def deed(found: Ahead, holds: Json) -> tuple[str, Json]:
    """What an interact that has an effect does there, and with which thing."""
    if found.letter == COUNTER:
        return (LAID, holds) if holds else (TOOK, found.thing)
    if found.letter == SERVING:
        return SERVED, holds
    if found.letter == POT:
        return _of_pot(holds)
    return TOOK, DISPENSERS.get(found.letter)


def _of_pot(holds: Json) -> tuple[str, Json]:
    if holds is None:
        return STARTED, None
    return (FILLED, None) if holds == DISH else (POTTED, holds)
