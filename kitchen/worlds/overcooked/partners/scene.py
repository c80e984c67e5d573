"""What a co-player is told, as the planning of ways needs it. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import Cell, Layout, Soup, is_floor
from kitchen.worlds.overcooked.things import Item


@dataclass(frozen=True, slots=True)
class SeenPot:
    """A pot with something in it."""

    contents: Soup
    left: int | None
    """Ticks until it is ready: None if it is not started, 0 if it is."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment, as everybody sees it."""

    layout: Layout
    starts_itself: bool
    at: tuple[Cell, Cell]
    face: tuple[str, str]
    hands: tuple[Item | None, Item | None]
    counters: Mapping[Cell, Item]
    pots: Mapping[Cell, SeenPot]
    tick: int
    ticks_left: int

    @property
    def poses(self) -> Json:
        """Where both stand and face, as a memory keeps it."""
        return [[*at, face] for at, face in zip(self.at, self.face, strict=True)]

    def moved(self, seat: int, at: Cell, face: str) -> Scene:
        """The same with this seat elsewhere."""
        here, facing = [*self.at], [*self.face]
        here[seat], facing[seat] = at, face
        return replace(self, at=(here[0], here[1]), face=(facing[0], facing[1]))


def scene_of(situation: Situation) -> Scene:
    """The moment of a situation."""
    seat = situation.seats[0]
    return scene_in(situation.briefs[seat], situation.observations[seat])


def scene_in(brief: Mapping[str, Json], seen: Mapping[str, Json]) -> Scene:
    """The moment that a seat sees."""
    first, second = seen["players"]
    return Scene(
        layout=layout_of(brief),
        starts_itself=brief["cooking"] == "auto",
        at=(_cell(first["at"]), _cell(second["at"])),
        face=(first["face"], second["face"]),
        hands=(_item(first["holds"]), _item(second["holds"])),
        counters={_cell(each["at"]): thing for each in seen["counters"] if (thing := _item(each["thing"]))},
        pots={_cell(each["at"]): SeenPot(tuple(each["contents"]), each["left"]) for each in seen["pots"]},
        tick=seen["tick"],
        ticks_left=seen["ticks_left"],
    )


def layout_of(brief: Mapping[str, Json]) -> Layout:
    """The layout that a brief tells; the same object for the same one."""
    orders = tuple((tuple(order["ingredients"]), order["bonus"]) for order in brief["orders"])
    return _layout(
        brief["layout"],
        brief["title"],
        tuple(brief["grid"]),
        orders,
        _key(brief["value"]),
        _key(brief["time"]),
    )


Key = int | tuple[tuple[str, int], ...]


def _key(amount: int | Mapping[str, int]) -> Key:
    return amount if isinstance(amount, int) else tuple(sorted(amount.items()))


@lru_cache(maxsize=64)
def _layout(
    code: str, title: str, rows: tuple[str, ...], orders: tuple[tuple[Soup, bool], ...], value: Key, time: Key
) -> Layout:
    cells = {(x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row)}
    by_letter = {letter: cell for cell, letter in cells.items()}
    return Layout(
        code=code,
        title=title,
        rows=rows,
        furniture={cell: letter for cell, letter in cells.items() if not is_floor(letter)},
        floor=tuple(cell for cell, letter in cells.items() if is_floor(letter)),
        starts=(by_letter["1"], by_letter["2"]),
        orders=tuple(soup for soup, _ in orders),
        bonus=frozenset(soup for soup, bonus in orders if bonus),
        value=value if isinstance(value, int) else dict(value),
        time=time if isinstance(time, int) else dict(time),
    )


def _cell(raw: Json) -> Cell:
    x, y = raw
    return x, y


def _item(raw: Json) -> Item | None:
    return tuple(raw[1]) if isinstance(raw, list) else raw
