"""Define the macros that change the building site: `place`, `remove` and `build`.

A macro is a command that lasts several steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import ClassVar

from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import AIR, Cell, rank_from
from kitchen.worlds.blocks.block_scene import BLOCK_REACH, BlockScene
from kitchen.worlds.blocks.item_recipes import add_items, remove_items
from kitchen.worlds.blocks.macro_rule import (
    MISSING,
    NOTHING_THERE,
    NUMBER,
    OCCUPIED,
    OUT_OF_AREA,
    UNKNOWN_ITEM,
    WORD,
    Goal,
    Macro,
    MacroRule,
    Offer,
    words_cell,
)

CELLS_OFFERED = 6
"""Maximum number of cells that the menu offers for `place`, and for `remove`; other cells work, too."""


class Place(MacroRule):
    """The macro `place ITEM X Y Z`: put one block into an empty cell of the blueprint's box."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, NUMBER, NUMBER, NUMBER)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first failed check; empty if the seat can place the block. The cell must
        be empty and in the blueprint's box. The seat must hold the item, and the item must be a building
        material."""
        item, cell = words[1], words_cell(words)
        if not scene.box.holds(cell):
            return OUT_OF_AREA
        if item not in scene.placeable:
            return UNKNOWN_ITEM
        if item not in scene.inventories[seat]:
            return MISSING
        return "" if scene.grid.block(cell) == AIR else OCCUPIED

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the cell to fill, which the seat must have within reach."""
        return Goal(words_cell(words), BLOCK_REACH)

    def sought_cell(self, scene: BlockScene, seat: int, macro: Macro) -> Cell | None:
        """Return the cell to fill. Seats that act later in this step do not choose it for `build`."""
        return words_cell(macro["words"])

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Place the block. Always return True: the macro has ended."""
        item = macro["words"][1]
        remove_items(scene.inventories[seat], {item: 1})
        scene.put_block(words_cell(macro["words"]), item)
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield `place` commands for the menu: the nearest missing blocks of a level (`level_offered`). Only
        materials that the seat holds are offered."""
        level = scene.level_offered(seat)
        if scene.blueprint and level is not None and scene.knows_blueprint(seat):
            wanted = scene.blueprint.levels[level]
            cells = (cell for cell in scene.missing_blocks(seat, level) if cell not in scene.sought)
            for cell in _nearest_first(cells, scene.at[seat]):
                yield Offer(("place", wanted[cell], *map(str, cell)))


def _nearest_first(cells: Iterable[Cell], origin: Cell) -> Iterator[Cell]:
    return islice(sorted(cells, key=rank_from(origin)), CELLS_OFFERED)


class Remove(MacroRule):
    """The macro `remove X Y Z`: take any block from the blueprint's box into the inventory."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER, NUMBER, NUMBER)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first failed check; empty if there is none. The cell must be in the
        blueprint's box and hold a block."""
        cell = words_cell(words)
        if not scene.box.holds(cell):
            return OUT_OF_AREA
        return NOTHING_THERE if scene.grid.block(cell) == AIR else ""

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the cell of the block, which the seat must have within reach."""
        return Goal(words_cell(words), BLOCK_REACH)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Move the block to the seat's inventory. Always return True: the macro has ended."""
        cell = words_cell(macro["words"])
        add_items(scene.inventories[seat], {scene.grid.block(cell): 1})
        scene.put_block(cell, AIR)
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield `remove` commands for the menu: the nearest blocks that differ from the blueprint."""
        if scene.comparison and scene.knows_blueprint(seat):
            wrong = chain.from_iterable(scene.comparison.wrong)
            for cell in _nearest_first(wrong, scene.at[seat]):
                yield Offer(("remove", *map(str, cell)))


class Build(MacroRule):
    """The macro `build LEVEL`: place all missing blocks of a level whose material the seat holds.

    If a seat with a lower number is about to fill a cell in this step, the macro skips this cell. It ends
    as done when the seat can place no other block of the level, or when all cells that are left would be
    skipped.
    """

    arguments: ClassVar[tuple[str, ...]] = (NUMBER,)
    counts: ClassVar[bool] = True

    def is_well_formed(self, scene: BlockScene, words: Command) -> bool:
        """Return whether the argument is the number of a level of the blueprint."""
        levels = len(scene.blueprint.levels) if scene.blueprint else 0
        return super().is_well_formed(scene, words) and 0 <= int(words[1]) < levels

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code `missing` if the seat can fill no cell of the blueprint level that the command
        names. Return an empty text if it can."""
        return "" if _free_cell(scene, seat, words) else MISSING

    def is_done_by(self, code: str, macro: Mapping[str, Json]) -> bool:
        """Return True: if no cell can be filled any more, the macro ends as done, not as failed."""
        return True

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the cell that the seat should fill next with a block. Return None if there is none."""
        cell = _free_cell(scene, seat, words)
        return Goal(cell, BLOCK_REACH) if cell else None

    def sought_cell(self, scene: BlockScene, seat: int, macro: Macro) -> Cell | None:
        """Return the cell that the seat will fill next with a block. Return None if there is none. Seats
        that act later in this step leave this cell out."""
        return _free_cell(scene, seat, tuple(macro["words"]))

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Place one block in the next cell. Return True if the seat can then fill no other cell of this
        level: the macro has ended."""
        words = tuple(macro["words"])
        cell, blueprint, level = _free_cell(scene, seat, words), scene.blueprint, int(words[1])
        if cell is None or blueprint is None:
            raise ValueError("no cell is left")
        item = blueprint.levels[level][cell]
        remove_items(scene.inventories[seat], {item: 1})
        scene.put_block(cell, item)
        macro["n"] += 1
        return next(scene.missing_blocks(seat, level), None) is None

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `build` command for each level in which the seat can fill a cell."""
        levels = len(scene.blueprint.levels) if scene.blueprint else 0
        for words in (("build", str(level)) for level in range(levels)):
            if not self.refusal(scene, seat, words):
                yield Offer(words)


def _free_cell(scene: BlockScene, seat: int, words: Command) -> Cell | None:
    """Return the first cell of the named level that the seat can fill and that no seat with a lower number
    is about to fill. Return None if there is none."""
    cells = scene.missing_blocks(seat, int(words[1]))
    return next((cell for cell in cells if cell not in scene.sought), None)
