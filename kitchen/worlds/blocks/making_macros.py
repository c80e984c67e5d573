"""Define the macros that make items: `craft` and `smelt`.

A macro is a command that lasts several steps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import ClassVar

from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_scene import BLOCK_REACH, FURNACE, BlockScene
from kitchen.worlds.blocks.furnace_rules import fuel_for, smelting_rules
from kitchen.worlds.blocks.item_recipes import TABLE, Recipe, add_items, recipe_book, remove_items
from kitchen.worlds.blocks.macro_rule import (
    AMOUNT,
    IN_USE,
    MISSING,
    NO_FUEL,
    NO_FURNACE,
    NO_TABLE,
    NOT_SMELTABLE,
    UNKNOWN_ITEM,
    WORD,
    Goal,
    Macro,
    MacroRule,
    Offer,
    is_held,
)


class Craft(MacroRule):
    """The macro `craft ITEM TIMES`: make an item from held ones. It uses the first recipe for the item
    whose ingredients are held and whose workbench, if needed, is held or near."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first failed check; empty if there is none. The seat must hold the
        ingredients of a recipe. If the recipe needs a workbench, one must be held or near."""
        item, times = words[1], int(words[2])
        rows = recipe_book().by_item.get(item, ())
        if not rows:
            return UNKNOWN_ITEM
        held = scene.inventories[seat]
        if all(recipe_book().payment(row, held, times) is None for row in rows):
            return MISSING
        return "" if _row(scene, seat, words) else NO_TABLE

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest workbench, if the recipe needs one and the seat holds none; else None."""
        row = _row(scene, seat, words)
        if row is None or not row.table or TABLE in scene.inventories[seat]:
            return None
        table = scene.nearest_block(seat, TABLE)
        return Goal(table, BLOCK_REACH) if table else None

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Replace the ingredients by the product in the seat's inventory. Always return True: the macro
        has ended."""
        words = tuple(macro["words"])
        row, times, held = _row(scene, seat, words), int(words[2]), scene.inventories[seat]
        paid = row and recipe_book().payment(row, held, times)
        if not row or not paid:
            raise ValueError(f"{words[1]} cannot be paid")
        remove_items(held, paid)
        add_items(held, {row.makes: row.amount * times})
        return True

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `craft` command for each item that the seat can make now."""
        held, has_table = scene.inventories[seat], scene.has_table(seat)
        book = recipe_book()
        for item in book.made_of(held):
            usable = (row for row in book.by_item[item] if has_table or not row.table)
            most = max((book.most_times(row, held) for row in usable), default=0)
            if most:
                yield Offer(("craft", item, "1"), most)


def _row(scene: BlockScene, seat: int, words: Command) -> Recipe | None:
    """Return the first recipe of the product whose ingredients the seat holds and whose workbench, if it
    needs one, is at hand. Return None if there is none."""
    held = scene.inventories[seat]
    return next(
        (
            row
            for row in recipe_book().by_item[words[1]]
            if recipe_book().payment(row, held, int(words[2])) is not None
            and (not row.table or scene.has_table(seat))
        ),
        None,
    )


class Smelt(MacroRule):
    """The macro `smelt ITEM N`: put items and fuel into the nearest furnace, and wait there until they are
    ready."""

    arguments: ClassVar[tuple[str, ...]] = (WORD, AMOUNT)
    counts: ClassVar[bool] = True

    def refusal(self, scene: BlockScene, seat: int, words: Command) -> str:
        """Return the code of the first failed check; empty if there is none. The seat must hold the items.
        A furnace must be near and free, and the fuel must be enough."""
        item, amount = words[1], int(words[2])
        if item not in smelting_rules().products:
            return NOT_SMELTABLE
        if not is_held(scene, seat, item, amount):
            return MISSING
        if scene.nearest_block(seat, FURNACE) is None:
            return NO_FURNACE
        if scene.furnace["job"]:
            return IN_USE
        return "" if fuel_for(scene.inventories[seat], scene.furnace["fuel"], amount) else NO_FUEL

    def is_rechecked(self, macro: Mapping[str, Json]) -> bool:
        """Return whether `refusal` must be called again in this step: True until the furnace has started."""
        return not macro["smelts"]

    def goal(self, scene: BlockScene, seat: int, words: Command) -> Goal | None:
        """Return the nearest furnace; None if none is near."""
        cell = scene.nearest_block(seat, FURNACE)
        return Goal(cell, BLOCK_REACH) if cell else None

    def take_part(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Walk to the furnace or start it. Always return False: the world ends the macro when the furnace
        is ready."""
        return False if macro["smelts"] else super().take_part(scene, seat, macro)

    def act(self, scene: BlockScene, seat: int, macro: Macro) -> bool:
        """Put the items and their fuel into the furnace and start it. Always return False: the macro lasts
        until the items are ready."""
        _, item, words_amount = macro["words"]
        amount, held = int(words_amount), scene.inventories[seat]
        use = fuel_for(held, scene.furnace["fuel"], amount)
        if use is None:
            raise ValueError("the fuel is not enough")
        remove_items(held, use.burnt)
        remove_items(held, {item: amount})
        scene.start_furnace(seat, smelting_rules().products[item], amount, use.store)
        macro["smelts"], macro["n"] = True, amount
        return False

    def offers(self, scene: BlockScene, seat: int) -> Iterator[Offer]:
        """Yield one `smelt` command for each item that the seat can smelt now."""
        for item in sorted(smelting_rules().products.keys() & scene.inventories[seat].keys()):
            amounts = range(1, scene.inventories[seat][item] + 1)
            words = [("smelt", item, str(amount)) for amount in amounts]
            most = bisect_left(words, True, key=lambda each: bool(self.refusal(scene, seat, each)))
            if most:
                yield Offer(("smelt", item, "1"), most)
