"""What one cook can do: six buttons in the shape of a pad, and what is in front. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command, canonical_json
from kitchen.words.speech import gettext, marked
from kitchen.worlds.overcooked.ahead import Ahead, ahead, deed
from kitchen.worlds.overcooked.things import FILLED, LAID, POTTED, SERVED, STARTED, TOOK
from kitchen.worlds.overcooked.words import a_thing, found_words, phrase, thing

_TEMPLATES = "worlds/overcooked"
PAD: Mapping[str, tuple[str, str]] = {
    "north": ("↑ W", "arrowup w"),
    "west": ("← A", "arrowleft a"),
    "stay": ("X", "x"),
    "east": ("→ D", "arrowright d"),
    "south": ("↓ S", "arrowdown s"),
    "interact": (marked("Space"), "space"),
}
"""By verb, in reading order: what is written on the key, and the keys that press it."""
USES: Mapping[str, str] = {
    TOOK: marked("Take {thing}"),
    LAID: marked("Put {thing} down"),
    POTTED: marked("Put {thing} into the pot"),
    STARTED: marked("Start the pot"),
    FILLED: marked("Take the soup out"),
    SERVED: marked("Deliver the soup"),
}


class Button(NamedTuple):
    """One of the six; without `value` there is nothing to do with it now."""

    verb: str
    value: str
    text: str
    """What it does now."""
    alone: str
    key: str
    keys: str
    anticipated: bool


class Menu(NamedTuple):
    """The form of one seat, for the coming step; `choosing` is false while others choose."""

    step: int
    seat: int
    player: str
    ahead: str
    holds: str
    choosing: bool
    buttons: tuple[Button, ...]
    ticking: bool
    """A clock takes the ticks: what is pressed counts at once, and is nothing to choose."""


def menu(view: SeatView) -> Panel:
    """The pad, and what one has in hand and in front."""
    found = ahead(view.brief, view.observation, view.seat)
    holds = view.observation["players"][view.seat]["holds"]
    ticking = view.brief["clock"] == "tick"
    buttons = tuple(_button(verb, view, found, ticking=ticking) for verb in PAD)
    shows = Menu(
        view.step + 1,
        view.seat,
        view.players[view.seat].name,
        found_words(found, view.brief),
        thing(holds),
        view.phase == "choose",
        buttons,
        ticking,
    )
    return Panel("menu", f"{_TEMPLATES}/menu.jinja", shows)


def _button(verb: str, view: SeatView, found: Ahead, *, ticking: bool) -> Button:
    command: Command = (verb,)
    early = command in view.anticipated
    offered = ticking or early or command in view.legal
    known = verb == "interact" and command in view.legal and not ticking
    text = use(view, found) if known else phrase(command)
    value = canonical_json(list(command)) if offered else ""
    key, keys = PAD[verb]
    return Button(verb, value, text, phrase(command), gettext(key), keys, early)


def use(view: SeatView, found: Ahead) -> str:
    """What an interact that has an effect does: `Put an onion into the pot`."""
    did, what = deed(found, view.observation["players"][view.seat]["holds"])
    return gettext(USES[did]).format(thing=a_thing(what))
