"""Check a drawn layout: report every fault, and say which seat can reach which places.

`layout.py` stops at the first fault. This module lists all faults, in English sentences. Plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from kitchen.contract.data_files import Record
from kitchen.contract.drawable_setting import REMARK_CAUTION, REMARK_FACT, DrawingRemark
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DIRECTIONS,
    DISPENSERS,
    INGREDIENTS,
    LETTERS,
    MAX_AMOUNT,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    Soup,
    cell_ahead,
    is_floor,
)

_LETTERS = {name: letter for letter, name in INGREDIENTS.items()}


@dataclass(frozen=True, slots=True)
class LayoutReach:
    """The floor and the furniture that each seat can reach from its start."""

    layout: Layout
    rooms: tuple[frozenset[Cell], frozenset[Cell]]
    """By seat: the floor that it can walk on."""
    places: tuple[frozenset[Cell], frozenset[Cell]]
    """By seat: the furniture beside that floor."""

    @property
    def shared(self) -> tuple[Cell, ...]:
        """Counters that both seats can reach, in reading order; seats pass things over them."""
        both = self.places[0] & self.places[1]
        return tuple(cell for cell in self.layout.places(COUNTER) if cell in both)

    def letters(self, seat: int) -> set[str]:
        """Return the letters of the furniture that a seat can reach."""
        return {self.layout.furniture[cell] for cell in self.places[seat]}

    def lost(self) -> tuple[Cell, ...]:
        """Return useful furniture that no seat can reach, in reading order."""
        there = self.places[0] | self.places[1]
        furniture = self.layout.furniture.items()
        return tuple(cell for cell, letter in furniture if letter != COUNTER and cell not in there)

    def gets(self, seat: int, letter: str) -> bool:
        """Return whether a seat reaches such furniture, or can pass things to and from it over a counter."""
        helped = bool(self.shared) and letter in self.letters(1 - seat)
        return letter in self.letters(seat) or helped

    def can_serve(self, soup: Soup) -> bool:
        """Return whether some pot can be used to make and serve this soup.

        All ingredients must be able to reach the pot, and the soup must be able to reach a serving place,
        directly or through the other seat.
        """
        return any(self._made_in(pot, soup) for pot in self.layout.places(POT))

    def _made_in(self, pot: Cell, soup: Soup) -> bool:
        cooks = [seat for seat in (0, 1) if pot in self.places[seat]]
        filled = all(any(self.gets(seat, _LETTERS[each]) for seat in cooks) for each in soup)
        return filled and any(self.gets(seat, "D") and self.gets(seat, SERVING) for seat in cooks)


def reach_in(layout: Layout) -> LayoutReach:
    """Return what each seat of a layout can reach."""
    rooms = tuple(frozenset(layout.room(start)) for start in layout.starts)
    near = [{cell_ahead(cell, face) for cell in room for face in DIRECTIONS} for room in rooms]
    places = [frozenset(cells & layout.furniture.keys()) for cells in near]
    return LayoutReach(layout, (rooms[0], rooms[1]), (places[0], places[1]))


PLACE_NAMES: Mapping[str, str] = {
    "O": "onions",
    "T": "tomatoes",
    "D": "dishes",
    POT: "a pot",
    SERVING: "a serving place",
}
ONE_PLACE_NAMES: Mapping[str, str] = {**PLACE_NAMES, POT: "pot", SERVING: "serving place"}
"""Names of furniture in a sentence that also gives its position."""


def layout_remarks(layout: Layout) -> tuple[DrawingRemark, ...]:
    """Return all remarks: what cannot be served, what nobody reaches, and what each seat reaches."""
    reach = reach_in(layout)
    return (*_unserved(reach), *_lost(reach), *_apart(reach), *(_reached(reach, seat) for seat in (0, 1)))


def _unserved(reach: LayoutReach) -> Iterator[DrawingRemark]:
    orders = reach.layout.orders
    unserved = [soup for soup in orders if not reach.can_serve(soup)]
    never = ["".join(_LETTERS[each] for each in soup) for soup in unserved]
    text = f"Never served here can be {and_list(never)}: what it needs cannot be brought together."
    if len(never) == len(orders):
        text = "No soup can ever be served here: the seats cannot bring together what it needs."
    if never:
        yield DrawingRemark(REMARK_CAUTION, text)


def _lost(reach: LayoutReach) -> Iterator[DrawingRemark]:
    furniture = reach.layout.furniture
    if lost := [f"{ONE_PLACE_NAMES[furniture[cell]]} ({cell_position(cell)})" for cell in reach.lost()]:
        yield DrawingRemark(REMARK_CAUTION, f"No seat can reach: {'; '.join(lost)}.")
    if idle := [cell for cell in reach.layout.floor if cell not in reach.rooms[0] | reach.rooms[1]]:
        where = "; ".join(map(cell_position, idle[:3])) + ("; …" if len(idle) > 3 else "")
        cells = counted_noun(len(idle), "cell")
        yield DrawingRemark(REMARK_CAUTION, f"{cells} of floor no seat can reach: {where}.")


def cell_position(cell: Cell) -> str:
    """Return the position of a cell in words, counted from 1."""
    return f"row {cell[1] + 1}, column {cell[0] + 1}"


def _apart(reach: LayoutReach) -> Iterator[DrawingRemark]:
    if reach.rooms[0] == reach.rooms[1]:
        return
    over = counted_noun(len(reach.shared), "counter")
    text = f"The seats are cut off from each other. They can hand things over across {over}."
    alone = "The seats are cut off from each other, and no counter is between them."
    yield DrawingRemark(REMARK_FACT, text) if reach.shared else DrawingRemark(REMARK_CAUTION, alone)


def _reached(reach: LayoutReach, seat: int) -> DrawingRemark:
    there, letters = set(reach.layout.furniture.values()), reach.letters(seat)
    useful = [letter for letter in (*DISPENSERS, POT, SERVING) if letter in there]
    reached = _listed(letter for letter in useful if letter in letters) or "nothing of use"
    missing = _listed(letter for letter in useful if letter not in letters)
    text = f"Seat {seat} reaches {reached}" + (f"; not {missing}." if missing else ".")
    return DrawingRemark(REMARK_FACT, text)


def _listed(letters: Iterable[str]) -> str:
    return and_list([PLACE_NAMES[letter] for letter in letters])


TextLines = Annotated[tuple[str, ...], Field(strict=False)]
DrawnAmount = int | str | dict[str, int]

NEEDED_CELLS: Mapping[str, str] = {
    "D": "There are no dishes (D).",
    SERVING: "There is no serving place (S).",
    POT: "There is no pot (P).",
}
START_NAMES: Mapping[str, str] = {"1": "start 1 (seat 0)", "2": "start 2 (seat 1)"}
AMOUNT_NAMES: Mapping[str, str] = {"value": "Points of a soup", "time": "Ticks that it cooks"}
MAX_SHOWN = 4
"""At most so many places are listed in a remark."""


class DrawnLayout(Record):
    """The fields of a layout file that can be drawn, whether or not the layout can be played."""

    title: str = ""
    grid: TextLines = ()
    orders: TextLines = ()
    bonus: TextLines = ()
    value: DrawnAmount = ""
    time: DrawnAmount = ""


def layout_faults(drawn: DrawnLayout) -> Iterator[str]:
    """Yield every fault of the layout, each as a whole sentence."""
    letters = {letter for row in drawn.grid for letter in row}
    if not drawn.title.strip():
        yield "It has no title."
    yield from _of_shape(drawn.grid)
    yield from _of_cells(drawn.grid)
    yield from _of_things("".join(drawn.grid))
    yield from _of_orders(drawn, letters)
    for name, label in AMOUNT_NAMES.items():
        yield from _of_amount(label, getattr(drawn, name), letters)


def _of_shape(rows: Sequence[str]) -> Iterator[str]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            yield f"Row {number} has {counted_noun(len(row), 'cell')}, the first row {len(rows[0])}."


def _of_cells(rows: Sequence[str]) -> Iterator[str]:
    cells = [(x, y, letter) for y, row in enumerate(rows) for x, letter in enumerate(row)]
    edge = [(x, y) for x, y, _ in cells if y in (0, len(rows) - 1) or x in (0, len(rows[y]) - 1)]
    if odd := [(x, y) for x, y, letter in cells if letter not in LETTERS]:
        named = and_list(sorted({f"“{rows[y][x]}”" for x, y in odd}))
        yield f"{named} means nothing in a grid: {_places(odd)}."
    if gaps := [(x, y) for x, y in edge if is_floor(rows[y][x])]:
        yield f"The border must be closed, and there is floor in it: {_places(gaps)}."


def _places(cells: Sequence[tuple[int, int]]) -> str:
    more = f" and {len(cells) - MAX_SHOWN} more" if len(cells) > MAX_SHOWN else ""
    return "; ".join(map(cell_position, cells[:MAX_SHOWN])) + more


def _of_things(letters: str) -> Iterator[str]:
    for start, name in START_NAMES.items():
        if (times := letters.count(start)) > 1:
            yield f"{name.capitalize()} stands in {times} cells, not in one."
        elif not times:
            yield f"There is no {name}."
    yield from (words for needed, words in NEEDED_CELLS.items() if needed not in letters)
    if not set(INGREDIENTS) & set(letters):
        yield "There are neither onions (O) nor tomatoes (T)."


def _of_orders(drawn: DrawnLayout, letters: set[str]) -> Iterator[str]:
    if not drawn.orders:
        yield "No soup is ordered."
    for words in (drawn.orders, drawn.bonus):
        yield from _of_soups(words, letters)
    ordered = {_soup(word) for word in drawn.orders}
    for word in drawn.bonus:
        if _soup(word) not in ordered:
            yield f"“{word}” is to count twice, and is not ordered."


def _soup(word: str) -> str:
    return "".join(sorted(word))


def _of_soups(words: Sequence[str], letters: set[str]) -> Iterator[str]:
    seen: set[str] = set()
    for word in words:
        if not 1 <= len(word) <= POT_CAPACITY or set(word) - set(INGREDIENTS):
            yield f"“{word}” is no soup: that is 1 to {POT_CAPACITY} letters O and T."
        elif missing := sorted(set(word) - letters):
            yield f"“{word}” needs {PLACE_NAMES[missing[0]]} ({missing[0]}), which the grid lacks."
        if _soup(word) in seen:
            yield f"“{word}” stands there twice."
        seen.add(_soup(word))


def _of_amount(label: str, amount: DrawnAmount, letters: set[str]) -> Iterator[str]:
    numbers = amount.values() if isinstance(amount, dict) else (amount,)
    if not all(isinstance(one, int) and 1 <= one <= MAX_AMOUNT for one in numbers) or amount == {}:
        yield (
            f"{label}: a whole number from 1 to {MAX_AMOUNT}, or one for each ingredient, as O = 15, T = 10."
        )
    elif isinstance(amount, dict):
        yield from (
            f"{label}: what {PLACE_NAMES[letter]} ({letter}) add is missing."
            for letter in INGREDIENTS
            if letter in letters and letter not in amount
        )
