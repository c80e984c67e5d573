"""Read, check and list Overcooked layouts. A layout is a grid, with the orders that can be served in it.

A layout file::

    title = "Cramped room"
    grid = [
        "XXPXX",
        "O  2O",
        "X1  X",
        "XDXSX",
    ]
    orders = ["OOO"]                     # 1 to 3 letters each, in any order
    bonus = []                           # orders that count twice
    value = 20                           # points of an order, or { O = 21, T = 13 } for each ingredient
    time = 20                            # steps of cooking: one number, or per ingredient

The letters of the grid:

- `X` is a counter, and a space is floor.
- `O`, `T` and `D` are dispensers of onions, tomatoes and dishes.
- `P` is a pot, and `S` the serving place.
- `1` and `2` are the start cells of the two cooks, seats 0 and 1.

Cells are (x, y) from the top left, x to the east, y to the south.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated
from unicodedata import category

from pydantic import AfterValidator, Field, TypeAdapter

from kitchen.contract.data_files import (
    DataError,
    DataSource,
    Record,
    Text,
    Texts,
    error_text,
    parse_toml,
    read_toml,
    worded_error,
)
from kitchen.contract.world import Json

Cell = tuple[int, int]
"""A cell (x, y)."""
Soup = tuple[str, ...]
"""A soup: its ingredients, sorted."""

COUNTER, POT, SERVING = "X", "P", "S"
DISPENSERS: Mapping[str, str] = {"O": "onion", "T": "tomato", "D": "dish"}
"""The thing that each dispenser gives, by letter."""
INGREDIENTS: Mapping[str, str] = {"O": "onion", "T": "tomato"}
FLOOR, STARTS = " ", "12"
LETTERS = {COUNTER, POT, SERVING, *DISPENSERS, FLOOR, *STARTS}
POT_CAPACITY = 3
"""Number of ingredients that a pot takes."""
DIRECTIONS: Mapping[str, Cell] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


def cell_ahead(cell: Cell, face: str) -> Cell:
    """Return the cell next to this one in the direction `face`."""
    by = DIRECTIONS[face]
    return cell[0] + by[0], cell[1] + by[1]


MAX_AMOUNT = 1_000_000
"""Largest number of points and of ticks that a layout may give."""
AMOUNT_PROBLEM = f"must be a whole number from 1 to {MAX_AMOUNT}"
Amount = Annotated[int, Field(ge=1, le=MAX_AMOUNT), error_text(AMOUNT_PROBLEM)]


class Amounts(Record):
    """A number for each ingredient. The numbers of a soup's ingredients are added."""

    O: Amount | None = None  # noqa: E741 - the letter of the grid
    T: Amount | None = None


def _amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | dict):
        raise worded_error(f"{AMOUNT_PROBLEM}, or {{ O = number, T = number }}")
    return value


def _line(value: str) -> str:
    if any(category(letter) == "Cc" for letter in value):
        raise worded_error("must be one line without control characters")
    return value


class LayoutFile(Record):
    """The fields of a layout file, as a Pydantic model."""

    title: Annotated[Text, AfterValidator(_line)]
    grid: Annotated[tuple[str, ...], Field(strict=False), error_text("must be a list of rows")]
    orders: Texts
    bonus: Annotated[tuple[str, ...], Field(strict=False), error_text("must be a list of orders")] = ()
    value: Annotated[object, AfterValidator(_amount)]
    time: Annotated[object, AfterValidator(_amount)]


