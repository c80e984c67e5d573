"""Define text settings of a world that a researcher can draw: a grid of letters and named lines of text.

The text is stored, and the editor shows it as a `GridDrawing`. The world converts text and drawing into each
other, and can comment on the drawing. No Django.
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
    """A kind of cell."""

    letter: str
    """The letter in the text, which is also the key that places this tile."""
    name: str
    """The name that people read: `pot`."""
    picture: str = ""
    """The symbol in `DrawableSetting.pictures`; empty: the letter is shown."""
    once: bool = False
    """True if at most one cell can have it: placing it again moves it."""


class TextField(NamedTuple):
    """One line of text next to the grid."""

    name: str
    label: str
    help: str = ""


class StartingDrawing(NamedTuple):
    """A drawing that the researcher can start from."""

    title: str
    text: str


class DrawingRemark(NamedTuple):
    """A remark on a drawing: REMARK_REFUSED, REMARK_CAUTION or REMARK_FACT, and a whole sentence."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class GridDrawing:
    """A text as the editor shows it: the rows of letters, and every line of text by its name."""

    rows: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was drawn and nothing written."""
        return not any(map(str.strip, (*self.rows, *self.lines.values())))


class DrawableSetting(ABC):
    """The rules for drawing one text setting."""

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
        """Return the drawings to start from, by name; the empty one is first."""

    @abstractmethod
    def sheet(self, text: str) -> GridDrawing:
        """Return the drawing of a text. Raises DataError if it cannot be drawn (the text is edited
        instead)."""

    @abstractmethod
    def text(self, sheet: GridDrawing) -> str:
        """Return the text of a drawing, playable or not; `sheet` reads the same drawing from it."""

    @abstractmethod
    def remarks(self, text: str, settings: Mapping[str, Json]) -> tuple[DrawingRemark, ...]:
        """Return remarks on this text. `settings` are the world's other settings, if they are known. Reasons
        why the text cannot be played come first."""
