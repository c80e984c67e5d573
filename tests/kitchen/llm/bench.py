"""Measure how long the dispatcher's decisions take without the model's time: `python -m
tests.kitchen.llm.bench`.

Each step is decided as in a worker (`kitchen.play.coplayers.agent_decisions.decide_step`), on a database of
its own. This includes the prompt, the budget, the call, reading and checking the reply, and the transaction
that stores the step. After each step, the same request is sent twice more: through our wrappers, and through
the bare SDK. So other work on the machine affects all three alike. The model's time is subtracted. The same
seeds give the same steps and prompts. The last line of output has the ratio.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from kitchen.contract.language_model import LanguageModel, Reply, Request
from kitchen.infra.event_loop import run_in_loop
from kitchen.llm.in_memory_purse import InMemoryPurse
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.provider_registry import make_decision_model, warm_up_provider
from kitchen.llm.providers import anthropic

if TYPE_CHECKING:
    from kitchen.play.models import Episode

MODEL = "anthropic:claude-sonnet-5-5"
SEATS, STEPS = 4, 60
WARM_UP = 10
"""Steps that are not counted: imports, connections, caches."""


class Watched(LanguageModel):
    """The real provider, which also records the last request and the SDK's time for it."""

    provider = "anthropic"

    def __init__(self) -> None:
        self.real = anthropic.Anthropic()
        self.request: Request | None = None
        self.milliseconds = 0.0

    async def ask(self, request: Request) -> Reply:
        """Send the request to the server, and return its reply."""
        self.request = request
        began = time.perf_counter()
        try:
            return await self.real.ask(request)
        finally:
            self.milliseconds = (time.perf_counter() - began) * 1000


@dataclass(slots=True)
class Times:
    """Milliseconds of each kind of call, one value for every step."""

    bare: list[float] = field(default_factory=list)
    door: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Return lines with the median and 90th percentile of each kind of call. The last line has the
        ratio."""
        names = {
            "bare SDK call": self.bare,
            "through the door": self.door,
            "whole step": self.step,
            "overhead of a step (model time taken out)": self.overhead,
        }
        for name, values in names.items():
            yield f"{name}: median {median(values):.2f} ms, p90 {quantiles(values, n=10)[8]:.2f} ms"
        bare = median(self.bare)
        yield (
            f"dispatcher: whole step {median(self.step) / bare:.2f} times a bare call, door"
            f" {median(self.door) / bare:.2f} times, overhead {median(self.overhead):.2f} ms"
            f" ({len(self.step)} steps, {SEATS} robots)"
        )


def through_the_door(request: Request) -> None:
    """Make one call with the dispatcher's wrappers (budget, retries, record), but without the ledger."""
    model = make_decision_model("anthropic", rng=Random(1), purse=InMemoryPurse(1000))
    call = run_in_loop(ask_and_record(model, request))
    if call.error:
        raise SystemExit(f"the call failed: {call.error_text}")


def bare(request: Request) -> None:
    """Send a request with the same contents through the bare SDK."""
    arguments = anthropic.arguments_for(request)
    if not run_in_loop(
        anthropic.client().client.messages.create(timeout=request.seconds, **arguments)
    ).content:
        raise SystemExit("the bare call failed")


def timed(ask: Callable[[], Any]) -> float:
    """Return the milliseconds of one call."""
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def measure(steps: int) -> Times:
    """Measure this number of steps, over as many episodes as needed. The first few steps are not counted."""
    from kitchen.llm import provider_registry

    warm_up_provider("anthropic")
    watched, times = Watched(), Times()
    provider_registry.make_bare_model = lambda *_, **__: watched
    for number, (episode, step) in enumerate(turns(WARM_UP + steps)):
        found = one_step(episode, step, watched)
        if number >= WARM_UP:
            for name, value in found.items():
                getattr(times, name).append(value)
    return times


def turns(number: int) -> Iterator[tuple[Episode, int]]:
    """Yield open turns in which the person has given a command and the agent must decide."""
    for count in range(number):
        if count % STEPS == 0:
            episode = new_episode(count)
        step = count % STEPS + 1
        person_waits(episode, step)
        yield episode, step


def new_episode(seed: int) -> Episode:
    """Create an episode with a person and a dispatcher that pays from a budget, as in a study."""
    from kitchen.money.models import Budget
    from kitchen.play.episode.create_episode import MindPlan, create_episode

    settings = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": STEPS}
    mind = MindPlan("dispatcher", tuple(range(1, SEATS)), {"model": MODEL})
    budget = Budget.objects.create(name=f"bench {seed}", limit=1000)
    return create_episode(
        world="cuisine", settings=settings, seats=SEATS, seed=seed, minds=(mind,), budget=budget
    )


def person_waits(episode: Episode, step: int) -> None:
    """Submit the person's wait command, and queue the agents' task as the web server does. This time is not
    measured."""
    from kitchen.play.episode.advance_episode import submit_commands
    from kitchen.play.turn.play_task_queue import publisher
    from kitchen.play.turn.submitted_commands import SubmittedCommand

    submit_commands(episode_id=episode.pk, step=step, commands=[SubmittedCommand(0, ("noop",))])
    publisher.submit(lambda: None).result()


def one_step(episode: Episode, step: int, watched: Watched) -> dict[str, float]:
    """Decide a step. Then send the same request in two other ways, and return the times. Raises SystemExit if
    a fallback decided."""
    from kitchen.play.coplayers.agent_decisions import decide_step
    from kitchen.play.models import Decision

    whole = timed(lambda: decide_step(episode_id=episode.pk, step=step))
    sdk, request = watched.milliseconds, watched.request
    made = Decision.objects.get(mind__episode=episode, step=step)
    if request is None or made.fallback or made.error or made.calls.count() != 1:
        raise SystemExit(f"step {step} was not decided by the model: {made.fallback} {made.error}")
    door = timed(lambda: through_the_door(request))
    plain = timed(lambda: bare(request))
    return {"bare": plain, "door": door, "step": whole, "overhead": whole - sdk}


@contextmanager
def surroundings(folder: str) -> Iterator[None]:
    """Provide a database in its own folder, a broker, a channel layer, and the model server. All end with the
    block."""
    from tests.servers import Valkey

    command = [sys.executable, "-m", "tests.stand_in_server", "--mode", "noop"]
    with Valkey() as valkey, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip() if server.stdout else ""
            os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "not-a-key"}
            os.environ |= {"BRIGADE_VAR": folder, "REDIS_URL": valkey.url}
            os.environ.pop("DATABASE_URL", None)
            open_database()
            yield
        finally:
            server.terminate()


def open_database() -> None:
    """Set up Django with an SQLite file in `BRIGADE_VAR`, with all tables."""
    import django
    from django.core.management import call_command

    os.environ["DJANGO_SETTINGS_MODULE"] = "brigade.settings"
    django.setup()
    call_command("migrate", verbosity=0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the database, broker and server, measure, and stop them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120, help="steps that are measured (120)")
    given = parser.parse_args(arguments)
    if given.steps < 10:
        parser.error("--steps: at least 10")
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder, surroundings(folder):
        print("\n".join(measure(given.steps).lines()))


if __name__ == "__main__":
    main()
