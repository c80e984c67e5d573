"""Let hundreds of calls hang at once, and check that others are answered and that nothing remains."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from random import Random
from statistics import quantiles
from typing import Any

from kitchen.contract.language_model import Call, Message, Request
from kitchen.infra.event_loop import run_in_loop
from kitchen.llm import circuit_breaker
from kitchen.llm.circuit_breaker import ModelPause
from kitchen.llm.in_memory_purse import InMemoryPurse
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.provider_registry import make_decision_model
from tests.minds.reply_checks import WITHOUT_LIMIT, Checked
from tests.stand_in_server import Answer, Body, StandInServer, reply

HANGS, WORKS = "hangs", "claude-haiku-4-5"
"""The models asked: one that never answers, and one that answers at once."""
NEVER = 100_000.0
POOLED = 64
"""Threads that pools may keep."""
OTHERS = 20
"""Calls to the other model, one after another, while the first ones hang."""


def check_hanging_calls(server: StandInServer, number: int, seconds: float) -> Checked:
    """Let this number of calls hang until their time is over, `seconds` each."""
    found, purse = Checked(f"{number} calls that hang"), InMemoryPurse(WITHOUT_LIMIT)
    circuit_breaker.forget_pauses()
    server.script = [_answer]
    server.asked.clear()
    threads = threading.active_count()
    hanging, others, took = run_in_loop(_both(server, number, seconds, purse))
    found.cases, found.calls = number + len(others), len(server.asked)
    found.wrong += list(_wrong_calls(hanging, others, purse, seconds))
    after = threading.active_count() - threads - number  # the server's own threads still wait
    if after > POOLED:
        found.wrong.append(f"{after} threads remain")
    times = [1000 * each.seconds for each in others]
    found.note = f"others meanwhile: p95 {quantiles(times, n=20)[18]:.0f} ms; all ended after {took:.1f} s"
    return found


def _answer(body: Body) -> Answer:
    return Answer(delay=NEVER) if body["model"] == HANGS else reply("noop_agent1")


async def _both(
    server: StandInServer, number: int, seconds: float, purse: InMemoryPurse
) -> tuple[list[Call], list[Call], float]:
    """Return the calls that hung, the others, and the seconds until all had ended."""
    began = time.monotonic()
    hanging = [asyncio.create_task(_asked(HANGS, seconds, None)) for _ in range(number)]
    while len(server.asked) < number and time.monotonic() - began < seconds / 2:
        await asyncio.sleep(0.05)
    others = [await _asked(WORKS, 60.0, purse) for _ in range(OTHERS)]
    return await asyncio.gather(*hanging), others, time.monotonic() - began


async def _asked(model: str, seconds: float, purse: Any) -> Call:
    request = Request(model, (Message("user", "What now?"),), seconds=seconds)
    return await ask_and_record(make_decision_model("anthropic", rng=Random(1), purse=purse), request)


def _wrong_calls(
    hanging: list[Call], others: list[Call], purse: InMemoryPurse, seconds: float
) -> Iterator[str]:
    if ended := {call.error for call in hanging} - {"timeout", "paused"}:
        yield f"calls that hang ended as {ended}"
    if failed := [call.error for call in others if call.error]:
        yield f"{len(failed)} other calls failed: {sorted(set(failed))}"
    if abs(purse.reserved) > 1e-9:
        yield f"{purse.reserved} US dollars stay reserved"
    if abs(purse.spent - sum(call.cost or 0.0 for call in others)) > 1e-6:
        yield "the budget has not what the calls cost"
    is_broken = ModelPause(f"anthropic:{HANGS}").is_broken
    if is_broken != (seconds >= circuit_breaker.MIN_PATIENCE) or ModelPause(f"anthropic:{WORKS}").is_broken:
        yield "the wrong models are paused"
