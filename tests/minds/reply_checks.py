"""Let the dispatcher decide on every style of reply, behind every fault, with both providers' SDKs.

Each decision is checked: what was carried out, how the call ended, what it cost, and whether the key is in
anything that is stored.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from kitchen.contract.agent import Decision
from kitchen.contract.language_model import Call
from kitchen.llm import circuit_breaker, provider_registry
from kitchen.llm.call_costs import DEFAULT_PRICE_FILE, MILLION, load_prices
from kitchen.llm.in_memory_purse import InMemoryPurse
from kitchen.llm.model_wrappers import RetryPolicy
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide
from tests.minds.model_cases import ReplyStyle, ServerFault, kitchen_situation, reply_styles, server_faults
from tests.stand_in_server import Answer, StandInServer

MODELS = {
    provider_registry.ANTHROPIC: "claude-sonnet-5-5",
    provider_registry.OPENAI: "gpt-6-sol",
}
"""The model asked of each provider. Both have a price."""
SECRET = "sk-check-0123456789abcdef"
CENT = Decimal("0.000001")
"""The largest difference between two equal costs, in US dollars: rounding."""
WITHOUT_LIMIT = 1e6


class AtOnce(RetryPolicy):
    """Repeats calls as often as usual, without waiting."""

    def wait(self, *_: Any) -> float:
        """Return no wait."""
        return 0.0


@dataclass
class Checked:
    """The result of one part of the checks."""

    what: str
    cases: int = 0
    calls: int = 0
    wrong: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        return self.what, f"{self.cases:,}", f"{self.calls:,}", f"{len(self.wrong):,}", self.note


@contextmanager
def both_providers(server: StandInServer) -> Iterator[None]:
    """Point both SDKs to this server, and repeat failed calls at once."""
    keys = {"ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": SECRET, "NO_PROXY": "127.0.0.1"}
    there = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": f"{server.url}/v1", "BRIGADE_PRICES": ""}
    with (
        patch.dict(os.environ, {**keys, **there}),
        patch.object(provider_registry, "RetryPolicy", AtOnce),
    ):
        for provider in MODELS:
            provider_registry.warm_up_provider(provider)
        yield


class DecisionChecks:
    """Lets the dispatcher decide, and checks each decision. `spent` is the sum of all costs, in US
    dollars."""

    def __init__(self, server: StandInServer) -> None:
        self.server, self.situation = server, kitchen_situation()
        self.purse, self.spent, self.number = InMemoryPurse(WITHOUT_LIMIT), Decimal(0), 0
        self._prices = tomllib.loads(DEFAULT_PRICE_FILE.read_text("utf-8"))

    def decision(self, provider: str, answers: Sequence[Answer], seconds: float = 30.0) -> Decision:
        """Return the decision to which these answers of the server lead."""
        circuit_breaker.forget_pauses()  # each decision is the first
        self.server.script, self.number = list(answers), self.number + 1
        self.server.asked.clear()
        situation = changed(self.situation, seconds=seconds, purse=self.purse)
        model = f"{provider}:{MODELS[provider]}"
        return decide(situation, model=model, reply="text", ask_unclear=False)

    def counted(self, provider: str) -> Mapping[str, int]:
        """Return token counts that differ from decision to decision."""
        number = self.number
        write = {} if provider == provider_registry.OPENAI else {"cache_write": number % 5}
        return {"input": 100 + number, "output": 20 + number % 7, "cache_read": number % 11, **write}

    def faults_of(self, decision: Decision, provider: str, costs: Sequence[str], told: Any) -> Iterator[str]:
        """Yield what is wrong with the record of this decision. `costs` says what each attempt costs (see
        `ServerFault.cost`), and `told` are the token counts that the server sent."""
        call = decision.calls[-1]
        paid = Decimal(repr(call.cost))
        self.spent += paid
        right = sum((self._cost(provider, call, each, told) for each in costs), Decimal(0))
        if abs(paid - right) > CENT:
            yield f"cost {paid} instead of {right} US dollars"
        if abs(Decimal(repr(self.purse.spent)) - self.spent) > CENT * self.number:
            yield f"the budget has {self.purse.spent}, the calls cost {self.spent} US dollars"
        if SECRET in repr(decision):
            yield "the key is in what is stored"

    def _cost(self, provider: str, call: Call, cost: str, told: Mapping[str, int]) -> Decimal:
        if cost == "worst":
            return Decimal(repr(load_prices().worst(provider, call.request)))
        price = self._prices[provider][MODELS[provider]]
        tokens = told if cost == "counted" else {}
        return (
            sum((Decimal(str(price[name])) * number for name, number in tokens.items()), Decimal(0)) / MILLION
        )


def check_styles(server: StandInServer, every: int) -> Checked:
    """Check each style of reply with each provider; with `every` above 1, only each so many."""
    found, checks = Checked("each style of reply, both providers"), DecisionChecks(server)
    for provider in MODELS:
        for style in reply_styles()[::every]:
            told = checks.counted(provider)
            decision = checks.decision(provider, [Answer(text=style.text, usage=told)])
            _judge(found, checks, decision, provider, style, None, told)
    found.note = f"{checks.spent:.6f} USD, as computed by hand"
    return found


def check_faults(server: StandInServer, every: int, slow: int) -> Checked:
    """Check each style of reply behind each fault with each provider; with `every` above 1, only each so many
    styles. A fault that takes its time is followed by each `slow`-th of them."""
    found, checks = Checked("each style behind each fault, both providers"), DecisionChecks(server)
    styles = reply_styles()[::every]
    for provider in MODELS:
        for place, fault in enumerate(server_faults(provider, SECRET)):
            step = slow if fault.code == "timeout" else 1
            for style in [*styles[place % len(styles) :], *styles][: len(styles)][::step]:
                told = checks.counted(provider)
                answers = [replace(fault.answer, usage=told), Answer(text=style.text, usage=told)]
                decision = checks.decision(provider, answers, fault.seconds)
                _judge(found, checks, decision, provider, style, fault, told)
    found.note = f"{checks.spent:.6f} USD, as computed by hand"
    return found


def _judge(
    found: Checked,
    checks: DecisionChecks,
    decision: Decision,
    provider: str,
    style: ReplyStyle,
    fault: ServerFault | None,
    told: Mapping[str, int],
) -> None:
    """Add one decision to the result."""
    name = f"{provider}, {style.name}" + (f", {fault.name}" if fault else "")
    found.cases += 1
    found.calls += len(checks.server.asked)
    costs = ([fault.cost] if fault else []) + (["counted"] if fault is None or fault.again else [])
    wrong = [
        _wrong_end(decision, style, fault),
        *checks.faults_of(decision, provider, costs, told),
    ]
    found.wrong += [f"{name}: {each}" for each in wrong if each]


def _wrong_end(decision: Decision, style: ReplyStyle, fault: ServerFault | None) -> str:
    outcomes = [attempt.outcome for attempt in decision.calls[-1].attempts]
    if fault is None or fault.again:
        right = ([fault.code] if fault else []) + ["ok"]
        return f"attempts {outcomes} instead of {right}" if outcomes != right else style.misread(decision)
    ended = (decision.fallback, decision.played_by, outcomes)
    return "" if ended == (fault.code, "planner", [fault.code]) else f"ended as {ended}"
