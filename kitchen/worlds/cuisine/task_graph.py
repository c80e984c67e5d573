"""Build the task graph of a dish, which shows how its ingredients become the dish.

Nodes are codes (`rice`, `cookedRice`). An edge leads from an input to its product and names the tool. The
module also computes the graph's layout, a dict of numbers and texts for an SVG template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

import networkx as nx

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.cuisine.display_text import KitchenWords, picture_of

SERVING = "servingtable"
Recipes = Mapping[str, Mapping[str, Json]]
Graph = Any
"""A `networkx.DiGraph`."""


@dataclass(frozen=True, slots=True)
class GraphSize:
    """Sizes of a drawing in px: the box of a node, and the gaps between boxes. Also the number of letters
    per line."""

    width: int
    height: int
    gap_x: int
    gap_y: int
    letters: int


LARGE_SIZE = GraphSize(width=112, height=40, gap_x=124, gap_y=14, letters=16)
"""The sizes for the recipe panel, with room for the tool's name between the boxes."""
SMALL_SIZE = GraphSize(width=76, height=36, gap_x=26, gap_y=12, letters=12)
"""The sizes for a ticket with up to three columns in 282 px, with room for tools on the edges and for working
robots."""
DENSE_SIZE = GraphSize(width=60, height=36, gap_x=14, gap_y=12, letters=10)
"""The sizes for a ticket with four columns in 284 px."""


def task_graph(dish: str, recipes: Recipes, *, serve: bool = True) -> Graph:
    """Return the graph of a dish's recipe, from base ingredients to the dish. With `serve`, the graph ends at
    the serving table."""
    graph = nx.DiGraph()
    graph.add_node(dish, kind="dish")
    _grow(graph, dish, recipes)
    if serve:
        graph.add_node(SERVING, kind="table")
        graph.add_edge(dish, SERVING, tool=None)
    return graph


def _grow(graph: Graph, product: str, recipes: Recipes) -> None:
    recipe = recipes[product]
    for item in recipe["ingredients"]:
        if item not in graph:
            graph.add_node(item, kind="product" if item in recipes else "base")
            if item in recipes:
                _grow(graph, item, recipes)
        graph.add_edge(item, product, tool=recipe["tool"])


def node_columns(graph: Graph) -> dict[str, int]:
    """Return the column of each node, counted from 0. The last node is in the last column. Every other node
    is as far right as possible."""
    layers = list(nx.topological_generations(graph.reverse(copy=False)))
    return {node: len(layers) - 1 - depth for depth, layer in enumerate(layers) for node in layer}


def node_rows(graph: Graph) -> dict[str, float]:
    """Return the row of each node, counted from 0. Each base ingredient has a row of its own. Other nodes are
    at the mean row of their inputs, so lines of a tree do not cross."""
    row_of: dict[str, float] = {}
    leaves = 0
    goal = next(node for node, degree in graph.out_degree() if degree == 0)
    for node in nx.dfs_postorder_nodes(graph.reverse(copy=False), goal):
        sources = list(graph.predecessors(node))
        if sources:
            row_of[node] = sum(row_of[source] for source in sources) / len(sources)
        else:
            row_of[node], leaves = float(leaves), leaves + 1
    return row_of


HANG = 11
"""Room under the lowest box for the robots that work on it."""


def compact_size(graph: Graph) -> GraphSize:
    """Return sizes with which this graph fits an order ticket, also on a phone."""
    return DENSE_SIZE if max(node_columns(graph).values()) > 2 else SMALL_SIZE


def graph_drawing(
    graph: Graph,
    words: KitchenWords,
    size: GraphSize,
    states: Mapping[str, str] | None = None,
    hands: Mapping[str, int] | None = None,
) -> dict[str, Json]:
    """Return the drawing of a graph: `width`, `height`, boxes (`nodes`) and lines (`edges`).

    `states` has the state of each node. `hands` has the seat of the robot that works on a node. Both are
    included in the boxes.
    """
    column, row = node_columns(graph), node_rows(graph)
    step_x, step_y = size.width + size.gap_x, size.height + size.gap_y
    corner = {node: (1 + column[node] * step_x, 1 + round(row[node] * step_y)) for node in graph}
    marks = {node: ((states or {}).get(node, ""), (hands or {}).get(node)) for node in graph}
    return {
        "width": 2 + max(column.values()) * step_x + size.width,
        "height": 2 + round(max(row.values()) * step_y) + size.height + (0 if hands is None else HANG),
        "nodes": [_box(graph, node, corner[node], words, size, *marks[node]) for node in row],
        "edges": [
            _line(corner[source], corner[target], words.mid(tool) if tool else gettext("serve"), size)
            for source, target, tool in graph.edges(data="tool")
        ],
    }


