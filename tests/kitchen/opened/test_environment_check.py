"""The check of an environment before it is registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from kitchen.opened.environment_check import (
    CheckedPlay,
    check_environment,
    play_steps,
    registration_refusal,
)
from kitchen.registry.world_registry import OPEN_WORLDS

RELAY, CARELESS = "tests.worlds.relay:KIT", "tests.worlds.relay:CARELESS_KIT"


def test_an_environment_that_uses_the_shared_generator_is_found() -> None:
    assert play_steps(CARELESS).touched == "numpy.random"


def test_an_environment_of_its_own_seed_plays_the_same_again() -> None:
    one, other = play_steps(RELAY), play_steps(RELAY)
    assert one.touched == "" and one.digests == other.digests and len(set(one.digests)) > 50


def test_only_a_passed_check_is_remembered(tmp_path: Path) -> None:
    said = ["relay: two processes differ", ""]

    def check(name: str, path: str) -> tuple[str, CheckedPlay | None]:
        return said.pop(0), None

    refusals = [registration_refusal("relay", RELAY, tmp_path, check) for _ in range(3)]
    assert refusals == ["relay: two processes differ", "", ""] and not said


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPEN_WORLDS)
def test_every_environment_that_comes_with_the_program_passes(name: str) -> None:
    assert check_environment(name, OPEN_WORLDS[name])[0] == ""


@pytest.mark.nightly
def test_a_refusal_is_one_line() -> None:
    refusal, _ = check_environment("careless", CARELESS)
    assert refusal.startswith("careless: it uses the global generator of numpy.random")
    refusal, _ = check_environment("nothing", "tests.worlds.relay:NO_KIT")
    assert refusal.startswith("nothing: it cannot be played: ") and "\n" not in refusal
