"""Define settings of a world, such as a map, that a researcher can edit as a drawing.

A drawing (`GridDrawing`) is a grid of letters with some named lines of text. Only the setting's text is
stored. The world converts the text to a drawing and back, and comments on the drawing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.contract.world import Json

REMARK_REFUSED, REMARK_CAUTION, REMARK_FACT = "refused", "caution", "fact"
"""Kinds of `DrawingRemark`: not playable; playable, but probably unintended; general information."""


class TileKind(NamedTuple):
    """A kind of cell in a drawing, such as a pot: its letter, name and picture."""

    letter: str
    """The letter in the text, which is also the key that places this tile."""
    name: str
    """The name that people read: `pot`."""
    picture: str = ""
    """The symbol in `DrawableSetting.pictures`; empty: the letter is shown."""
    once: bool = False
    """True if at most one cell can have it: placing it again moves it."""


class TextField(NamedTuple):
    """One line of text beside the grid, with its label."""

    name: str
    label: str
    help: str = ""


class StartingDrawing(NamedTuple):
    """A drawing that the researcher can choose as a start."""

    title: str
    text: str


class DrawingRemark(NamedTuple):
    """A comment on a drawing: a kind (REMARK_REFUSED, REMARK_CAUTION or REMARK_FACT) and a whole sentence."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class GridDrawing:
    """A setting's text in the form that the editor shows: rows of letters, and lines of text by name."""

    rows: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return True if no cell is drawn and no line has text."""
        return not any(map(str.strip, (*self.rows, *self.lines.values())))


class DrawableSetting(ABC):
    """The rules for editing one text setting as a drawing."""

    tiles: tuple[TileKind, ...]
    """The kinds of cell. Floor, or another empty cell, is first: it fills all other cells."""
    border: str
    """The letter of new cells at the border."""
    lines: tuple[TextField, ...]
    most: tuple[int, int]
    """Maximum numbers of columns and rows."""
    pictures: str
    """Path of a static file of SVG symbols."""
    belongs: tuple[str, str]
    """Another setting of the same world, and its value for which the drawing is used."""

    @abstractmethod
    def starting_drawings(self) -> Mapping[str, StartingDrawing]:
        """Return the drawings that the researcher can start from, by name. The first one is empty."""

    @abstractmethod
    def sheet(self, text: str) -> GridDrawing:
        """Return the drawing that a text describes. Raises DataError if the text cannot be drawn; the
        researcher must then edit the text itself."""

    @abstractmethod
    def text(self, sheet: GridDrawing) -> str:
        """Return the text that stands for a drawing, even if the drawing cannot be played. `sheet` turns this
        text back into the same drawing."""

    @abstractmethod
    def remarks(self, text: str, settings: Mapping[str, Json]) -> tuple[DrawingRemark, ...]:
        """Return comments on the drawing that this text describes. Reasons why it cannot be played come
        first. `settings` are the world's other settings, if they are known."""
