"""Convert observations and an episode's unchanging facts into the data with which the planner computes.

The planner is the agent `CuisinePlanner`. The module also counts for how many steps other robots have not
moved. The planner does not wait for such robots.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen

MOVE_STEPS = 4
"""Commands to bring one thing from one place to another: goto, get, goto, put."""


@dataclass(frozen=True, slots=True, eq=False)
class RecipePlan:
    """Times and effort to make one product.

    `lag`: steps from the activation until the product can be taken. `holds_agent`: steps for which the
    agent must stay at the tool. `work`: number of commands to make the product and to bring it where it is
    needed. `span`: steps for the same work with unlimited help. `parts`: ingredients in the order in which
    robots look for work.
    """

    product: str
    tool: str
    parts: tuple[str, ...]
    lag: int
    holds_agent: int
    work: int
    span: int


@dataclass(frozen=True, slots=True, eq=False)
class KitchenBook:
    """The brief (the unchanging facts) of a kitchen in the form in which the planner computes. Places are
    numbers: indices of `places`."""

    places: tuple[str, ...]
    number: dict[str, int]
    kinds: tuple[str, ...]
    tools: dict[str, tuple[int, ...]]
    storage: int
    table: int
    base: frozenset[str]
    recipes: dict[str, RecipePlan]
    dishes: tuple[str, ...]
    chance: float
    lifetimes: dict[str, int]
    interval: int
    max_steps: int
    at_tool: dict[str, tuple[RecipePlan, ...]]


def read_book(brief: Mapping[str, Json], *, shared_first: bool = True) -> KitchenBook:
    """Return the `KitchenBook` of a brief (the unchanging facts of a kitchen). Equal briefs share one
    object.

    If `shared_first` is true, robots fetch the ingredients first that most recipes use. A tool with only such
    ingredients suits several dishes, so the choice of the dish can wait for later orders. Otherwise, the
    ingredients that take longest come first.
    """
    return _read(json.dumps(brief), shared_first)


@lru_cache(maxsize=64)
def _read(text: str, shared_first: bool) -> KitchenBook:
    brief = json.loads(text)
    uses = Counter(part for entry in brief["recipes"].values() for part in set(entry["ingredients"]))
    places = tuple(brief["locations"])
    kinds = tuple(brief["locations"][place] for place in places)
    recipes: dict[str, RecipePlan] = {}
    for product in brief["recipes"]:
        _add_recipe(recipes, product, brief, uses if shared_first else Counter())
    return KitchenBook(
        places=places,
        number={place: index for index, place in enumerate(places)},
        kinds=kinds,
        tools={kind: tuple(i for i, k in enumerate(kinds) if k == kind) for kind in kinds},
        storage=kinds.index("storage"),
        table=kinds.index("servingtable"),
        base=frozenset(brief["base"]),
        recipes=recipes,
        dishes=tuple(d for d in brief["dishes"] if d in recipes and d not in brief["uncookable"]),
        chance=1.0 / len(brief["dishes"]),
        lifetimes=dict(brief["lifetimes"]),
        interval=brief["interval"],
        max_steps=brief["max_steps"],
        at_tool={kind: tuple(r for r in recipes.values() if r.tool == kind) for kind in kinds},
    )


def _add_recipe(
    recipes: dict[str, RecipePlan], product: str, brief: Mapping[str, Json], uses: Counter[str]
) -> RecipePlan | None:
    """Add the recipes of a product and of all its ingredients to `recipes`. Return the product's recipe, or
    None if this kitchen lacks a tool for one of them.

    Ingredients with higher counts in `uses` are fetched first.
    """
    if product in recipes:
        return recipes[product]
    entry = brief["recipes"][product]
    made = [part for part in entry["ingredients"] if part in brief["recipes"]]
    below = [_add_recipe(recipes, part, brief, uses) for part in made]
    if entry["tool"] not in brief["locations"].values() or None in below:
        return None
    tool = brief["tools"][entry["tool"]]
    recipes[product] = _recipe(product, entry, [r for r in below if r], tool, uses)
    return recipes[product]


def _recipe(
    product: str, entry: Json, below: list[RecipePlan], tool: Mapping[str, Json], uses: Counter[str]
) -> RecipePlan:
    span = {recipe.product: recipe.span for recipe in below}
    parts = sorted(entry["ingredients"], key=lambda part: (-uses[part], -span.get(part, 0), part))
    fetched = len(parts) - len(below)
    busy, attended = int(tool["busy"]), bool(tool["attended"])
    return RecipePlan(
        product=product,
        tool=entry["tool"],
        parts=tuple(parts),
        lag=busy,
        holds_agent=busy if attended else 0,
        work=MOVE_STEPS * fetched + sum(r.work for r in below) + MOVE_STEPS,
        span=max([MOVE_STEPS, *span.values()]) + 1 + busy + 3,
    )


@dataclass(slots=True)
class RobotState:
    """A robot's place (as a number), its item, and the number of steps for which it is still busy."""

    at: int
    holds: str | None
    busy: int


