"""Define the data that the templates of `GridPage` show in each panel."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.pages.default_page import CommandGroup
from kitchen.pages.json_tables import Fact


class DrawnTile(NamedTuple):
    """One drawn cell: its upper left corner in units of the drawing, its kind (`floor`, `wall` or
    `place`), and its picture or letter."""

    x: int
    y: int
    kind: str
    picture: str
    letter: str
    edge: str = ""
    """`front` if the eye sees the front of this cell, above walkable floor. `shade` if this is that floor."""


class DrawnBoard(NamedTuple):
    """The constant part of the drawing: the cells of the grid."""

    columns: int
    rows: int
    cell: int
    tiles: tuple[DrawnTile, ...]
    floor: str
    """`x,y` of every walkable cell, separated by spaces."""
    rules: str
    """The input of the script, as JSON (`GridPage.script_rules`)."""
    pictures: str
    tick_ms: int
    """Milliseconds between steps; 0 where steps wait for everybody."""
    words: str
    """The texts for the script in a real-time world, as JSON. Empty in a turn-based world."""


class DrawnObservation(NamedTuple):
    """The changing part of the drawing, as JSON for the script. `seat` is -1 for a person who only
    watches."""

    seat: int
    step: int
    observation: str


class CellText(NamedTuple):
    """One cell as text: its kind, and who or what is on it."""

    name: str
    there: str
    kind: str


class GridText(NamedTuple):
    """All cells of the grid as text, row by row."""

    rows: tuple[tuple[CellText, ...], ...]


class ActorText(NamedTuple):
    """One seat's position, direction and held thing, as text."""

    seat: int
    name: str
    is_you: bool
    description: str


class ActorList(NamedTuple):
    """All seats, in order of their numbers."""

    actors: tuple[ActorText, ...]


class ScoreFigure(NamedTuple):
    """One metric of the score in a real-time episode, with its value as text."""

    name: str
    kind: str
    label: str
    text: str


class ClockScore(NamedTuple):
    """The score in a real-time episode. The script `js/grid_words.js` updates it."""

    figures: tuple[ScoreFigure, ...]


class FactList(NamedTuple):
    """Values of the observation that are not shown on the grid."""

    facts: tuple[Fact, ...]


class PadButton(NamedTuple):
    """One command button. Without `value`, the button cannot be used now."""

    verb: str
    value: str
    text: str
    """The button's present function."""
    alone: str
    """The button's general function."""
    key: str
    keys: str
    note: str


class CommandPad(NamedTuple):
    """The command buttons of one seat for the open step. `groups` are the commands without a button."""

    step: int
    seat: int
    player: str
    may_act: bool
    ahead: str
    """The thing in front of it, as text; empty in a world without directions."""
    holds: str
    """The thing it holds, as text; empty in a world without things to hold."""
    choosing: bool
    buttons: tuple[PadButton, ...]
    groups: tuple[CommandGroup, ...]
    ticking: bool
    """True if a clock takes the steps, so that key presses take effect at once."""
