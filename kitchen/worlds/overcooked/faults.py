"""Why a drawing of a grid cannot be played: every fault, in words for who draws it. Plain Python; read on the
console, in English.

The rules (`layout.py`) refuse a file for the first fault, by its keys; a drawing that has none here is
refused by them alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from kitchen.contract.data_files import Record
from kitchen.words.counting import and_list, counted
from kitchen.worlds.overcooked.layout import FULL, INGREDIENTS, LETTERS, MOST, POT, SERVING, is_floor
from kitchen.worlds.overcooked.surveyed import place

Words = Annotated[tuple[str, ...], Field(strict=False)]
Amount = int | str | dict[str, int]

NAMES: Mapping[str, str] = {"O": "onions", "T": "tomatoes"}
NEEDED: Mapping[str, str] = {
    "D": "There are no dishes (D).",
    SERVING: "There is no serving place (S).",
    POT: "There is no pot (P).",
}
STARTS: Mapping[str, str] = {"1": "start 1 (seat 0)", "2": "start 2 (seat 1)"}
AMOUNTS: Mapping[str, str] = {"value": "Points of a soup", "time": "Ticks that it cooks"}
SHOWN = 4
"""Places that are named of many."""


class Drawn(Record):
    """What can stand in a layout file so that it can be drawn, whether or not it can be played."""

    title: str = ""
    grid: Words = ()
    orders: Words = ()
    bonus: Words = ()
    value: Amount = ""
    time: Amount = ""


def faults_of(drawn: Drawn) -> Iterator[str]:
    """All of them, a whole sentence each."""
    letters = {letter for row in drawn.grid for letter in row}
    if not drawn.title.strip():
        yield "It has no title."
    yield from _of_shape(drawn.grid)
    yield from _of_cells(drawn.grid)
    yield from _of_things("".join(drawn.grid))
    yield from _of_orders(drawn, letters)
    for name, label in AMOUNTS.items():
        yield from _of_amount(label, getattr(drawn, name), letters)


def _of_shape(rows: Sequence[str]) -> Iterator[str]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            yield f"Row {number} has {counted(len(row), 'cell')}, the first row {len(rows[0])}."


def _of_cells(rows: Sequence[str]) -> Iterator[str]:
    cells = [(x, y, letter) for y, row in enumerate(rows) for x, letter in enumerate(row)]
    edge = [(x, y) for x, y, _ in cells if y in (0, len(rows) - 1) or x in (0, len(rows[y]) - 1)]
    if odd := [(x, y) for x, y, letter in cells if letter not in LETTERS]:
        named = and_list(sorted({f"“{rows[y][x]}”" for x, y in odd}))
        yield f"{named} means nothing in a grid: {_places(odd)}."
    if gaps := [(x, y) for x, y in edge if is_floor(rows[y][x])]:
        yield f"The border must be closed, and there is floor in it: {_places(gaps)}."


def _places(cells: Sequence[tuple[int, int]]) -> str:
    more = f" and {len(cells) - SHOWN} more" if len(cells) > SHOWN else ""
    return "; ".join(map(place, cells[:SHOWN])) + more


def _of_things(letters: str) -> Iterator[str]:
    for start, name in STARTS.items():
        if (times := letters.count(start)) > 1:
            yield f"{name.capitalize()} stands in {times} cells, not in one."
        elif not times:
            yield f"There is no {name}."
    yield from (words for needed, words in NEEDED.items() if needed not in letters)
    if not set(INGREDIENTS) & set(letters):
        yield "There are neither onions (O) nor tomatoes (T)."


def _of_orders(drawn: Drawn, letters: set[str]) -> Iterator[str]:
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
        if not 1 <= len(word) <= FULL or set(word) - set(INGREDIENTS):
            yield f"“{word}” is no soup: that is 1 to {FULL} letters O and T."
        elif missing := sorted(set(word) - letters):
            yield f"“{word}” needs {NAMES[missing[0]]} ({missing[0]}), which the grid lacks."
        if _soup(word) in seen:
            yield f"“{word}” stands there twice."
        seen.add(_soup(word))


def _of_amount(label: str, told: Amount, letters: set[str]) -> Iterator[str]:
    numbers = told.values() if isinstance(told, dict) else (told,)
    if not all(isinstance(one, int) and 1 <= one <= MOST for one in numbers) or told == {}:
        yield f"{label}: a whole number from 1 to {MOST}, or one for each ingredient, as O = 15, T = 10."
    elif isinstance(told, dict):
        yield from (
            f"{label}: what {NAMES[letter]} ({letter}) add is missing."
            for letter in INGREDIENTS
            if letter in letters and letter not in told
        )
