"""Answer what people ask the agent `blocks_planner` about the plan."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.worlds.blocks.blueprint_pieces import BlueprintPiece, missing_pieces
from kitchen.worlds.blocks.item_recipes import Inventory, add_items
from kitchen.worlds.blocks.parsed_requests import NEEDED, ParsedRequest
from kitchen.worlds.blocks.planner_messages import (
    BELONGS,
    MORE,
    NO_CELL,
    NO_NEED,
    NO_PLAN,
    NONE_MISSING,
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
    for level in parsed.places[0] or _unfinished_levels(seen):
        if not 0 <= level < len(seen["left_by_level"]):
            return [(NO_CELL,)]
        pieces = [one for one in missing_pieces(brief, seen, level) if one.item.endswith(ends)]
        if parsed.do == NEEDED:
            pieces = [one for one in pieces if one.item not in held]
        if pieces:
            parts = [piece_part(one, held) for one in pieces]
            return parts if len(parts) <= MOST_PIECES else [*parts[:MOST_PIECES], (MORE,)]
    return [(NO_NEED if parsed.do == NEEDED else NONE_MISSING,)]


def _unfinished_levels(seen: Mapping[str, Json]) -> list[int]:
    return [level for level, left in enumerate(seen["left_by_level"]) if left]


def piece_part(piece: BlueprintPiece, held: Mapping[str, int]) -> Part:
    """Return the sentence that asks for a piece of the blueprint, or says what belongs there if the builder
    has the material (`held`)."""
    return (BELONGS if piece.item in held else PLEASE_PUT, *piece.to_json())
