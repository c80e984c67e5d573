"""The guide: short, true, in pictures, and about the kitchen that comes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kitchen.play.live.render_page import render_guide, render_reference
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.display_text import picture_names
from kitchen.worlds.cuisine.page import PAGE
from tests.kitchen.worlds.cuisine.test_page import LEVELS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def brief(level: str, seats: int = 1) -> dict[str, Any]:
    return get_world("cuisine").create(seats=seats, settings={"level": level}).brief(0)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.mark.parametrize("level", LEVELS)
def test_every_recipe_is_there_line_by_line_with_its_tool_and_its_pictures(level: str) -> None:
    facts = brief(level)
    for dish in PAGE.handbook(facts)["dishes"]:
        known: set[str] = set()
        for line in dish["makings"]:
            made = {name for name in (part.name for part in line.parts) if name not in known}
            assert made <= {facts["names"][item] for item in facts["base"]}, "its parts come before it"
            assert {part.icon for part in line.parts} | {line.product.icon} <= picture_names()
            known.add(line.product.name)
        assert dish["makings"][-1].product.name == dish["name"]
    assert set(re.findall(r"tools.svg#(\w+)", render_guide(PAGE, facts, clocked=False, drawn=True))) >= {
        recipe["tool"] for recipe in facts["recipes"].values()
    }


def test_it_says_that_raw_food_can_be_taken_back_from_a_board_as_the_rules_have_it() -> None:
    text = words(render_guide(PAGE, brief("level_3"), clocked=False, drawn=True))
    assert "You can take raw food back from a chopping board. Any other tool gives back only" in text
    assert (
        "chopping board" not in words(render_guide(PAGE, brief("level_0"), clocked=False, drawn=True)).lower()
    )
    world = get_world("cuisine").create(seats=1, settings={"level": "level_3"})
    for place, gives_back in (("chopboard0", True), ("pot0", False)):
        world.reset(0)
        item = "salmon" if gives_back else "rice"
        for command in (("goto", "storage0"), ("get", "storage0", item), ("goto", place), ("put", place)):
            world.step({0: command})
        offered = {command[:2] for command in world.legal_actions(0)}
        assert (("get", place) in offered) is gives_back


def test_it_explains_dots_only_where_there_are_some() -> None:
    guides = [
        render_guide(PAGE, brief("level_0"), clocked=False, drawn=True, marked=dots) for dots in (True, False)
    ]
    assert ["A dot before an action" in guide for guide in guides] == [True, False]


@pytest.mark.parametrize("drawn", [True, False])
def test_that_each_click_is_a_step_it_says_only_where_nothing_is_asked_before(drawn: bool) -> None:
    told, asked = (
        words(render_guide(PAGE, brief("level_3"), clocked=False, drawn=drawn, asks_first=asks))
        for asks in (False, True)
    )
    assert "Each click is one step" in told
    assert "Each action is one step" in asked
    assert "Each click is one step" not in asked + " ".join(PAGE.first_steps)


def test_of_teammates_it_speaks_only_where_there_are_some() -> None:
    alone, together = (
        words(render_guide(PAGE, brief("level_3", seats), clocked=False, drawn=True)) for seats in (1, 3)
    )
    assert "other robots" not in alone and "Robot 1" not in alone and "teammate" not in alone
    assert "other robots work with you" in together


def test_recipes_have_pictures_and_say_plainly_until_when_a_dish_is_to_be_served() -> None:
    recipes = render_reference(PAGE, brief("level_3"))
    for item in ("rice", "salmon", "cookedRice", "tunaSashimi"):
        assert f"pictures.svg#{item}" in recipes
    assert "Serve it within 26 steps of the order" in words(recipes)


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("asks_first", [True, False])
def test_a_phone_reads_tap_and_no_keys(drawn: bool, asks_first: bool) -> None:
    """The style sheet hides `by-mouse` and `by-keys` where there is only a finger."""
    html = render_guide(PAGE, brief("level_3"), clocked=False, drawn=drawn, asks_first=asks_first)
    on_phone = re.sub(r'<span class="by-mouse">[^<]*</span>', "", html)
    on_phone = re.sub(
        r'<div class="by-keys">.*?</div>\n</div>|<div class="by-keys">.*?</dl>\s*</div>',
        "",
        on_phone,
        flags=re.S,
    )
    assert "lick" not in words(on_phone) and "<kbd>" not in on_phone and "Tap" in on_phone
    at_desk = re.sub(r'<span class="by-touch">[^<]*</span>', "", html)
    assert "Tap" not in at_desk and ("Click" in at_desk or asks_first) and "<kbd>" in at_desk
