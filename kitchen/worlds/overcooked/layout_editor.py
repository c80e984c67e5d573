"""Support the layout editor of Overcooked: convert drawings to layout texts and back, and list faults.

Researchers draw layouts in the editor. The module also finds which places each player can reach.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from kitchen.contract import drawable_setting
from kitchen.contract.data_files import DataError, Record
from kitchen.contract.drawable_setting import (
    REMARK_CAUTION,
    REMARK_FACT,
    REMARK_REFUSED,
    DrawingRemark,
    GridDrawing,
    StartingDrawing,
    TextField,
    TileKind,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DIRECTIONS,
    DISPENSERS,
    FLOOR,
    INGREDIENTS,
    LETTERS,
    MAX_AMOUNT,
    OWN_LAYOUT_CODE,
    OWN_SETTING,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    Soup,
    cell_ahead,
    is_floor,
    parse_own_layout,
    read_own_layout,
    shipped_layouts,
)
from kitchen.worlds.overcooked.settings import read_options

_LETTERS = {name: letter for letter, name in INGREDIENTS.items()}


@dataclass(frozen=True, slots=True)
class LayoutReach:
    """The floor and the furniture that each seat can reach from its start cell."""

    layout: Layout
    rooms: tuple[frozenset[Cell], frozenset[Cell]]
    """The floor that each seat can walk on, by seat."""
    places: tuple[frozenset[Cell], frozenset[Cell]]
    """The furniture that each seat can reach, by seat."""

    @property
    def shared(self) -> tuple[Cell, ...]:
        """Return the counters that both seats can reach, in reading order. Seats can pass items over these
        counters."""
        both = self.places[0] & self.places[1]
        return tuple(cell for cell in self.layout.places(COUNTER) if cell in both)

    def letters(self, seat: int) -> set[str]:
        """Return the letters of the furniture that this seat can reach."""
        return {self.layout.furniture[cell] for cell in self.places[seat]}

    def lost(self) -> tuple[Cell, ...]:
        """Return the cells of furniture, other than counters, that no seat can reach. They are in reading
        order."""
        there = self.places[0] | self.places[1]
        furniture = self.layout.furniture.items()
        return tuple(cell for cell, letter in furniture if letter != COUNTER and cell not in there)

    def gets(self, seat: int, letter: str) -> bool:
        """Return whether this seat can use furniture with this letter, alone or with the other seat's
        help. Help means that items are passed over a counter that both seats reach."""
        helped = bool(self.shared) and letter in self.letters(1 - seat)
        return letter in self.letters(seat) or helped

    def can_serve(self, soup: Soup) -> bool:
        """Return whether this soup can be cooked in some pot and served.

        There must be a seat that reaches the pot. It must be able to get all ingredients and a dish, and
        to bring the soup to a serving place. The other seat may pass items over a counter.
        """
        return any(self._made_in(pot, soup) for pot in self.layout.places(POT))

    def _made_in(self, pot: Cell, soup: Soup) -> bool:
        cooks = [seat for seat in (0, 1) if pot in self.places[seat]]
        filled = all(any(self.gets(seat, _LETTERS[each]) for seat in cooks) for each in soup)
        return filled and any(self.gets(seat, "D") and self.gets(seat, SERVING) for seat in cooks)


def reach_in(layout: Layout) -> LayoutReach:
    """Return which floor and furniture each seat can reach in this layout."""
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
    """Return remarks about a valid layout: soups that cannot be served, furniture that nobody reaches, and
    the furniture that each seat reaches."""
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
    """Return the position of a cell as text, counted from 1: `row 2, column 3`."""
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
"""The largest number of places that a remark lists."""


class DrawnLayout(Record):
    """The fields of a layout file, as a Pydantic model that also accepts layouts that cannot be played."""

    title: str = ""
    grid: TextLines = ()
    orders: TextLines = ()
    bonus: TextLines = ()
    value: DrawnAmount = ""
    time: DrawnAmount = ""


def layout_faults(drawn: DrawnLayout) -> Iterator[str]:
    """Yield a sentence for every fault that prevents this layout from being played."""
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


EMPTY_DRAWING = GridDrawing(
    ("XXXXXXX", "X     X", "X 1 2 X", "X     X", "XXXXXXX"),
    {"title": "A new layout", "orders": "OOO", "bonus": "", "value": "20", "time": "20"},
)
_EACH = re.compile(r"([OT])\s*=\s*(\d+)")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


_DRAWN = TypeAdapter(DrawnLayout)


class LayoutEditor(drawable_setting.DrawableSetting):
    """Converts between the text of the setting `own_layout` and a drawing."""

    tiles = (
        TileKind(FLOOR, "floor"),
        TileKind(COUNTER, "counter"),
        TileKind("O", "onions", "box-O"),
        TileKind("T", "tomatoes", "box-T"),
        TileKind("D", "dishes", "box-D"),
        TileKind(POT, "pot", "box-P"),
        TileKind(SERVING, "serving place", "box-S"),
        TileKind("1", "start 1 (seat 0)", once=True),
        TileKind("2", "start 2 (seat 1)", once=True),
    )
    border = COUNTER
    lines = (
        TextField("title", "Title"),
        TextField(
            "orders", "Soups that are ordered", "1 to 3 letters O and T each, with commas between: OOO, OT."
        ),
        TextField("bonus", "Soups that count twice", "Of those above. Empty: none."),
        TextField("value", "Points of a soup", "One number, or what each ingredient adds: O = 15, T = 10."),
        TextField("time", "Ticks that it cooks", "Likewise."),
    )
    most = (20, 12)
    pictures = "worlds/overcooked/overcooked.svg"
    belongs = ("layout", OWN_LAYOUT_CODE)

    def starting_drawings(self) -> Mapping[str, StartingDrawing]:
        """Return the drawings to start from, by name: an empty grid, then every layout that comes with the
        project."""
        empty = {"empty": StartingDrawing("An empty grid", self.text(EMPTY_DRAWING))}
        return empty | {
            code: StartingDrawing(one.title, self.text(_sheet_of(one)))
            for code, one in shipped_layouts().items()
        }

    def sheet(self, text: str) -> GridDrawing:
        """Return the drawing of a layout's text. Raises DataError if it cannot be drawn.

        Rows may have different lengths.
        """
        if not text.strip():
            return GridDrawing()
        drawn = _read(text)
        lines = {"title": drawn.title, "orders": ", ".join(drawn.orders), "bonus": ", ".join(drawn.bonus)}
        return GridDrawing(drawn.grid, {**lines, "value": _amount(drawn.value), "time": _amount(drawn.time)})

    def text(self, sheet: GridDrawing) -> str:
        """Return the text of the layout file for a drawing; empty for an empty drawing."""
        if sheet.is_empty:
            return ""
        return "\n".join(_file(sheet)) + "\n"

    def remarks(self, text: str, settings: Mapping[str, Json]) -> tuple[DrawingRemark, ...]:
        """Return remarks about a layout's text; empty if the text is empty. If the layout has faults, the
        remarks list all of them.

        If there are no faults, the remarks say what each seat reaches, and whether the setting `layout`
        selects this layout.
        """
        if not text.strip():
            return ()
        try:
            layout = parse_own_layout(text)
            beside = {"cooking": settings["cooking"]} if "cooking" in settings else {}
            read_options({**beside, "layout": OWN_LAYOUT_CODE, "own_layout": text})
        except SettingsError as error:
            return tuple(DrawingRemark(REMARK_REFUSED, words) for words in _refused(text, error))
        return (*_unused(settings), *layout_remarks(layout))


def _read(text: str) -> DrawnLayout:
    """Read the drawable fields of a layout text. Raises DataError if they are invalid."""
    source, values = read_own_layout(text)
    return source.read(_DRAWN, values)


def _refused(text: str, error: SettingsError) -> list[str]:
    """Return all faults of a drawn layout. If the drawing cannot be read or no fault is found, return the
    text of `error`."""
    with suppress(DataError):
        if found := list(layout_faults(_read(text))):
            return found
    words = str(error).removeprefix(f"{OWN_SETTING}: ")
    return [words if words.endswith(".") else f"{words[:1].upper()}{words[1:]}."]


def _unused(settings: Mapping[str, Json]) -> Iterator[DrawingRemark]:
    if chosen := shipped_layouts().get(settings.get("layout", OWN_LAYOUT_CODE)):
        text = f"It is not played: the layout chosen above is “{chosen.title}”."
        yield DrawingRemark(REMARK_CAUTION, text)


def _sheet_of(layout: Layout) -> GridDrawing:
    """Return the drawing that shows a layout of the project."""
    letters = {name: letter for letter, name in INGREDIENTS.items()}
    words = {soup: "".join(letters[each] for each in soup) for soup in layout.orders}
    bonus = [word for soup, word in words.items() if soup in layout.bonus]
    lines = {"title": layout.title, "orders": ", ".join(words.values()), "bonus": ", ".join(bonus)}
    for name, amount in (("value", layout.value), ("time", layout.time)):
        each = amount if isinstance(amount, int) else {letters[food]: one for food, one in amount.items()}
        lines[name] = _amount(each)
    return GridDrawing(layout.rows, lines)


def _amount(amount: DrawnAmount) -> str:
    if isinstance(amount, dict):
        return ", ".join(f"{letter} = {number}" for letter, number in amount.items())
    return str(amount)


def _file(sheet: GridDrawing) -> Iterator[str]:
    """Yield the lines of the layout file for a drawing."""
    yield f"title = {_quoted(sheet.lines.get('title', ''))}"
    yield from ("grid = [", *(f"    {_quoted(row)}," for row in sheet.rows), "]")
    for name in ("orders", "bonus"):
        words = re.split(r"[,\s]+", sheet.lines.get(name, ""))
        yield f"{name} = [{', '.join(_quoted(word.upper()) for word in words if word)}]"
    for name in ("value", "time"):
        yield f"{name} = {_number(sheet.lines.get(name, '').strip())}"


def _number(written: str) -> str:
    """Return TOML for what was written: a number, or an inline table with a number for each ingredient.
    Anything else becomes a string, which is refused later."""
    if re.fullmatch(r"[1-9][0-9]{0,8}", written):
        return written
    each = [_EACH.fullmatch(part.strip()) for part in written.upper().split(",")]
    found = {one[1]: one[2] for one in each if one}
    if len(found) != len(each):
        return _quoted(written)
    return "{ " + ", ".join(f"{letter} = {int(number)}" for letter, number in found.items()) + " }"


def _quoted(text: str) -> str:
    """Return the text as a TOML string in quotation marks."""
    return json.dumps(_CONTROLS.sub(" ", text), ensure_ascii=False)


LAYOUT_EDITOR = LayoutEditor()
