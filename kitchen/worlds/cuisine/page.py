"""CuisineWorld in a browser: which panels there are, and the guide. Plain Python, no Django.

Everything here follows from the `SeatView` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kitchen.contract.page import Nothing, Page, Panel, SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine import graph
from kitchen.worlds.cuisine.floor import floor
from kitchen.worlds.cuisine.hint import hint
from kitchen.worlds.cuisine.known import Known, known
from kitchen.worlds.cuisine.menu import menu
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.story import happened_to, spoken, story
from kitchen.worlds.cuisine.tables import locations, robots
from kitchen.worlds.cuisine.tickets import orders
from kitchen.worlds.cuisine.words import Words

_TEMPLATES = "worlds/cuisine"


class CuisinePage(Page):
    """The table form of the paper's page, with tickets and task graphs."""

    layout = f"{_TEMPLATES}/layout.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    title = "The kitchen"
    place = "kitchen"
    body = "robot"
    reference = f"{_TEMPLATES}/recipes.jinja"
    reference_title = "Recipes"
    settings_differ = (
        "You will play in different kitchens. What is said here of tools, dishes and times holds for the "
        "first one; in each of the others, the guide and the recipes that you can open beside the game are "
        "what counts there."
    )
    styles = ("css/stage.css", f"{_TEMPLATES}/cuisine.css", f"{_TEMPLATES}/floor.css")
    scripts = ("js/stage.js",)
    scene = "worlds/cuisine/scene.js"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Orders, floor, robots, locations, happened, menu, done, spoken: in reading order."""
        brief = known(view.brief)
        return tuple(make(view, brief) for make in _PANELS)

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Dishes with their graphs, tools with their times, orders in numbers, ingredients."""
        book = known(brief)
        words = book.words
        return {
            "title": brief["title"],
            "steps": brief["max_steps"],
            "robots": brief["agents"],
            "interval": brief["interval"],
            "max_orders": brief["max_orders"],
            "dishes": [_dish(dish, brief, words) for dish in brief["dishes"]],
            "tools": _tools(brief, words),
            "ingredients": words.items(book.wanted),
        }

    first_steps = (
        "Choose one action in the menu; then press the button below it.",
        "The tables show every robot and place: see what your action has changed.",
        "The number on an order says in how many steps it runs out.",
    )

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """`Hint: go to storage to fetch rice for the salmon sushi.`"""
        return hint(view, command, aim)

    def phrase(self, command: Command) -> str:
        """The command in words: `Go to pot 1`."""
        return Words().phrase(command)


class Total(NamedTuple):
    """How many dishes were served, and how many orders were missed."""

    completed: int
    failed: int


class Served(NamedTuple):
    """How often one dish was served, and whether it was just now."""

    name: str
    icon: str
    times: int
    fresh: bool


class Spoken(NamedTuple):
    """What a screen reader says of a step."""

    text: str


def _done(view: SeatView, known: Known) -> Panel:
    seen, fresh = view.observation, happened_to(view, "completed")
    served: Counter[str] = Counter(seen["delivered"])
    total = Total(seen["completed"], seen["failed"])
    dishes = (
        Panel(
            f"served-{number}",
            f"{_TEMPLATES}/served.jinja",
            Served(known.words.name(dish), icon(dish), served[dish], fresh[dish] > 0),
        )
        for dish, number in known.numbers.items()
    )
    parts = (Panel("done-total", f"{_TEMPLATES}/total.jinja", total), *dishes)
    return Panel("done", f"{_TEMPLATES}/done.jinja", Nothing(), parts=parts)


def _spoken(view: SeatView, known: Known) -> Panel:
    return Panel("spoken", f"{_TEMPLATES}/spoken.jinja", Spoken(spoken(view, known.words)))


_PANELS: tuple[Callable[[SeatView, Known], Panel], ...] = (
    orders,
    floor,
    robots,
    locations,
    story,
    menu,
    _done,
    _spoken,
)


def _dish(dish: str, brief: Mapping[str, Json], words: Words) -> dict[str, Json]:
    task = graph.task_graph(dish, brief["recipes"])
    return {
        "code": dish,
        "name": words.name(dish),
        "icon": icon(dish),
        "lifetime": brief["lifetimes"][dish],
        "graph": graph.drawing(task, words, graph.LARGE),
        "outline": graph.outline(dish, brief["recipes"], words),
        "uncookable": dish in brief["uncookable"],
    }


def _tools(brief: Mapping[str, Json], words: Words) -> list[dict[str, Json]]:
    """Each kind of place once, with the number of its instances."""
    instances = Counter(brief["locations"].values())
    return [
        {
            "code": kind,
            "name": words.name(kind),
            "count": instances[kind],
            "busy": brief["tools"][kind]["busy"],
            "takes": counted(brief["tools"][kind]["busy"], "step"),
            "attended": brief["tools"][kind]["attended"],
            "is_tool": kind not in ("storage", "servingtable"),
        }
        for kind in instances
    ]


PAGE = CuisinePage()