@dataclass(slots=True)
class KitchenScene:
    """The state of the kitchen at one moment.

    `orders` are (dish, steps left). To serve an order, the dish must be put down in fewer steps than
    `steps left`. `theirs` are items reserved by people: the planner's robots do not fetch, make or take
    them. `unmade` are products that the planner's robots do not make.
    """

    step: int
    agents: list[RobotState]
    inside: list[tuple[str, ...]]
    busy: list[int]
    orders: list[tuple[str, int]]
    ready: Counter[str]
    theirs: frozenset[str] = frozenset()
    unmade: frozenset[str] = frozenset()


def read_scene(
    book: KitchenBook,
    brief: Mapping[str, Json],
    observation: Mapping[str, Json],
    commanded: Mapping[int, Command],
) -> KitchenScene:
    """Return the state of the kitchen after the commands that are already given for this step
    (`commanded`)."""
    kitchen = SimulatedKitchen(brief, observation)
    kitchen.run_all(commanded)
    where = [kitchen.places[place] for place in book.places]
    return KitchenScene(
        step=observation["step"],
        agents=[RobotState(book.number[agent.at], agent.holds, agent.busy) for agent in kitchen.agents],
        inside=[place.items for place in where],
        busy=[place.busy for place in where],
        orders=[(order["dish"], order["life"]) for order in observation["orders"]],
        ready=Counter(where[book.table].items),
        theirs=frozenset(observation.get("theirs", ())),
        unmade=frozenset(observation.get("unmade", ())),
    )


def product_at(book: KitchenBook, scene: KitchenScene, place: int) -> str | None:
    """Return the finished or cooking product in the tool at this place; None if there is none."""
    items = scene.inside[place]
    recipe = book.recipes.get(items[0]) if len(items) == 1 else None
    return items[0] if recipe and recipe.tool == book.kinds[place] else None


BELIEF_STEPS = 4
"""Number of steps without a movement after which an agent is no longer waited for."""

SeenOthers = list[list[Json]]
"""One [seat, place, thing held, steps unchanged] for each of the others, as kept in the memory."""


def watch_others(
    book: KitchenBook, scene: KitchenScene, ours: Collection[int], before: SeenOthers
) -> SeenOthers:
    """Return (seat, place, item, steps) for each robot that the planner does not command. `steps` is for how
    long place and item have not changed.

    `ours` are the planner's seats. `before` is the result of the last step.
    """
    last = {seat: (place, thing, steps) for seat, place, thing, steps in before}
    seen: SeenOthers = []
    for seat, agent in enumerate(scene.agents):
        if seat in ours:
            continue
        place = book.places[agent.at]
        was = last.get(seat)
        same = was is not None and was[:2] == (place, agent.holds)
        seen.append([seat, place, agent.holds, was[2] + 1 if was is not None and same else 0])
    return seen


def forget_idle_others(scene: KitchenScene, seen: SeenOthers) -> set[int]:
    """Return the seats of robots that the planner does not command and that have not moved for a long time.
    `seen` is the result of `watch_others`.

    Their items are removed from the scene, so that the plan does not wait for these robots.
    """
    absent = {seat for seat, _, _, steps in seen if steps >= BELIEF_STEPS}
    for seat in absent:
        scene.agents[seat].holds = None
    return absent
