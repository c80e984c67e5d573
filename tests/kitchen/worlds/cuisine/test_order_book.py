"""Orders, timing and score of CuisineWorld."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest

from kitchen.worlds.cuisine.level import Recipe, recipe_depth, shipped_catalogue, work_of_product
from kitchen.worlds.cuisine.order_book import OrderBook, Timing, timing_of
from tests.kitchen.worlds.cuisine.cooking import LEVELS, act, fetch, kinds, kitchen, play

DATA = Path(__file__).parents[2] / "data"


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", rows("cuisine_work.csv"), ids=lambda row: row["product"])
def test_the_work_figure_of_every_product_is_the_documented_one(row: dict[str, str]) -> None:
    assert shipped_catalogue().stock.work[row["product"]] == int(row["work"])


def test_there_are_63_products_and_27_base_ingredients() -> None:
    assert len(shipped_catalogue().stock.recipes) == len(rows("cuisine_work.csv")) == 63
    assert len(shipped_catalogue().stock.ingredients) == 27


@pytest.mark.parametrize("row", rows("cuisine_level_work.csv"), ids=lambda row: row["level"])
def test_the_work_figure_of_a_level_is_that_of_its_hardest_dish(row: dict[str, str]) -> None:
    level = shipped_catalogue().level(row["level"])
    assert max(level.stock.work[dish] for dish in level.dishes) == int(row["work"])


def test_waiting_counts_each_time_a_product_occurs_and_nodes_only_once() -> None:
    parts = {"broth": ("bone",), "soup": ("broth", "leek"), "feast": ("soup", "broth")}
    recipes = {product: Recipe(product, product, "pot", parts[product]) for product in parts}
    assert work_of_product("feast", recipes, {"pot": 3}) == 4 * 2 + 5 * 3
    assert recipe_depth("feast", recipes) == 3


def test_the_order_of_the_multiplications_decides_the_rounding() -> None:
    assert timing_of({"dish": 10}, ["dish"], 1.0, 2.5) == Timing(3, {"dish": 8})
    for work in range(1, 60):
        for alpha in (1.0, 1.1, 1.5, 2.0, 2.3, 2.5, 3.0):
            found = timing_of({"dish": work}, ["dish"], alpha, 2.5)
            base = alpha * work * 0.3
            assert found.interval - 1 < base <= found.interval
            assert found.lifetimes["dish"] - 1 < 2.5 * base <= found.lifetimes["dish"]


def test_the_human_study_played_level_3_with_an_interval_of_11() -> None:
    timing = kitchen("level_3", alpha=2.0).options.timing
    assert (timing.interval, dict(timing.lifetimes)) == (11, {"salmonSushi": 26, "tunaSushi": 26})


def test_the_number_of_agents_does_not_change_the_timing() -> None:
    assert kitchen(seats=1).options.timing == kitchen(seats=8).options.timing


def test_orders_come_from_a_generator_of_the_episode_alone() -> None:
    world, chance = kitchen("level_4", seed=11, alpha=1.0), Random(11)
    dishes = shipped_catalogue().level("level_4").dishes
    expected = [chance.choice(dishes)]
    drawn = [order["dish"] for order in world.observe(0)["orders"]]
    while not world.over:
        drawn += [event.data["dish"] for event in act(world, "noop") if event.kind == "ordered"]
    expected += [chance.choice(dishes) for _ in drawn[1:]]
    assert drawn == expected and len(drawn) > 5


def test_an_order_is_drawn_at_every_interval_and_joins_with_its_full_life() -> None:
    world = kitchen("level_0", alpha=2.0)
    events = play(world, *["noop"] * 6)
    assert ("ordered", {"dish": "salmonMeatcake", "life": 15}) in [(e.kind, dict(e.data)) for e in events]
    assert [order["life"] for order in world.observe(0)["orders"]] == [9, 15]


def test_an_order_fails_in_the_step_after_its_life_reached_zero() -> None:
    world = kitchen("level_0", alpha=2.0)
    play(world, *["noop"] * 15)
    assert world.observe(0)["orders"][0]["life"] == 0 and world.observe(0)["failed"] == 0
    assert "failed" in kinds(act(world, "noop"))
    assert world.observe(0)["failed"] == 1


def test_several_orders_that_fail_in_one_step_all_count() -> None:
    book = OrderBook(("soup",), Timing(1, {"soup": 3}), seed=0)
    book.standing = [(3, "soup"), (3, "soup"), (4, "soup")]
    assert book.expire(3) == ["soup", "soup"]
    assert book.failed == ["soup", "soup"] and book.standing == [(4, "soup")]


def test_at_most_six_orders_stand_and_the_timer_starts_again() -> None:
    world = kitchen("level_0", alpha=0.2, beta=100.0)
    most = 0
    while not world.over:
        act(world, "noop")
        most = max(most, len(world.observe(0)["orders"]))
    assert most == 6


def test_orders_are_sorted_by_life_and_then_by_dish() -> None:
    book = OrderBook(("b", "a", "c"), Timing(1, {"a": 5, "b": 5, "c": 2}), seed=3)
    for _ in range(6):
        book.draw(0)
    assert book.lives(0) == sorted(book.lives(0), key=lambda order: (order[1], order[0]))


def test_a_dish_on_the_table_completes_an_order() -> None:
    world = kitchen("level_0", alpha=3.0)
    fetch(world, "salmon", "blender0")
    fetch(world, "flour", "blender0")
    events = play(
        world, "activate blender0", "noop", "get blender0", "goto servingtable0", "put servingtable0"
    )
    assert kinds(events) == ["performed", "completed"]
    assert world.observe(0)["delivered"] == ["salmonMeatcake"]
    assert world.observe(0)["locations"]["servingtable0"]["items"] == []


def test_a_dish_that_is_not_ordered_yet_waits_on_the_table() -> None:
    book = OrderBook(("a", "b"), Timing(1, {"a": 5, "b": 5}), seed=0)
    book.standing = [(5, "b")]
    assert book.serve(("a", "a")) == []
    book.standing = [(4, "a"), (5, "b")]
    assert book.serve(("a", "a")) == ["a"]
    assert book.standing == [(5, "b")]


def test_orders_with_the_least_life_are_served_first() -> None:
    book = OrderBook(("a",), Timing(1, {"a": 5}), seed=0)
    book.standing = [(3, "a"), (5, "a")]
    assert book.serve(("a",)) == ["a"]
    assert book.standing == [(5, "a")]


def test_the_score_is_undefined_before_any_order_ended() -> None:
    world = kitchen("level_0")
    assert world.score()["success_rate"] is None
    play(world, *["noop"] * 16)
    assert world.score() == {
        "completed": 0,
        "failed": 1,
        "success_rate": 0.0,
        "dishes": {"salmonMeatcake": {"completed": 0, "failed": 1}},
    }


@pytest.mark.parametrize("level", LEVELS)
def test_every_order_is_completed_failed_or_standing(level: str) -> None:
    world = kitchen(level, alpha=1.0, max_steps=100)
    ordered = 1
    while not world.over:
        ordered += kinds(act(world, "noop")).count("ordered")
        seen = world.observe(0)
        assert seen["completed"] + seen["failed"] + len(seen["orders"]) == ordered


def test_one_seed_gives_the_same_dishes_in_the_same_order_and_later_to_those_who_let_six_orders_stand() -> (
    None
):
    """What `Study.same_dishes` promises, and no more."""
    timing, dishes = Timing(1, dict.fromkeys("abc", 99)), ["a", "b", "c"]
    quick, slow = OrderBook(dishes, timing, seed=4), OrderBook(dishes, timing, seed=4)
    came: dict[str, list[tuple[int, str]]] = {"quick": [], "slow": []}
    for clock in range(12):
        for name, book in (("quick", quick), ("slow", slow)):
            if name == "quick" or clock == 8:
                book.serve([dish for _, dish in book.standing])
            if dish := book.draw(clock):
                came[name].append((clock, dish))
    assert [clock for clock, _ in came["quick"]] == list(range(12))
    assert [clock for clock, _ in came["slow"]] == [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]
    assert [dish for _, dish in came["slow"]] == [dish for _, dish in came["quick"]][:10]
