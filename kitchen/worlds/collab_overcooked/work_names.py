"""Name a whole piece of work with two words, such as *Cut pumpkin*, instead of listing its commands."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import gettext, gettext_noop
from kitchen.worlds.collab_overcooked.display_text import thing_words
from kitchen.worlds.collab_overcooked.food_rules import BLENDER, BOARD, OVEN, POT
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP, PLACE, STARTED_BY
from kitchen.worlds.collab_overcooked.room_layout import DISPENSERS

BRING, CUT, BLEND, COOK, BAKE, PASS = (
    gettext_noop("Bring {thing}"),
    gettext_noop("Cut {thing}"),
    gettext_noop("Blend {thing}"),
    gettext_noop("Cook {thing}"),
    gettext_noop("Bake {thing}"),
    gettext_noop("Pass me {thing}"),
)
JOBS = {BOARD: CUT, BLENDER: BLEND, POT: COOK, OVEN: BAKE}
"""The names of work in utensils, by utensil."""
REFUSAL = gettext_noop("Not now: {work}")
"""The words that refuse a piece of work for now."""
SHORTEST = 2
"""Commands of the shortest piece of work."""


def work_name(macros: Sequence[Command]) -> str:
    """Return the short name of requested commands, such as *Cut pumpkin*. Empty if they are no single piece
    of work."""
    if len(macros) < SHORTEST or macros[0][0] != PICKUP:
        return ""
    started = [macro for macro in macros if macro[0] in STARTED_BY]
    taken = [macro for macro in macros if macro[0] == PICKUP]
    if macros[-1] != (PLACE,) and not (started and macros[-1] == started[-1]):
        return ""
    if len(started) > 1 or len(taken) != (2 if started and macros[-1] == (PLACE,) else 1):
        return ""
    name = JOBS[started[0][1]] if started else BRING if macros[0][-1] in DISPENSERS else PASS
    return gettext(name).format(thing=thing_words(taken[0][1]))


def works_name(macros: Sequence[Command]) -> str:
    """Return the short names of several pieces of work, one after another. Empty if one of them has none."""
    names, first = list[str](), 0
    for number, macro in enumerate(macros, start=1):
        if macro == (PLACE,):
            names.append(work_name(macros[first:number]))
            first = number
    names += [work_name(macros[first:])] if first < len(macros) else []
    return ", ".join(names) if all(names) else ""


def refusal_words(macros: Sequence[Command]) -> str:
    """Return the words that refuse requested commands for now, such as *Not now: Cut pumpkin*. They name each
    piece of work. Empty if one of them has no short name."""
    name = works_name(macros)
    return gettext(REFUSAL).format(work=name) if name else ""
