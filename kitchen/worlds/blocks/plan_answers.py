"""Answer what people ask the agent `blocks_planner` about the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.worlds.blocks.blueprint_pieces import BlueprintPiece, missing_pieces, wanted_blocks
from kitchen.worlds.blocks.item_recipes import Inventory, add_items
from kitchen.worlds.blocks.parsed_requests import NEEDED, ParsedRequest
from kitchen.worlds.blocks.planner_messages import (
    BELONGS,
    MORE,
    NEEDS,
    NO_CELL,
    NO_NEED,
    NO_PLAN,
    NONE_MISSING,
    NOT_IN_PLAN,
    PLEASE_PUT,
)
from kitchen.worlds.blocks.requested_blocks import KINDS_OF_ITEM, site_size
from kitchen.worlds.blocks.withdrawn_requests import Part

MOST_PIECES = 6
"""Maximum number of pieces of the blueprint that an answer names."""


def plan_answer(situation: Situation, parsed: ParsedRequest) -> list[Part]:
    """Return the answer to a question about the plan, or about what the builder needs. Nothing where there
    is no building site."""
    seat = next((seat for seat in parsed.players if seat in situation.seats), situation.seats[0])
    brief, seen = situation.briefs[seat], situation.observations[seat]
    if not any(site_size(brief)):
        return []
    if "blueprint" not in brief:
        return [(NO_PLAN,)]
    held: Inventory = {}
    for each in situation.seats:
        add_items(held, situation.observations[each]["inventory"])
    ends = KINDS_OF_ITEM.get(parsed.thing, (parsed.thing,))
    if not any(item.endswith(ends) for item in wanted_blocks(brief).values()):
        return [(NOT_IN_PLAN, parsed.thing)]
    levels = parsed.places[0] or _unfinished_levels(seen)
    if not all(0 <= level < len(seen["left_by_level"]) for level in levels):
        return [(NO_CELL,)]
    by_level = [
        [one for one in missing_pieces(brief, seen, level) if one.item.endswith(ends)] for level in levels
    ]
    return _missing_answer(by_level, Counter(held), needs=parsed.do == NEEDED)


def _missing_answer(
    by_level: Sequence[Sequence[BlueprintPiece]], left: Counter[str], *, needs: bool
) -> list[Part]:
    """Return the sentences about the missing pieces of the first level that lacks some. With `needs`, only
    material counts that the builder does not hold. `left` has what it holds."""
    for pieces in by_level:
        wanted = Counter(one.item for one in pieces for _ in one.cells)
        told = [one for one in pieces if not (needs and left[one.item])]
        if told:
            parts = [piece_part(one, +left) for one in told]
            return parts if len(parts) <= MOST_PIECES else [*parts[:MOST_PIECES], (MORE,)]
        if lacking := wanted - left:
            return [(NEEDS, dict(lacking))]
        left -= wanted
    return [(NO_NEED if needs else NONE_MISSING,)]


def _unfinished_levels(seen: Mapping[str, Json]) -> list[int]:
    return [level for level, left in enumerate(seen["left_by_level"]) if left]


def piece_part(piece: BlueprintPiece, held: Mapping[str, int]) -> Part:
    """Return the sentence that asks for a piece of the blueprint, or says what belongs there if the builder
    has the material (`held`)."""
    return (BELONGS if piece.item in held else PLEASE_PUT, *piece.to_json())
