"""The macros that walk or wait: `goto`, `goto_at`, `goto_seat` and `stay`."""

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
    """`goto KIND`: to the nearest block or animal of a kind."""

    arguments: ClassVar[tuple[str, ...]] = (WORD,)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """It must be near."""
        return "" if _find(scene, seat, words[1]) else NONE_NEAR

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest one."""
        return _find(scene, seat, words[1])

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every kind that is near."""
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
    """`goto_at X Y Z`: to a cell. It is not in the menu."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER, NUMBER, NUMBER)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """The cell must be where seats may go."""
        return "" if scene.start.area.holds(words_cell(words)) else OUT_OF_AREA

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """The cell stays where it is."""
        return False

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the cell."""
        return Goal(words_cell(words), 0)

    def offers(self, scene: BlockScene, seat: int) -> tuple[Offer, ...]:
        """Return nothing."""
        return ()


class GoToSeat(MacroRule):
    """`goto_seat K`: to another seat, followed while it moves."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER,)
    walks_only: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """It must be another seat."""
        return "" if scene.is_seat(seat, int(words[1])) else UNKNOWN_SEAT

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """The seat stays in the game."""
        return False

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return where the other seat is."""
        return Goal(scene.at[int(words[1])], SEAT_REACH)

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every other seat."""
        return (Offer(("goto_seat", str(other))) for other in range(scene.seats) if other != seat)


class Stay(MacroRule):
    """`stay N`: wait for N steps, the first included."""

    arguments: ClassVar[tuple[str, ...]] = (AMOUNT,)

    def is_well_formed(self, scene: BlockScene, words: Command) -> bool:
        """A stay has a longest time."""
        return super().is_well_formed(scene, words) and int(words[1]) <= LONGEST_STAY

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """A seat can always stay."""
        return ""

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """A stay needs nothing."""
        return False

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Count the step."""
        left = int(macro["words"][1]) if macro["left"] is None else macro["left"]
        macro["left"] = left - 1
        return left <= 1

    def offers(self, scene: BlockScene, seat: int) -> tuple[Offer, ...]:
        """Return the stay."""
        return (Offer(("stay", "1"), LONGEST_STAY),)
