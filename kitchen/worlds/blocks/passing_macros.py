"""Define the macros that move items between inventories and chests: `give`, `put`, `take` and `discard`.

A macro is a command that lasts several steps. Each player has an inventory of items.
"""

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
    """Yield one command of the menu for each kind of item that the seat holds. Its amount can be chosen
    from 1 to the whole amount held."""
    return (Offer((*head, item, "1"), amount) for item, amount in sorted(held.items()))


class Give(MacroRule):
    """The macro `give K ITEM N`: walk to seat K and give it N items."""

    arguments: ClassVar[tuple[str, ...]] = (NUMBER, WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `unknown_seat` if K is not another seat, `missing` if the seat does not hold the items,
        else an empty text."""
        if not scene.is_seat(seat, int(words[1])):
            return UNKNOWN_SEAT
        return "" if is_held(scene, seat, words[2], int(words[3])) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the place where the receiving seat is now."""
        return Goal(scene.at[int(words[1])], SEAT_REACH)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Move the items to the other seat's inventory. Always return True: the macro has ended."""
        _, other, item, amount = macro["words"]
        scene.hand_over(seat, int(other), item, int(amount))
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `give` command for each other seat and each item that the seat holds."""
        for other in range(scene.seats):
            if other != seat:
                yield from _each_item(("give", str(other)), scene.inventories[seat])


class Put(MacroRule):
    """The macro `put ITEM N`: put items into the nearest chest."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `no_chest` if no chest is within 32 cells, `missing` if the seat does not hold the items,
        else an empty text."""
        if scene.nearest_block(seat, CHEST) is None:
            return NO_CHEST
        return "" if is_held(scene, seat, words[1], int(words[2])) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest chest; None if none is near."""
        return _chest(scene, seat)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Move the items from the inventory into the chest. Always return True: the macro has ended."""
        _, item, amount = macro["words"]
        remove_items(scene.inventories[seat], {item: int(amount)})
        add_items(scene.chest, {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `put` command for each item that the seat holds. Yield nothing if no chest is near."""
        if _chest(scene, seat):
            yield from _each_item(("put",), scene.inventories[seat])


class Take(MacroRule):
    """The macro `take ITEM N`: take items from the nearest chest."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return `no_chest` if no chest is within 32 cells, `missing` if the chest does not hold the
        items, else an empty text."""
        if scene.nearest_block(seat, CHEST) is None:
            return NO_CHEST
        return "" if scene.chest.get(words[1], 0) >= int(words[2]) else MISSING

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest chest; None if none is near."""
        return _chest(scene, seat)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Move the items from the chest into the inventory. Always return True: the macro has ended."""
        _, item, amount = macro["words"]
        remove_items(scene.chest, {item: int(amount)})
        add_items(scene.inventories[seat], {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `take` command for each item in the chest. Yield nothing if no chest is near."""
        if _chest(scene, seat):
            yield from _each_item(("take",), scene.chest)


def _chest(scene: BlockScene, seat: int) -> Goal | None:
    cell = scene.nearest_block(seat, CHEST)
    return Goal(cell, BLOCK_REACH) if cell else None


class Discard(MacroRule):
    """The macro `discard ITEM N`: remove items from the game."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code `missing` if the seat does not hold the items to discard. Return an empty text
        if it holds them."""
        return "" if is_held(scene, seat, words[1], int(words[2])) else MISSING

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Remove the items from the inventory. Always return True: the macro has ended."""
        _, item, amount = macro["words"]
        remove_items(scene.inventories[seat], {item: int(amount)})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Return one `discard` command for each item that the seat holds."""
        return _each_item(("discard",), scene.inventories[seat])
