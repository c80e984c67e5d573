"""Co-players measured: episodes of agents alone, and the collaboration score over them.

CoS = mean over the intervals of completed / (completed + failed), each count summed over the episodes of
that interval (MindAgent, arXiv 2309.09971, section 3).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from kitchen.coplayers.base import CoPlayer, Decision, Situation
from kitchen.coplayers.registry import make_coplayer
from kitchen.worlds.base import Event, Json, World
from kitchen.worlds.registry import get_world

PAPER_ALPHAS = (1.0, 1.5, 2.0, 2.5, 3.0)
PAPER_LEVELS = tuple(f"level_{number}" for number in (0, 1, 7, 2, 4, 8, 3, 9, 10, 5, 11, 12))


@dataclass(frozen=True, slots=True)
class Played:
    """One episode: the world's score at its end, and how long each decision took in milliseconds."""

    score: Mapping[str, Json]
    milliseconds: tuple[float, ...]

    @property
    def completed(self) -> int:
        """Orders served."""
        return int(self.score["completed"])

    @property
    def failed(self) -> int:
        """Orders that ran out."""
        return int(self.score["failed"])


def see(
    world: World,
    seats: Iterable[int],
    *,
    memory: Json = None,
    events: tuple[Event, ...] = (),
    commanded: Mapping[int, tuple[str, ...]] | None = None,
    people: tuple[int, ...] = (),
    seed: int = 0,
) -> Situation:
    """What a mind that holds these seats is told about a world now."""
    held = tuple(seats)
    return Situation(
        world=world.kind,
        step=world.clock,
        seats=held,
        briefs={seat: world.brief(seat) for seat in held},
        observations={seat: world.observe(seat) for seat in held},
        legal={seat: world.legal_actions(seat) for seat in held},
        commanded=dict(commanded or {}),
        people=people,
        events=events,
        memory=memory,
        seed=seed,
    )


def play_alone(
    kind: str,
    *,
    world: str = "cuisine",
    seats: int,
    settings: Mapping[str, Json],
    seed: int,
    chosen: Mapping[str, Json] | None = None,
) -> Played:
    """One episode in which one mind of this kind commands every seat."""
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    mind = make_coplayer(kind, chosen or {})
    times: list[float] = []
    decision = Decision(commands={})
    events: tuple[Event, ...] = ()
    while not (game.over or game.cut_off):
        seen = see(game, range(seats), memory=decision.memory, events=events, seed=seed * 1000 + game.clock)
        decision, spent = _timed(mind, seen)
        times.append(spent)
        events = game.step(decision.commands)
    return Played(game.score(), tuple(times))


def _timed(mind: CoPlayer, situation: Situation) -> tuple[Decision, float]:
    start = time.perf_counter()
    decision = mind.decide(situation)
    return decision, (time.perf_counter() - start) * 1000


def collaboration_score(counts: Iterable[tuple[int, int]]) -> float | None:
    """The mean over intervals of completed / (completed + failed) for (completed, failed) pairs; None where
    an interval has neither."""
    shares = [done / (done + failed) if done + failed else None for done, failed in counts]
    return None if None in shares or not shares else fmean(share for share in shares if share is not None)


@dataclass(frozen=True, slots=True)
class Cell:
    """One level with one number of agents: (completed, failed) for each interval, summed over its episodes;
    their collaboration score; the median time of a decision in milliseconds."""

    counts: tuple[tuple[int, int], ...]
    score: float | None
    milliseconds: float


def measure_cell(
    kind: str,
    *,
    level: str,
    seats: int,
    seeds: Iterable[int],
    alphas: Iterable[float] = PAPER_ALPHAS,
    chosen: Mapping[str, Json] | None = None,
) -> Cell:
    """Play a CuisineWorld level at every interval with every seed (the paper's Tables 3 to 5)."""
    drawn = tuple(seeds)
    counts: list[tuple[int, int]] = []
    times: list[float] = []
    for alpha in alphas:
        settings = {"level": level, "alpha": alpha}
        played = [play_alone(kind, seats=seats, settings=settings, seed=s, chosen=chosen) for s in drawn]
        counts.append((sum(p.completed for p in played), sum(p.failed for p in played)))
        times += [spent for p in played for spent in p.milliseconds]
    return Cell(tuple(counts), collaboration_score(counts), median(times) if times else 0.0)
