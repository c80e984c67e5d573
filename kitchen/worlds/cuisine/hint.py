"""A hint in words: what would be good to do next, and what for. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command
from kitchen.words.speech import gettext, marked, marked_plural, ngettext
from kitchen.worlds.cuisine.words import brief_words, joined

_GO: Mapping[str, str] = {
    "fetch": marked("Try this: go to {place} to fetch {item} for the {dish}."),
    "take": marked("Try this: go to {place}, where the {item} is ready."),
    "bring": marked("Try this: go to {place} with the {item}."),
    "start": marked("Try this: go to {place} and use it: all that the {item} needs is inside."),
    "serve": marked("Try this: go to {place} with the {item}: a guest waits for it."),
    "stock": marked("Try this: go to {place} with the {item}: a guest may order it later."),
    "discard": marked("Try this: go to {place} to throw the {item} away: it is of no use now."),
    "clear": marked("Try this: go to {place} and take the {item} out: the {dish} needs the room."),
    "wait": marked("Try this: go to {place} and wait there until it is ready."),
}
"""What somebody is told who stands elsewhere, by what is to be done there."""
_DO: Mapping[str, str] = {
    "fetch": marked("Try this: take {item} for the {dish}."),
    "take": marked("Try this: take the {item} out of {place}: it is ready."),
    "bring": marked("Try this: put the {item} into {place}."),
    "start": marked("Try this: use {place}: all that the {item} needs is inside."),
    "serve": marked("Try this: put the {item} on {place}: a guest waits for it."),
    "stock": marked("Try this: put the {item} on {place}: a guest may order it later."),
    "discard": marked("Try this: throw the {item} away: it is of no use now."),
    "clear": marked("Try this: take the {item} out of {place}: the {dish} needs the room."),
    "wait": marked("Try this: wait one step."),
}
"""And who is there already."""
AIMS = tuple(_DO)
"""Everything that can be to be done."""
_ON_BOARD = marked("Try this: put the {item} on {place}.")
_STILL_BUSY = marked_plural(
    "Try this: wait one step; {place} needs {number} step more.",
    "Try this: wait one step; {place} needs {number} steps more.",
)


def hint(view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
    """`Try this: go to storage to fetch rice for the salmon sushi.`"""
    words, to = brief_words(view.brief), aim["to"]
    busy = view.observation["locations"][to]["busy"]
    text = (_GO if command[0] == "goto" else _DO)[aim["do"]]
    if aim["do"] == "bring" and command[0] == "put" and to.startswith("chopboard"):
        text = _ON_BOARD
    waits = aim["do"] == "wait" and command[0] == "noop" and busy
    told = ngettext(*_STILL_BUSY, busy) if waits else gettext(text)
    return joined(
        told.format(
            place=words.place(to),
            item=words.mid(aim.get("item", "")),
            dish=words.mid(aim.get("dish", "")),
            number=busy,
        )
    )
