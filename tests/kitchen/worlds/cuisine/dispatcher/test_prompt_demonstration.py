"""Demonstrations are played, not typed in: legal, of another dish, served, and the same everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.worlds.cuisine.dispatcher.command_check import NOOP, CommandedTeam
from kitchen.worlds.cuisine.dispatcher.prompt_demonstration import (
    DISH_DEMONSTRATION,
    TEAM_DEMONSTRATION,
    Demonstration,
    demonstrate,
    demonstration_team,
)
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.level_generator import LEVEL_CLASSES
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen, level_from_brief
from tests.kitchen.worlds.cuisine.cooking import LEVELS, kitchen
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import moment
from tests.nightly import thinned


def level(code: str, **settings: Any) -> Level:
    return level_from_brief(kitchen(code, **settings).brief(0))


def team(agents: int, *people: int) -> CommandedTeam:
    return CommandedTeam(agents, tuple(seat for seat in range(agents) if seat not in people), people)


def check(shown: Demonstration | None, of: Level) -> Demonstration:
    assert shown
    assert shown.dish not in of.dishes and shown.dish not in of.recipes
    for step in shown.steps:
        scene = SimulatedKitchen(step.moment.brief, step.moment.observation)
        turn = [*step.moment.commanded.items(), *step.commands]
        assert [scene.run(seat, command) for seat, command in turn] == [()] * shown.team.agents
        assert sorted(seat for seat, _ in turn) == list(range(shown.team.agents))
    last = SimulatedKitchen(shown.steps[-1].moment.brief, shown.steps[-1].moment.observation)
    for seat, command in [*shown.steps[-1].moment.commanded.items(), *shown.steps[-1].commands]:
        last.run(seat, command)
    assert set(last.places["servingtable0"].items) == {shown.dish}
    return shown


@pytest.mark.parametrize("code", thinned(LEVELS, 5))
@pytest.mark.parametrize("agents", [2, 4])
def test_every_level_has_one_that_is_legal_and_serves_another_dish(code: str, agents: int) -> None:
    of = level(code)
    check(demonstrate(of, team(agents)), of)


@pytest.mark.parametrize("difficulty", LEVEL_CLASSES)
def test_levels_made_from_a_seed_have_one_too(difficulty: str) -> None:
    for seed in range(3):
        of = level("procedural", difficulty=difficulty, level_seed=seed)
        check(demonstrate(of, team(2)), of)


@pytest.mark.parametrize("people", [(0,), (0, 2)])
def test_with_people_their_commands_come_first_and_are_not_ours(people: tuple[int, ...]) -> None:
    of = level("level_3")
    shown = check(demonstrate(of, team(3, *people)), of)
    for step in shown.steps:
        assert set(step.moment.commanded) == set(people)
    assert any(command != NOOP for step in shown.steps for _, command in step.commands)


def test_nothing_is_shown_that_the_dish_does_not_need() -> None:
    shown = demonstrate(level("level_0"), team(2))
    assert shown and sum(command != NOOP for turn in shown.turns for _, command in turn) == 12


@pytest.mark.parametrize("code", thinned(LEVELS, 5))
def test_a_team_of_four_is_at_work(code: str) -> None:
    shown = check(demonstrate(level(code), team(4), TEAM_DEMONSTRATION), level(code))
    assert shown.way is TEAM_DEMONSTRATION
    assert share_of_noop(shown) < 0.25 < share_of_noop(demonstrate(level(code), team(4), DISH_DEMONSTRATION))
    assert len(shown.turns) <= 20


def share_of_noop(shown: Demonstration | None) -> float:
    assert shown
    commands = [command for turn in shown.turns for _, command in turn]
    return commands.count(NOOP) / len(commands)


def test_it_is_the_same_when_made_anew() -> None:
    first = demonstrate(level("level_3"), team(3, 0))
    demonstrate.cache_clear()
    again = demonstrate(level("level_3"), team(3, 0))
    assert first and again and first.turns == again.turns


def test_it_can_be_for_another_number_of_agents() -> None:
    assert demonstration_team(team(4), 0) == team(4)
    assert demonstration_team(team(4), 2) == team(2)
    assert demonstration_team(team(2, 0), 3) == team(3, 0)
    assert demonstration_team(team(4, 0), 1) == CommandedTeam(1, (0,))
    assert moment().team == team(3, 0)
