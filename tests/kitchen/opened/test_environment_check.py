"""The check of an environment before it is registered."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from kitchen.opened import environment_check
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
    assert "numpy" in one.packages, "the packages that it loads"
    assert one.touched == "" and one.digests == other.digests and len(set(one.digests)) > 50


def test_only_a_passed_check_is_remembered_and_only_while_its_packages_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, versions = ["relay: two processes differ", "", ""], {"relays": "1.0"}
    monkeypatch.setattr(environment_check, "_version", versions.get)

    def check(name: str, path: str) -> tuple[str, CheckedPlay | None]:
        return said.pop(0), CheckedPlay((), "", 0, 0, 0, dict(versions))

    refusals = [registration_refusal("relay", RELAY, tmp_path, check) for _ in range(3)]
    assert refusals == ["relay: two processes differ", "", ""] and len(said) == 1
    versions["relays"] = "1.1"
    assert registration_refusal("relay", RELAY, tmp_path, check) == "" and not said


def test_the_second_process_ends_if_the_first_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    def start(path: str, hash_seed: str) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = ["sleep", "600"] if started else ["false"]
        started.append(subprocess.Popen(command, text=True, **pipes))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(environment_check, "_start", start)
    assert check_environment("relay", RELAY)[0] == "relay: it cannot be played: its process ended"
    assert [child.poll() for child in started] == [1, -signal.SIGKILL]


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


@pytest.mark.parametrize("name", ["nope", "overcooked"])
def test_the_command_ends_with_2_for_a_name_that_is_no_environment(name: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("check_environment", name)
    assert refused.value.returncode == 2 and "\n" not in str(refused.value)