def _box(
    graph: Graph,
    node: str,
    corner: tuple[int, int],
    words: KitchenWords,
    size: GraphSize,
    state: str,
    seat: int | None,
) -> dict[str, Json]:
    x, y = corner
    lines = _lines(words.name(node), size.letters) or [node]
    spacing = 12 if len(lines) < 3 else 11
    first = y + size.height // 2 + 4 - (len(lines) - 1) * spacing // 2
    return {
        "code": node,
        "kind": graph.nodes[node]["kind"],
        "state": state,
        "seat": seat,
        "icon": "" if node == SERVING else picture_of(node),
        "by": _tool(corner, size),
        "tool": next((tool for _, _, tool in graph.in_edges(node, data="tool") if tool), ""),
        "x": x,
        "y": y,
        "w": size.width,
        "h": size.height,
        "tick_x": x + size.width - 5,
        "tick_y": y + 5,
        "lines": [
            {"x": x + size.width // 2, "y": first + spacing * number, "text": text}
            for number, text in enumerate(lines)
        ],
    }


def _lines(name: str, letters: int) -> list[str]:
    """Split a name into lines of at most `letters` letters, or half as many full-width letters. The lines
    have similar lengths, so that few words are broken."""
    if any(east_asian_width(letter) in "WF" for letter in name):
        letters = ceil(len(name) / ceil(len(name) / (letters // 2)))
    return wrap(name, letters, max_lines=3, placeholder="…")


def _tool(corner: tuple[int, int], size: GraphSize) -> dict[str, int]:
    """Return the position of a product's tool in the drawing. It is on the edge that leads to the product."""
    width = min(24, size.gap_x - 1)
    height = width * 3 // 4
    x, y = corner[0] - (size.gap_x + width) // 2, corner[1] + (size.height - height) // 2
    return {"x": x, "y": y, "w": width, "h": height}


def _line(start: tuple[int, int], end: tuple[int, int], label: str, size: GraphSize) -> dict[str, Json]:
    """Return a line from the right side of one box to the left side of another, with one bend at the end. It
    is written as short as possible, because each step sends it again."""
    half = size.height // 2
    x1, y1, x2, y2 = start[0] + size.width, start[1] + half, end[0], end[1] + half
    bend = x2 - min(size.gap_x, 30)
    middle = (bend + x2) // 2
    begin = f"M{x1} {y1}" if x1 == bend else f"M{x1} {y1}H{bend}"
    return {
        "d": f"M{x1} {y1}H{x2}" if y1 == y2 else f"{begin}C{middle} {y1} {middle} {y2} {x2} {y2}",
        "label": label,
        "x": (x1 + bend) // 2,
        "y": y1 - 4,
    }


def graph_outline(dish: str, recipes: Recipes, words: KitchenWords) -> dict[str, Json]:
    """Return the recipe of a dish as nested dicts: `code`, `name`, `tool`, and the ingredients as `parts`
    of the same form."""
    recipe = recipes.get(dish)
    return {
        "code": dish,
        "name": words.name(dish),
        "tool": words.mid(recipe["tool"]) if recipe else "",
        "parts": [graph_outline(item, recipes, words) for item in recipe["ingredients"]] if recipe else [],
    }


def items_present(
    dish: str, recipes: Recipes, stock: Counter[str], making: Counter[str] | None = None
) -> dict[str, str]:
    """Return the items of a dish's recipe that the kitchen already has, each with its state. Found items are
    subtracted from `stock` or `making`, so each item serves one order only.

    - `here`: the item is in `stock`.
    - `making`: a tool works on it.
    - `past`: it was used in an item that has one of these states.
    """
    for state, having in (("here", stock), ("making", making or Counter[str]())):
        if having[dish] > 0:
            having[dish] -= 1
            return {dish: state, **dict.fromkeys(_before(dish, recipes), "past")}
    presence: dict[str, str] = {}
    for item in recipes.get(dish, {}).get("ingredients", ()):
        presence.update(items_present(item, recipes, stock, making))
    return presence


def _before(dish: str, recipes: Recipes) -> list[str]:
    parts = list(recipes.get(dish, {}).get("ingredients", ()))
    return parts + [deep for part in parts if part in recipes for deep in _before(part, recipes)]