_FILE, _AMOUNT, _AMOUNTS = TypeAdapter(LayoutFile), TypeAdapter(Amount), TypeAdapter(Amounts)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Everything that the rules need to know about a layout. Two layouts are equal only if they are the
    same object."""

    code: str
    title: str
    rows: tuple[str, ...]
    furniture: Mapping[Cell, str]
    """The letter of every cell that is no floor, in reading order."""
    floor: tuple[Cell, ...]
    """Floor cells, in reading order."""
    starts: tuple[Cell, Cell]
    orders: tuple[Soup, ...]
    bonus: frozenset[Soup]
    value: int | Mapping[str, int]
    """Points of any order, or the points that each ingredient adds to a soup."""
    time: int | Mapping[str, int]
    """Ticks of cooking of any soup, or the ticks that each ingredient adds."""

    @property
    def has_tomatoes(self) -> bool:
        """Return whether the grid has a dispenser of tomatoes. Such a layout needs the setting `cooking`
        to be `interact`."""
        return "T" in self.furniture.values()

    @property
    def food(self) -> list[str]:
        """Return the ingredients for which the grid has a dispenser."""
        there = set(self.furniture.values())
        return [thing for letter, thing in INGREDIENTS.items() if letter in there]

    def ticks(self, contents: Soup) -> int:
        """Return the number of ticks that these ingredients cook. The soup need not be ordered."""
        return _summed(self.time, contents)

    def points(self, soup: Soup) -> int:
        """Return the points for serving this soup; 0 if it is not ordered."""
        if soup not in self.orders:
            return 0
        return _summed(self.value, soup) * (2 if soup in self.bonus else 1)

    def places(self, letter: str) -> tuple[Cell, ...]:
        """Return the cells with this letter, row by row from the top left."""
        return tuple(cell for cell, found in self.furniture.items() if found == letter)

    def room(self, start: Cell) -> tuple[Cell, ...]:
        """Return the floor cells that can be reached from the floor cell `start`, row by row from the top
        left."""
        reached, edge = {start}, [start]
        while edge:
            near = [cell_ahead(at, face) for at in edge for face in DIRECTIONS]
            edge = [cell for cell in dict.fromkeys(near) if cell in self.floor and cell not in reached]
            reached.update(edge)
        return tuple(cell for cell in self.floor if cell in reached)


@lru_cache(maxsize=512)
def cells_in_reach(layout: Layout, at: Cell) -> frozenset[Cell]:
    """Return the cells that a seat can face if it starts on the floor cell `at`. These are the neighbours of
    every floor cell that it can reach."""
    return frozenset(cell_ahead(cell, face) for cell in layout.room(at) for face in DIRECTIONS)


def _summed(amount: int | Mapping[str, int], contents: Soup) -> int:
    return amount if isinstance(amount, int) else sum(amount[each] for each in contents)


def _layout(code: str, source: DataSource, values: Mapping[str, Json]) -> Layout:
    entry = source.read(_FILE, values)
    cells = {(x, y): letter for y, row in enumerate(entry.grid) for x, letter in enumerate(row)}
    _check_grid(source, entry.grid, cells)
    letters = set(cells.values())
    orders = tuple(_soups(source, "orders", entry.orders, letters))
    bonus = set(_bonus(source, entry.bonus, orders, letters))
    value, time = (_amounts(source, key, getattr(entry, key), letters) for key in ("value", "time"))
    return layout_of_rows(
        code, entry.title, entry.grid, {soup: soup in bonus for soup in orders}, value, time
    )


def layout_of_rows(
    code: str,
    title: str,
    rows: tuple[str, ...],
    orders: Mapping[Soup, bool],
    value: int | Mapping[str, int],
    time: int | Mapping[str, int],
) -> Layout:
    """Return a layout from its parts, without checks.

    `rows` is the grid. `orders` maps each ordered soup to True if it counts twice. `value` (points) and
    `time` (ticks) are one number, or one for each ingredient.
    """
    cells = {(x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row)}
    by_letter = {letter: cell for cell, letter in cells.items()}
    return Layout(
        code=code,
        title=title,
        rows=rows,
        furniture={cell: letter for cell, letter in cells.items() if not is_floor(letter)},
        floor=tuple(cell for cell, letter in cells.items() if is_floor(letter)),
        starts=(by_letter["1"], by_letter["2"]),
        orders=tuple(orders),
        bonus=frozenset(soup for soup, is_bonus in orders.items() if is_bonus),
        value=value,
        time=time,
    )


def is_floor(letter: str) -> bool:
    """Return whether this letter of a grid is a floor cell. Start cells are floor."""
    return letter == FLOOR or letter in STARTS


def _check_grid(source: DataSource, rows: tuple[str, ...], cells: Mapping[Cell, str]) -> None:
    """Raise an error if the grid is not a closed rectangle of known letters, or lacks something that a soup
    needs."""
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise source.error(f"grid[{number}]", f"has {len(row)} cells, the first row {len(rows[0])}")
    if not cells:
        raise source.error("grid", "must not be empty")
    for (x, y), letter in cells.items():
        border = x in (0, len(rows[0]) - 1) or y in (0, len(rows) - 1)
        _check_cell(source.at(f"grid[{y + 1}]"), x, letter, border)
    _check_there(source, list(cells.values()))


def _check_cell(source: DataSource, x: int, letter: str, on_border: bool) -> None:
    if letter not in LETTERS:
        raise source.error("", f"{letter!r} is no letter of a layout (cell {x + 1})")
    if on_border and is_floor(letter):
        raise source.error("", f"floor on the border (cell {x + 1})")


def _check_there(source: DataSource, letters: list[str]) -> None:
    for start in STARTS:
        if (times := letters.count(start)) != 1:
            raise source.error("grid", f"the start {start} stands there {times} times, not once")
    for needed in ("D", SERVING, POT):
        if needed not in letters:
            raise source.error("grid", f"there is no {needed}")
    if not set(INGREDIENTS) & set(letters):
        raise source.error("grid", "there is neither O nor T")


def _soups(source: DataSource, key: str, words: tuple[str, ...], letters: set[str]) -> Iterator[Soup]:
    """Yield the soups that these words describe, such as `OOT`. Raises DataError for a wrong or repeated
    word, or if the grid lacks an ingredient."""
    seen: set[Soup] = set()
    for number, word in enumerate(words, 1):
        where = f"{key}[{number}]"
        if not 1 <= len(word) <= POT_CAPACITY or set(word) - set(INGREDIENTS):
            raise source.error(where, f"{word!r} is not made of 1 to {POT_CAPACITY} letters O and T")
        soup = tuple(sorted(INGREDIENTS[letter] for letter in word))
        if soup in seen:
            raise source.error(where, f"{word!r} stands there twice")
        if missing := sorted(set(word) - letters):
            raise source.error(where, f"{word!r} needs {missing[0]}, which the grid lacks")
        seen.add(soup)
        yield soup


def _bonus(
    source: DataSource, words: tuple[str, ...], orders: tuple[Soup, ...], letters: set[str]
) -> Iterator[Soup]:
    for number, soup in enumerate(_soups(source, "bonus", words, letters), 1):
        if soup not in orders:
            raise source.error(f"bonus[{number}]", f"{words[number - 1]!r} is no order")
        yield soup


def _amounts(source: DataSource, key: str, given: object, letters: set[str]) -> int | dict[str, int]:
    """Return one number for all ingredients, or a number for each ingredient by name. Raises DataError if one
    is missing."""
    if isinstance(given, int):
        return source.at(key).read(_AMOUNT, given)
    amounts = source.at(key).read(_AMOUNTS, given).model_dump()
    for letter in INGREDIENTS:
        if amounts[letter] is None and letter in letters:
            raise source.error(f"{key}.{letter}", "is missing")
    return {INGREDIENTS[letter]: amount for letter, amount in amounts.items() if amount is not None}


LAYOUT_FOLDER = Path(__file__).parent / "data" / "layouts"
CLASSIC_LAYOUTS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit",
)
"""The five layouts of the papers, in their order."""
OWN_LAYOUT_CODE, OWN_SETTING = "own", "own_layout"
"""The code of a layout that is given in the settings, and the name of the setting with its text."""
MAX_OWN_CHARACTERS = 4000
"""Maximum length of this text."""


def load_layouts(directory: Path = LAYOUT_FOLDER) -> dict[str, Layout]:
    """Return all layouts of a directory by code, the five layouts of the papers first.

    Raises DataError for the first faulty file, or if there is no file.
    """
    found = {path.stem: _layout(path.stem, *read_toml(path)) for path in sorted(directory.glob("*.toml"))}
    if not found:
        raise DataError(f"{directory}: holds no layout")
    classic = [code for code in CLASSIC_LAYOUTS if code in found]
    return {code: found[code] for code in dict.fromkeys((*classic, *found))}


@cache
def shipped_layouts() -> Mapping[str, Layout]:
    """Return the layouts that come with the project by code, read once."""
    return load_layouts()


@lru_cache(maxsize=64)
def parse_own_layout(text: str) -> Layout:
    """Return the layout that a researcher typed as the setting `own_layout`. Raises DataError that names
    the setting if it is faulty."""
    return _layout(OWN_SETTING, *read_own_layout(text))


def read_own_layout(text: str) -> tuple[DataSource, dict[str, Json]]:
    """Return (origin, content) of the text of the setting `own_layout`, which is not checked further. Raises
    DataError that names the setting if the text is too long or not TOML."""
    if len(text) > MAX_OWN_CHARACTERS:
        raise DataError(f"{OWN_SETTING}: {len(text)} characters is above {MAX_OWN_CHARACTERS}")
    return parse_toml(text, OWN_SETTING, foreign=True)
