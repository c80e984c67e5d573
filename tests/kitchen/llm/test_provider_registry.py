"""Which providers there are, which one is asked, and that looking does not load an SDK."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from random import Random

import pytest

from kitchen.contract.language_model import LanguageModel
from kitchen.llm import provider_registry
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice
from kitchen.registry.dotted_paths import UnknownNameError, load_named
from tests.kitchen.llm.conftest import request


@pytest.mark.parametrize("name", provider_registry.PROVIDERS)
def test_every_provider_is_there_under_its_name(name: str) -> None:
    found = load_named(provider_registry.PROVIDERS, name)
    assert issubclass(found, LanguageModel)
    assert found.provider == name


def test_the_names_are_sorted() -> None:
    assert list(provider_registry.PROVIDERS) == sorted(provider_registry.PROVIDERS)


@pytest.mark.parametrize(
    ("environment", "default", "available"),
    [
        ({}, "stand-in", ["stand-in"]),
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic", ["anthropic", "stand-in"]),
        ({"ANTHROPIC_AUTH_TOKEN": "k"}, "anthropic", ["anthropic", "stand-in"]),
        ({"OPENAI_BASE_URL": "http://x"}, "openai-compatible", ["openai-compatible", "stand-in"]),
        ({"OPENAI_API_KEY": "k"}, "stand-in", ["openai-compatible", "stand-in"]),
        (
            {"OPENAI_BASE_URL": "http://x", "ANTHROPIC_API_KEY": "k"},
            "anthropic",
            ["anthropic", "openai-compatible", "stand-in"],
        ),
        ({"ANTHROPIC_API_KEY": ""}, "stand-in", ["stand-in"]),
    ],
)
def test_the_stand_in_is_the_default_until_a_key_is_there(
    environment: dict[str, str], default: str, available: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert provider_registry.default_provider() == default
    assert [
        name for name in provider_registry.PROVIDERS if not provider_registry.why_unavailable(name)
    ] == available


def test_models_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert provider_registry.DEFAULT_CLAUDE in provider_registry.offered_models("anthropic")
    assert provider_registry.default_model("anthropic") == provider_registry.DEFAULT_CLAUDE
    assert provider_registry.default_model("stand-in") == "stand-in-1"
    assert provider_registry.default_model("openai-compatible") == ""
    monkeypatch.setenv("OPENAI_MODEL", "llama3, qwen")
    assert provider_registry.offered_models("openai-compatible") == ("llama3", "qwen")


def test_newer_claude_models_take_no_temperature() -> None:
    assert not provider_registry.takes_temperature("anthropic", "claude-opus-5-5")
    assert provider_registry.takes_temperature("anthropic", "claude-haiku-4-5")
    assert provider_registry.takes_temperature("openai-compatible", "llama")


def test_a_provider_that_is_not_there_is_named() -> None:
    for look in (provider_registry.offered_models, provider_registry.make_bare_model):
        with pytest.raises(UnknownNameError, match="nobody"):
            look("nobody")


def test_the_stand_in_has_to_be_told_what_is_right() -> None:
    with pytest.raises(ValueError, match="stand_in"):
        provider_registry.make_decision_model("stand-in", rng=Random(1))
    door = provider_registry.make_decision_model(
        "stand-in", rng=Random(1), stand_in=lambda: StandIn(lambda: StandInAdvice({1: ("noop",)}))
    )
    found = asyncio.run(door.ask(request("stand-in-1")))
    assert "agent1" in found.text
    assert (found.cost, door.provider) == (0, "stand-in")


def test_looking_loads_no_sdk_no_http_client_and_no_django() -> None:
    code = (
        "import sys; from kitchen.contract import language_model;"
        "from kitchen.llm import call_costs, model_wrappers, provider_registry as registry;"
        "registry.offered_models('anthropic'); from kitchen.registry.dotted_paths import load_named;"
        "[load_named(registry.PROVIDERS, n) for n in registry.PROVIDERS];"
        "print([m for m in ('anthropic', 'openai', 'httpx2', 'httpcore2', 'django') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
