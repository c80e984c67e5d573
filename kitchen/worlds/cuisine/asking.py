"""Aims of CuisineWorld in words, as one asks for them. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.world import Aim, Json
from kitchen.words.speech import gettext, marked
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE
from kitchen.worlds.cuisine.words import Words, joined, listed

GROUPS: Mapping[str, str] = {
    SERVE: marked("Serve a dish"),
    MAKE: marked("Make something"),
    FETCH: marked("Fetch something"),
    FREE: marked("Free a tool"),
}
"""Over which words each kind stands."""
_ASKED: Mapping[str, str] = {
    SERVE: marked("Serve {item}"),
    MAKE: marked("Make {item}"),
    FETCH: marked("Fetch {item}"),
    FREE: marked("Free {place}"),
}


def goal(words: Words, brief: Mapping[str, Json]) -> str:
    """`The guests order salmon sushi and tuna sushi. …`"""
    dishes = listed([words.mid(dish) for dish in brief["dishes"]])
    told = gettext("The guests order {dishes}. An order that is not served in time is missed.")
    return told.format(dishes=dishes)


def aimed(words: Words, aim: Aim) -> str:
    """`Make cooked rice`, `Free the blender`."""
    kind, what = aim
    text = gettext(_ASKED[kind])
    return joined(text.format(place=words.place(what)) if kind == FREE else text.format(item=words.mid(what)))
