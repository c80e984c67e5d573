"""Say that practice and the games after it have different lengths, on the guide and beside practice.

Both pages show the world's guide, once for the games and once for practice. Without this note, the two would
name different numbers of steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.registry.world_registry import get_world
from kitchen.words.gettext_without_django import gettext, ngettext
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_seats import seats_of


def practice_length_note(design: Blueprint, plans: Sequence[ConditionPlan]) -> str:
    """Return a sentence with the length of practice and of the first of these conditions, if both play the
    same world. Empty if the lengths are equal or unknown, or if the study has no practice."""
    if not design.has("practice"):
        return ""
    game = next((plan for plan in plans if plan.world == design.practice.world), None)
    if game is None:
        return ""
    practice, played = _length_text(design.practice), _length_text(game)
    if not practice or not played or practice == played:
        return ""
    text = gettext("Practice lasts at most {practice}. The first game lasts at most {game}.")
    return text.format(practice=practice, game=played)


def _length_text(plan: ConditionPlan) -> str:
    """Return the longest duration of a condition as text: `26 steps`, or `67 seconds` under a clock. Empty if
    it has no end."""
    world = get_world(plan.world).create(seats=seats_of(plan), settings=plan.settings)
    if not world.length:
        return ""
    if world.tick_ms:
        seconds = round(world.length * world.tick_ms / 1000)
        return ngettext("{number} second", "{number} seconds", seconds).format(number=seconds)
    return ngettext("{number} step", "{number} steps", world.length).format(number=world.length)
