"""Commands, things and cells in words. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.world import Command, Json
from kitchen.words.speech import gettext, marked, ngettext, pgettext
from kitchen.worlds.overcooked.layout import FLOOR, is_floor

COMMANDS: Mapping[str, str] = {
    "north": marked("Go up"),
    "south": marked("Go down"),
    "east": marked("Go right"),
    "west": marked("Go left"),
    "interact": marked("Use what is in front of you"),
    "stay": marked("Stay"),
}
FURNITURE: Mapping[str, str] = {
    "X": marked("counter"),
    "O": marked("onions"),
    "T": marked("tomatoes"),
    "D": marked("dishes"),
    "P": marked("pot"),
    "S": marked("serving place"),
    " ": marked("floor"),
}
THINGS: Mapping[str, str] = {"onion": marked("onion"), "tomato": marked("tomato"), "dish": marked("dish")}

A_THING: Mapping[str, str] = {
    "onion": marked("an onion"),
    "tomato": marked("a tomato"),
    "dish": marked("a dish"),
}
"""As what is taken or put somewhere."""


def furniture(letter: str) -> str:
    """What stands in a cell, by its letter: `counter`."""
    return gettext(FURNITURE[FLOOR if is_floor(letter) else letter])


def phrase(command: Command) -> str:
    """`Go left`; nothing for what is no command."""
    return gettext(COMMANDS[command[0]]) if command and command[0] in COMMANDS else ""


def thing(item: Json) -> str:
    """What somebody holds, or what lies somewhere: `onion`, `soup of onion, onion, onion`."""
    if item is None:
        return pgettext("what somebody holds", "nothing")
    if isinstance(item, str):
        return gettext(THINGS[item])
    return gettext("soup of {ingredients}").format(ingredients=listed(item[1]))


def a_thing(item: Json) -> str:
    """`an onion`, `a soup`; nothing for nothing."""
    if item is None:
        return ""
    return gettext(A_THING[item]) if isinstance(item, str) else gettext("a soup")


def duration(ticks: int, brief: Mapping[str, Json]) -> str:
    """So many ticks, as people are told of them: `20 steps`, or `3 seconds` where a clock takes them."""
    if brief["clock"] != "tick":
        return ngettext("{count} step", "{count} steps", ticks).format(count=ticks)
    seconds = max(1, round(ticks * brief["tick_ms"] / 1000))
    return ngettext("{count} second", "{count} seconds", seconds).format(count=seconds)


def listed(ingredients: Sequence[str]) -> str:
    """`onion, onion, tomato`."""
    return ", ".join(gettext(THINGS[each]) for each in ingredients)


def pot(contents: Sequence[str], left: int | None, brief: Mapping[str, Json]) -> str:
    """`onion, onion; not cooking yet`, `onion, onion, onion; ready in 3 steps`."""
    if left is None:
        state = gettext("not cooking yet")
    elif left == 0:
        state = gettext("ready")
    else:
        state = gettext("ready in {time}").format(time=duration(left, brief))
    return f"{listed(contents)}; {state}"
