"""What guide and recipes show of a kitchen, already in words and pictures. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.cuisine import graph
from kitchen.worlds.cuisine.keys import told
from kitchen.worlds.cuisine.known import Known, known
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.words import steps


class Shown(NamedTuple):
    """A thing, a tool or a place: its picture and its name."""

    icon: str
    name: str


class Making(NamedTuple):
    """One line of a recipe: what goes into which tool, how long it takes, and what comes out."""

    parts: tuple[Shown, ...]
    tool: Shown
    takes: str
    """Empty where it takes no time."""
    product: Shown


class Example(NamedTuple):
    """For the picture of a kitchen: a tool with one of its parts inside, and one that works or is ready."""

    begun: Making
    working: Making
    busy: int


def handbook(brief: Mapping[str, Json]) -> dict[str, Json]:
    """Dishes with their recipes, orders in numbers, an example of a kitchen."""
    book = known(brief)
    return {
        "title": brief["title"],
        "steps": brief["max_steps"],
        "robots": brief["agents"],
        "interval": brief["interval"],
        "max_orders": brief["max_orders"],
        "dishes": [_dish(dish, book) for dish in brief["dishes"]],
        "keys": told((kind, book.words.name(kind)) for kind in dict.fromkeys(brief["locations"].values())),
        "boards": "chopboard" in brief["locations"].values(),
        "example": _example(book),
    }


def _dish(dish: str, book: Known) -> dict[str, Json]:
    brief, words = book.brief, book.words
    task = graph.task_graph(dish, brief["recipes"])
    cooking = graph.task_graph(dish, brief["recipes"], serve=False)
    return {
        "code": dish,
        "name": words.name(dish),
        "icon": icon(dish),
        "lifetime": brief["lifetimes"][dish],
        "makings": _makings(dish, book),
        "graph": graph.drawing(task, words, graph.LARGE),
        "compact": graph.drawing(cooking, words, graph.compact(cooking)),
        "outline": graph.outline(dish, brief["recipes"], words),
        "uncookable": dish in brief["uncookable"],
    }


def _makings(dish: str, book: Known) -> list[Making]:
    """Its recipe line by line, what is needed first in the first, each once."""
    lines = (_making(*line, book) for line in reversed(book.recipe(dish)))
    return list(dict.fromkeys(lines))


def _making(product: str, tool: str, parts: Sequence[str], book: Known) -> Making:
    busy = _busy(tool, book)
    takes = steps(busy) if busy else ""
    return Making(
        tuple(_shown(part, book) for part in parts),
        Shown(tool, book.words.name(tool)),
        takes,
        _shown(product, book),
    )


def _shown(item: str, book: Known) -> Shown:
    return Shown(icon(item), book.words.name(item))


def _example(book: Known) -> Example:
    """By the recipe of the first dish that can be cooked: what takes most parts, and what takes longest."""
    brief = book.brief
    dishes = [dish for dish in brief["dishes"] if dish not in brief["uncookable"]] or brief["dishes"]
    lines = book.recipe(dishes[0])
    most = max(lines, key=lambda line: len(line[2]))
    longest = max(lines, key=lambda line: _busy(line[1], book))
    return Example(_making(*most, book), _making(*longest, book), max(_busy(longest[1], book), 1))


def _busy(tool: str, book: Known) -> int:
    busy: int = book.brief["tools"].get(tool, {}).get("busy", 0)
    return busy
