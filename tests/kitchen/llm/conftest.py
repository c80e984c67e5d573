"""Provide fixtures for tests of language-model providers: an empty environment, and each provider with a
stand-in server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from kitchen.contract.language_model import Call, LanguageModel, Message, Request
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from tests.stand_in_server import Script, StandInServer

KEY = "sk-test-0123456789abcdef"
NAMES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "BRIGADE_MODELS",
    "BRIGADE_PRICES",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
)


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove keys and addresses from the environment, so that no test calls a real server."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@dataclass(frozen=True)
class Asking:
    """One provider's SDK and a stand-in server that it can call."""

    model: LanguageModel
    serve: Callable[..., StandInServer]
    name: str

    def ask(self, *script: Script, seconds: float = 20.0) -> tuple[Call, StandInServer]:
        """Send one request directly to the provider. Return the reply and the server that answered."""
        server = self.serve(*script)
        return asyncio.run(ask_and_record(self.model, request(self.name, seconds=seconds))), server


def request(model: str = "claude-sonnet-5-5", *, seconds: float = 20.0) -> Request:
    """Return a small request."""
    return Request(
        model, [Message("system", "Cook.", fixed=True), Message("user", "agent1?")], seconds=seconds
    )


Serve = Callable[..., StandInServer]


@pytest.fixture
def anthropic_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function `anthropic_server(answer, …)`: it starts a server, and lets Anthropic's SDK call this
    server."""
    yield from _serving(monkeypatch, "ANTHROPIC", "", provider_registry.ANTHROPIC)


@pytest.fixture
def openai_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function `openai_server(answer, …)`: it starts a server, and lets OpenAI's SDK call this
    server."""
    yield from _serving(monkeypatch, "OPENAI", "/v1", provider_registry.OPENAI)


def _serving(monkeypatch: pytest.MonkeyPatch, prefix: str, path: str, provider: str) -> Iterator[Serve]:
    with ExitStack() as stack:

        def serve(*script: Script) -> StandInServer:
            server = stack.enter_context(StandInServer(script))
            monkeypatch.setenv(f"{prefix}_BASE_URL", server.url + path)
            monkeypatch.setenv(f"{prefix}_API_KEY", KEY)
            provider_registry.warm_up_provider(provider)
            return server

        yield serve


@pytest.fixture(params=["anthropic", "openai-compatible"])
def asking(request: pytest.FixtureRequest) -> Asking:
    """Provide each provider in turn, with its stand-in server."""
    anthropic = request.param == "anthropic"
    serve = request.getfixturevalue("anthropic_server" if anthropic else "openai_server")
    return Asking(
        provider_registry.make_bare_model(request.param), serve, "claude-sonnet-5-5" if anthropic else "llama"
    )
