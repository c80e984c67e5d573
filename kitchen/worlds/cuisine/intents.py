"""What the other robots are about to do, in words: a line for each that has said so. Plain Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Intent
from kitchen.words.speech import gettext, marked
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.words import Words, joined

_TEMPLATES = "worlds/cuisine"
_TELLS: Mapping[str, str] = {
    "bring": marked("Next: bring {item} to {place} for {dish}"),
    "start": marked("Next: use {place} for {dish}"),
    "serve": marked("Next: serve {item}"),
    "discard": marked("Next: throw {item} away"),
    "wait": marked("Next: wait, there is nothing to do"),
    "fetch": marked("Next: fetch {item}"),
    "make": marked("Next: make {item}"),
    "free": marked("Next: empty {place}"),
}
"""By what is to be done."""
_FORESEES: Mapping[str, str] = {
    "serve": marked("It expects that you serve {item}"),
    "fetch": marked("It expects that you fetch {item}"),
    "make": marked("It expects that you make {item}"),
    "free": marked("It expects that you empty {place}"),
    "wait": marked("It expects that you wait"),
}
"""By what a robot foresees of who looks at the page."""
_ANYWHERE: Mapping[str, str] = {
    "bring": marked("Next: bring {item} for {dish}"),
    "start": marked("Next: use a tool for {dish}"),
}
"""Where it is not settled which of several places it will be."""
_AGENT = re.compile(r"\b[Aa]gent ?(\d{1,2})\b")


class Line(NamedTuple):
    """What one robot is about to do; nothing where it has not said so."""

    text: str = ""
    said: str = ""
    """In words of its own, instead."""
    thought: str = ""
    """What it thought before, in a fold."""


class Told(NamedTuple):
    """A line, and seats and names of those whose it is: a mind may say the same of all that it commands."""

    robots: tuple[tuple[int, str], ...]
    line: Line


class Intents(NamedTuple):
    """Every line, in the order of seats; none of a robot that has not said anything."""

    rows: tuple[Told, ...]


def intents(view: SeatView, known: Known) -> Panel:
    """What stands under the drawing."""
    found: dict[Line, list[tuple[int, str]]] = {}
    for player in view.players:
        if not player.is_you and any(line := _line(player.seat, view, known)):
            found.setdefault(line, []).append((player.seat, player.name))
    rows = tuple(Told(tuple(robots), line) for line, robots in found.items())
    return Panel("intents", f"{_TEMPLATES}/intents.jinja", Intents(rows))


def lines(view: SeatView, known: Known) -> tuple[Panel, ...]:
    """What stands in the table under each robot but one's own: a part for each."""
    return tuple(
        Panel(f"r{player.seat}-next", f"{_TEMPLATES}/intent.jinja", _line(player.seat, view, known))
        for player in view.players
        if not player.is_you
    )


def _line(seat: int, view: SeatView, known: Known) -> Line:
    intent = view.intents.get(seat, {})
    if intent.keys() & {"said", "thought"}:
        words = (_named(intent.get(name, ""), view, known) for name in ("said", "thought"))
        return Line("", *words)
    text = in_words(intent, known) if intent.get("do") in _TELLS else ""
    expects = foreseen(intent, view.seat, known)
    return Line(". ".join(part for part in (text, expects) if part))


def in_words(intent: Intent, known: Known) -> str:
    """`Next: bring rice to pot 1 for salmon sushi`."""
    place, words = intent.get("to", ""), known.words
    nowhere = place and place not in known.brief["locations"]
    text = _ANYWHERE[intent["do"]] if nowhere else _TELLS[intent["do"]]
    item, dish = intent.get("item", ""), intent.get("dish", "")
    return joined(gettext(text).format(place=words.place(place), item=words.mid(item), dish=words.mid(dish)))


def foreseen(intent: Intent, seat: int, known: Known) -> str:
    """`It expects that you serve salmon sushi`; empty for whom nothing is foreseen."""
    if intent.get("of") != str(seat) or intent.get("foresees") not in _FORESEES:
        return ""
    what, words, text = intent.get("what", ""), known.words, _FORESEES[intent["foresees"]]
    return joined(gettext(text).format(place=words.place(what), item=words.mid(what)))


def _named(said: str, view: SeatView, known: Known) -> str:
    """What a model said, with our names for its agents, places and items."""
    names = {str(player.seat): player.name for player in view.players}
    told = _AGENT.sub(lambda found: names.get(found[1], found[0]), said)
    return _codes(known).sub(lambda found: _name(found[0], known.words), told)


def _codes(known: Known) -> re.Pattern[str]:
    brief = known.brief
    codes = sorted({*brief["locations"], *brief["base"], *brief["recipes"]}, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, codes))})\b")


def _name(code: str, words: Words) -> str:
    return words.place(code) if code[-1:].isdigit() else words.mid(code)
