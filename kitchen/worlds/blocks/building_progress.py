"""Build the panel in the picture that counts the blocks of the building, and what its level lacks."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.blocks.block_grid import AIR
from kitchen.worlds.blocks.blueprint_pieces import wanted_blocks
from kitchen.worlds.blocks.item_words import item_words


class LackingBlock(NamedTuple):
    """A material that the level lacks."""

    kind: str
    name: str
    amount: int


class ProgressContent(NamedTuple):
    """How many blocks are in place, and what the lowest unfinished level lacks."""

    text: str
    built: int
    total: int
    level: str
    lacking: tuple[LackingBlock, ...]


def progress_panel(view: SeatView) -> Panel:
    """Return the panel. It is empty for a seat that does not know the blueprint."""
    return Panel("progress", "worlds/blocks/progress.jinja", _content(view))


def _content(view: SeatView) -> ProgressContent:
    brief, seen = view.brief, view.observation
    if "blueprint" not in brief or "left_by_level" not in seen:
        return ProgressContent("", 0, 0, "", ())
    total = len(wanted_blocks(brief))
    built = total - sum(seen["left_by_level"])
    text = ngettext("{built} of {n} block", "{built} of {n} blocks", total).format(built=built, n=total)
    missing = Counter(wanted for _, _, wanted, _ in seen["differences"] if wanted != AIR)
    lacking = (LackingBlock(kind, sentence_case(item_words(kind)), n) for kind, n in missing.most_common())
    level = seen["level"]
    words = "" if level is None else gettext("Level {level}").format(level=level + 1)
    return ProgressContent(text, built, total, words, tuple(lacking))
