"""The macros that pass items on: `give`, `put`, `take` and `discard`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from kitchen.contract.world import Command
from kitchen.worlds.blocks.block_scene import BLOCK_REACH, CHEST, SEAT_REACH, BlockScene
from kitchen.worlds.blocks.item_recipes import add_items, remove_items
from kitchen.worlds.blocks.macro_rule import (
    AMOUNT,
    MISSING,
    NO_CHEST,
    NUMBER,
    UNKNOWN_SEAT,
    WORD,
    Goal,
    Macro,
    MacroRule,
    Offer,
    is_held,
)


def _each_item(head: Command, held: Mapping[str, int]) -> Iterator[Offer]:
    """Yield the command for each item held, from 1 to all of it."""
    return (Offer((*head, item, "1"), amount) for item, amount in sorted(held.items()))


class Give(MacroRule):
    """`give K ITEM N`: to another seat."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER, WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """It must be another seat, and the items be held."""
        if not scene.is_seat(seat, int(words[1])):
            return UNKNOWN_SEAT
        return "" if is_held(scene, seat, words[2], int(words[3])) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return where the other seat is."""
        return Goal(scene.at[int(words[1])], SEAT_REACH)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Hand the items over."""
        _, other, item, amount = macro["words"]
        scene.hand_over(seat, int(other), item, int(amount))
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every item for every other seat."""
        for other in range(scene.seats):
            if other != seat:
                yield from _each_item(("give", str(other)), scene.inventories[seat])


class Put(MacroRule):
    """`put ITEM N`: into the nearest chest."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """A chest must be near, and the items be held."""
        if scene.nearest_block(seat, CHEST) is None:
            return NO_CHEST
        return "" if is_held(scene, seat, words[1], int(words[2])) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the chest."""
        return _chest(scene, seat)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Put the items in."""
        _, item, amount = macro["words"]
        remove_items(scene.inventories[seat], {item: int(amount)})
        add_items(scene.chest, {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every item held, where a chest is near."""
        if _chest(scene, seat):
            yield from _each_item(("put",), scene.inventories[seat])


class Take(MacroRule):
    """`take ITEM N`: out of the nearest chest."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """A chest must be near and hold the items."""
        if scene.nearest_block(seat, CHEST) is None:
            return NO_CHEST
        return "" if scene.chest.get(words[1], 0) >= int(words[2]) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the chest."""
        return _chest(scene, seat)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Take the items out."""
        _, item, amount = macro["words"]
        remove_items(scene.chest, {item: int(amount)})
        add_items(scene.inventories[seat], {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every item in the chest, where it is near."""
        if _chest(scene, seat):
            yield from _each_item(("take",), scene.chest)


def _chest(scene: BlockScene, seat: int) -> Goal | None:
    cell = scene.nearest_block(seat, CHEST)
    return Goal(cell, BLOCK_REACH) if cell else None


class Discard(MacroRule):
    """`discard ITEM N`: throw items away."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """The items must be held."""
        return "" if is_held(scene, seat, words[1], int(words[2])) else MISSING

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Remove the items."""
        _, item, amount = macro["words"]
        remove_items(scene.inventories[seat], {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return every item held."""
        return _each_item(("discard",), scene.inventories[seat])
