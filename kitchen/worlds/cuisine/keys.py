"""The letter keys of a kitchen: one meaning each, the same in every level. Plain Python.

The menu is drawn with them, the page follows what is drawn, and the guide tells them from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.world import Command
from kitchen.words.speech import gettext

PLACES = {
    "storage": "s",
    "servingtable": "v",
    "chopboard": "c",
    "blender": "b",
    "pan": "a",
    "fryer": "f",
    "mixer": "m",
    "pot": "o",
    "steamer": "e",
    "oven": "n",
}
"""Goes to a place of this kind; pressed again, to the next one."""
VERBS = {"get": "t", "put": "p", "activate": "u", "noop": "w"}
"""Chooses what can be done in this way; taking leads from one thing to the next."""
THROW_AWAY = "x"
THINGS = "1234567890"
"""Take the first thing, the second, …"""


def key_of(command: Command, kind: str, number: int = 0) -> str:
    """The key of a command about a place of this kind; `number` is where it stands among what can be taken.
    Empty where there is none."""
    verb = command[0]
    if verb == "goto":
        return PLACES.get(kind, "")
    if verb == "get":
        return THINGS[number : number + 1]
    return THROW_AWAY if verb == "put" and kind == "storage" else VERBS.get(verb, "")


def told(kinds: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Every key of a kitchen with these kinds of places (their codes and names), and what it means."""
    places = [
        (PLACES[kind], gettext("Go: {place}").format(place=name)) for kind, name in kinds if kind in PLACES
    ]
    verbs = [
        (VERBS["get"], gettext("Take something; again for the next thing")),
        (f"{THINGS[0]} … {THINGS[8]}", gettext("Take the first thing, the second, and so on")),
        (VERBS["put"], gettext("Put down what you hold")),
        (THROW_AWAY, gettext("Throw away what you hold, at storage")),
        (VERBS["activate"], gettext("Use the tool where you are")),
        (VERBS["noop"], gettext("Wait one step")),
    ]
    return [(key.upper(), meaning) for key, meaning in (*places, *verbs)]
