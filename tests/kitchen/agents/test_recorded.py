"""A recorded game is a text; the co-player gives its commands, and notes when the game is another one."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.agents.recorded import RecordedAgent, recording_unfit
from kitchen.contract.agent import Agent, run_without_waiting
from kitchen.contract.episode_log import EpisodeLog, LoggedDecision, LoggedStep
from kitchen.contract.recorded_trial import RecordedTrial, recording_from_text
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from kitchen.worlds.overcooked.recorded_measures import RECORDED_METRICS

ROOM = {"layout": "cramped_room", "ticks": 45}


def made(ticks: int = 45) -> World:
    world = get_world("overcooked").create(seats=2, settings={**ROOM, "ticks": ticks})
    world.reset(0)
    return world


def play(world: World, *agents: Agent) -> tuple[RecordedTrial, list[Any]]:
    """Play to the end; return the game and the notes of the first agent."""
    memories: list[Json] = [None] * len(agents)
    turns, notes = [], []
    while not world.over:
        turn = []
        for seat, agent in enumerate(agents):
            seen = make_situation(world, [seat], memory=memories[seat], seed=world.clock)
            decision = run_without_waiting(agent.decide(seen))
            memories[seat] = decision.memory
            turn.append((seat, decision.commands[seat]))
            notes += [decision.note] if seat == 0 else []
        turns.append(tuple(turn))
        world.step(turn)
    return RecordedTrial("overcooked", 1, dict(ROOM), 2, 0, turns), notes


@pytest.fixture(scope="module")
def game() -> RecordedTrial:
    return play(made(), make_agent("greedy", {}), make_agent("random_walk", {}))[0]


def recorded(game: RecordedTrial, **settings: Json) -> RecordedAgent:
    return RecordedAgent({"recording": game.to_text(("stay",)), **settings})


def test_a_recording_is_read_back_from_its_text(game: RecordedTrial) -> None:
    again = recording_from_text(game.to_text(("stay",)))
    assert (again.turns, again.settings, again.seed) == (game.turns, game.settings, 0)


def test_both_seats_of_one_recording_play_the_same_game(game: RecordedTrial) -> None:
    world = made()
    again, notes = play(world, recorded(game), recorded(game))
    assert again.turns == game.turns
    other = made()
    for turn in game.turns:
        other.step(turn)
    assert world.state_hash() == other.state_hash()
    assert {note["diverged_at"] for note in notes} == {None}


def test_it_notes_the_first_step_that_differs_and_goes_on(game: RecordedTrial) -> None:
    again, notes = play(made(), recorded(game), make_agent("stay", {}))
    moved = next(number for number, turn in enumerate(game.turns) if turn[1][1] != ("stay",))
    assert [note["diverged_at"] for note in notes] == [None] * (moved + 1) + [moved + 1] * (44 - moved)
    assert again.commands_of(0, ("stay",)) == game.commands_of(0, ("stay",))


@pytest.mark.parametrize(("notes", "ticks"), [([None, None], 2), ([None, 1], 1), ([], None)])
def test_the_ticks_until_the_game_differs_are_measured(notes: list[int | None], ticks: int | None) -> None:
    decisions = tuple(
        LoggedDecision(step, 0, "seat", "recorded", "", 1.0, note={"diverged_at": note})
        for step, note in enumerate(notes, 1)
    )
    steps = tuple(LoggedStep(number, (), (), {}) for number in (1, 2))
    log = EpisodeLog("overcooked", ROOM, 2, 0, steps, decisions=decisions)
    assert RECORDED_METRICS.measure(log) == {"recorded_steps_alike": ticks}


def test_another_program_can_play_on(game: RecordedTrial) -> None:
    wait, _ = play(made(), recorded(game, after="stay"), make_agent("stay", {}))
    assert wait.commands_of(0, ("stay",))[-30:] == [("stay",)] * 30
    greedy, _ = play(made(90), recorded(game, after="greedy"), recorded(game))
    assert greedy.commands_of(0, ("stay",))[:45] == game.commands_of(0, ("stay",))
    assert {("interact",)} < set(greedy.commands_of(0, ("stay",))[45:])


def test_a_recording_fits_worlds_with_the_same_settings_only(game: RecordedTrial) -> None:
    assert recording_unfit(game, made(400)) == ""
    for world, settings, why in (
        ("overcooked", {"layout": "coordination_ring"}, "another grid"),
        ("overcooked", {"cooking": "interact"}, "another cooking"),
        ("cuisine", {}, "is of overcooked"),
    ):
        other = get_world(world).create(seats=2, settings=settings)
        assert why in recording_unfit(game, other)


@pytest.mark.parametrize("text", ["{", "[]", '{"kind":"brigade recording 1"}', "x" * 70_000])
def test_another_text_is_no_recording(text: str) -> None:
    with pytest.raises(SettingsError, match="recording: "):
        RecordedAgent({"recording": text})


def test_a_condition_needs_a_recording() -> None:
    assert RecordedAgent({}).refusal() == "recording: choose a recorded game"
