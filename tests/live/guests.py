"""Send programs through a study as participants, from its link to the last page. When one finishes, the next
one begins.

They run in a process of their own, `python -m tests.live.guests LINK EVERY`, because choosing sensible
commands takes processor time. The process reads the wanted number of participants, one number a line. It
answers each line with what happened since the line before.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import IO, Any, Self

import httpx2

from brigade.paths import base_dir
from kitchen.infra.os_processes import parent_death_hook
from study.design.questions.item_fields import ItemPlan
from study.pilot.bots.http_browser import Browser, PatienceLimit, WalkedPage, WalkError
from study.pilot.bots.simulated_person import Person
from study.pilot.bots.study_walkthrough import HANDLERS, Handler, Walk

PATIENCE = 120.0
"""Seconds without progress after which a participant gives up."""
SEED = 11
SPREAD = 4
"""The period over which new participants enter, as a number of choices."""
ITEMS = {
    one["key"]: ItemPlan(**one)
    for one in tomllib.loads(Path(__file__).with_name("load.toml").read_text())["items"]
}
"""The items of `load.toml` by key."""


class Guests:
    """Participants in another process: `with Guests(link, every=3.0) as guests: guests.want(5)`."""

    def __init__(self, link: str, *, every: float) -> None:
        self._command = [sys.executable, "-m", "tests.live.guests", link, str(every)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            cwd=base_dir(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=parent_death_hook(os.getpid()),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def want(self, people: int) -> dict[str, Any]:
        """Set the number of participants, and return what happened since the last call (`Register.told`).
        Raises RuntimeError."""
        pipe: tuple[IO[str], IO[str]] = (self._process.stdin, self._process.stdout)  # type: ignore[assignment]
        print(people, file=pipe[0], flush=True)
        if not (line := pipe[1].readline()):
            raise RuntimeError("the guests have gone, see above")
        told: dict[str, Any] = json.loads(line)
        return told


# In the process


class Register:
    """Records what happens to all participants."""

    def __init__(self) -> None:
        self.finished = 0
        self.failed: list[str] = []
        self.answers: Counter[str] = Counter()
        """Statuses of responses, and names of errors without a response."""
        self.milliseconds: list[float] = []
        """The duration of every request in milliseconds."""

    def told(self) -> dict[str, Any]:
        """Return everything that was recorded, and clear the record."""
        told = {
            "finished": self.finished,
            "failed": self.failed,
            "answers": dict(self.answers),
            "milliseconds": [round(one, 2) for one in self.milliseconds],
        }
        self.__init__()  # type: ignore[misc]
        return told


class Noted(httpx2.AsyncBaseTransport):
    """An HTTP transport that sends requests as usual, and records status and time of the responses."""

    def __init__(self, register: Register) -> None:
        self.register = register
        self.usual = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response with its whole body, and record its status and time."""
        began = time.perf_counter()
        try:
            response = await self.usual.handle_async_request(request)
            await response.aread()
        except httpx2.TransportError as error:
            self.register.answers[type(error).__name__] += 1
            raise
        self.register.answers[str(response.status_code)] += 1
        self.register.milliseconds.append(1000 * (time.perf_counter() - began))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self.usual.aclose()


async def run(register: Register, link: str, number: int, every: float) -> None:
    """Lead one participant through the study. Participants start at different moments."""
    await asyncio.sleep(SPREAD * every * Random(number).random())
    patience = PatienceLimit(PATIENCE)
    person = Person(SEED, number)
    try:
        async with Browser(patience, Noted(register)) as browser:
            handlers = read_first(person, every)
            await Walk(person, browser, patience, think=every, handlers=handlers, items=ITEMS).run(link)
    except WalkError as error:
        register.failed.append(str(error))
    else:
        register.finished += 1


def read_first(person: Person, every: float) -> dict[str, Handler]:
    """Wait before each action on a page, as long as reading and choosing takes."""

    def slowly(handler: Handler) -> Handler:
        async def read(walk: Walk, page: WalkedPage) -> WalkedPage | None:
            await asyncio.sleep(person.chance("read", page.url, page.kind).expovariate(1 / every))
            return await handler(walk, page)

        return read

    return {kind: slowly(handler) for kind, handler in HANDLERS.items()}


async def serve(link: str, every: float) -> None:
    """Keep the requested number of participants in the study, until the input ends."""
    register, numbers = Register(), count(1)
    wanted = 0
    ways: set[asyncio.Task[None]] = set()

    def fill(ended: asyncio.Task[None] | None = None) -> None:
        ways.discard(ended) if ended else None
        while len(ways) < wanted:
            way = asyncio.create_task(run(register, link, next(numbers), every))
            ways.add(way)
            way.add_done_callback(fill)

    ask: Callable[[], str] = sys.stdin.readline
    while line := await asyncio.to_thread(ask):
        wanted = int(line)
        fill()
        print(json.dumps(register.told()), flush=True)
    wanted = 0
    for way in list(ways):
        way.cancel()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    asyncio.run(serve(sys.argv[1], float(sys.argv[2])))
