"""Read brief and observation into the numbers that the planner uses, and track what the others do.

An agent's held item or current tool counts as its goal. The planner no longer waits for an agent that has not
moved for some steps.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kitchen.contract.world import Command, Json

MOVE_STEPS = 4
"""Commands to bring one thing from one place to another: goto, get, goto, put."""


@dataclass(frozen=True, slots=True, eq=False)
class RecipePlan:
    """How one product is made.

    `lag`: steps from activation until it can be taken. `holds_agent`: steps for which it keeps the agent.
    `work`: commands to make it from nothing and bring it where it is needed. `span`: steps for the same with
    unlimited help.
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
    """A brief in the form in which the planner computes. Places are numbers: indices of `places`."""

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


def read_book(brief: Mapping[str, Json]) -> KitchenBook:
    """Return the book of a brief (`CuisineWorld.brief`); equal briefs share one book."""
    return _read(json.dumps(brief))


@lru_cache(maxsize=64)
def _read(text: str) -> KitchenBook:
    brief = json.loads(text)
    places = tuple(brief["locations"])
    kinds = tuple(brief["locations"][place] for place in places)
    recipes: dict[str, RecipePlan] = {}
    for product in brief["recipes"]:
        _add_recipe(recipes, product, brief, frozenset(kinds))
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
    recipes: dict[str, RecipePlan], product: str, brief: Mapping[str, Json], kinds: frozenset[str]
) -> RecipePlan | None:
    """Add a product and all its parts; return None if this kitchen lacks a tool for it."""
    if product in recipes:
        return recipes[product]
    entry = brief["recipes"][product]
    made = [part for part in entry["ingredients"] if part in brief["recipes"]]
    below = [_add_recipe(recipes, part, brief, kinds) for part in made]
    if entry["tool"] not in kinds or None in below:
        return None
    recipes[product] = _recipe(product, entry, [r for r in below if r], brief["tools"][entry["tool"]])
    return recipes[product]


def _recipe(product: str, entry: Json, below: list[RecipePlan], tool: Mapping[str, Json]) -> RecipePlan:
    span = {recipe.product: recipe.span for recipe in below}
    parts = sorted(entry["ingredients"], key=lambda part: (-span.get(part, 0), part))
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
    """A robot's place (as a number), its item, and the steps for which it is still busy."""

    at: int
    holds: str | None
    busy: int


@dataclass(slots=True)
class KitchenScene:
    """One moment of the kitchen.

    Orders are (dish, life left); a dish put down `life - 1` steps from now is the last that still serves the
    order. Some things are reserved by others: `theirs` are items that our agents do not fetch, make or take,
    and `unmade` are products that our agents do not make.
    """

    step: int
    agents: list[RobotState]
    inside: list[tuple[str, ...]]
    busy: list[int]
    orders: list[tuple[str, int]]
    ready: Counter[str]
    theirs: frozenset[str] = frozenset()
    unmade: frozenset[str] = frozenset()


def read_scene(book: KitchenBook, observation: Mapping[str, Json]) -> KitchenScene:
    """Return the scene of an observation (`CuisineWorld.observe`).

    `follow_instructions` may have added what is left to others.
    """
    where = observation["locations"]
    agents = [RobotState(book.number[a["at"]], a["holds"], int(a["busy"])) for a in observation["agents"]]
    inside = [tuple(where[place]["items"]) for place in book.places]
    return KitchenScene(
        step=observation["step"],
        agents=agents,
        inside=inside,
        busy=[int(where[place]["busy"]) for place in book.places],
        orders=[(order["dish"], order["life"]) for order in observation["orders"]],
        ready=Counter(inside[book.table]),
        theirs=frozenset(observation.get("theirs", ())),
        unmade=frozenset(observation.get("unmade", ())),
    )


def apply_command(book: KitchenBook, scene: KitchenScene, seat: int, command: Command) -> None:
    """Change the scene by a command of this step that runs before ours. Refused commands change nothing."""
    agent = scene.agents[seat]
    place = book.number.get(command[1], -1) if len(command) > 1 else -1
    if agent.busy or place < 0:
        return
    if command[0] == "goto":
        agent.at = place
    elif agent.at == place and command[0] in _EFFECTS:
        _EFFECTS[command[0]](book, scene, agent, place, command)


def _get(book: KitchenBook, scene: KitchenScene, agent: RobotState, place: int, command: Command) -> None:
    if agent.holds is not None:
        return
    if place == book.storage:
        agent.holds = command[2] if len(command) > 2 else None
    elif scene.inside[place] and not scene.busy[place] and can_be_taken(book, scene, place):
        agent.holds, scene.inside[place] = scene.inside[place][0], ()


def can_be_taken(book: KitchenBook, scene: KitchenScene, place: int) -> bool:
    """Return whether a robot can take what is in a place.

    Anything can be taken from a chopboard. From another tool, only the product that this tool makes can be
    taken. Nothing can be taken from the serving table.
    """
    if place == book.table:
        return False
    return book.kinds[place] == "chopboard" or product_at(book, scene, place) is not None


def product_at(book: KitchenBook, scene: KitchenScene, place: int) -> str | None:
    """Return the product that lies, done or cooking, in the tool that makes it; None if there is none."""
    items = scene.inside[place]
    recipe = book.recipes.get(items[0]) if len(items) == 1 else None
    return items[0] if recipe and recipe.tool == book.kinds[place] else None


def _put(book: KitchenBook, scene: KitchenScene, agent: RobotState, place: int, command: Command) -> None:
    item = agent.holds
    if item is None:
        return
    if place == book.storage:
        agent.holds = None
    elif place == book.table:
        if item in book.lifetimes:
            agent.holds, scene.ready[item] = None, scene.ready[item] + 1
    elif not scene.busy[place] and fits_place(book, scene, place, item):
        agent.holds = None
        scene.inside[place] = tuple(sorted({*scene.inside[place], item}))


def fits_place(book: KitchenBook, scene: KitchenScene, place: int, item: str) -> bool:
    """Return whether the contents and the item together are part of a recipe of this tool."""
    both = {*scene.inside[place], item}
    return any(both.issubset(recipe.parts) for recipe in book.at_tool[book.kinds[place]])


def _activate(
    book: KitchenBook, scene: KitchenScene, agent: RobotState, place: int, command: Command
) -> None:
    if agent.holds is not None or scene.busy[place]:
        return
    for recipe in book.at_tool[book.kinds[place]]:
        if set(recipe.parts) == set(scene.inside[place]):
            scene.inside[place], scene.busy[place] = (recipe.product,), recipe.lag
            agent.busy = recipe.holds_agent
            return


_EFFECTS = {"get": _get, "put": _put, "activate": _activate}

BELIEF_STEPS = 4
"""Number of steps without a movement after which an agent is no longer waited for."""

SeenOthers = list[list[Json]]
"""One [seat, place, thing held, steps unchanged] for each of the others, as kept in the memory."""


def watch_others(
    book: KitchenBook, scene: KitchenScene, ours: Collection[int], before: SeenOthers
) -> SeenOthers:
    """Return how long each of the others has not changed. The scene includes commands of this step."""
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
    """Remove the items of long unmoved agents from the scene, so that nothing waits for them.

    Return the seats of these agents.
    """
    absent = {seat for seat, _, _, steps in seen if steps >= BELIEF_STEPS}
    for seat in absent:
        scene.agents[seat].holds = None
    return absent
