"""Task graphs: nodes, edges, layout and what is ticked."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from django.utils import translation

from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine import task_graph
from kitchen.worlds.cuisine.display_text import KitchenWords

Dishes = list[tuple[str, dict[str, Any]]]
LEVELS = [*(f"level_{number}" for number in range(13)), "level_12_fryer"]


def briefs() -> list[dict[str, Any]]:
    made = (get_world("cuisine").create(seats=1, settings={"level": level}) for level in LEVELS)
    return [world.brief(0) for world in made]


@pytest.fixture(scope="module")
def dishes() -> Dishes:
    """Every dish with the recipes of its level."""
    with pytest.warns(UserWarning):
        found = briefs()
    return [(dish, brief["recipes"]) for brief in found for dish in brief["dishes"]]


def test_a_graph_has_what_the_recipe_tree_has(dishes: Dishes) -> None:
    for dish, recipes in dishes:
        task = task_graph.task_graph(dish, recipes)
        for node, kind in task.nodes(data="kind"):
            if node in recipes:
                assert set(task.predecessors(node)) == set(recipes[node]["ingredients"])
                assert {task.edges[edge]["tool"] for edge in task.in_edges(node)} == {recipes[node]["tool"]}
            else:
                assert kind in {"base", "table"}
        assert list(task.successors(dish)) == [task_graph.SERVING]


def test_salmon_sushi_is_drawn_from_two_ingredients_to_the_table() -> None:
    world = get_world("cuisine").create(seats=1, settings={"level": "level_3"})
    task = task_graph.task_graph("salmonSushi", world.brief(0)["recipes"])
    assert set(task.edges) == {
        ("salmon", "salmonSashimi"),
        ("rice", "cookedRice"),
        ("salmonSashimi", "salmonSushi"),
        ("cookedRice", "salmonSushi"),
        ("salmonSushi", "servingtable"),
    }
    assert task.edges["rice", "cookedRice"]["tool"] == "pot"


def test_edges_go_from_left_to_right_and_boxes_do_not_overlap(dishes: Dishes) -> None:
    for dish, recipes in dishes:
        for size in (task_graph.LARGE_SIZE, task_graph.SMALL_SIZE, task_graph.DENSE_SIZE):
            task = task_graph.task_graph(dish, recipes)
            drawn = task_graph.graph_drawing(task, KitchenWords(), size)
            column = task_graph.node_columns(task)
            assert all(column[source] < column[target] for source, target in task.edges)
            assert not any(_overlap(a, b) for a, b in combinations(drawn["nodes"], 2))
            assert all(0 <= box["x"] <= drawn["width"] - box["w"] for box in drawn["nodes"])
            assert all(0 <= box["y"] <= drawn["height"] - box["h"] for box in drawn["nodes"])


def _overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return bool(abs(a["x"] - b["x"]) < a["w"] and abs(a["y"] - b["y"]) < a["h"])


def test_trees_are_drawn_without_crossings(dishes: Dishes) -> None:
    for dish, recipes in dishes:
        task = task_graph.task_graph(dish, recipes)
        assert nx.is_arborescence(task.reverse())
        row, column = task_graph.node_rows(task), task_graph.node_columns(task)
        for one, other in combinations(task.edges, 2):
            if column[one[1]] == column[other[1]]:
                assert (row[one[0]] - row[other[0]]) * (row[one[1]] - row[other[1]]) >= 0


@pytest.mark.parametrize("language", ["en", "es", "zh-hans"])
def test_every_node_shows_its_name_in_full(dishes: Dishes, language: str) -> None:
    cut = set()
    with translation.override(language):
        for dish, recipes in dishes:
            task = task_graph.task_graph(dish, recipes, serve=False)
            drawn = task_graph.graph_drawing(task, KitchenWords(), task_graph.compact_size(task))
            told = [" ".join(line["text"] for line in box["lines"]) for box in drawn["nodes"]]
            cut |= {text for text in told if "…" in text}
    assert cut == set()


def test_what_lies_in_the_kitchen_is_ticked_for_one_order_only() -> None:
    recipes = get_world("cuisine").create(seats=1, settings={"level": "level_3"}).brief(0)["recipes"]
    stock = Counter(["cookedRice"])
    assert task_graph.items_present("salmonSushi", recipes, stock) == {"cookedRice": "here", "rice": "past"}
    assert task_graph.items_present("tunaSushi", recipes, stock) == {}


def test_a_ready_dish_ticks_all_that_went_into_it() -> None:
    recipes = get_world("cuisine").create(seats=1, settings={"level": "level_3"}).brief(0)["recipes"]
    found = task_graph.items_present("tunaSushi", recipes, Counter(["tunaSushi", "rice"]))
    assert found["tunaSushi"] == "here"
    assert {found[item] for item in ("tuna", "rice", "tunaSashimi", "cookedRice")} == {"past"}


def test_the_outline_says_the_same_as_the_graph(dishes: Dishes) -> None:
    for dish, recipes in dishes:
        words = KitchenWords()
        names = set(_names(task_graph.graph_outline(dish, recipes, words)))
        assert names == {words.name(node) for node in task_graph.task_graph(dish, recipes, serve=False)}


def _names(part: dict[str, Any]) -> list[str]:
    return [part["name"], *(name for inner in part["parts"] for name in _names(inner))]
