"""What the model is told: each part is there or not, as the settings say, and nothing of it elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.dispatcher.prompt import fixed_part, state_part
from kitchen.worlds.cuisine.dispatcher.settings import DispatcherOptions
from kitchen.worlds.cuisine.display_text import KitchenWords
from tests.kitchen.worlds.cuisine.cooking import LEVELS, fetch, kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import moment, seen

SNAPSHOT = Path(__file__).parents[3] / "data" / "dispatcher_prompt.txt"
TITLES = ["Your task", "Recipes", "Instructions", "Good to know", "Demonstration"]


def prompt(now: KitchenMoment | None = None, **settings: Any) -> str:
    return fixed_part(now or moment(), DispatcherOptions.read(settings))


def parts(text: str) -> dict[str, str]:
    found = re.split(r"(?:^|\n\n)# (.+)\n", text)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def test_the_whole_prompt_reads_as_it_did() -> None:
    """To change it on purpose, write the text that the failure shows to the file."""
    now = moment()
    assert f"{prompt(now)}\n\n\n{state_part(now, ['agent1 did this.'])}\n" == SNAPSHOT.read_text(
        encoding="utf-8"
    )


def test_all_parts_are_there_by_default() -> None:
    assert list(parts(prompt())) == TITLES


@pytest.mark.parametrize(
    ("setting", "title"),
    [
        ({"recipes": False}, "Recipes"),
        ({"instructions": False}, "Instructions"),
        ({"hints": False}, "Good to know"),
        ({"demonstration": "none"}, "Demonstration"),
    ],
)
def test_a_part_that_is_off_is_gone_and_the_others_stay_as_they_are(
    setting: dict[str, Any], title: str
) -> None:
    assert parts(prompt(**setting)) == {key: text for key, text in parts(prompt()).items() if key != title}


def test_without_recipes_nothing_else_tells_them() -> None:
    for level in LEVELS:
        told = prompt(moment(kitchen(level, seats=2)), recipes=False)
        for product in kitchen(level).level.recipes:
            assert f"{product}: activate" not in told


def test_without_feedback_the_prompt_does_not_speak_of_it() -> None:
    assert "feedback" in prompt().lower()
    assert "feedback" not in prompt(feedback=False).lower()


def test_with_everything_off_only_the_task_is_left() -> None:
    off: dict[str, Any] = {
        "recipes": False,
        "instructions": False,
        "hints": False,
        "demonstration": "none",
        "feedback": False,
    }
    assert list(parts(prompt(**off))) == ["Your task"]


def test_few_steps_are_the_first_two_of_the_full_demonstration() -> None:
    few, full = (parts(prompt(demonstration=which))["Demonstration"] for which in ("few", "full"))
    assert few.count("State:") == few.count("Commands:") == 2
    assert full.count("State:") > 8
    assert full.partition("State:")[2].startswith(few.partition("State:")[2])
    assert re.search(r"put_agent\d_servingtable0\s*\Z", full)


@pytest.mark.parametrize(("asked", "shown"), [(0, 3), (1, 1), (2, 2), (4, 4)])
def test_the_demonstration_is_for_as_many_agents_as_asked(asked: int, shown: int) -> None:
    text = parts(prompt(demonstration_agents=asked))["Demonstration"]
    assert f"agent{shown - 1}" in text and f"agent{shown}" not in text


@pytest.mark.parametrize("level", LEVELS)
def test_the_prompt_has_the_facts_of_the_level(level: str) -> None:
    world = kitchen(level, seats=2)
    found = parts(prompt(moment(world, 0, 1), demonstration="none"))
    for product, recipe in world.level.recipes.items():
        assert (
            f"{product}: activate a {recipe.tool} with exactly {' + '.join(recipe.ingredients)}"
            in found["Recipes"]
        )
    told = found["Instructions"]
    assert all(place in told for place in world.level.places)
    assert all(
        item in told
        for item in [*world.brief(0)["base"], *world.level.recipes]
        if item not in world.level.dishes
    )
    assert "There are 2 agents; you command agent0 and agent1" in told


def test_what_cannot_be_made_here_is_said() -> None:
    world = kitchen("level_12", seats=1)
    assert "there is no fryer here" in parts(prompt(moment(world, 0)))["Recipes"]


def test_a_kitchen_without_a_board_gets_no_hints_on_chopping() -> None:
    assert "chop" not in parts(prompt(moment(kitchen("level_0"), 0)))["Good to know"]


def test_a_person_is_named_and_never_commanded_in_the_demonstration() -> None:
    found = parts(prompt())
    assert "agent0 is a person" in found["Your task"]
    replies = re.findall(r"Commands:\n((?:\w+\n?)+)", found["Demonstration"])
    assert len(replies) > 8 and all("agent0" not in reply for reply in replies)
    assert "agent0 (a person) does in this step" in found["Demonstration"]


def test_several_people_other_minds_and_nobody_are_told_apart() -> None:
    world = kitchen(seats=4)
    task = parts(prompt(KitchenMoment.of(seen(world, 2, people=(0, 1)))))["Your task"]
    assert "agent0 and agent1 are people" in task and "agent3 is commanded by somebody else" in task
    alone = parts(prompt(moment(world, 0, 1, 2, 3)))["Your task"]
    assert "person" not in alone and "else" not in alone


@pytest.mark.parametrize(
    ("model", "effort", "calls"),
    [
        ("anthropic:claude-haiku-5-5", "least", True),
        ("anthropic:claude-haiku-5-5", "low", False),
        ("anthropic:claude-sonnet-5-5", "least", False),
        ("openai:llama", "low", True),
    ],
)
def test_a_model_that_is_given_no_tool_is_not_told_to_call_one(model: str, effort: str, calls: bool) -> None:
    told = prompt(moment(kitchen(seats=2), 0, 1), reply="tool", model=model, effort=effort)
    assert ("Answer by calling the tool, with" in told) == calls
    assert ("Answer with one JSON object of the form that you are given, with" in told) != calls


def test_the_tool_form_has_no_spelled_commands() -> None:
    assert re.search(r"(goto|get|put|activate|noop)_agent", prompt())
    assert not re.search(
        r"(goto|get|put|activate|noop)_agent", prompt(moment(kitchen(seats=2), 0, 1), reply="tool")
    )


def test_the_state_tells_everything_that_is_to_be_seen() -> None:
    world = kitchen(seats=3)
    fetch(world, "rice", "pot0")
    world.step({0: ("activate", "pot0"), 1: ("goto", "storage0")})
    world.step({1: ("get", "storage0", "tuna")})
    told = state_part(moment(world, commanded={0: ("goto", "mixer1")}), [])
    for line in (
        "Level level_3, step 7 of 60.",
        "- tunaSushi, 20 steps left",
        "- agent0 (a person): at pot0; hold nothing; occupy no",
        "- agent1: at storage0; hold tuna; occupy no",
        "- pot0: inside cookedRice; occupy for 1 step",
        "- storage0: inside every base ingredient",
        "Dishes completed: none. Orders failed: 0.",
        "agent0 (a person) does in this step, before your agents: goto_agent0_mixer1",
    ):
        assert line in told.splitlines()
    assert "eedback" not in told


def test_a_person_without_a_choice_is_named() -> None:
    told = state_part(moment(commanded={}), [])
    assert "What agent0 (a person) does in this step is not known yet." in told


def test_prompts_are_in_english_in_every_language() -> None:
    asked = {}
    for language in ("en", "es"):
        with translation.override(language):
            now = moment()
            asked[language] = prompt(now) + state_part(now, ["agent1 did this."])
            assert KitchenWords().name("blender") == {"en": "Blender", "es": "Licuadora"}[language]
    assert asked["en"] == asked["es"]
