"""Define text settings of a world that a researcher can draw: a grid of letters and named lines of text.

The text is what is stored; a `GridDrawing` is how the editor shows it. The world converts one into the
other and remarks on how a game there would be. Plain Python, no Django.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.contract.world import Json

REMARK_REFUSED, REMARK_CAUTION, REMARK_FACT = "refused", "caution", "fact"
"""Kinds of `DrawingRemark`: it cannot be played; it can, but hardly as anybody means it; what is good to
know."""


class TileKind(NamedTuple):
    """What can stand in a cell."""

    letter: str
    """In the text, and the key that puts it there."""
    name: str
    """In words: `pot`."""
    picture: str = ""
    """Its symbol in `DrawableSetting.pictures`; empty: its letter is shown."""
    once: bool = False
    """It stands in one cell at most: put elsewhere, it is taken from there."""


class TextField(NamedTuple):
    """One line of text beside the grid."""

    name: str
    label: str
    help: str = ""


class StartingDrawing(NamedTuple):
    """What can be drawn on from."""

    title: str
    text: str


class DrawingRemark(NamedTuple):
    """Something to be told of what is drawn: REFUSED, CAUTION or FACT, and a whole sentence."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class GridDrawing:
    """A text as it is drawn: the rows of letters, and every line by its name."""

    rows: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Nothing was drawn and nothing written."""
        return not any(map(str.strip, (*self.rows, *self.lines.values())))


class DrawableSetting(ABC):
    """How one text setting is drawn."""

    tiles: tuple[TileKind, ...]
    """Floor, or what else is nothing, first: it is where nothing else is."""
    border: str
    """The letter of new cells at the border."""
    lines: tuple[TextField, ...]
    most: tuple[int, int]
    """Columns and rows."""
    pictures: str
    """A static file of SVG symbols."""
    belongs: tuple[str, str]
    """A setting of the same world, and the value of it with which what is drawn counts."""

    @abstractmethod
    def begun(self) -> Mapping[str, StartingDrawing]:
        """What can be drawn on from, by a name: first what is empty."""

    @abstractmethod
    def sheet(self, text: str) -> GridDrawing:
        """How a text is drawn; DataError for one that cannot be: it is written then."""

    @abstractmethod
    def text(self, sheet: GridDrawing) -> str:
        """The text of what was drawn, whether or not it can be played; `sheet` reads the same from it."""

    @abstractmethod
    def told(self, text: str, settings: Mapping[str, Json]) -> tuple[DrawingRemark, ...]:
        """What there is to say of this text beside the world's other settings, as far as these are known:
        first why it cannot be played."""
