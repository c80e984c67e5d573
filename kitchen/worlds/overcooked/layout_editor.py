"""Convert a layout that a researcher draws into its text, and back. Plain Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from pydantic import TypeAdapter

from kitchen.contract import drawable_setting
from kitchen.contract.data_files import DataError, parse_toml
from kitchen.contract.drawable_setting import (
    REMARK_CAUTION,
    REMARK_REFUSED,
    DrawingRemark,
    GridDrawing,
    StartingDrawing,
    TextField,
    TileKind,
)
from kitchen.contract.world import Json, SettingsError
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    FLOOR,
    INGREDIENTS,
    OWN_LAYOUT_CODE,
    POT,
    SERVING,
    Layout,
    parse_own_layout,
    shipped_layouts,
)
from kitchen.worlds.overcooked.layout_check import DrawnAmount, DrawnLayout, layout_faults, layout_remarks
from kitchen.worlds.overcooked.settings import read_options

EMPTY_DRAWING = GridDrawing(
    ("XXXXXXX", "X     X", "X 1 2 X", "X     X", "XXXXXXX"),
    {"title": "A new layout", "orders": "OOO", "bonus": "", "value": "20", "time": "20"},
)
SETTING_NAME = "own_layout"
"""Name of the setting; messages of the layout reader begin with it."""
_EACH = re.compile(r"([OT])\s*=\s*(\d+)")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


_DRAWN = TypeAdapter(DrawnLayout)


class LayoutEditor(drawable_setting.DrawableSetting):
    """Convert between the setting `own_layout` and a drawing."""

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

    def begun(self) -> Mapping[str, StartingDrawing]:
        """Return the starting drawings: an empty grid, then every shipped layout."""
        empty = {"empty": StartingDrawing("An empty grid", self.text(EMPTY_DRAWING))}
        return empty | {
            code: StartingDrawing(one.title, self.text(_sheet_of(one)))
            for code, one in shipped_layouts().items()
        }

    def sheet(self, text: str) -> GridDrawing:
        """Return the drawing of a layout text. Rows may differ in length; unknown keys are not drawn."""
        if not text.strip():
            return GridDrawing()
        drawn = _read(text)
        lines = {"title": drawn.title, "orders": ", ".join(drawn.orders), "bonus": ", ".join(drawn.bonus)}
        return GridDrawing(drawn.grid, {**lines, "value": _amount(drawn.value), "time": _amount(drawn.time)})

    def text(self, sheet: GridDrawing) -> str:
        """Return the layout file for a drawing; empty for an empty drawing."""
        if sheet.is_empty:
            return ""
        return "\n".join(_file(sheet)) + "\n"

    def told(self, text: str, settings: Mapping[str, Json]) -> tuple[DrawingRemark, ...]:
        """Return remarks about the layout: all faults.

        If there are no faults, the remarks say what each seat reaches, and whether the layout is used.
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
    """Read the drawable fields of a layout text. Raises DataError."""
    source, values = parse_toml(text, SETTING_NAME)
    return source.read(_DRAWN, values)


def _refused(text: str, error: SettingsError) -> list[str]:
    """Return all faults; if the drawing has none or cannot be read, the message of the rules."""
    with suppress(DataError):
        if found := list(layout_faults(_read(text))):
            return found
    words = str(error).removeprefix(f"{SETTING_NAME}: ")
    return [words if words.endswith(".") else f"{words[:1].upper()}{words[1:]}."]


def _unused(settings: Mapping[str, Json]) -> Iterator[DrawingRemark]:
    if chosen := shipped_layouts().get(settings.get("layout", OWN_LAYOUT_CODE)):
        text = f"It is not played: the layout chosen above is “{chosen.title}”."
        yield DrawingRemark(REMARK_CAUTION, text)


def _sheet_of(layout: Layout) -> GridDrawing:
    """Return the drawing of a shipped layout."""
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
    """Yield the lines of the layout file."""
    yield f"title = {_quoted(sheet.lines.get('title', ''))}"
    yield from ("grid = [", *(f"    {_quoted(row)}," for row in sheet.rows), "]")
    for name in ("orders", "bonus"):
        words = re.split(r"[,\s]+", sheet.lines.get(name, ""))
        yield f"{name} = [{', '.join(_quoted(word.upper()) for word in words if word)}]"
    for name in ("value", "time"):
        yield f"{name} = {_number(sheet.lines.get(name, '').strip())}"


def _number(written: str) -> str:
    """Return a number or an inline table of one per ingredient; any other text as a string, to be refused."""
    if re.fullmatch(r"[1-9][0-9]{0,8}", written):
        return written
    each = [_EACH.fullmatch(part.strip()) for part in written.upper().split(",")]
    found = {one[1]: one[2] for one in each if one}
    if len(found) != len(each):
        return _quoted(written)
    return "{ " + ", ".join(f"{letter} = {int(number)}" for letter, number in found.items()) + " }"


def _quoted(text: str) -> str:
    """Return a basic TOML string."""
    return json.dumps(_CONTROLS.sub(" ", text), ensure_ascii=False)


LAYOUT_EDITOR = LayoutEditor()
