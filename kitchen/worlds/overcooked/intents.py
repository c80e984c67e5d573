"""What partners are about to do, and what they expect of whoever reads, in words. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.skills import WAIT
from kitchen.contract.world import Intent
from kitchen.words.speech import gettext, marked
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, PUT, START
from kitchen.worlds.overcooked.things import DISH

ONION, TOMATO = "onion", "tomato"
_TEMPLATES = "worlds/overcooked"
NEXT: Mapping[str, str] = {
    f"{PICKUP} {ONION}": marked("Next: take an onion"),
    f"{PICKUP} {TOMATO}": marked("Next: take a tomato"),
    f"{PICKUP} {DISH}": marked("Next: take a dish"),
    PUT[ONION]: marked("Next: put an onion into a pot"),
    PUT[TOMATO]: marked("Next: put a tomato into a pot"),
    PLACE: marked("Next: put something down on a counter"),
    START: marked("Next: start a pot"),
    FILL: marked("Next: take a soup out of a pot"),
    DELIVER: marked("Next: deliver a soup"),
    WAIT: marked("Next: wait"),
}
"""What a partner is at, by its skill and what that is about."""
EXPECTS: Mapping[str, str] = {
    f"{PICKUP} {ONION}": marked("It expects that you take an onion"),
    f"{PICKUP} {TOMATO}": marked("It expects that you take a tomato"),
    f"{PICKUP} {DISH}": marked("It expects that you take a dish"),
    PUT[ONION]: marked("It expects that you put an onion into a pot"),
    PUT[TOMATO]: marked("It expects that you put a tomato into a pot"),
    PLACE: marked("It expects that you put something down on a counter"),
    START: marked("It expects that you start a pot"),
    FILL: marked("It expects that you take a soup out of a pot"),
    DELIVER: marked("It expects that you deliver a soup"),
    WAIT: marked("It expects that you wait"),
}
"""What it expects of whoever reads, likewise."""


class Partner(NamedTuple):
    """One cook but one's own, and what it says; empty where it has said nothing."""

    seat: int
    name: str
    text: str


class Intents(NamedTuple):
    """Everybody else, in the order of seats."""

    partners: tuple[Partner, ...]


def intents(view: SeatView) -> Panel:
    """What the others are about to do."""
    partners = tuple(
        Partner(player.seat, player.name, in_words(view.intents.get(player.seat, {}), view.seat))
        for player in view.players
        if not player.is_you
    )
    return Panel("intents", f"{_TEMPLATES}/intents.jinja", Intents(partners))


def in_words(intent: Intent, seat: int) -> str:
    """`Next: take an onion. It expects that you deliver a soup`; empty where nothing is said to this seat."""
    at = NEXT.get(_code(intent, "do", "item"), "")
    expects = EXPECTS.get(_code(intent, "foresees", "what"), "") if intent.get("of") == str(seat) else ""
    return ". ".join(gettext(text) for text in (at, expects) if text)


def _code(intent: Intent, *names: str) -> str:
    return " ".join(word for name in names if (word := intent.get(name)))
