"""`python -m tests.llm.bench`: what the door costs, beside bare calls of the SDK to the same server.

The server is a process of its own that answers at once. Both ways alternate in small rounds, so that other
work on the machine meets both; the last line has the median of each, and the ratio.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from random import Random
from statistics import median

from kitchen.llm.base import Message, Request
from kitchen.llm.providers import anthropic
from kitchen.llm.registry import open_door, warm_up
from kitchen.llm.wrappers import Wallet, ask_and_record

RECIPES = "Put the rice into pot0, wait, and bring it to the mixer. " * 60
STATE = "agent1 at(storage0) hold(None); agent2 at(pot0) hold(rice); pot0 inside(None) occupy(). " * 12
QUESTION = Request(
    "claude-sonnet-5-5", [Message("system", RECIPES, fixed=True), Message("user", STATE)], seconds=10
)


def through_the_door() -> None:
    """One call as the dispatcher makes it: a purse, retries, a record."""
    call = ask_and_record(open_door("anthropic", rng=Random(1), purse=Wallet(1000)), QUESTION)
    if call.error:
        raise SystemExit(f"the call failed: {call.error_text}")


def bare() -> None:
    """One call of the SDK with the same contents."""
    found = anthropic.client()
    message = found.client.messages.create(timeout=10, **anthropic.arguments_for(QUESTION))
    if not message.content:
        raise SystemExit("the bare call failed")


def timed(ask: Callable[[], None], calls: int) -> list[float]:
    """Milliseconds of each call."""
    found = []
    for _ in range(calls):
        began = time.perf_counter()
        ask()
        found.append((time.perf_counter() - began) * 1000)
    return found


def measure(calls: int) -> str:
    """Both ways, ten calls at a time; the line to print."""
    warm_up("anthropic")
    timed(bare, 5), timed(through_the_door, 5)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(max(1, calls // 10)):
        theirs += timed(bare, 10)
        ours += timed(through_the_door, 10)
    door, plain = median(ours), median(theirs)
    return (
        f"door to models: {door:.2f} ms a call, bare SDK {plain:.2f} ms, ratio {door / plain:.2f}"
        f" ({len(ours)} calls each, medians)"
    )


def main() -> None:
    """Start the server, point the SDK at it, measure, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    calls = parser.parse_args().calls
    command = [sys.executable, "-m", "tests.stand_in_server", "--mode", "noop"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip() if server.stdout else ""
            os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "not-a-key"}
            print(measure(calls))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
