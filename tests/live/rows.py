"""Define the rows of the benchmark of live play: who plays, how, and the target of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.live.bare import Echoed
from tests.live.books import Books
from tests.live.crowd import Played, begin_all, connect_all, measure, play
from tests.live.player import Player
from tests.live.stack import Running
from tests.live.table import Figure

FORMS = (("JSON", False), ("HTML", True))
KNEE = (70, 100, 150, 200, 250, 300, 400, 500)
KNEE_EVERY = 3.0
KNEE_P99 = 250.0
KNEE_QUICK = (150, 300)
CROWD_EVERY = 2.0
SHARE = 0.97
"""The share of the requested commands that counts as all of them."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The app, the options and the connection to the database that a row needs."""

    stack: Running
    books: Books
    echo: Echoed
    scale: float
    """The factor of the lengths of periods; 1 for the usual lengths."""
    say: Callable[[str], None]

    async def played(
        self,
        what: str,
        keys: Sequence[Sequence[str]],
        *,
        html: bool,
        every: float,
        warm: float,
        seconds: float,
    ) -> Played:
        """Measure the players with these keys, who play their episodes one after another."""
        players = [
            Player(self.stack.url, own, as_html=html, every=every, seed=n) for n, own in enumerate(keys)
        ]
        warm, seconds = max(every, warm * self.scale), max(every, seconds * self.scale)
        played = await play(self.stack, players, warm=warm, seconds=seconds)
        self.say(f"{what}: {told(played)}")
        return played

    def keys(self, people: int, *, each: int = 1, **table: Any) -> list[list[str]]:
        """Return the keys of new episodes, `each` for each of these people; see `books.table_laid`."""
        keys = self.books.episodes(people * each, **table)
        return [keys[n * each : (n + 1) * each] for n in range(people)]


def told(played: Played) -> str:
    """Describe one measurement in one line."""
    steps = max(1, len(played.times))
    used = ", ".join(f"{name} {1000 * spent / steps:.2f}" for name, spent in played.used.items() if spent)
    lost = f"; {played.reconnects} connections lost" if played.reconnects else ""
    lost += f"; {played.refusals} commands refused" if played.refusals else ""
    return (
        f"{len(played.times)} steps, {played.rate:.1f}/s, p50 {played.p50:.2f} ms, p99 {played.p99:.1f} ms; "
        f"processor ms a step: {used}; the players' own {played.driver / played.seconds:.0%} of a core{lost}"
    )


async def alone(bench: Bench) -> list[Figure]:
    """Measure one player without agents."""
    aims = {"JSON": 3.0, "HTML": 5.0}
    return await one(bench, "one player alone", bench.keys(1, each=10), 6.0, aims)


async def random(bench: Bench) -> list[Figure]:
    """Measure one player with two random agents."""
    keys = bench.keys(1, each=10, mates=2, kind="random")
    return await one(bench, "beside 2 random co-players", keys, 5.0, {"JSON": 5.0})


async def one(
    bench: Bench, what: str, keys: list[list[str]], seconds: float, aims: Mapping[str, float]
) -> list[Figure]:
    """Measure one player who plays as fast as possible, with HTML and with JSON."""
    figures = []
    for half, (name, html) in enumerate(FORMS):
        own = [keys[0][half::2]]
        played = await bench.played(f"{what}, {name}", own, html=html, every=0, warm=1.5, seconds=seconds)
        echo = bench.echo.alone
        figures += [
            Figure(f"{what}, {name}: p50", played.p50, "ms", aims.get(name), echo=echo.p50),
            Figure(f"{what}, {name}: p99", played.p99, "ms", echo=echo.p99),
        ]
    return figures


async def planner(bench: Bench) -> list[Figure]:
    """Measure one player with two planner agents. The log has the planner's thinking time."""
    what, keys, echo = (
        "beside 2 planners, JSON",
        bench.keys(1, each=5, mates=2, kind="planner"),
        bench.echo.alone,
    )
    played = await bench.played(what, keys, html=False, every=0, warm=1.5, seconds=5)
    thought = median(bench.books.ask("thinking", keys=keys[0]) or [0.0])
    note = f"thinking {thought:.1f} ms + {played.p50 - thought:.1f}"
    return [
        Figure(f"{what}: p50", played.p50, "ms", thought + 5, echo=echo.p50, note=note),
        Figure(f"{what}: p99", played.p99, "ms", echo=echo.p99),
    ]


