"""Aims of CuisineWorld in words, as one asks for them. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.world import Aim
from kitchen.words.speech import gettext, marked
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE
from kitchen.worlds.cuisine.words import Words, joined

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


def aimed(words: Words, aim: Aim) -> str:
    """`Make cooked rice`, `Free the blender`."""
    kind, what = aim
    text = gettext(_ASKED[kind])
    return joined(text.format(place=words.place(what)) if kind == FREE else text.format(item=words.mid(what)))
