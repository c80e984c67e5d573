"""Find commands that are possible but lead to nothing, as far as this seat may know, and say why.

The page asks before it sends such a command. Everybody sees whether the contents of a utensil make
something (`fit` in the observation). What the recipe says is told only to a seat that has it.
"""

from __future__ import annotations

from collections import Counter

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.display_text import list_words
from kitchen.worlds.collab_overcooked.food_rules import base_food
from kitchen.worlds.collab_overcooked.macro_checks import DELIVER, FILL, STARTED_BY


def doubt_words(command: Command, view: SeatView) -> str:
    """Return why a command leads to nothing, as a sentence; empty if nothing speaks against it."""
    verb, order = command[0], view.brief["order"]
    if verb in STARTED_BY:
        return _start_doubt(command[1], _utensil(view, command[1]), view)
    if verb == DELIVER:
        held = view.observation["players"][view.seat]["holds"]
        return "" if held and base_food(held) == order else gettext("This is not what is ordered.")
    if verb == FILL:
        ready = _utensil(view, command[1])["ready"]
        return gettext("This is not what is ordered.") if ready and ready != order else ""
    return ""


def _utensil(view: SeatView, name: str) -> dict[str, Json]:
    return next(each for each in view.observation["utensils"] if each["thing"] == name)


def _start_doubt(name: str, seen: dict[str, Json], view: SeatView) -> str:
    inside: Counter[str] = Counter(seen["contents"])
    steps = view.brief["recipe"]["steps"] if "recipe" in view.brief else ()
    wanted = [Counter(contents) for utensil, _, *contents in steps if utensil == name]
    if inside in wanted:
        return ""
    if missing := next((sorted((one - inside).elements()) for one in wanted if inside < one), []):
        text = gettext("The recipe needs more in it: {things}.").format(things=list_words(missing))
        return text if seen["fit"] == "all" else f"{text} {gettext('The food would be lost.')}"
    if seen["fit"] == "part":
        return gettext("Something is missing: the food would be lost.")
    if seen["fit"] == "none":
        return gettext("This becomes nothing that anybody knows: the food would be lost.")
    return gettext("The recipe does not say this.") if steps else ""
