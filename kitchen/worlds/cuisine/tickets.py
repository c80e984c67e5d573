"""Orders as tickets: what is left of their time, and how far the kitchen is with them. Plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Json
from kitchen.worlds.cuisine import graph
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.story import happened_to
from kitchen.worlds.cuisine.words import Words

_TEMPLATES = "worlds/cuisine"


class Orders(NamedTuple):
    """The board itself."""

    interval: int
    over: bool


class Ticket(NamedTuple):
    """What of a ticket never changes."""

    name: str
    icon: str
    left: str
    """The id of what is left of its time."""
    steps: str
    """The id of what it needs."""


class Left(NamedTuple):
    """What is left of its time."""

    life: int
    lifetime: int
    heat: str
    fresh: bool
    ready: bool


class Stock(NamedTuple):
    """How much there is of each item: of all, and of what can be taken up at once."""

    there: Counter[str]
    at_hand: Counter[str]

    def take(self, dish: str) -> bool:
        """Whether one is ready to be served; it counts for one order."""
        self.at_hand[dish] -= 1
        return self.at_hand[dish] >= 0


class Needs(NamedTuple):
    """What a dish needs, and what of it the kitchen has: `here` or `past`, by code."""

    dish: str
    recipe: tuple[tuple[str, str, tuple[str, ...]], ...]
    names: tuple[tuple[str, str], ...]
    states: tuple[tuple[str, str], ...]


def orders(view: SeatView, known: Known) -> Panel:
    """Tickets, most urgent first; what the kitchen has already counts for the most urgent order."""
    shows = Orders(known.brief["interval"], view.phase == "over")
    return Panel("orders", f"{_TEMPLATES}/orders.jinja", shows, parts=tuple(_tickets(view, known)))


def _tickets(view: SeatView, known: Known) -> Iterator[Panel]:
    stock, fresh, alike = stock_of(view), happened_to(view, "ordered"), Counter[str]()
    for order in view.observation["orders"]:
        name = f"t{view.step + order['life']}-{known.numbers[order['dish']]}"
        alike[name] += 1
        own = name if alike[name] == 1 else f"{name}-{alike[name]}"
        yield _ticket(own, order, known, stock, fresh)


def _ticket(name: str, order: Mapping[str, Json], known: Known, stock: Stock, fresh: Counter[str]) -> Panel:
    dish, life = order["dish"], order["life"]
    lifetime = max(known.brief["lifetimes"].get(dish, life), life)
    states = graph.present(dish, known.brief["recipes"], stock.there)
    heat = "late" if life * 4 <= lifetime else "soon" if life * 2 <= lifetime else "calm"
    new = fresh[dish] > 0 and life == lifetime
    left, steps = f"{name}-l", f"{name}-s"
    parts = (
        Panel(left, f"{_TEMPLATES}/left.jinja", Left(life, lifetime, heat, new, stock.take(dish))),
        Panel(steps, f"{_TEMPLATES}/needs.jinja", _needs(dish, known, states), draw_needs),
    )
    shows = Ticket(known.words.name(dish), icon(dish), left, steps)
    return Panel(name, f"{_TEMPLATES}/ticket.jinja", shows, parts=parts)


def _needs(dish: str, known: Known, states: Mapping[str, str]) -> Needs:
    recipe = known.recipe(dish)
    items = dict.fromkeys([dish, *(item for product in recipe for item in (product[0], *product[2]))])
    names = tuple((item, known.words.name(item)) for item in items)
    return Needs(dish, recipe, names, tuple(states.items()))


def draw_needs(needs: Needs) -> dict[str, Json]:
    """The task graph, and in words what of it is there."""
    names, states = dict(needs.names), dict(needs.states)
    recipes = {product: {"tool": tool, "ingredients": parts} for product, tool, parts in needs.recipe}
    task = graph.task_graph(needs.dish, recipes, serve=False)
    deep = max(graph.columns(task).values()) > 2
    size = graph.DENSE if deep else graph.SMALL
    return {
        "graph": graph.drawing(task, Words(names), size, states),
        "done": [names[item] for item, state in states.items() if state == "here"],
    }


def stock_of(view: SeatView) -> Stock:
    """Everything that lies in tools or on the table or is held."""
    places = view.observation["locations"].values()
    held = [agent["holds"] for agent in view.observation["agents"] if agent["holds"]]
    lying = [item for place in places for item in place["items"]]
    ready = [item for place in places if not place["busy"] for item in place["items"]]
    return Stock(Counter(lying + held), Counter(ready + held))
