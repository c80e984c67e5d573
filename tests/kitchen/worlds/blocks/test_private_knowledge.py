"""Nobody is shown another's inventory, a hidden plan, a hidden recipe or a hidden blueprint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.contract.language_model import Reply, Request
from kitchen.llm.providers.stand_in_model import StandIn
from kitchen.registry.world_registry import get_page
from tests.kitchen.agents.hourglass.leading import play
from tests.kitchen.worlds.blocks.games import game, refusal
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.test_pages import whole


def shown_to(world: Any, seat: int) -> str:
    """All that a seat is told or shown: brief, observation, menu and page."""
    told = [world.brief(seat), world.observe(seat), world.legal_actions(seat)]
    return json.dumps(told) + whole(get_page(world.kind), seen(world, seat))


def test_a_plan_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("crafting", task="craft_2_02_lime_wool")
    assert "plan" in world.brief(0) and "plan" not in world.brief(1) and "plan" not in world.public_brief()
    assert "The plan" in shown_to(world, 0) and "The plan" not in shown_to(world, 1)
    assert "lime_dye" not in shown_to(world, 1) and "lime dye" not in shown_to(world, 1)


def test_a_recipe_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("cooking", recipe_blocked="1")
    assert "Recipe: bread" in shown_to(world, 0) and "Recipe:" not in shown_to(world, 1)


def test_in_hells_kitchen_each_knows_only_the_recipe_of_the_other_and_needs_its_own_dish() -> None:
    world = game("cooking", targets="bread+baked_potato", hells_kitchen=True, no_help=True)
    assert list(world.brief(0)["recipes"]) == ["baked_potato"] and list(world.brief(1)["recipes"]) == [
        "bread"
    ]
    world.inventories = [{"baked_potato": 1}, {"bread": 1}]
    assert not world.over and refusal(world, "give 1 baked_potato 1") == "blocked"
    world.inventories.reverse()
    assert world.over and world.time_limit == 300


def test_a_blueprint_is_hidden_from_the_seats_that_may_not_have_it() -> None:
    world = game("construction", blueprint="small_house", blueprint_blocked="others")
    assert "blueprint" in world.brief(0) and "differences" in world.observe(0)
    told = shown_to(world, 1)
    assert "blueprint" not in world.brief(1) and "differences" not in told and '"build"]' not in told
    assert not any(command[0] in ("build", "place") for command in world.legal_actions(1))
    assert refusal(world, "build 0", seat=1) == "blocked"
    assert refusal(world, "place stone 0 0 0", seat=1) == "", "a partner can say where"


def test_a_page_says_in_a_line_what_came_of_the_last_command() -> None:
    world = game("cooking")
    world.step({0: ("collect", "wheat", "1")})
    while world.macros[0]:
        world.step({})
    assert "Collect: wheat: walked 28, got 1 wheat" in whole(get_page(world.kind), seen(world, 0))


def test_what_a_seat_does_is_told_to_nobody_else_but_a_gift_to_who_gets_it() -> None:
    world = game("crafting", {"obsidian": 4}, {"diamond": 2, "allium": 3})
    events = world.step({0: ("stay", "1"), 1: ("discard", "allium", "1")})
    assert any("allium" in str(event.data) for event in events)
    assert not any(world.visible(0, event) for event in events if event.seat == 1)
    assert "allium" not in shown_to(world, 0) and "obsidian" not in shown_to(world, 1)
    given = world.step({1: ("give", "0", "diamond", "1")})
    assert [event.kind for event in given if event.seat == 1 and world.visible(0, event)] == ["done"]


OWN_TASK = {
    "id": "craft_2_99_enchanting_table",
    "seats": 2,
    "target": {"enchanting_table": 1},
    "depth": 0,
    "inventories": [
        {"obsidian": 4, "book": 1, "crafting_table": 1},
        {"diamond": 2, "allium": 3},
    ],
    "timeout": 40,
    "crafts": [["enchanting_table", 1]],
}
"""Seat 1 alone holds an allium, and seat 0 obsidian, which the plan names, too."""
SECRETS = {0: "allium", 1: "obsidian"}
"""What nobody may tell a seat, if seat 1 does not know the plan."""


def own_task(*blocked: int) -> dict[str, str]:
    """The settings of this task, with these seats without the plan."""
    return {"own_task": json.dumps({**OWN_TASK, "plan_blocked": list(blocked)})}


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that the stand-in is asked, one text for each request."""
    asked, answer = list[str](), StandIn.ask

    async def ask(self: StandIn, request: Request) -> Reply:
        asked.append("\n".join(str(message.text) for message in request.messages) + str(request.tool))
        return await answer(self, request)

    monkeypatch.setattr(StandIn, "ask", ask)
    return asked


@pytest.mark.parametrize(
    ("line_up", "kind"),
    [
        ("blocks_planner+proagent", "each"),
        ("blocks_planner+skill_dispatcher", "each"),
        ("blocks_planner+pairwise", "each"),
        ("blocks_planner+hourglass", "each"),
        ("hourglass+follower", "tree"),
    ],
)
def test_no_prompt_has_what_another_seat_holds_or_a_plan_that_is_hidden(
    prompts: list[str], line_up: str, kind: str
) -> None:
    """Seat 1 asks a model, or seat 0 leads seat 1. The game ends before somebody gives anything."""
    seat = 0 if line_up.startswith("hourglass") else 1
    blocked = own_task(1)
    play(line_up, kind, world="blocks_crafting", game=blocked, steps=1, chosen={"stand_in_latency": 0.0})
    assert prompts and not [text for text in prompts if SECRETS[seat] in text]
    if seat == 1:
        known = len(prompts)
        play(line_up, kind, world="blocks_crafting", game=own_task(), steps=1)
        assert all("obsidian" in text for text in prompts[known:]), "with the plan, they have it"


@pytest.mark.parametrize(
    ("kind", "hidden", "known", "said"),
    [
        ("cooking", {"recipe_blocked": "1"}, {}, "To make bread:"),
        ("cooking", {"hells_kitchen": True}, {}, "To make golden_apple:"),
        (
            "construction",
            {"blueprint": "pyramid", "blueprint_blocked": "others"},
            {"blueprint": "pyramid"},
            "The blueprint, level by level",
        ),
    ],
)
@pytest.mark.parametrize("agent", ["proagent", "skill_dispatcher", "pairwise", "hourglass"])
def test_no_prompt_has_a_recipe_or_a_blueprint_that_is_hidden(
    prompts: list[str], agent: str, kind: str, hidden: dict[str, Any], known: dict[str, Any], said: str
) -> None:
    """Seat 1 asks a model, once without and once with the knowledge."""
    line_up = f"blocks_planner+{agent}"
    play(line_up, "each", world=f"blocks_{kind}", game=hidden, steps=1)
    without = len(prompts)
    assert without and not [text for text in prompts if said in text]
    play(line_up, "each", world=f"blocks_{kind}", game=known, steps=1)
    assert prompts[without:] and all(said in text for text in prompts[without:])
