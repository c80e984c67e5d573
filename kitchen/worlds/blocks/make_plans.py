"""Plan how to obtain items: which macros collect, hunt, smelt and craft them, in the order of use.

A macro is a command that lasts several steps. The plan uses the items that several players hold together. It
is not always the shortest plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kitchen.contract.world import Command
from kitchen.worlds.blocks.furnace_rules import smelting_rules
from kitchen.worlds.blocks.item_recipes import (
    TABLE,
    Inventory,
    Recipe,
    RecipeBook,
    add_items,
    recipe_book,
    remove_items,
)

DEEPEST = 8
"""Maximum number of products that are made one out of the other."""


@dataclass(frozen=True, slots=True)
class ItemSources:
    """The sources of items other than recipes: blocks to collect, animals to hunt, and whether the world
    has a workbench and a furnace."""

    collected: Mapping[str, str] = field(default_factory=dict)
    """The block that gives an item."""
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The tools of which one is needed for a block; a block that is not named needs none."""
    hunted: Mapping[str, str] = field(default_factory=dict)
    """The animal that gives an item."""
    table_stands: bool = False
    """True if there is a workbench in the world."""
    furnace_stands: bool = False


@dataclass(slots=True)
class _Draft:
    """A plan in the making: the items held after its macros, and the macros so far."""

    pool: Inventory
    steps: list[Command]

    def copy(self) -> _Draft:
        return _Draft(dict(self.pool), list(self.steps))


def plan_items(
    targets: Mapping[str, int], held: Mapping[str, int], sources: ItemSources
) -> list[Command] | None:
    """Return the commands that obtain `targets`, starting with the items `held`. None if no plan is found."""
    search = _Search(recipe_book(), sources)
    draft: _Draft | None = _Draft(dict(held), [])
    for item, amount in targets.items():
        draft = search.set_aside(draft, item, amount, ()) if draft else None
    return draft.steps if draft else None


class _Search:
    """Looks for a plan, depth first."""

    def __init__(self, book: RecipeBook, sources: ItemSources) -> None:
        self.book, self.sources = book, sources
        self.raw_of = {product: raw for raw, product in smelting_rules().products.items()}

    def set_aside(self, draft: _Draft, item: str, amount: int, within: tuple[str, ...]) -> _Draft | None:
        """Return a copy of the draft plan that obtains `amount` of an item and reserves it for one use.
        Return None if the item cannot be obtained."""
        found = self.obtain(draft, item, amount, within)
        if found:
            found = found.copy()
            remove_items(found.pool, {item: amount} if amount else {})
        return found

    def obtain(self, draft: _Draft, item: str, amount: int, within: tuple[str, ...]) -> _Draft | None:
        """Return a draft plan after which at least `amount` of an item is available. Return None if the
        item cannot be obtained."""
        short = amount - draft.pool.get(item, 0)
        if short <= 0:
            return draft
        if item in within or len(within) >= DEEPEST:
            return None
        chain = (*within, item)
        if found := self._from_world(draft, item, short, chain):
            return found
        for row in self.book.by_item.get(item, ()):
            if found := self._crafted(draft, row, short, chain):
                return found
        return None

    def _from_world(self, draft: _Draft, item: str, short: int, within: tuple[str, ...]) -> _Draft | None:
        """Return the draft plan, extended to collect, hunt or smelt the items that are missing (`short`).
        Return None if this is impossible."""
        made = draft.copy()
        if block := self.sources.collected.get(item, ""):
            tools = self.sources.tools.get(block, ())
            if tools and not any(tool in made.pool for tool in tools):
                return self._with_tool(made, tools, item, short, within)
            made.steps.append(("collect", block, str(short)))
        elif animal := self.sources.hunted.get(item, ""):
            made.steps += [("attack", animal)] * short
        elif self.sources.furnace_stands and item in self.raw_of:
            raw = self.set_aside(made, self.raw_of[item], short, within)
            if raw is None:
                return None
            made = raw
            made.steps.append(("smelt", self.raw_of[item], str(short)))
        else:
            return None
        add_items(made.pool, {item: short})
        return made

    def _with_tool(
        self, draft: _Draft, tools: tuple[str, ...], item: str, short: int, within: tuple[str, ...]
    ) -> _Draft | None:
        for tool in tools:
            if equipped := self.obtain(draft, tool, 1, within):
                return self._from_world(equipped, item, short, within)
        return None

    def _crafted(self, draft: _Draft, row: Recipe, short: int, within: tuple[str, ...]) -> _Draft | None:
        """Return the draft plan, extended to obtain all ingredients of a recipe (`row`) and to craft it.
        Return None if this is impossible."""
        times = -(-short // row.amount)
        found: _Draft | None = draft
        if row.table and not self.sources.table_stands:
            found = self.obtain(draft, TABLE, 1, within)
        for item, amount in row.named.items():
            found = self.set_aside(found, item, amount * times, within) if found else None
        for tag, amount in row.tagged.items():
            found = self._pay_tag(found, tag, amount * times, within) if found else None
        if found is None:
            return None
        made = found.copy()
        made.steps.append(("craft", row.makes, str(times)))
        add_items(made.pool, {row.makes: row.amount * times})
        return made

    def _pay_tag(self, draft: _Draft, tag: str, amount: int, within: tuple[str, ...]) -> _Draft | None:
        """Return the draft plan, extended to obtain `amount` items of a tag (a group of items) and to
        reserve them. Return None if this is impossible."""
        made, items = draft.copy(), self.book.tags[tag]
        for _ in range(amount):
            held = sorted(items & made.pool.keys())
            if not held:
                break
            remove_items(made.pool, {max(held, key=made.pool.__getitem__): 1})
            amount -= 1
        if not amount:
            return made
        options = (self.set_aside(made, item, amount, within) for item in sorted(items))
        return next(filter(None, options), None)