async def twenty(bench: Bench) -> list[Figure]:
    """Measure twenty players who play as fast as possible."""
    figures, keys = [], bench.keys(20, each=2)
    for half, (name, html) in enumerate(FORMS):
        what = f"20 players as fast as they can, {name}"
        own = [keys_of_one[half:] for keys_of_one in keys]
        played = await bench.played(what, own, html=html, every=0, warm=2, seconds=8)
        aim, echo = (400.0 if html else 500.0), bench.echo.twenty
        figures += [
            Figure(f"{what}: rate", played.rate, "steps/s", aim, more=True, echo=echo.rate),
            Figure(f"{what}: p50", played.p50, "ms", echo=echo.p50),
            Figure(f"{what}: p99", played.p99, "ms", echo=echo.p99),
        ]
    return figures


async def crowd(bench: Bench) -> list[Figure]:
    """Measure two hundred players without agents, with a step every two seconds."""
    return await two_hundred(bench, "200 players, a step every 2 s", bench.keys(200), 50.0)


async def crowd_planner(bench: Bench) -> list[Figure]:
    """Measure two hundred players with two planner agents each, with a step every two seconds."""
    keys = bench.keys(200, mates=2, kind="planner")
    return await two_hundred(bench, "200 players, a step every 2 s, 2 planners each", keys, 150.0)


async def two_hundred(bench: Bench, what: str, keys: list[list[str]], aim: float) -> list[Figure]:
    """Measure two hundred players with HTML and with JSON. The target is a number of milliseconds for 99 of
    100 steps."""
    figures, echo = [], bench.echo.crowd
    asked = len(keys) / CROWD_EVERY
    for name, html in FORMS:
        played = await bench.played(f"{what}, {name}", keys, html=html, every=CROWD_EVERY, warm=4, seconds=10)
        rate = played.rate
        figures += [
            Figure(f"{what}, {name}: rate", rate, "steps/s", SHARE * asked, more=True, echo=echo.rate),
            Figure(f"{what}, {name}: p50", played.p50, "ms", echo=echo.p50),
            Figure(f"{what}, {name}: p99", played.p99, "ms", aim, echo=echo.p99),
        ]
    return figures


async def knee(bench: Bench) -> list[Figure]:
    """Find how many people with a command every three seconds are served well, by adding people."""
    players: list[Player] = []
    largest, note = 0, ""
    try:
        for people in KNEE if bench.scale == 1 else KNEE_QUICK:
            more = [
                Player(bench.stack.url, own, every=KNEE_EVERY, seed=n)
                for n, own in enumerate(bench.keys(people - len(players)), start=len(players))
            ]
            players += more
            await connect_all(more)
            begin_all(more)
            warm, seconds = max(KNEE_EVERY, 4 * bench.scale), max(KNEE_EVERY, 9 * bench.scale)
            played = await measure(bench.stack, players, warm=warm, seconds=seconds)
            bench.say(f"knee, {people} people, JSON: {told(played)}")
            if played.p99 > KNEE_P99 or played.rate < SHARE * people / KNEE_EVERY:
                note = f"{people}: {played.rate:.0f}/s, p99 {played.p99:.0f} ms"
                break
            largest = people
    finally:
        for player in players:
            player.stop()
    return [
        Figure("knee, people with a command every 3 s, JSON", largest, "people", 300, more=True, note=note)
    ]


async def step(bench: Bench) -> list[Figure]:
    """Measure the cost of one step of one player alone, in numbers that do not depend on the machine."""
    figures = []
    for name, html in FORMS:
        (key,), played_keys = bench.keys(1)[0], bench.keys(1, each=5)
        counts = bench.books.ask("counts", key=key, html=html)
        what = f"a step alone, {name}"
        played = await bench.played(what, played_keys, html=html, every=0, warm=1, seconds=4)
        size = played.bytes_heard / max(1, len(played.times))
        figures += [
            Figure(f"{what}: statements", counts["statements"], "", 6),
            Figure(f"{what}: hops between threads", counts["hops"], ""),
            Figure(f"{what}: sent to the page", size, "bytes", 3000 if html else None),
            Figure(f"{what}: processor time", played.milliseconds_a_step, "ms"),
            Figure(f"connecting, {name}: statements", counts["connecting statements"], ""),
            Figure(f"connecting, {name}: hops between threads", counts["connecting hops"], ""),
        ]
    return figures
