"""CuisineWorld in a browser: which panels there are and what stands in them. Plain Python, no Django.

Everything here follows from the `SeatView` alone. Each panel's context has one key, named as the panel
with `_` for `-`, so that a layout and a single fragment can render the same template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from kitchen.contract.page import Page, Panel, SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine import graph
from kitchen.worlds.cuisine.hint import hint
from kitchen.worlds.cuisine.menu import made_of, menu, needed_ingredients
from kitchen.worlds.cuisine.story import spoken, story
from kitchen.worlds.cuisine.words import Words, brief_words, more_steps

_TEMPLATES = "worlds/cuisine"
_ICONS = (
    ("sushi", "sushi"), ("roll", "roll"), ("sashimi", "sashimi"), ("salad", "salad"), ("pasta", "pasta"),
    ("pizza", "pizza"), ("soup", "soup"), ("dumpling", "dumpling"), ("burrito", "burrito"),
    ("burger", "burger"), ("maxjr", "burger"), ("hopper", "burger"), ("meatcake", "patty"),
    ("fries", "fries"),
)  # fmt: skip
_ALWAYS_OPEN = ("storage", "servingtable", "chopboard")


class CuisinePage(Page):
    """The table form of the paper's page, with tickets and task graphs."""

    layout = f"{_TEMPLATES}/layout.html"
    guide = f"{_TEMPLATES}/guide.html"
    title = "The kitchen"
    place = "kitchen"
    body = "robot"
    reference = f"{_TEMPLATES}/recipes.html"
    reference_title = "Recipes"
    settings_differ = (
        "You will play in different kitchens. What is said here of tools, dishes and times holds for the "
        "first one; in each of the others, the guide and the recipes that you can open beside the game are "
        "what counts there."
    )
    styles = (f"{_TEMPLATES}/cuisine.css",)

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Orders, robots, locations, happened, menu, done, spoken: in reading order."""
        return tuple(
            Panel(id=name, template=f"{_TEMPLATES}/{name}.html", context={name: make(view)})
            for name, make in _PANELS.items()
        )

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Dishes with their graphs, tools with their times, orders in numbers, ingredients."""
        words = brief_words(brief)
        return {
            "title": brief["title"],
            "steps": brief["max_steps"],
            "robots": brief["agents"],
            "interval": brief["interval"],
            "max_orders": brief["max_orders"],
            "dishes": [_dish(dish, brief, words) for dish in brief["dishes"]],
            "tools": _tools(brief, words),
            "ingredients": words.items(needed_ingredients(brief)),
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


def icon(dish: str) -> str:
    """The name of the picture of a dish."""
    lowered = dish.lower()
    return next((picture for part, picture in _ICONS if part in lowered), "plate")


def _orders(view: SeatView) -> dict[str, Json]:
    """Tickets, most urgent first; what the kitchen has already counts for the most urgent order."""
    words, stock = brief_words(view.brief), _stock(view)
    fresh = _last(view, "ordered")
    tickets = [_ticket(order, view.brief, words, stock, fresh) for order in view.observation["orders"]]
    return {"tickets": tickets, "interval": view.brief["interval"], "over": view.phase == "over"}


def _ticket(
    order: Mapping[str, Json],
    brief: Mapping[str, Json],
    words: Words,
    stock: Counter[str],
    fresh: Counter[str],
) -> dict[str, Json]:
    dish, life = order["dish"], order["life"]
    lifetime = max(brief["lifetimes"].get(dish, life), life)
    task = graph.task_graph(dish, brief["recipes"], serve=False)
    deep = max(graph.columns(task).values()) > 2
    states = graph.present(dish, brief["recipes"], stock)
    return {
        "dish": dish,
        "name": words.name(dish),
        "icon": icon(dish),
        "life": life,
        "left": f"{counted(life, 'step')} left",
        "lifetime": lifetime,
        "heat": "late" if life * 4 <= lifetime else "soon" if life * 2 <= lifetime else "calm",
        "fresh": fresh[dish] > 0 and life == lifetime,
        "ready": states.get(dish) == "here",
        "graph": graph.drawing(task, words, graph.DENSE if deep else graph.SMALL, states),
        "done": [words.name(item) for item, state in states.items() if state == "here"],
    }


def _stock(view: SeatView) -> Counter[str]:
    """Everything that lies in tools or on the table or is held."""
    lying = [item for place in view.observation["locations"].values() for item in place["items"]]
    held = [agent["holds"] for agent in view.observation["agents"] if agent["holds"]]
    return Counter(lying + held)


def _last(view: SeatView, kind: str) -> Counter[str]:
    """Dishes that the last step had this event for."""
    events = view.history[0].events if view.history else ()
    return Counter(event.data.get("dish", "") for event in events if event.kind == kind)


def _robots(view: SeatView) -> dict[str, Json]:
    words = brief_words(view.brief)
    agents = view.observation["agents"]
    rows = [
        {
            "seat": player.seat,
            "name": player.name,
            "is_you": player.is_you,
            "at": words.name(agents[player.seat]["at"]),
            "holds": words.name(agents[player.seat]["holds"]) if agents[player.seat]["holds"] else "",
            "busy": more_steps(agents[player.seat]["busy"]) if agents[player.seat]["busy"] else "",
            "deciding": view.phase in ("waiting", "thinking") and player.seat in view.waiting_for,
        }
        for player in view.players
    ]
    return {"rows": rows}


def _locations(view: SeatView) -> dict[str, Json]:
    words, touched = brief_words(view.brief), _touched(view)
    return {"rows": [_location(place, view, words, touched) for place in view.brief["locations"]]}


def _location(place: str, view: SeatView, words: Words, touched: set[str]) -> dict[str, Json]:
    kind, seen = view.brief["locations"][place], view.observation["locations"][place]
    here = [p for p in view.players if view.observation["agents"][p.seat]["at"] == place]
    text, state = _state(kind, seen, view.brief)
    return {
        "id": place,
        "name": words.name(place),
        "kind": kind,
        "items": [words.name(item) for item in seen["items"]],
        "stock": kind == "storage",
        "state": state,
        "text": text,
        "pips": ["on" if n < seen["busy"] else "off" for n in range(view.brief["tools"][kind]["busy"])],
        "here": [{"seat": player.seat, "name": player.name} for player in here],
        "touched": place in touched,
    }


def _state(kind: str, seen: Mapping[str, Json], brief: Mapping[str, Json]) -> tuple[str, str]:
    """What can be said of a place in a word or two, and its class."""
    if seen["busy"]:
        return f"Busy, {more_steps(seen['busy'])}", "busy"
    if kind in ("storage", "servingtable"):
        return "Open" if kind == "storage" else "Free", "free"
    if not seen["items"]:
        return "Free", "free"
    if made_of(brief, kind, seen["items"]):
        return "All in: can be used", "full"
    finished = seen["open"] and (kind not in _ALWAYS_OPEN or seen["items"][0] in brief["recipes"])
    return ("Ready to take", "ready") if finished else ("Something missing", "part")


def _touched(view: SeatView) -> set[str]:
    """Places where something was done in the last step."""
    events = view.history[0].events if view.history else ()
    commands = [event.data["command"] for event in events if event.kind == "performed"]
    return {command[1] for command in commands if len(command) > 1 and command[0] != "goto"}


def _done(view: SeatView) -> dict[str, Json]:
    words = brief_words(view.brief)
    served: Counter[str] = Counter(view.observation["delivered"])
    fresh = _last(view, "completed")
    return {
        "completed": view.observation["completed"],
        "failed": view.observation["failed"],
        "dishes": [
            {"name": words.name(dish), "icon": icon(dish), "count": served[dish], "fresh": fresh[dish] > 0}
            for dish in view.brief["dishes"]
        ],
    }


def _spoken(view: SeatView) -> dict[str, Json]:
    return {"text": spoken(view), "step": view.step}


_PANELS: dict[str, Callable[[SeatView], dict[str, Json]]] = {
    "orders": _orders,
    "robots": _robots,
    "locations": _locations,
    "happened": story,
    "menu": menu,
    "done": _done,
    "spoken": _spoken,
}


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
