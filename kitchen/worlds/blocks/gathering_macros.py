"""Define the macros that take things from the world: `collect` and `attack`.

A macro is a command that lasts several steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import AIR
from kitchen.worlds.blocks.block_scene import BLOCK_REACH, SEAT_REACH, BlockScene
from kitchen.worlds.blocks.item_recipes import add_items
from kitchen.worlds.blocks.macro_rule import (
    AMOUNT,
    MISSING,
    MOST_AMOUNT,
    NONE_NEAR,
    WORD,
    Goal,
    Macro,
    MacroRule,
    Offer,
)

HAND = "hand"
"""The tool of a seat without one."""


class Collect(MacroRule):
    """The macro `collect KIND N`: walk to the nearest block of a kind and take it, until the seat took N
    blocks.

    If no such block is left near, the macro also ends as done. A block may take several steps of work. The
    work is lost when another block becomes the nearest one.
    """

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)
    counts: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first failed check; empty if there is none. A block of the named kind
        must be near and give an item. If the block needs a tool, the seat must hold one."""
        kind = words[1]
        if kind not in scene.collects or scene.nearest_block(seat, kind) is None:
            return NONE_NEAR
        return "" if _steps_needed(scene, seat, kind) else MISSING

    def is_done_by(self, code: str, macro: Mapping[str, Json]) -> bool:
        """Return whether no block is left near and the macro has taken at least one. In this case, the
        macro ends as done, not as failed."""
        return code == NONE_NEAR and macro["n"] > 0

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest block of the kind; None if none is near."""
        cell = scene.nearest_block(seat, words[1])
        return Goal(cell, BLOCK_REACH) if cell else None

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Work on the nearest block for one step. When the block's steps of work are complete, take the
        block. Return whether the macro has ended."""
        _, kind, most = macro["words"]
        cell = scene.nearest_block(seat, kind)
        if cell is None:
            raise ValueError(f"no {kind} is near")
        worked = scene.digging[seat]
        steps = 1 + (worked[1] if worked and tuple(worked[0]) == cell else 0)
        if steps < _steps_needed(scene, seat, kind):
            scene.digging[seat] = [list(cell), steps]
            return False
        scene.digging[seat] = None
        scene.put_block(cell, AIR)
        add_items(scene.inventories[seat], {scene.collects[kind][0]: 1})
        macro["n"] += 1
        return macro["n"] >= int(most) or scene.nearest_block(seat, kind) is None

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `collect` command for each kind of block that the seat can collect now."""
        for kind in scene.collects:
            if not self.refusal(scene, seat, ("collect", kind, "1")):
                yield Offer(("collect", kind, "1"), MOST_AMOUNT)


def _steps_needed(scene: BlockScene, seat: int, kind: str) -> int:
    """Return the number of steps to mine one block of this kind with the best tool that the seat holds.
    Return 0 if the seat lacks the necessary tool."""
    steps = scene.collects[kind][1]
    return min((steps[tool] for tool in steps if tool == HAND or tool in scene.inventories[seat]), default=0)


class Attack(MacroRule):
    """The macro `attack ANIMAL`: walk to the nearest animal of a kind, and take its meat into the
    inventory."""

    arguments: ClassVar[tuple[str, ...]] = (WORD,)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `none_near` if no animal of this kind is within 64 cells; empty if one is."""
        return NONE_NEAR if scene.nearest_animal(seat, words[1]) is None else ""

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the place of the nearest animal of this kind. Return None if none is near."""
        cell = scene.nearest_animal(seat, words[1])
        return Goal(cell, SEAT_REACH) if cell else None

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Remove the animal, and add its meat to the inventory. Always return True: the macro has ended."""
        kind = macro["words"][1]
        cell = scene.nearest_animal(seat, kind)
        if cell is None:
            raise ValueError(f"no {kind} is near")
        scene.take_animal(kind, cell)
        if meat := scene.meat[kind]:
            add_items(scene.inventories[seat], {meat: 1})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return one `attack` command for each kind of animal within 64 cells."""
        kinds = (kind for kind in sorted(scene.meat) if scene.nearest_animal(seat, kind))
        return (Offer(("attack", kind)) for kind in kinds)
