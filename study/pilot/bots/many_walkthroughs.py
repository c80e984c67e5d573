"""Send many synthetic participants (programs) through a study, several at the same time.

Each one goes from the study's link to the last page.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from kitchen.agents.human_like.play_habits import PlayHabits
from study.participants.simulated_effects import KnownEffects
from study.pilot.bots.http_browser import Browser, PatienceLimit, WalkError
from study.pilot.bots.simulated_person import Experience, Person
from study.pilot.bots.study_walkthrough import Arrival, Walk, Where
from study.pilot.bots.walk_plans import OutcomeShares, PlannedOutcome, StudyScript, label_of, walk_plans

log = logging.getLogger(__name__)


PATIENCE = 60.0
"""Default number of seconds without progress after which a participant gives up."""


@dataclass(frozen=True, slots=True)
class CrowdOrder:
    """Settings of a dry run: how many synthetic participants take part, and how they behave."""

    participants: int
    seed: int
    at_once: int
    shares: OutcomeShares = field(default_factory=OutcomeShares)
    patience: float = PATIENCE
    think: float = 0.0
    """Mean seconds of thinking before each choice."""
    known: KnownEffects = field(default_factory=dict)
    """Known effects on ratings, if requested."""
    people: tuple[PlayHabits, ...] = ()
    """How people play. Each participant plays like one of them. Empty: errors at a rate that is made up."""
    link: str = ""
    """The study's link with the invitation."""
    script: StudyScript = field(default_factory=StudyScript)

    def link_of(self, number: int) -> str:
        """Return the study's link for the participant with this number. Its parameters contain the
        participant's label."""
        label = dict.fromkeys(self.script.link_names, label_of(self.seed, number))
        return f"{self.link}&{urlencode(label)}" if label else self.link


@dataclass(slots=True)
class CrowdReport:
    """Results of the walkthroughs that were started."""

    order: CrowdOrder
    arrived: list[Arrival] = field(default_factory=list)
    """Participants who did what was planned."""
    failed: dict[int, str] = field(default_factory=dict)
    """Reasons of the others, by number."""
    unlike: list[str] = field(default_factory=list)
    """Descriptions of participants who are not stored as planned."""

    def count(self, outcome: PlannedOutcome) -> int:
        """Return how many participants reached this planned outcome."""
        return sum(arrival.outcome == outcome for arrival in self.arrived)

    @property
    def counts(self) -> str:
        """Return the number of participants for each outcome as text: `8 finished, 1 dropped out, …`. Those
        who were screened out are named if there are any."""
        numbers = {outcome: self.count(outcome) for outcome in PlannedOutcome}
        return ", ".join(
            f"{number} {outcome}"
            for outcome, number in numbers.items()
            if number or outcome != PlannedOutcome.SCREEN_OUT
        )

    @property
    def unsent(self) -> int:
        """Return the number of participants who were not started, because the run was stopped."""
        return self.order.participants - len(self.arrived) - len(self.failed)

    @property
    def finished(self) -> int:
        """Return how many participants finished the study. If the study lets participants continue who
        failed the comprehension check, they are included."""
        failed = 0 if self.order.script.check_ends else self.count(PlannedOutcome.FAIL)
        return self.count(PlannedOutcome.FINISH) + failed


class Crowd:
    """Runs the walkthroughs of all participants in the order of their numbers, `at_once` of them at the same
    time.

    `on_arrival` is called with each participant who reached the planned end. Once `stopped` returns True,
    no other walkthrough is started. Participants under way continue.
    """

    def __init__(
        self,
        order: CrowdOrder,
        say: Callable[[str], object],
        *,
        on_arrival: Callable[[Arrival], Awaitable[object]] | None = None,
        stopped: Callable[[], bool] | None = None,
        where: Where | None = None,
    ) -> None:
        self.order = order
        self.say = say
        self.on_arrival = on_arrival
        self.stopped = stopped
        self.where = where
        self.plans = walk_plans(order.shares, order.script, participants=order.participants, seed=order.seed)
        self.report = CrowdReport(order)
        self._slots = asyncio.Semaphore(order.at_once)
        self._entry = asyncio.Lock()

    async def walk(self) -> CrowdReport:
        """Run all walkthroughs, and return the report after the last one has ended."""
        async with asyncio.TaskGroup() as group:
            for number in range(1, self.order.participants + 1):
                group.create_task(self._one(number))
        return self.report

    async def _one(self, number: int) -> None:
        async with self._slots:
            if self.stopped and self.stopped():
                return
            began = time.monotonic()
            try:
                arrival = await self._walk(number)
                if self.on_arrival:
                    await self.on_arrival(arrival)
            except WalkError as error:
                self._fail(number, str(error))
            except Exception as error:  # the server sent something unexpected; the others go on
                log.exception("participant %s stumbled", number)
                self._fail(number, f"{type(error).__name__}: {error}")
            else:
                self.report.arrived.append(arrival)
                self._tell(number, arrival_line(arrival, time.monotonic() - began))

    def _fail(self, number: int, why: str) -> None:
        self.report.failed[number] = why
        self._tell(number, f"did not finish: {why}")

    async def _walk(self, number: int) -> Arrival:
        patience = PatienceLimit(self.order.patience)
        async with Browser(patience) as browser:
            walk = Walk(
                Person(self.order.seed, number, self.order.people),
                browser,
                patience,
                think=self.order.think,
                plan=self.plans[number - 1],
                items=self.order.script.items,
                effects=self.order.known,
                where=self.where,
            )
            return await walk.run(self.order.link_of(number), self._entry)

    def _tell(self, number: int, what: str) -> None:
        self.say(f"participant {number} of {self.order.participants} {what}")


def _results(episodes: Sequence[Experience]) -> str:
    """Return a text about the results of these episodes: their success rates or, if there are none, the
    first metrics of their worlds. Return an empty string without episodes."""
    rates = ["none" if one.success is None else f"{one.success:.2f}" for one in episodes]
    if set(rates) - {"none"}:
        return f": success rates {' '.join(rates)}"
    figures = [episode.figure for episode in episodes if episode.figure]
    return f": {', '.join(figures)}" if figures else ""


def arrival_line(arrival: Arrival, seconds: float) -> str:
    """Return one line about a walkthrough that took `seconds`: the outcome, the episodes' results, and the
    completion code."""
    where = f" at {arrival.where}" if arrival.where else ""
    code = f", code {arrival.code}" if arrival.code else ""
    retries = f", {arrival.retries} retries" if arrival.retries else ""
    return f"{arrival.outcome}{where} in {seconds:.0f} s{_results(arrival.episodes)}{code}{retries}"
