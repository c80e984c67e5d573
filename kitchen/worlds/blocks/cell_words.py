"""Describe a cell of the building as a person would: "bottom, back wall, block 3 from the left".

The words follow the picture: the front and the right wall are those that one sees. `cell_words.js` uses the
same texts and the same rule in the browser. Coordinates stay in tables and exports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.words.gettext_without_django import gettext, pgettext


def cell_texts() -> Mapping[str, str]:
    """Return the texts of the rule, in the reader's language, for the rule in the browser, too."""
    return {
        "bottom": gettext("bottom"),
        "top": gettext("top"),
        "level": gettext("level {level}"),
        "back-left": gettext("back left corner"),
        "back-right": gettext("back right corner"),
        "front-left": gettext("front left corner"),
        "front-right": gettext("front right corner"),
        "back": gettext("back wall, block {n} from the left"),
        "front": gettext("front wall, block {n} from the left"),
        "left": gettext("left wall, block {m} from the back"),
        "right": gettext("right wall, block {m} from the back"),
        "inside": gettext("inside, block {n} from the left, {m} from the back"),
        "row": gettext("block {n} from the left"),
        "line": gettext("block {m} from the back"),
        "between": pgettext("between the things of a list", ", "),
    }


def cell_words(cell: Sequence[int], size: Sequence[int]) -> str:
    """Return where a cell (x, y, z) is in a building of this size (columns, levels, rows)."""
    texts, (x, y, z), (_, high, _) = cell_texts(), cell, size
    names = filter(None, (_height(y, high), _spot(x, z, size)))
    words = (texts[name].format(level=y + 1, n=x + 1, m=z + 1) for name in names)
    return texts["between"].join(words)


def _height(y: int, high: int) -> str:
    """Return the name of the text for a level. Empty if there is only one."""
    if high == 1:
        return ""
    return "bottom" if y == 0 else "top" if y == high - 1 else "level"


def _spot(x: int, z: int, size: Sequence[int]) -> str:
    """Return the name of the text for a place on a level. Empty if there is only one."""
    wide, _, deep = size
    if wide == 1 or deep == 1:
        return "row" if wide > 1 else "line" if deep > 1 else ""
    side = "left" if x == 0 else "right" if x == wide - 1 else ""
    end = "back" if z == 0 else "front" if z == deep - 1 else ""
    return "-".join(filter(None, (end, side))) or "inside"
