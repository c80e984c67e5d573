"""Split a list of dishes into units of work (batches) for the planner's simulation.

A batch is the set of ingredients that are put into one tool before it is started. Robots fill it by trips,
each of which carries one item. Held items, finished products and partly filled tools are used first. The
planner is the agent `CuisinePlanner`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.worlds.cuisine.planner.planner_state import KitchenBook, KitchenScene, RecipePlan, product_at

NOBODY = -1
NOWHERE = -1


@dataclass(slots=True, eq=False)
class Batch:
    """One filling of one tool.

    `need`: base ingredients that no robot is bringing yet. `due`: the number of items that are not in the
    tool yet. `done_at`: the step from now at which the product can be taken; None before the tool is
    started.
    """

    recipe: RecipePlan
    rank: int
    parent: Batch | None
    tool: int = NOWHERE
    need: list[str] = field(default_factory=list)
    due: int = 0
    done_at: int | None = None
    taker: int = NOBODY
    is_junk: bool = False


class ItemsAround:
    """The items in the kitchen that dishes can use.

    `held`: for each item, the robots that hold it. `products`: for each product, the tools that contain
    it; the tool that is done first comes first. `begun`: for each type of tool, the tools that are partly
    filled.
    """

    __slots__ = ("begun", "held", "products")

    def __init__(self, book: KitchenBook, scene: KitchenScene) -> None:
        self.held: dict[str, list[int]] = {}
        self.products: dict[str, list[int]] = {}
        self.begun: dict[str, list[int]] = {}
        for index, agent in enumerate(scene.agents):
            if agent.holds is not None:
                self.held.setdefault(agent.holds, []).append(index)
        for place, items in enumerate(scene.inside):
            if items and place != book.table and place != book.storage:
                product = product_at(book, scene, place)
                pool = self.begun if product is None else self.products
                pool.setdefault(product or book.kinds[place], []).append(place)
        for places in self.products.values():
            places.sort(key=lambda place: scene.busy[place])


def _copied(pool: Mapping[str, list[int]]) -> dict[str, list[int]]:
    return {name: list(members) for name, members in pool.items()}


class WorkBatches:
    """The batches (fillings of tools) for all dishes of a plan, in the order in which robots look for work.

    `bringing`: for each robot that carries an item, the batch that needs the item, or None for the serving
    table. `inside`: the batch in each tool, or None if the tool is empty.
    """

    def __init__(
        self,
        book: KitchenBook,
        scene: KitchenScene,
        lying: ItemsAround,
        wishes: Sequence[str],
        toward: Mapping[int, int],
    ) -> None:
        self.book = book
        self._base, self._recipes = book.base, book.recipes
        self.toward = toward
        self.batches: list[Batch] = []
        self.bringing: dict[int, Batch | None] = {}
        self.inside: list[Batch | None] = [None] * len(book.places)
        self.junk: list[Batch] = []
        self._held = _copied(lying.held)
        self._products = _copied(lying.products)
        self._begun = _copied(lying.begun)
        for rank, dish in enumerate(wishes):
            self._wish(scene, dish, rank)
        self._find_other_use()
        self._call_junk(scene)

    def _wish(self, scene: KitchenScene, dish: str, rank: int) -> None:
        holders = self._held.get(dish)
        if holders:
            self.bringing[holders.pop(0)] = None
        else:
            self._claim(scene, dish, rank, None)

    def _claim(self, scene: KitchenScene, product: str, rank: int, parent: Batch | None) -> None:
        batch = Batch(self._recipes[product], rank, parent)
        places = self._products.get(product)
        if product in scene.theirs or (product in scene.unmade and not places):
            batch.due = 1
        elif places:
            self._settle(batch, places.pop(0))
            batch.done_at = scene.busy[batch.tool]
        else:
            self._begin(scene, batch)
        self.batches.append(batch)

    def _settle(self, batch: Batch, place: int) -> None:
        batch.tool = place
        self.inside[place] = batch

    def _begin(self, scene: KitchenScene, batch: Batch) -> None:
        """Begin a batch (filling of a tool): use a partly filled tool if possible, and assign items that
        robots hold to its missing ingredients."""
        missing = batch.recipe.parts
        places = self._begun.get(batch.recipe.tool)
        if places and (place := self._best_begun(scene, batch.recipe, places)) != NOWHERE:
            places.remove(place)
            self._settle(batch, place)
            missing = tuple(part for part in missing if part not in scene.inside[place])
        batch.due = len(missing)
        for part in missing:
            if part in self._held and (holder := self._holder(scene, part, batch.tool)) != NOBODY:
                self.bringing[holder] = batch
            elif part in self._base:
                batch.need += [] if part in scene.theirs else [part]
            else:
                self._claim(scene, part, batch.rank, batch)

    def _best_begun(self, scene: KitchenScene, recipe: RecipePlan, places: Sequence[int]) -> int:
        best, most = NOWHERE, 0
        for place in places:
            items = scene.inside[place]
            if len(items) > most and all(item in recipe.parts for item in items):
                best, most = place, len(items)
        return best

    def _holder(self, scene: KitchenScene, part: str, tool: int) -> int:
        """Return the robot that should bring this ingredient to a tool, and reserve its item. Robots that are
        at the tool or on their way to it come first. Return NOBODY if there is none."""
        holders = self._held[part]
        free = [index for index in holders if self._may_go(scene, index, tool)]
        if not free:
            return NOBODY
        holder = min(free, key=lambda index: (index not in self.toward, scene.agents[index].at != tool))
        holders.remove(holder)
        return holder

    def _may_go(self, scene: KitchenScene, index: int, tool: int) -> bool:
        """Return whether an agent can bring its item to this tool: it goes there already, or has no
        destination yet.

        If no tool is chosen yet (`tool` is NOWHERE), an agent on its way to an empty tool is accepted.
        """
        goal = self.toward.get(index, tool)
        return goal == tool or (tool == NOWHERE and goal != self.book.storage and not scene.inside[goal])

    def _find_other_use(self) -> None:
        """Give a new destination to agents whose item is no longer needed at the place they are going to."""
        for part, held in self._held.items():
            holders = [index for index in held if self.toward.get(index) != self.book.storage]
            if not holders:
                continue
            for batch in self.batches[:]:
                if holders and part in batch.need:
                    batch.need.remove(part)
                    self.bringing[holders.pop(0)] = batch
                elif holders and batch.parent is not None and self._is_spared_by(batch, part):
                    self.bringing[holders.pop(0)] = batch.parent

    def _is_spared_by(self, batch: Batch, part: str) -> bool:
        """Remove a batch (filling of a tool) that is not needed, because an agent already holds its product
        `part`. The batches for its ingredients are removed, too. Return False, and remove nothing, if one of
        them has begun."""
        if batch.recipe.product != part:
            return False
        below = [batch]
        for other in reversed(self.batches):
            if other.parent in below:
                below.append(other)
        wanted = set(self.bringing.values())
        if any(other.tool != NOWHERE or other in wanted for other in below):
            return False
        self.batches = [other for other in self.batches if other not in below]
        return True

    def _call_junk(self, scene: KitchenScene) -> None:
        """Add a batch for each useless product or partial filling in a tool. The tool is then known to be
        blocked until it is cleared."""
        for product, places in self._products.items():
            for place in places:
                batch = Batch(self.book.recipes[product], len(self.batches), None)
                self._settle(batch, place)
                batch.done_at = scene.busy[place]
                self._discard(batch, is_kept=product in scene.theirs)
        for kind, places in self._begun.items():
            for place in places:
                batch = Batch(self.book.at_tool[kind][0], len(self.batches), None)
                self._settle(batch, place)
                batch.due = 1
                self._discard(batch)

    def _discard(self, batch: Batch, *, is_kept: bool = False) -> None:
        batch.is_junk = True
        self.junk += [] if is_kept else [batch]


Errand = tuple[str, str]
"""A trip in words: ("take", place), ("start", place), or (base ingredient, the product it is for)."""

FAR_STEPS = 1 << 20
"""More steps than any episode has: never."""

FETCH, CARRY, ACTIVATE = 0, 1, 2
"""Stages of a trip: going for its item, bringing it, activating the tool it was brought to."""


class TripStyle(NamedTuple):
    """The rules by which trips are chosen.

    `patience`: steps that a robot may wait in a trip. `stay`: steps that a robot may wait at a tool that
    it has just activated. `guard`: keep tools free for earlier dishes of the plan. `helps`: a robot
    without work starts another robot's tool.
    """

    patience: int = 1
    stay: int = 1
    guard: bool = True
    helps: bool = True


class PlanDraft(NamedTuple):
    """A plan: the dishes in their order, the rules for trips, and the errands (unfinished trips) to
    continue."""

    wishes: tuple[str, ...]
    style: TripStyle
    errands: tuple[tuple[int, Errand], ...] = ()
    passing: tuple[int, ...] = ()
    """Agents that pass over the first thing they would do next."""
    helping: tuple[int, ...] = ()
    """Agents that next start a tool that another agent fills."""


@dataclass(slots=True, eq=False)
class Trip:
    """A robot's task to bring one item from one place to another, or to start one tool."""

    stage: int
    item: str
    source: Batch | None
    """The batch whose product it is; None for a base ingredient."""
    target: Batch | None
    """The batch it is for; None for the serving table and the waste."""
    to: int
    """The destination if it is no batch."""
    since: int = 0
    """The step from now at which its item is taken, as soon as that is certain; 0 if it was in hand."""

    def in_hand(self, step: int) -> bool:
        """Return whether the robot holds the trip's item at the end of this step."""
        return self.stage == CARRY and self.since <= step
