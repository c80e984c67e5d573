"""Hints for practice: a person who follows them serves dishes."""

from __future__ import annotations

import pytest

from kitchen.contract.advisers import Adviser
from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import _situation, current_seat_view, hints_for, world_page_of
from kitchen.play.models import Seat
from kitchen.play.turn import state_store
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.page import PAGE
from tests.function_calls import count_calls
from tests.kitchen.factories import make_episode, submit
from tests.kitchen.worlds.cuisine.test_page import LEVELS, seen

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.django_db
def test_who_follows_every_hint_serves_dishes_and_understands_each() -> None:
    episode = make_episode(hints=True, steps=50)
    adviser, seat = get_adviser("cuisine"), Seat.objects.select_related("episode").get()
    for step in range(1, 51):
        view = current_seat_view(seat)
        episode.refresh_from_db()
        advice = adviser.lead(_situation(state_store.current_world(episode), view))
        assert advice
        assert view.choice.hints[-1] == PAGE.hint(view, advice.command, advice.aim)
        assert view.choice.hints[-1].startswith("Try this: ") and view.choice.hints[-1].endswith(".")
        assert "None" not in view.choice.hints[-1] and "0" not in view.choice.hints[-1]
        assert submit(episode, step, *advice.command).accepted
    episode.refresh_from_db()
    assert episode.score["completed"] >= 2


@pytest.mark.django_db
def test_hints_are_shown_only_where_they_are_on_and_to_who_is_to_choose() -> None:
    off = make_episode()
    on = make_episode(hints=True, seats=2)
    seat = Seat.objects.select_related("episode").get(episode=on, number=0)
    assert current_seat_view(Seat.objects.select_related("episode").get(episode=off)).choice.hints == ()
    first = current_seat_view(seat)
    assert first.choice.hints[0] == PAGE.first_steps[0]
    assert first.choice.hints[1] in Screen().fragments(world_page_of(seat), first)
    submit(on, 1, "noop")
    assert current_seat_view(seat).choice.hints == ()


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_has_hints_in_words(level: str) -> None:
    world = get_world("cuisine").create(seats=2, settings={"level": level, "max_steps": 25})
    world.reset(3)
    while not world.over:
        hint = hints_for(world, seen(world, 0)).sentences[-1]
        assert hint.startswith("Try this: ")
        assert not any(code in hint for code in [*world.brief(0)["locations"], "_", "{", "  "])
        world.step({0: world.legal_actions(0)[-1 - world.clock % 2]})


def test_a_world_without_an_adviser_points_to_its_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kitchen.play.live.seat_view.get_adviser", lambda world: Adviser())
    world = get_world("cuisine").create(seats=1, settings={"level": "level_3"})
    world.reset(1)
    assert hints_for(world, seen(world, 0)).sentences[-1] == PAGE.general_hint


def test_a_hint_costs_few_function_calls() -> None:
    world = get_world("cuisine").create(seats=4, settings={"level": "level_12"})
    world.reset(1)
    view = seen(world, 0)
    hints_for(world, view)
    assert count_calls(lambda: hints_for(world, view)) < 1_200


@pytest.mark.django_db
def test_the_page_names_the_command_so_that_its_place_can_be_marked() -> None:
    seat = Seat.objects.select_related("episode").get(episode=make_episode(hints=True))
    view = current_seat_view(seat)
    assert view.choice.hinted in view.choice.legal
    html = Screen().fragments(world_page_of(seat), view)
    assert 'data-try="[&#34;goto&#34;,&#34;storage0&#34;]"' in html
