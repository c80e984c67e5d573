"""Send many synthetic participants through a study at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from study.pilot.bots.http_browser import Browser, PatienceLimit, WalkError
from study.pilot.bots.simulated_person import Experience, Person
from study.pilot.bots.study_walkthrough import Arrival, Walk, Where
from study.pilot.bots.walk_plans import OutcomeShares, PlannedOutcome, StudyScript, label_of, walk_plans

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CrowdOrder:
    """Settings of a crowd of synthetic participants."""

    link: str
    """The study's link with the invitation."""
    participants: int
    seed: int
    at_once: int
    patience: float
    """Seconds without progress after which a participant gives up."""
    think: float
    """Mean seconds of thinking before each choice."""
    shares: OutcomeShares = field(default_factory=OutcomeShares)
    script: StudyScript = field(default_factory=StudyScript)

    def link_of(self, number: int) -> str:
        """Return the link for this participant, with their label."""
        label = dict.fromkeys(self.script.link_names, label_of(self.seed, number))
        return f"{self.link}&{urlencode(label)}" if label else self.link


@dataclass(slots=True)
class CrowdReport:
    """Results of all participants who were sent."""

    arrived: list[Arrival] = field(default_factory=list)
    """Participants who did what was planned."""
    failed: dict[int, str] = field(default_factory=dict)
    """Reasons of the others, by number."""

    def count(self, outcome: PlannedOutcome) -> int:
        """Return the number of participants with this outcome."""
        return sum(arrival.outcome == outcome for arrival in self.arrived)


Gone = Callable[[Arrival], Awaitable[object]]
"""Called with every participant who reached the planned end."""


async def ignore_dropout(arrival: Arrival) -> None:
    """Ignore the result (used where nothing has to happen)."""


Stopped = Callable[[], bool]
"""Called before each participant is sent; returns whether to send no more."""


def never_stop() -> bool:
    """Return False: send all participants."""
    return False


class Crowd:
    """Sends all participants, `at_once` at a time, in the order of their numbers.

    Once stopped, it sends no more; participants on their way reach their end.
    """

    def __init__(
        self,
        order: CrowdOrder,
        say: Callable[[str], object],
        gone: Gone = ignore_dropout,
        stopped: Stopped = never_stop,
        where: Where | None = None,
    ) -> None:
        self.order = order
        self.say = say
        self.gone = gone
        self.stopped = stopped
        self.where = where
        self.plans = walk_plans(order.shares, order.script, participants=order.participants, seed=order.seed)
        self.outcome = CrowdReport()
        self._slots = asyncio.Semaphore(order.at_once)
        self._entry = asyncio.Lock()

    async def walk(self) -> CrowdReport:
        """Run all walkthroughs and return the report once the last one has ended."""
        async with asyncio.TaskGroup() as group:
            for number in range(1, self.order.participants + 1):
                group.create_task(self._one(number))
        return self.outcome

    async def _one(self, number: int) -> None:
        async with self._slots:
            if self.stopped():
                return
            began = time.monotonic()
            try:
                arrival = await self._walk(number)
                await self.gone(arrival)
            except WalkError as error:
                self._fail(number, str(error))
            except Exception as error:  # the server sent something unexpected; the others go on
                log.exception("participant %s stumbled", number)
                self._fail(number, f"{type(error).__name__}: {error}")
            else:
                self.outcome.arrived.append(arrival)
                self._tell(number, arrival_line(arrival, time.monotonic() - began))

    def _fail(self, number: int, why: str) -> None:
        self.outcome.failed[number] = why
        self._tell(number, f"did not finish: {why}")

    async def _walk(self, number: int) -> Arrival:
        patience = PatienceLimit(self.order.patience)
        async with Browser(patience) as browser:
            walk = Walk(
                Person(self.order.seed, number),
                browser,
                patience,
                think=self.order.think,
                plan=self.plans[number - 1],
                items=self.order.script.items,
                known=self.order.script.known,
                where=self.where,
            )
            return await walk.go(self.order.link_of(number), self._entry)

    def _tell(self, number: int, what: str) -> None:
        self.say(f"participant {number} of {self.order.participants} {what}")


def _results(episodes: Sequence[Experience]) -> str:
    """Return how well episodes went: success rates, else the worlds' first metrics; empty if there are
    none."""
    rates = ["none" if one.success is None else f"{one.success:.2f}" for one in episodes]
    if set(rates) - {"none"}:
        return f": success rates {' '.join(rates)}"
    figures = [episode.figure for episode in episodes if episode.figure]
    return f": {', '.join(figures)}" if figures else ""


def arrival_line(arrival: Arrival, seconds: float) -> str:
    """Return the result of one walkthrough in one line."""
    where = f" at {arrival.where}" if arrival.where else ""
    code = f", code {arrival.code}" if arrival.code else ""
    again = f", {arrival.retries} retries" if arrival.retries else ""
    return f"{arrival.outcome}{where} in {seconds:.0f} s{_results(arrival.episodes)}{code}{again}"
