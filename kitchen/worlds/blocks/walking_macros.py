"""Define the macros that walk or wait: `goto`, `goto_at`, `goto_seat` and `stay`.

A macro is a command that lasts several steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_scene import BLOCK_REACH, SEAT_REACH, BlockScene
from kitchen.worlds.blocks.macro_rule import (
    AMOUNT,
    NONE_NEAR,
    NUMBER,
    OUT_OF_AREA,
    UNKNOWN_SEAT,
    WORD,
    Goal,
    Macro,
    MacroRule,
    Offer,
    words_cell,
)

LONGEST_STAY = 30


class GoTo(MacroRule):
    """The macro `goto KIND`: walk to the nearest block or animal of this kind."""

    arguments: ClassVar[tuple[str, ...]] = (WORD,)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `none_near` if no block or animal of this kind is near; empty if one is."""
        return "" if _find(scene, seat, words[1]) else NONE_NEAR

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the place of the nearest block or animal of this kind. Return None if none is near."""
        return _find(scene, seat, words[1])

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `goto` command for each kind of block or animal that is near."""
        for kind in (*scene.grid.kinds(), *sorted(scene.meat)):
            if _find(scene, seat, kind):
                yield Offer(("goto", kind))


def _find(scene: BlockScene, seat: int, kind: str) -> Goal | None:
    if kind in scene.meat:
        animal = scene.nearest_animal(seat, kind)
        return Goal(animal, SEAT_REACH) if animal else None
    block = scene.nearest_block(seat, kind)
    return Goal(block, BLOCK_REACH) if block else None


class GoToCell(MacroRule):
    """The macro `goto_at X Y Z`: walk to a cell. The menu does not offer it."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER, NUMBER, NUMBER)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `out_of_area` if seats may not enter this cell; empty if they may."""
        return "" if scene.start.area.holds(words_cell(words)) else OUT_OF_AREA

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """Return False: a cell that was allowed at the beginning remains allowed."""
        return False

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the named cell. Its reach is 0: the seat must walk onto the cell itself."""
        return Goal(words_cell(words), 0)

    def offers(self, scene: BlockScene, seat: int) -> tuple[Offer, ...]:
        """Return no commands, because the menu does not offer `goto_at`."""
        return ()


class GoToSeat(MacroRule):
    """The macro `goto_seat K`: walk to seat K, and follow it while it moves."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER,)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code `unknown_seat` if the command's argument is not the number of another seat.
        Return an empty text if it is."""
        return "" if scene.is_seat(seat, int(words[1])) else UNKNOWN_SEAT

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """Return False, because a seat never leaves the game."""
        return False

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the place where the other seat is now."""
        return Goal(scene.at[int(words[1])], SEAT_REACH)

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return one `goto_seat` command for each other seat."""
        return (Offer(("goto_seat", str(other))) for other in range(scene.seats) if other != seat)


class Stay(MacroRule):
    """The macro `stay N`: wait for N steps, counting the step in which it begins."""

    arguments: ClassVar[tuple[str, ...]] = (AMOUNT,)

    def is_well_formed(self, scene: BlockScene, words: Command) -> bool:
        """Return whether the argument is a whole number from 1 to 30 (`LONGEST_STAY`)."""
        return super().is_well_formed(scene, words) and int(words[1]) <= LONGEST_STAY

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return an empty text, because a seat can always wait."""
        return ""

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """Return False, because nothing can prevent a seat from waiting."""
        return False

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Wait for one step. Return whether this was the last step of the wait."""
        left = int(macro["words"][1]) if macro["left"] is None else macro["left"]
        macro["left"] = left - 1
        return left <= 1

    def offers(self, scene: BlockScene, seat: int) -> tuple[Offer, ...]:
        """Return one command, `stay 1`, whose amount can be raised to 30 (`LONGEST_STAY`)."""
        return (Offer(("stay", "1"), LONGEST_STAY),)
