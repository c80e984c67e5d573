"""Programs that play like people: their rates are counted in episodes, written, read and played again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest

from kitchen.agents.human_like.agent import HumanLike
from kitchen.agents.human_like.count_habits import count_habits
from kitchen.agents.human_like.habit_choice import HabitState, habit_choice
from kitchen.agents.human_like.play_habits import (
    KINDS,
    OTHER,
    PAUSE,
    USEFUL,
    PlayHabits,
    fitted_habits,
    habits_text,
    made_up_habits,
    read_habits,
)
from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Agent, run_without_waiting
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedStep
from kitchen.contract.world import Event, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world

ONLY = {
    kind: PlayHabits(kind, dict.fromkeys(KINDS, tuple(float(each == kind) for each in KINDS)), 0)  # type: ignore[arg-type]
    for kind in KINDS
}
"""People who only act usefully, only pause, or only do something else."""
RING = {"layout": "coordination_ring"}


def played(
    agents: Sequence[Agent],
    *,
    world: str = "overcooked",
    settings: Mapping[str, Json] = RING,
    seed: int = 1,
    steps: int = 400,
) -> EpisodeLog:
    """Play an episode with one agent for each seat, and return its log."""
    game = get_world(world).create(seats=len(agents), settings=settings)
    game.reset(seed)
    memories: list[Json] = [None] * len(agents)
    events: tuple[Event, ...] = ()
    log: list[LoggedStep] = []
    while not game.over and len(log) < steps:
        commands = []
        for seat, agent in enumerate(agents):
            chance = derived_seed(seed, seat, game.clock)
            seen = make_situation(game, [seat], memory=memories[seat], events=events, seed=chance)
            decision = run_without_waiting(agent.decide(seen))
            memories[seat] = decision.memory
            commands += [LoggedCommand(at, one, agent.kind) for at, one in decision.commands.items()]
        events = game.step([(each.seat, each.command) for each in commands])
        log.append(LoggedStep(len(log) + 1, tuple(commands), events, game.score()))
    return EpisodeLog(world, settings, len(agents), seed, tuple(log))


def human(*people: PlayHabits) -> Agent:
    return HumanLike({"people": habits_text(people)})


def test_the_rates_of_a_person_are_found_again_in_what_the_program_plays() -> None:
    person = made_up_habits()[2]
    counted = count_habits(played([human(person), make_agent("grid_planner", {})]), 0, {"human_like"})
    (found,) = fitted_habits([counted])
    assert found.steps > 150
    for kind, share in found.shares().items():
        assert share == pytest.approx(person.shares()[kind], abs=0.08)


def test_somebody_who_only_acts_usefully_plays_as_well_as_the_planner() -> None:
    log = played([human(ONLY[USEFUL]), make_agent("grid_planner", {})])
    best = played([make_agent("grid_planner", {}), make_agent("grid_planner", {})])
    assert log.steps[-1].score["points"] == best.steps[-1].score["points"] > 200
    assert set(count_habits(log, 0, {"human_like"})) == {(USEFUL, USEFUL)}


def test_somebody_who_only_pauses_never_moves() -> None:
    log = played([human(ONLY[PAUSE]), make_agent("stay", {})], steps=30)
    assert {each.command for step in log.steps for each in step.commands} == {("stay",)}
    assert set(count_habits(log, 0, {"human_like"})) == {(USEFUL, PAUSE), (PAUSE, PAUSE)}


def test_a_detour_is_not_what_was_recommended() -> None:
    log = played([human(ONLY[OTHER]), make_agent("stay", {})], steps=60)
    counted = count_habits(log, 0, {"human_like"})  # a tie may be recommended the other way here
    assert sum(number for (_, kind), number in counted.items() if kind == OTHER) > 0.9 * counted.total()
    assert len({each.command for step in log.steps for each in step.commands if each.seat == 0}) > 2


@pytest.mark.parametrize("world", ["cuisine", "blocks_construction"])
def test_other_worlds_are_played_too(world: str) -> None:
    log = played([human(made_up_habits()[0])] * 2, world=world, settings={}, steps=12)
    assert count_habits(log, 0, {"human_like"}).total() > 3


def test_waiting_because_the_time_was_over_counts_as_a_pause_and_commands_of_others_do_not_count() -> None:
    log = played([make_agent("grid_planner", {})] * 2, steps=20)
    assert not count_habits(log, 0)
    late = [
        replace(step, commands=(LoggedCommand(0, ("stay",), "clock"), *step.commands[1:]))
        for step in log.steps
    ]
    assert count_habits(replace(log, steps=tuple(late)), 0)[PAUSE, PAUSE] > 10
    planned = [
        replace(step, commands=(replace(step.commands[0], chosen_by="person", planned_in=1),))
        for step in log.steps
    ]
    assert not count_habits(replace(log, steps=tuple(planned)), 0)


def test_few_steps_of_one_person_weigh_little_beside_those_of_all() -> None:
    many, few = Counter({(USEFUL, USEFUL): 90, (USEFUL, PAUSE): 10}), Counter({(USEFUL, PAUSE): 1})
    found = {each.steps: each for each in fitted_habits([many, few, Counter()])}
    assert set(found) == {100, 1}
    assert found[1].rates[USEFUL][1] == pytest.approx((1 + 10 * 11 / 101) / 11)


def test_people_are_written_and_read_as_text() -> None:
    people = fitted_habits([Counter({(USEFUL, USEFUL): 7, (USEFUL, PAUSE): 3, (PAUSE, OTHER): 2})])
    (found,) = read_habits(f"# a comment\n\n{habits_text(people)}\n")
    assert (found.name, found.steps) == ("p1", 12)
    for before in KINDS:
        assert found.rates[before] == pytest.approx(people[0].rates[before], abs=0.001)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p1 100 0 0", "line 1: 'p1' has 3 numbers, and needs 10"),
        ("\np1 100 0 0 100 0 0 x 0 0 5", "line 2: 'x' is no percentage"),
        ("p1 100 0 0 100 0 0 nan 0 0 5", "'nan' is no percentage"),
        ("p1 90 0 0 100 0 0 100 0 0 5", "after a step of the kind useful sum to 90, not to 100"),
        ("p1 100 0 0 100 0 0 100 0 0 -5", "'-5' is no number of steps"),
        ("p1 100 0 0 100 0 0 100 0 0 5\n" * 201, "201 are more than 200"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(text: str, words: str) -> None:
    with pytest.raises(SettingsError, match="people: ") as caught:
        make_agent("human_like", {"people": text})
    assert words in str(caught.value)


def test_without_people_the_program_says_that_its_people_are_made_up() -> None:
    agent = make_agent("human_like", {})
    assert agent.remarks()
    game = get_world("overcooked").create(seats=2, settings=RING)
    game.reset(1)
    decision = run_without_waiting(agent.decide(make_situation(game, [0], seed=4)))
    assert isinstance(decision.note, dict)
    assert decision.note["made_up"] is True


def test_without_a_recommendation_somebody_waits_and_goes_on_as_before() -> None:
    game = get_world("overcooked").create(seats=2, settings=RING)
    game.reset(1)
    seen, state = make_situation(game, [0]), HabitState(OTHER, ("deliver",))
    chosen = habit_choice(seen, None, ONLY[OTHER], state, Random(1), game.legal_actions(0))
    assert chosen == (("stay",), state)


def test_a_world_that_needs_words_is_refused() -> None:
    game = get_world("collab_overcooked").create(seats=2, settings={})
    assert "without words" in make_agent("human_like", {}).unfit(game, [1])
