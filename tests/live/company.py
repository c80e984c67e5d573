"""Create and run the players of a load test: as many as requested, in the proportions of a mix
(`tests.live.mix`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.live.books import Books
from tests.live.crowd import Played, begin_all, measure
from tests.live.failure_log import FailureLog
from tests.live.guests import Guests
from tests.live.mix import Mix
from tests.live.regular import Regular, Tables
from tests.live.stack import Running
from tests.live.waiting import Waiting, waiting_at

STUDY = Path(__file__).with_name("load.toml")
LATE = "Too late"
"""The beginning of the notice that a command came after the step's time."""
SLOW = 1000.0
"""The time in milliseconds from which a response counts as slow."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The measurements of one period with a constant number of players."""

    people: int
    guests: int
    every: float
    played: Played
    troubles: Counter[str] = field(default_factory=Counter)
    """Counts of notices on pages, and of reasons for lost connections."""
    told: dict[str, Any] = field(default_factory=dict)
    """The report of players who walk through a whole study (`tests.live.guests`)."""
    logged: Counter[str] = field(default_factory=Counter)
    """Failures that the product's logs report."""
    waiting: Waiting = field(default_factory=Waiting)
    memory: dict[str, float] = field(default_factory=dict)
    """Bytes of memory by program."""

    @property
    def share(self) -> float:
        """Return the number of steps played, divided by the number expected."""
        return self.played.rate * self.every / max(1, self.people - self.guests)

    @property
    def slow(self) -> int:
        """Return the number of steps that took longer than a second."""
        return sum(taken > SLOW for taken in self.played.times)

    @property
    def late(self) -> int:
        """Return the number of timed commands that arrived when their step was over."""
        return sum(times for what, times in self.troubles.items() if what.startswith(LATE))

    @property
    def pages(self) -> Played:
        """Return the page load times of the players who walk through a whole study."""
        return Played(self.played.seconds, tuple(self.told.get("milliseconds", ())))

    @property
    def errors(self) -> Counter[str]:
        """Count error responses, and commands that were late, by kind."""
        answers = Counter(
            {f"page: {name}": n for name, n in self.told.get("answers", {}).items() if wrong(name)}
        )
        failed = Counter({"did not finish the study": len(self.told.get("failed", ()))})
        logged = Counter({f"in the logs: {line}": times for line, times in self.logged.items()})
        troubles = Counter(
            {what: times for what, times in self.troubles.items() if not what.startswith(LATE)}
        )
        return +(troubles + answers + failed + logged)

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON."""
        return {
            "people": self.people,
            "whole participants": self.guests,
            "seconds": self.played.seconds,
            "steps a second": self.played.rate,
            "share": self.share,
            **{f"p{100 * share:.0f}": quantile(self.played, share) for share in (0.5, 0.95, 0.99)},
            "slow": self.slow,
            "too late": self.late,
            "errors": self.errors,
            "finished the study": self.told.get("finished", 0),
            "pages": len(self.pages.times),
            "pages p99": quantile(self.pages, 0.99),
            "processor seconds": {**self.played.used, "players": self.played.driver},
            "memory": self.memory,
            "waiting": {"unit": self.waiting.unit, "most": max(self.waiting.found, default=0.0)},
        }


def quantile(played: Played, share: float) -> float | None:
    """Return the quantile of these times, or None if nothing was played."""
    return played.quantile(share) if played.times else None


def wrong(status: str) -> bool:
    """Return whether this status, or name of an exception, is an error for a player who made no mistake."""
    return not status.isdigit() or int(status) >= 400


class Company:
    """The players of a load test: `async with Company(stack, books, mix, every=3.0) as company: await
    company.become(200)`."""

    def __init__(self, stack: Running, books: Books, mix: Mix, *, every: float) -> None:
        self.stack, self.books, self.mix, self.every = stack, books, mix, every
        self.tables = Tables(books)
        self.players: list[Regular] = []
        self.guests = 0
        self.log = FailureLog(stack)

    async def __aenter__(self) -> Self:
        link = self.stack.url + await asyncio.to_thread(self.books.ask, "study", file=str(STUDY))
        self.study = Guests(link, every=self.every).__enter__()
        self.going = asyncio.create_task(self.tables.keep_going(self.players))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.going.cancel()
        with suppress(asyncio.CancelledError):
            await self.going
        self.study.__exit__()
        self._leave(self.players)
        await asyncio.sleep(0.2)

    async def become(self, people: int) -> None:
        """Change the number of players, and wait until all of them play."""
        self.guests = self.mix.guests(people)
        seats = people - self.guests
        self._leave(self.players[seats:])
        del self.players[seats:]
        numbers = range(len(self.players), seats)
        more = [Regular(self.stack.url, number, self.mix, every=self.every) for number in numbers]
        await self.tables.seat(more)
        begin_all(more)
        self.players += more
        await asyncio.to_thread(self.study.want, self.guests)

    def _leave(self, players: list[Regular]) -> None:
        for player in players:
            player.stop()

    async def measure(self, *, warm: float, seconds: float) -> Stretch:
        """Measure for this number of seconds, after `warm` seconds that are not counted.

        Errors while new episodes are created are raised, because without episodes nothing would be measured.
        """
        if self.going.done():
            self.going.result()
        await asyncio.sleep(warm)
        await asyncio.to_thread(self.study.want, self.guests)
        self._forget()
        self.log.failures()
        async with waiting_at(self.stack) as waiting:
            played = await measure(self.stack, self.players, warm=0, seconds=seconds)
        return Stretch(
            people=len(self.players) + self.guests,
            guests=self.guests,
            every=self.every,
            played=played,
            troubles=sum((player.troubles for player in self.players), Counter()),
            told=await asyncio.to_thread(self.study.want, self.guests),
            logged=self.log.failures(),
            waiting=waiting,
            memory=self.stack.memory(),
        )

    def _forget(self) -> None:
        """Discard the earlier measurements."""
        for player in self.players:
            player.times.clear()
            player.troubles.clear()
