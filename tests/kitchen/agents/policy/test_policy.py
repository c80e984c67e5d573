"""Trained networks play: by their probabilities, with masks, with a memory, and only where they fit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.agents.policy.agent import Policy, softmax
from kitchen.agents.policy.onnx_header import OnnxHeaderError, read_onnx_header
from kitchen.agents.policy.policy_folder import MissingPolicyError, find_policy, policy_folder
from kitchen.agents.policy.policy_session import PolicySession, PolicyTimeoutError
from kitchen.contract.agent import Decision, DecisionRequest, run_without_waiting
from kitchen.contract.json_encoding import JsonEncoding
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.world_registry import get_encoding, get_world
from tests.kitchen.agents.policy.onnx_files import METADATA, SHAPE, endless, policy, stored

NORTH, INTERACT = ("north",), ("interact",)
JSON = {"brigade.encoding": "json/1"}


@pytest.fixture(autouse=True)
def folder(var: Path) -> Path:
    return var


def kitchen(layout: str = "cramped_room") -> World:
    game = get_world("overcooked").create(seats=2, settings={"layout": layout})
    game.reset(3)
    return game


def decided(
    game: World, reference: str, *, seat: int = 1, memory: Json = None, seed: int = 1, **chosen: Json
) -> Decision:
    situation = make_situation(game, [seat], memory=memory, seed=seed)
    return run_without_waiting(Policy({"file": reference, **chosen}).decide(situation))


def noted(decision: Decision) -> dict[str, float]:
    """Return the probabilities in the note of a decision of seat 1."""
    found: dict[str, float] = (decision.note or {})["probabilities"]["1"]
    return found


def test_commands_come_as_often_as_the_network_says() -> None:
    file = stored(policy(bias=[np.log(0.5), -30, -30, -30, np.log(0.3), np.log(0.2)]))
    drawn = Counter(decided(kitchen(), file, seed=seed).commands[1] for seed in range(300))
    assert drawn.keys() == {NORTH, ("stay",), INTERACT}
    assert drawn[NORTH] / 300 == pytest.approx(0.5, abs=0.08)
    note = decided(kitchen(), file).note
    assert note == {"probabilities": {"1": {"north": 0.5, "stay": 0.3, "interact": 0.2}}}


def test_choice_and_temperature_change_what_is_played() -> None:
    file = stored(policy(bias=[2, 0, 0, 0, 0, 0]))
    assert {decided(kitchen(), file, seed=s, choice="likeliest").commands[1] for s in range(9)} == {NORTH}
    cold, hot = (noted(decided(kitchen(), file, temperature=degree)) for degree in (0.1, 5))
    assert cold == {"north": 1.0} and hot["north"] < 0.3


def test_actions_in_another_order_mean_the_same_commands() -> None:
    order = json.dumps(["interact", "stay", "west", "east", "south", "north"])
    file = stored(policy(bias=[9, 0, 0, 0, 0, 0], metadata=METADATA | {"brigade.actions": order}))
    assert decided(kitchen(), file, choice="likeliest").commands == {1: INTERACT}


def test_a_network_that_was_trained_with_a_mask_plays_legal_commands_only() -> None:
    game = get_world("cuisine").create(seats=2, settings={"level": "level_0"})
    game.reset(1)
    file = stored(policy((8192,), 64, bias=range(64), with_mask=True, metadata=JSON))
    for seed in range(5):
        decision = decided(game, file, seed=seed, choice="likeliest")
        assert decision.commands[1] == game.legal_actions(1)[-1]
    assert get_encoding("cuisine", "json/1").masked and JsonEncoding.name == "json/1"


def test_what_a_recurrent_network_remembers_comes_back_with_the_memory() -> None:
    file, game, memory = stored(policy(bias=[0] * 6, memory=4)), kitchen(), None
    probabilities = []
    for _ in range(3):
        decision = decided(game, file, memory=json.loads(json.dumps(memory)))
        memory = decision.memory
        probabilities.append(noted(decision))
    shape, text = (memory or {})["1"]["state_in_0"]
    assert (shape, len(text)) == ([1, 4], 24)
    assert probabilities[0]["north"] == pytest.approx(1 / 6, abs=1e-3)
    assert probabilities[2]["interact"] > probabilities[1]["interact"] > probabilities[0]["interact"]


def test_a_seat_that_is_not_asked_gets_no_command() -> None:
    situation = make_situation(kitchen(), [0, 1], seed=1)
    asked = replace(situation, request=DecisionRequest(asked=(0,)))
    assert run_without_waiting(Policy({"file": stored(policy())}).decide(asked)).commands.keys() == {0}


def test_the_same_situation_gives_the_same_command() -> None:
    file, game = stored(policy()), kitchen()
    assert decided(game, file, seed=8).commands == decided(game, file, seed=8).commands


def test_a_file_of_another_shape_is_refused_and_another_layout_is_a_caution() -> None:
    agent = Policy({"file": stored(policy())})
    assert agent.unfit(kitchen(), [1]) == ""
    assert "made for shape 5 x 4 x 26" in agent.unfit(kitchen("coordination_ring"), [1])
    assert agent.world_cautions("overcooked", {"layout": "cramped_room"}) == ()
    (caution,) = agent.world_cautions("overcooked", {"layout": "forced_coordination"})
    assert "was not trained with layout forced_coordination" in caution
    cuisine = get_world("cuisine").create(seats=2, settings={})
    assert "none of this world" in agent.unfit(cuisine, [1])


def test_without_a_file_forms_refuse_and_a_missing_or_changed_file_is_told() -> None:
    assert "choose a policy file" in Policy({}).refusal()
    assert "not on this machine" in Policy({"file": f"gone:{'0' * 64}"}).unfit(kitchen(), [1])
    with pytest.raises(SettingsError, match="NAME:SHA256"):
        Policy({"file": "../../etc/passwd"})
    reference = stored(policy(seed=7))
    (policy_folder() / f"{reference.partition(':')[2]}.onnx").write_bytes(policy(seed=8))
    with pytest.raises(MissingPolicyError, match="was changed"):
        find_policy(reference)


def test_logits_that_are_not_finite_are_an_error_that_the_fallback_answers() -> None:
    with pytest.raises(ValueError, match="not finite"):
        softmax([0.0, float("nan")], 1.0)


def test_a_network_that_never_ends_is_stopped() -> None:
    with pytest.raises(PolicyTimeoutError):
        PolicySession(endless()).run(np.zeros(SHAPE), np.ones(6), {}, 0.02)


def test_damaged_files_have_no_header() -> None:
    data, chance = policy(), Random(1)
    header = read_onnx_header(data)
    assert (header.inputs, header.outputs) == ({"obs": (None, *SHAPE)}, {"logits": (None, 6)})
    for length in [0, 1, 5, *(chance.randrange(len(data)) for _ in range(20))]:
        with pytest.raises(OnnxHeaderError):
            read_onnx_header(data[:length])
