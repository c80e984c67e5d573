"""One moment of a kitchen, read from an observation into numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.planner.book import Book


@dataclass(slots=True)
class Robot:
    """Where one stands (a place's number), what one holds, for how many steps one is still busy."""

    at: int
    holds: str | None
    busy: int


@dataclass(slots=True)
class Scene:
    """A moment of the kitchen. Orders are (dish, life left); a dish put down `life - 1` steps from now is
    the last that still serves the order. What somebody has for themselves: `theirs` are items that nobody of
    us fetches, makes or takes, `unmade` products that nobody of us makes."""

    step: int
    agents: list[Robot]
    inside: list[tuple[str, ...]]
    busy: list[int]
    orders: list[tuple[str, int]]
    ready: Counter[str]
    theirs: frozenset[str] = frozenset()
    unmade: frozenset[str] = frozenset()


def read_scene(book: Book, observation: Mapping[str, Json]) -> Scene:
    """The scene of an observation (`CuisineWorld.observe`), to which somebody may have added what is left to
    others (`heeding`)."""
    where = observation["locations"]
    agents = [Robot(book.number[a["at"]], a["holds"], int(a["busy"])) for a in observation["agents"]]
    inside = [tuple(where[place]["items"]) for place in book.places]
    return Scene(
        step=observation["step"],
        agents=agents,
        inside=inside,
        busy=[int(where[place]["busy"]) for place in book.places],
        orders=[(order["dish"], order["life"]) for order in observation["orders"]],
        ready=Counter(inside[book.table]),
        theirs=frozenset(observation.get("theirs", ())),
        unmade=frozenset(observation.get("unmade", ())),
    )


def apply(book: Book, scene: Scene, seat: int, command: Command) -> None:
    """Change the scene by a command of this step that runs before ours. Refused commands change nothing."""
    agent = scene.agents[seat]
    place = book.number.get(command[1], -1) if len(command) > 1 else -1
    if agent.busy or place < 0:
        return
    if command[0] == "goto":
        agent.at = place
    elif agent.at == place and command[0] in _EFFECTS:
        _EFFECTS[command[0]](book, scene, agent, place, command)


def _get(book: Book, scene: Scene, agent: Robot, place: int, command: Command) -> None:
    if agent.holds is not None:
        return
    if place == book.storage:
        agent.holds = command[2] if len(command) > 2 else None
    elif scene.inside[place] and not scene.busy[place] and can_be_taken(book, scene, place):
        agent.holds, scene.inside[place] = scene.inside[place][0], ()


def can_be_taken(book: Book, scene: Scene, place: int) -> bool:
    """What lies there is open: a chopboard always, another tool when it holds its own product."""
    if place == book.table:
        return False
    return book.kinds[place] == "chopboard" or product_in(book, scene, place) is not None


def product_in(book: Book, scene: Scene, place: int) -> str | None:
    """The product that lies, done or cooking, in the tool that makes it."""
    items = scene.inside[place]
    recipe = book.recipes.get(items[0]) if len(items) == 1 else None
    return items[0] if recipe and recipe.tool == book.kinds[place] else None


def _put(book: Book, scene: Scene, agent: Robot, place: int, command: Command) -> None:
    item = agent.holds
    if item is None:
        return
    if place == book.storage:
        agent.holds = None
    elif place == book.table:
        if item in book.lifetimes:
            agent.holds, scene.ready[item] = None, scene.ready[item] + 1
    elif not scene.busy[place] and fits(book, scene, place, item):
        agent.holds = None
        scene.inside[place] = tuple(sorted({*scene.inside[place], item}))


def fits(book: Book, scene: Scene, place: int, item: str) -> bool:
    """What lies there and the item together are part of a recipe of this tool."""
    both = {*scene.inside[place], item}
    return any(both.issubset(recipe.parts) for recipe in book.at_tool[book.kinds[place]])


def _activate(book: Book, scene: Scene, agent: Robot, place: int, command: Command) -> None:
    if agent.holds is not None or scene.busy[place]:
        return
    for recipe in book.at_tool[book.kinds[place]]:
        if set(recipe.parts) == set(scene.inside[place]):
            scene.inside[place], scene.busy[place] = (recipe.product,), recipe.lag
            agent.busy = recipe.holds_agent
            return


_EFFECTS = {"get": _get, "put": _put, "activate": _activate}
