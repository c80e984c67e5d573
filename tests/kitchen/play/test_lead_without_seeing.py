"""A person leads without a seat and sees nothing of the world. They know goal, orders and time, no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.template.loader import render_to_string

from kitchen.contract.organisation import Member, make_organisation
from kitchen.play.episode.create_episode import create_episode, members_of_plans
from kitchen.play.live.render_page import page_context
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode
from kitchen.play.turn.turn_cache import read_turn
from tests.kitchen.factories import mind
from tests.kitchen.play.test_leading import LEAD, led, opened, take

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def first_page(episode: Episode, number: int) -> str:
    """Return the section of the page that replaces the game, as the first answer has it."""
    seat = episode.seats.select_related("episode").get(number=number)
    return render_to_string(
        "kitchen/play/unseen.html", page_context(world_page_of(seat), current_seat_view(seat))
    )


def state(episode: Episode) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(opened(episode, json=True).show().texts[0])
    return found


def orders_of(episode: Episode) -> Any:
    with read_turn(episode.pk) as turn:
        return turn.world.observe(0)["orders"]


def test_the_page_has_goal_orders_and_time_from_the_first_answer_on() -> None:
    episode = led(sees="private")
    opened(episode)
    (order,) = orders_of(episode)
    shown = first_page(episode, LEAD)
    assert "You lead Robot 1, Robot 2" in shown and "The guests order" in shown
    assert "What to do first" in shown and "Press a job. The player gets it at once." in shown
    assert f"<dd>Tuna sushi: {order['life']} steps left</dd>" in shown
    assert "<dt>Steps left</dt><dd>60</dd>" in shown


def test_orders_and_time_follow_every_step_over_the_websocket() -> None:
    episode = led(sees="private")
    page = opened(episode)
    life = orders_of(episode)[0]["life"]
    for steps in (1, 2):
        take(episode)
        shown = "".join(page.look().texts)
        assert shown.count('id="public_facts"') == 1
        assert f"<dd>Tuna sushi: {life - steps} steps left</dd>" in shown
        assert f"<dt>Steps left</dt><dd>{60 - steps}</dd>" in shown
    with read_turn(episode.pk) as turn:
        interval = turn.world.public_brief()["interval"]
    take(episode, interval - 1)
    shown = "".join(page.look().texts)
    assert len(orders_of(episode)) == shown.count(" steps left</dd>") == 2


def test_the_json_state_has_the_orders_and_nothing_of_the_kitchen() -> None:
    episode = led(sees="private")
    before = state(episode)
    assert before["public_state"] == {"steps_left": 60, "orders": orders_of(episode)}
    take(episode)
    after = state(episode)
    assert after["public_state"] == {"steps_left": 59, "orders": orders_of(episode)}
    assert after["public_state"] != before["public_state"]
    assert after["observation"] == after["seen"] == after["intents"] == after["plans"] == {}


@pytest.mark.parametrize(
    ("language", "title", "order"),
    [("es", "Pasos restantes", "Sushi de atún: quedan"), ("zh-hans", "剩余步数", "还剩")],
)
def test_goal_orders_and_time_are_in_the_language_of_the_reader(
    language: str, title: str, order: str
) -> None:
    page = opened(led(sees="private"), language=language)
    facts = "".join(page.show().texts)
    assert f"<dt>{title}</dt>" in facts and order in facts and "steps left" not in facts


def test_a_leader_who_sees_the_game_has_its_panels_instead() -> None:
    episode = led(sees="all")
    seat = episode.seats.select_related("episode").get(number=LEAD)
    panels = page_context(world_page_of(seat), current_seat_view(seat))["panels"]
    assert "orders" in panels and "public_facts" not in panels


@pytest.mark.parametrize(
    ("world", "settings", "texts", "names"),
    [
        (
            "overcooked",
            {"layout": "forced_coordination"},
            ["You lead two cooks", "<dt>Orders</dt><dd>onion, onion, onion: 20 points</dd>", "<dd>400</dd>"],
            {"steps_left"},
        ),
        (
            "collab_overcooked",
            {"task": "boiled_egg", "knowledge": "both"},
            ["Two cooks in two rooms prepare one dish together: boiled egg", "<dt>Steps left</dt>"],
            {"steps_left", "order"},
        ),
        (
            "blocks_crafting",
            {"task": "craft_2_02_lime_wool"},
            ["One of you holds 1 lime wool.", "<dt>Steps left</dt>"],
            {"steps_left"},
        ),
        (
            "blocks_kitchen",
            {},
            ["Put the ordered dishes into the chest", "<dt>Orders</dt><dd>cooked", "(7 steps left)"],
            {"steps_left", "orders"},
        ),
    ],
)
def test_in_every_world_a_leader_knows_what_is_public_and_nothing_private(
    world: str, settings: dict[str, Any], texts: list[str], names: set[str]
) -> None:
    minds = (mind("random", 0), mind("random", 1))
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    team = make_organisation("tree", members, seats=2, settings={"sees": "private"})
    episode = create_episode(
        world=world, settings=settings, seats=2, seed=7, minds=minds, organisation=team, step_seconds=3
    )
    shown = first_page(episode, 2)
    assert [text for text in texts if text not in shown] == []
    seat = episode.seats.select_related("episode").get(number=2)
    view = current_seat_view(seat)
    assert view.public_state.keys() == names and not view.observation and not view.jobs.seen
    with read_turn(episode.pk) as turn:
        assert not view.brief.keys() & set(turn.world.secret)
        recipe = turn.world.brief(0).get("recipe", [])
        seen = turn.world.observe(0)
    private = {"players", "seats", "inventory", "at", "counters", "pots", "utensils", "chest", "furnace"}
    assert private & seen.keys() and not private & view.public_state.keys()
    assert "recipe" not in shown.lower()
    assert not recipe or json.dumps(recipe) not in json.dumps([dict(view.brief), dict(view.public_state)])
