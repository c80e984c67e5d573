"""The grid in words: a table of it, and both cooks. The drawing's twin. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Json
from kitchen.words.speech import gettext
from kitchen.worlds.overcooked.layout import COUNTER, FLOOR, is_floor
from kitchen.worlds.overcooked.words import facing, furniture, pot, thing

_TEMPLATES = "worlds/overcooked"


class Square(NamedTuple):
    """One cell: what it is (`kind` is a class for its looks), and who or what is there."""

    name: str
    there: str
    kind: str


class Grid(NamedTuple):
    """The grid row by row."""

    rows: tuple[tuple[Square, ...], ...]


class Cook(NamedTuple):
    """One seat: its name; where it is, where it looks and what it holds in one phrase."""

    seat: int
    name: str
    is_you: bool
    told: str


class Cooks(NamedTuple):
    """Both of them."""

    cooks: tuple[Cook, ...]


def grid(view: SeatView) -> Panel:
    """A table, cell by cell."""
    there = _there(view)
    rows = tuple(
        tuple(_square(letter, there.get((x, y), "")) for x, letter in enumerate(row))
        for y, row in enumerate(view.brief["grid"])
    )
    return Panel("grid", f"{_TEMPLATES}/grid.jinja", Grid(rows))


def _square(letter: str, there: str) -> Square:
    kind = "floor" if is_floor(letter) else ("counter" if letter == COUNTER else "place")
    return Square(furniture(FLOOR if is_floor(letter) else letter), there, kind)


def _there(view: SeatView) -> dict[tuple[int, int], str]:
    """Who or what is where."""
    observed = view.observation
    found = {tuple(each["at"]): thing(each["thing"]) for each in observed["counters"]}
    found |= {tuple(each["at"]): pot(each["contents"], each["left"], view.brief) for each in observed["pots"]}
    pairs = zip(observed["players"], view.players, strict=True)
    return found | {tuple(each["at"]): player.name for each, player in pairs}


def cooks(view: SeatView) -> Panel:
    """Who is where."""
    pairs = zip(view.observation["players"], view.players, strict=True)
    lines = tuple(Cook(player.seat, player.name, player.is_you, _told(each)) for each, player in pairs)
    return Panel("cooks", f"{_TEMPLATES}/cooks.jinja", Cooks(lines))


def _told(cook: Mapping[str, Json]) -> str:
    """`column 2, row 2, looks up, holds onion`."""
    column, row = (number + 1 for number in cook["at"])
    holds, face = thing(cook["holds"]), facing(cook["face"])
    said = gettext("column {column}, row {row}, {face}, holds {thing}")
    return said.format(column=column, row=row, face=face, thing=holds)
