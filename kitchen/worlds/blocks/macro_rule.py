"""Define `MacroRule`, the rules of one macro (a command that lasts several steps).

A rule says when the macro can begin, where the player walks, and what it does there.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import Cell, is_within
from kitchen.worlds.blocks.block_scene import BlockScene

NUMBER_PATTERN = re.compile(r"0|-?[1-9][0-9]{0,3}")
WORD, NUMBER, AMOUNT = "word", "number", "amount"
"""Kinds of argument: any text, a whole number, a whole number from 1."""
MOST_AMOUNT = 9999
MISSING, NONE_NEAR, OUT_OF_AREA, UNKNOWN_SEAT = "missing", "none_near", "out_of_area", "unknown_seat"
UNKNOWN_ITEM, NO_TABLE, NO_CHEST = "unknown_item", "no_table", "no_chest"
OCCUPIED, NOTHING_THERE = "occupied", "nothing_there"
NOT_SMELTABLE, NO_FURNACE, IN_USE, NO_FUEL = "not_smeltable", "no_furnace", "in_use", "no_fuel"
Macro = dict[str, Json]
"""A macro in progress: `words`, `n` (blocks taken or placed, items smelted), `left` (steps of a stay, else
None), `smelts` (whether its furnace runs)."""


class Goal(NamedTuple):
    """A cell that the seat must approach before the macro can act. The macro can act from a distance of at
    most `reach`."""

    cell: Cell
    reach: float


class Offer(NamedTuple):
    """A command in a seat's menu. If its last word is an amount, `most` is the greatest one that is
    allowed, else None."""

    command: Command
    most: int | None = None


class MacroRule(ABC):
    """The rules of one macro, such as `collect`. They keep no state: a macro in progress is stored in the
    world (`scene`)."""

    arguments: ClassVar[tuple[str, ...]]
    """The kind of each argument."""
    counts: ClassVar[bool] = False
    """True if the event `done` has a count."""
    walks_only: ClassVar[bool] = False
    """True if it ends as soon as its goal is within reach."""

    def is_well_formed(self, scene: BlockScene, words: Command) -> bool:
        """Return whether `words` has the right number of arguments, and each is of the right kind."""
        return len(words) - 1 == len(self.arguments) and all(map(_fits, self.arguments, words[1:]))

    @abstractmethod
    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first check that fails now; empty if the macro can begin or continue."""

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """Return whether the checks of `refusal` are repeated in each later step of the macro."""
        return True

    def is_done_by(self, code: str, macro: Mapping[str, Json]) -> bool:
        """Return how a macro in progress ends when a check fails with this code: True if it ends as done,
        False if as failed."""
        return False

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the cell to which the seat must walk before it acts; None if it can act anywhere. Called
        only after the checks of `refusal` have passed."""
        return None

    def sought_cell(self, scene: BlockScene, seat: int, macro: Macro) -> Cell | None:
        """Return the cell that the macro will fill with a block; None if it fills none."""
        return None

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Carry out the macro's work for one step, at its goal. Return whether the macro has ended."""
        return True

    def take_part(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Walk towards the goal for one step. If the goal is within reach, act instead. Return whether the
        macro has ended."""
        sought = self.sought_cell(scene, seat, macro)
        goal = self.goal(scene, seat, tuple(macro["words"]))
        if goal is None or is_within(scene.at[seat], goal.cell, goal.reach):
            has_ended = self.act(scene, seat, macro)
        else:
            has_ended = scene.step_towards(seat, goal.cell, goal.reach) and self.walks_only
        if sought:
            scene.sought.add(sought)
        return has_ended

    @abstractmethod
    def offers(self, scene: BlockScene, seat: int) -> Iterable[Offer]:
        """Return the commands that this macro adds to the seat's menu. Each of them could begin now."""


def _fits(kind: str, word: str) -> bool:
    if kind == WORD:
        return bool(word)
    is_number = bool(NUMBER_PATTERN.fullmatch(word))
    return is_number and (kind == NUMBER or int(word) >= 1)


def is_held(scene: BlockScene, seat: int, item: str, amount: int) -> bool:
    """Return whether the seat holds at least `amount` of an item."""
    return scene.inventories[seat].get(item, 0) >= amount


def words_cell(words: Command) -> Cell:
    """Return the cell whose x, y and z are the last three words of a command."""
    x, y, z = map(int, words[-3:])
    return x, y, z
