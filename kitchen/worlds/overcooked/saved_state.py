"""Read the stored state of an Overcooked episode from JSON.

The whole state is checked, so that a damaged state is never played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Json
from kitchen.contract.world_errors import StateError
from kitchen.worlds.overcooked.game_rules import DISH, FOOD, Item, Pot
from kitchen.worlds.overcooked.layout import COUNTER, DIRECTIONS, POT, POT_CAPACITY, Cell, Layout, Soup
from kitchen.worlds.overcooked.metrics import COUNTED_ACTIONS, EpisodeCounts

Hands = tuple[Item | None, Item | None]


@dataclass(frozen=True, slots=True)
class StateReader:
    """Reads the parts of a stored state for one layout. Every method raises StateError if the part is
    invalid."""

    layout: Layout
    length: int

    def clock(self, value: Json) -> int:
        """Return the stored number of ticks played."""
        return read_whole_number(value, "clock", self.length)

    def players(self, value: Json) -> tuple[tuple[Cell, Cell], tuple[str, str], Hands]:
        """Return the stored (cells, facing directions, held things), each with one entry per seat."""
        require(isinstance(value, list) and len(value) == 2, "players", "are not two")
        players = [read_object(each, "players", ("at", "face", "holds")) for each in value]
        cells = [self._cell(each["at"], "players") for each in players]
        require(all(cell in self.layout.floor for cell in cells), "players", "stand where no floor is")
        require(cells[0] != cells[1], "players", "stand in one cell")
        require(all(each["face"] in DIRECTIONS for each in players), "players", "face nowhere")
        held = (each["holds"] for each in players)
        one, other = (None if thing is None else self._item(thing, "players") for thing in held)
        return (cells[0], cells[1]), (players[0]["face"], players[1]["face"]), (one, other)

    def counters(self, value: Json) -> dict[Cell, Item]:
        """Return the stored things on counters, by cell. Empty counters are left out."""
        found = self._cells(value, "counters", COUNTER, 2)
        return {cell: self._item(thing, "counters") for cell, (thing,) in found}

    def pots(self, value: Json, clock: int) -> dict[Cell, Pot]:
        """Return the stored pots by cell. Empty pots are left out. `clock` is the number of ticks played."""
        return {
            cell: Pot(self._soup(contents, "pots"), _started(started, clock))
            for cell, (contents, started) in self._cells(value, "pots", POT, 3)
        }

    def tally(self, value: Json) -> EpisodeCounts:
        """Return the stored counts of actions, points, soups and collisions."""
        fields = read_object(value, "tally", ("points", "soups", "collisions", "seats"))
        seats = fields["seats"]
        require(isinstance(seats, list) and len(seats) == 2, "tally", "is not of two seats")
        counts = [read_object(each, "tally", COUNTED_ACTIONS) for each in seats]
        one, other = (
            {name: read_whole_number(each[name], "tally") for name in COUNTED_ACTIONS} for each in counts
        )
        points, soups, collisions = (
            read_whole_number(fields[name], "tally") for name in ("points", "soups", "collisions")
        )
        return EpisodeCounts(points, soups, collisions, (one, other))

    def _cells(self, value: Json, name: str, letter: str, size: int) -> list[tuple[Cell, list[Json]]]:
        require(isinstance(value, list), name, "is no list")
        require(
            all(isinstance(each, list) and len(each) == size for each in value), name, "holds what is none"
        )
        found = [(self._cell(each[0], name), each[1:]) for each in value]
        require(all(self.layout.furniture.get(cell) == letter for cell, _ in found), name, "stands elsewhere")
        require(len({cell for cell, _ in found}) == len(found), name, "stands there twice")
        return found

    def _cell(self, value: Json, name: str) -> Cell:
        require(isinstance(value, list) and len(value) == 2, name, "is no cell")
        return read_whole_number(value[0], name), read_whole_number(value[1], name)

    def _item(self, value: Json, name: str) -> Item:
        if isinstance(value, str):
            require(value == DISH or value in FOOD, name, "is nothing that there is")
            return value
        require(isinstance(value, list) and len(value) == 2 and value[0] == "soup", name, "is no soup")
        return self._soup(value[1], name)

    def _soup(self, value: Json, name: str) -> Soup:
        require(isinstance(value, list) and 1 <= len(value) <= POT_CAPACITY, name, "is no soup")
        require(all(each in FOOD for each in value) and value == sorted(value), name, "is no soup")
        return tuple(value)


def _started(value: Json, clock: int) -> int | None:
    return None if value is None else read_whole_number(value, "pots", clock - 1)


def require(holds: bool, name: str, problem: str) -> None:
    """Raise StateError with `name` and `problem` if `holds` is false."""
    if not holds:
        raise StateError(f"stored state: {name} {problem}")


def read_whole_number(value: Json, name: str, most: int | None = None) -> int:
    """Return the value, a whole number from 0 to `most` (None: no limit). Raises StateError for any other
    value."""
    require(isinstance(value, int) and not isinstance(value, bool), name, "is not a whole number")
    require(value >= 0 and (most is None or value <= most), name, f"is not from 0 to {most}")
    return int(value)


def read_object(value: Json, name: str, keys: Sequence[str]) -> Mapping[str, Json]:
    """Return the value, a JSON object with exactly these keys. Raises StateError for any other value."""
    require(
        isinstance(value, Mapping) and set(value) == set(keys), name, f"is no object with {', '.join(keys)}"
    )
    fields: Mapping[str, Json] = value
    return fields
