"""Many synthetic participants at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from study.dry_run.browser import Browser
from study.dry_run.patience import Patience, WalkError
from study.dry_run.person import Person
from study.dry_run.walk import Arrival, Walk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be walked."""

    link: str
    """The study's link with the invitation."""
    participants: int
    seed: int
    at_once: int
    patience: float
    """Seconds without any progress after which one gives up."""
    think: float
    """Mean seconds of thinking before each choice."""


@dataclass(slots=True)
class Outcome:
    """What became of everybody."""

    arrived: list[Arrival] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    """Why, by number."""


class Crowd:
    """Sends everybody on their way, `at_once` at a time, in the order of their numbers."""

    def __init__(self, order: Order, say: Callable[[str], object]) -> None:
        self.order = order
        self.say = say
        self.outcome = Outcome()
        self._room = asyncio.Semaphore(order.at_once)
        self._door = asyncio.Lock()

    async def walk(self) -> Outcome:
        """Everybody's way; returns when the last one has come to an end, good or bad."""
        async with asyncio.TaskGroup() as group:
            for number in range(1, self.order.participants + 1):
                group.create_task(self._one(number))
        return self.outcome

    async def _one(self, number: int) -> None:
        async with self._room:
            began = time.monotonic()
            try:
                arrival = await self._walk(number)
            except WalkError as error:
                self._fail(number, str(error))
            except Exception as error:  # what the server sent was unlike anything known; the others go on
                log.exception("participant %s stumbled", number)
                self._fail(number, f"{type(error).__name__}: {error}")
            else:
                self.outcome.arrived.append(arrival)
                self._tell(number, story(arrival, time.monotonic() - began))

    def _fail(self, number: int, why: str) -> None:
        self.outcome.failed[number] = why
        self._tell(number, f"did not finish: {why}")

    async def _walk(self, number: int) -> Arrival:
        patience = Patience(self.order.patience)
        async with Browser(patience) as browser:
            walk = Walk(Person(self.order.seed, number), browser, patience, think=self.order.think)
            return await walk.go(self.order.link, self._door)

    def _tell(self, number: int, what: str) -> None:
        self.say(f"participant {number} of {self.order.participants} {what}")


def story(arrival: Arrival, seconds: float) -> str:
    """One way in one line."""
    rates = " ".join(f"{episode.success:.2f}" for episode in arrival.episodes)
    again = f", {arrival.retries} retries" if arrival.retries else ""
    return f"finished in {seconds:.0f} s: success rates {rates}, code {arrival.code}{again}"
