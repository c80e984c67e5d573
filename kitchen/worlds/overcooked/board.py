"""The grid as drawn: what stands where for the whole episode, and what is seen of it now. Plain Python.

The furniture is drawn by the server. What changes is told as data and drawn by the page itself
(`static/worlds/overcooked/board.js`): so cooks glide, and it looks the same where a clock takes the ticks and
no panel is sent.
"""

from __future__ import annotations

from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import canonical_json
from kitchen.worlds.overcooked.layout import FLOOR, is_floor
from kitchen.worlds.overcooked.script_words import script_words

_TEMPLATES = "worlds/overcooked"
CELL = 48
"""The side of a cell, in units of the drawing."""


class Tile(NamedTuple):
    """One cell: its left upper corner in units of the drawing, and the letter of what stands there, a space
    for floor."""

    x: int
    y: int
    letter: str


class Board(NamedTuple):
    """The grid without anybody in it."""

    columns: int
    rows: int
    cell: int
    tiles: tuple[Tile, ...]
    floor: str
    """`x,y` of every cell of floor, with spaces between."""
    time: str
    """Ticks of cooking as JSON: of any soup, or what each ingredient adds."""
    tick_ms: int
    """0 where ticks wait for everybody."""
    words: str
    """As JSON, what the page says itself of what it shows where a clock takes the ticks; empty elsewhere."""


class Seen(NamedTuple):
    """What is seen now, as JSON, and whose page it is."""

    seat: int
    step: int
    observation: str


def board(view: SeatView) -> Panel:
    """The same for the whole episode."""
    rows = view.brief["grid"]
    cells = [(x, y, letter) for y, row in enumerate(rows) for x, letter in enumerate(row)]
    tiles = tuple(Tile(x * CELL, y * CELL, FLOOR if is_floor(letter) else letter) for x, y, letter in cells)
    floor = " ".join(f"{x},{y}" for x, y, letter in cells if is_floor(letter))
    tick_ms = view.brief["tick_ms"] if view.brief["clock"] == "tick" else 0
    words = canonical_json(script_words(view)) if tick_ms else ""
    time = canonical_json(view.brief["time"])
    shows = Board(len(rows[0]), len(rows), CELL, tiles, floor, time, tick_ms, words)
    return Panel("board", f"{_TEMPLATES}/board.jinja", shows)


def seen(view: SeatView) -> Panel:
    """Cooks, what lies on counters, pots."""
    told = {name: view.observation[name] for name in ("players", "counters", "pots")}
    you = view.seat if view.acts else -1
    return Panel("seen", f"{_TEMPLATES}/seen.jinja", Seen(you, view.step, canonical_json(told)))
