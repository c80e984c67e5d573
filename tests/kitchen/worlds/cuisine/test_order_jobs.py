"""Orders that are split into jobs for several robots."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world import Aim, Json
from kitchen.worlds.cuisine.order_jobs import next_order_job
from tests.kitchen.worlds.cuisine.test_aim_pursuit import kitchen

CUT_SALMON, SERVE_SALMON = ("make", "salmonSashimi"), ("serve", "salmonSushi")


def sushi(*dishes: str, seats: int = 3) -> tuple[Any, dict[str, Json]]:
    """Return the brief and the observation of the sushi kitchen with these orders, the most urgent first."""
    world = kitchen({"level": "level_3"}, seats=seats)
    orders = [{"dish": dish, "life": life} for life, dish in enumerate(dishes, start=9)]
    return world.brief(0), {**world.observe(0), "orders": orders}


def jobs(brief: Any, seen: Any, taken: tuple[Aim, ...] = ()) -> list[Aim]:
    """Return the jobs that robots without one get, one after another."""
    given: list[Aim] = []
    while len(given) < 9 and (job := next_order_job(brief, seen, (*taken, *given))):
        given.append(job)
    return given


def test_one_robot_cooks_a_part_and_another_one_the_rest_of_the_dish() -> None:
    found = jobs(*sushi("salmonSushi"))
    assert found == [CUT_SALMON, SERVE_SALMON]
    assert jobs(*sushi()) == []


def test_each_order_gets_jobs_while_there_are_tools_for_it() -> None:
    found = jobs(*sushi("salmonSushi", "tunaSushi"))
    assert found[:2] == jobs(*sushi("salmonSushi")) and found[-1] == ("serve", "tunaSushi")
    assert sorted(kind for kind, _ in jobs(*sushi(*["salmonSushi"] * 3))).count("serve") == 3


@pytest.mark.parametrize(
    ("ready", "taken", "expected"),
    [
        ({"pot0": ["cookedRice"], "chopboard0": ["salmonSashimi"]}, (), SERVE_SALMON),
        ({"pot0": ["cookedRice"]}, (), CUT_SALMON),
        ({"pot0": ["cookedRice"]}, (CUT_SALMON,), SERVE_SALMON),
        ({"mixer0": ["salmonSushi"]}, (), SERVE_SALMON),
        ({"chopboard0": ["tuna"], "chopboard1": ["tuna"], "pot0": ["cookedRice"]}, (), SERVE_SALMON),
        ({}, (SERVE_SALMON,), None),
    ],
)
def test_what_is_ready_or_taken_is_no_job_again(
    ready: dict[str, list[str]], taken: tuple[Aim, ...], expected: Aim | None
) -> None:
    brief, seen = sushi("salmonSushi")
    places = {place: {**there, "items": ready.get(place, [])} for place, there in seen["locations"].items()}
    assert next_order_job(brief, {**seen, "locations": places}, taken) == expected
