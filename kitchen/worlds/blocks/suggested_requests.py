"""Suggest requests to place blocks, to a person who alone knows the blueprint: only for what is still to do.

Blocks that the person has asked for are left out until the builder has had the time to place them, or the
person takes the request back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.blocks.block_grid import Cell
from kitchen.worlds.blocks.blueprint_pieces import missing_pieces, wanted_blocks
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.parsed_requests import CANCEL, CANCEL_ALL, PLACE, STOP, UNDO
from kitchen.worlds.blocks.planner_messages import placing_words
from kitchen.worlds.blocks.request_parser import parse_requests
from kitchen.worlds.blocks.requested_blocks import meant_items, named_cells, with_last

MOST_SUGGESTED = 2
PATIENCE, PATIENCE_FOR_A_BLOCK = 20, 3
"""Steps in which a request is not suggested again, and further ones for each of its blocks."""
WITHDRAWALS = frozenset({CANCEL, CANCEL_ALL, STOP, UNDO})


def suggested_requests(view: SeatView) -> tuple[str, ...]:
    """Return requests in the reader's language, for the lowest levels first. Only materials are named that
    this person's builder does not hold."""
    brief, seen = view.brief, view.observation
    ordered, found = ordered_cells(view), list[str]()
    for level in _known_levels(brief, seen):
        pieces = missing_pieces(brief, seen, level, ordered)
        for item in dict.fromkeys(piece.item for piece in pieces if piece.item not in seen["inventory"]):
            own = [piece for piece in pieces if piece.item == item]
            cells = {(x, level, z) for piece in own for x, z in piece.cells}
            found += [whole] if (whole := _whole_level(brief, item, cells)) else map(placing_words, own)
        if len(found) >= MOST_SUGGESTED:
            break
    return tuple(found[:MOST_SUGGESTED])


def _known_levels(brief: Mapping[str, Json], seen: Mapping[str, Json]) -> Iterator[int]:
    """Yield the levels of which the observation tells what is missing: the lowest unfinished one, and those
    above without any right block."""
    wanted = [level for _, level, _ in wanted_blocks(brief)]
    for level, left in enumerate(seen["left_by_level"]):
        if left and (level == seen["level"] or left == wanted.count(level)):
            yield level


def _whole_level(brief: Mapping[str, Json], item: str, cells: set[Cell]) -> str:
    """Return a request for a whole level, or for its edge; empty if the cells are neither of them."""
    (wide, _, deep), (_, level, _) = brief["size"], next(iter(cells))
    every = {(x, level, z) for x in range(wide) for z in range(deep)}
    edge = {(x, y, z) for x, y, z in every if x in (0, wide - 1) or z in (0, deep - 1)}
    if cells == every:
        text = gettext("{item} on level {level}")
    elif cells == edge:
        text = gettext("{item} all around level {level}")
    else:
        return ""
    return sentence_case(text.format(item=item_words(item), level=level + 1))


def ordered_cells(view: SeatView) -> set[Cell]:
    """Return the cells that this person has asked for, and that the builder may still be about to fill."""
    (wide, high, deep), found = view.brief["size"], dict[Cell, int]()
    items = tuple(sorted(set(wanted_blocks(view.brief).values())))
    for message in view.talk.messages:
        if message.sender != view.talk.member or not message.text:
            continue
        withdraws, cells = _read(message.text, (wide, high, deep), items)
        if withdraws:
            found.clear()
        until = message.step + PATIENCE + PATIENCE_FOR_A_BLOCK * len(cells)
        found.update(dict.fromkeys(cells, until))
    return {cell for cell, until in found.items() if view.step < until}


@lru_cache(maxsize=512)
def _read(text: str, size: Cell, items: tuple[str, ...]) -> tuple[bool, frozenset[Cell]]:
    """Return whether a message takes requests back, and which cells it asks to fill."""
    brief = {"size": list(size)}
    requests = [with_last(brief, one) for one in parse_requests(text, items)]
    places = (one for one in requests if one.do == PLACE and meant_items(one.thing, dict.fromkeys(items, 1)))
    cells = frozenset(cell for one in places for cell in named_cells(brief, one))
    return any(one.do in WITHDRAWALS for one in requests), cells
