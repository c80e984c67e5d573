"""Every world is an environment for programs that learn, in the forms of PettingZoo."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.render_test import render_test
from pettingzoo.test.state_test import state_test

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.encoding import EncodingError
from kitchen.opened.environments import EnvironmentArgumentError, aec_env, parallel_env, vector_env
from kitchen.registry.world_registry import WORLDS, get_world
from tests.nightly import worlds_thinned

CRAMPED = {"layout": "cramped_room", "ticks": 30}
NAMES = [*WORLDS, "beacon"]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def pass_all(kind: str, cycles: int) -> None:
    parallel_api_test(parallel_env(kind), num_cycles=cycles)
    api_test(aec_env(kind), num_cycles=cycles)
    parallel_seed_test(lambda: parallel_env(kind), num_cycles=cycles)
    seed_test(lambda: aec_env(kind), num_cycles=cycles)


@pytest.mark.usefixtures("beacon")
@pytest.mark.parametrize("kind", worlds_thinned(NAMES))
def test_every_world_passes_the_tests_of_pettingzoo(kind: str) -> None:
    pass_all(kind, 8)


@pytest.mark.nightly
@pytest.mark.usefixtures("beacon")
@pytest.mark.parametrize("kind", NAMES)
def test_every_world_passes_the_tests_of_pettingzoo_for_1000_cycles(kind: str) -> None:
    pass_all(kind, 1000)


def test_an_episode_begins_as_that_of_a_study_with_the_same_seed() -> None:
    settings = {**CRAMPED, "start": "drawn"}
    env, world = parallel_env("overcooked", settings=settings), get_world("overcooked")
    game = world.create(seats=2, settings=settings)
    for seed in (3, 4):
        env.reset(seed=seed)
        game.reset(seed)
        assert env.world.state_hash() == game.state_hash()


def test_episodes_without_a_seed_follow_from_the_last_seed() -> None:
    env = parallel_env("overcooked", settings={**CRAMPED, "start": "drawn"})
    drawn = []
    for _ in range(2):
        env.reset(seed=5)
        drawn.append([env.reset() and env.world.state_hash() for _ in range(6)])
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1


def test_the_reward_is_shared_and_the_last_step_truncates() -> None:
    env = parallel_env("overcooked", settings=CRAMPED)
    env.reset(seed=1)
    for step in range(1, 31):
        _, rewards, terminated, truncated, infos = env.step({"seat_0": 5, "seat_1": 1})
        assert rewards == {"seat_0": 0.0, "seat_1": 0.0}
        assert set(terminated.values()) == {False}
        assert set(truncated.values()) == {step == 30}
    assert [event.kind for event in infos["seat_0"]["events"]] == ["refused", "performed"]
    assert env.agents == []


def test_masks_are_in_the_infos_or_in_the_observations() -> None:
    _, infos = parallel_env("overcooked", settings=CRAMPED).reset(seed=1)
    assert infos["seat_0"]["action_mask"].tolist() == [1, 1, 1, 1, 1, 0]
    seen, infos = parallel_env("overcooked", settings=CRAMPED, mask="observation").reset(seed=1)
    assert seen["seat_0"]["action_mask"].tolist() == [1, 1, 1, 1, 1, 0]
    assert "action_mask" not in infos["seat_0"]


def test_a_partner_inside_plays_with_seeds_of_seat_and_step() -> None:
    from random import Random

    partners: Any = {1: ("random", {})}
    env = parallel_env("overcooked", settings=CRAMPED, partners=partners)
    assert env.possible_agents == ["seat_0"]
    env.reset(seed=9)
    game = get_world("overcooked").create(seats=2, settings=CRAMPED)
    game.reset(9)
    for step in range(30):
        drawn = Random(derived_seed(9, 1, step)).choice(game.legal_actions(1))
        game.step({0: ("stay",), 1: drawn})
        env.step({"seat_0": 4})
        assert env.world.state_hash() == game.state_hash()


def test_copies_play_as_single_environments_do_and_begin_anew() -> None:
    many, one = (
        vector_env("overcooked", copies=2, settings=CRAMPED),
        parallel_env("overcooked", settings=CRAMPED),
    )
    seen, _ = many.reset(3)
    assert seen.shape == (2, 2, 5, 4, 26)
    one.reset(seed=4)
    actions = np.random.default_rng(1).integers(6, size=(30, 2, 2))
    for turn in actions:
        seen, rewards, _, truncated, infos = many.step(turn)
        alone, reward, *_ = one.step({"seat_0": turn[1, 0], "seat_1": turn[1, 1]})
        assert rewards[1] == reward["seat_0"]
        last = infos["final"].get(1, seen[1])
        np.testing.assert_array_equal(last, np.stack([*alone.values()]))
    assert truncated.tolist() == [True, True]
    assert [episode.world.clock for episode in many.episodes] == [0, 0]


def test_an_observation_that_does_not_fit_names_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kitchen.contract.json_encoding.MAX_BYTES", 100)
    with pytest.raises(EncodingError, match=r"^cuisine: json/1: an observation has \d+ bytes, and 100 fit"):
        parallel_env("cuisine", encoding="json/1").reset(seed=1)


@pytest.mark.parametrize("kind", ["collab_overcooked", "overcooked"])
def test_grids_are_drawn_and_have_a_state(kind: str) -> None:
    render_test(lambda render_mode: aec_env(kind, render_mode=render_mode))
    state_test(aec_env(kind), parallel_env(kind), 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"world": "nowhere"}, "'nowhere' is not one of"),
        ({"seats": 3}, "seats: 3 are not two"),
        ({"settings": {"layout": "x"}}, "layout: 'x'"),
        ({"encoding": "lossless_20"}, "'lossless_20' is not one of"),
        ({"mask": "both"}, "mask: 'both' is not info or observation"),
        ({"render_mode": "film"}, "render_mode: 'film' is not one of"),
        ({"partners": {2: ("greedy", {})}}, "partners: 2 is no seat from 0 to 1"),
        ({"partners": {0: ("stay", {}), 1: ("stay", {})}}, "partners: no seat is left"),
        ({"partners": {1: "greedy"}}, "partners: 'greedy' of seat 1 is no pair such as"),
        ({"partners": [("greedy", {})]}, "partners: give them by seat"),
        ({"partners": {1: ("planner", {})}}, "partners: planner does not play overcooked"),
        ({"partners": {1: ("nobody", {})}}, "'nobody' is not one of"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_argument_is_one_clear_error(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(EnvironmentArgumentError, match=words) as raised:
        parallel_env(**{"world": "overcooked", **arguments})
    assert "\n" not in str(raised.value)
