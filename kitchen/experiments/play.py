"""One episode of agents alone: one mind commands them all."""

from __future__ import annotations

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from kitchen.agents.evaluate import decisions
from kitchen.contract.agent import Decision
from kitchen.contract.model import BudgetSpentError, Call, Purse, UnpricedError, total
from kitchen.contract.reading import Readings, reading_of
from kitchen.contract.world import Json, World
from kitchen.experiments.plan import Job
from kitchen.experiments.players import counted
from kitchen.experiments.rows import FAILED, NEEDED, Row
from kitchen.experiments.setup import BENCH, WORLD
from kitchen.registry.agents import make_agent
from kitchen.registry.figures import share_counts
from kitchen.registry.worlds import get_world

log = logging.getLogger(__name__)

SECONDS = 60.0
"""Time for one decision: nobody waits for it, so a model may take longer than beside people."""


class EpisodeFailedError(Exception):
    """An episode that an unforeseen error ended: which one and where, without its words (a key might be
    among them)."""

    @classmethod
    def by(cls, error: Exception) -> EpisodeFailedError:
        """Told by this error."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        return cls(f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}")


class MoneySpentError(Exception):
    """The money does not cover a call: an episode that went on would be played by somebody else."""


def _nothing() -> None:
    pass


@dataclass(slots=True)
class _Tally:
    """What the decisions of one episode add up to."""

    times: list[float] = field(default_factory=list)
    chose: Counter[str] = field(default_factory=Counter)
    why: Counter[str] = field(default_factory=Counter)
    calls: list[Call] = field(default_factory=list)
    read: Readings = field(default_factory=Readings)

    def add(self, decision: Decision, kind: str, milliseconds: float, seats: int) -> None:
        self.times.append(milliseconds)
        self.read += Readings.of(reading_of(decision.note, seats))
        self.chose[decision.played_by or kind] += 1
        self.calls += decision.calls
        if decision.fallback:
            self.why[decision.fallback] += 1


def play(
    job: Job,
    coplayer: str,
    settings: Mapping[str, Json],
    *,
    purse: Purse | None = None,
    seconds: float = SECONDS,
    steps: int = BENCH.steps,
    after_step: Callable[[], None] = _nothing,
) -> Row:
    """Play one episode to its end. The same job and settings give the same episode, as far as the co-player
    decides alike. MoneySpentError ends it, and EpisodeFailedError where co-player or world break."""
    game, tally = new_game(job, steps), _Tally()
    made = decisions(make_agent(coplayer, settings), game, seed=job.seed, seconds=seconds, purse=purse)
    for decision, spent in _told(made):
        tally.add(decision, coplayer, spent, game.seats)
        after_step()
    return _row(job, game, tally)


def pace(job: Job, coplayer: str, settings: Mapping[str, Json], *, steps: int) -> float:
    """Seconds of a step of this job, measured over its first steps. EpisodeFailedError."""
    began = time.perf_counter()
    made = decisions(make_agent(coplayer, settings), new_game(job), seed=job.seed, seconds=SECONDS)
    played = sum(1 for _ in zip(range(steps), _told(made), strict=False))
    return (time.perf_counter() - began) / max(played, 1)


def _told(made: Iterator[tuple[Decision, float]]) -> Iterator[tuple[Decision, float]]:
    with _unforeseen():
        for decision, spent in made:
            if decision.fallback in {BudgetSpentError.code, UnpricedError.code}:
                raise MoneySpentError(decision.calls[-1].error_text if decision.calls else decision.fallback)
            yield decision, spent


@contextmanager
def _unforeseen() -> Iterator[None]:
    try:
        yield
    except MoneySpentError:
        raise
    except Exception as error:  # a co-player may fail in any way
        failed = EpisodeFailedError.by(error)
        log.error("an episode failed: %s", failed)
        raise failed from error


def new_game(job: Job, steps: int = BENCH.steps) -> World:
    """The world of a job at its start."""
    settings = BENCH.settings(job.column.level, job.alpha, steps)
    game = get_world(WORLD).create(seats=job.column.agents, settings=settings)
    game.reset(job.seed)
    return game


def failed_row(job: Job, reason: str) -> Row:
    """The row of an episode that an error ended."""
    variant, level, agents = job.column.key
    values: dict[str, Any] = dict.fromkeys(NEEDED, 0) | dict.fromkeys(_TEXTS, "")
    values |= {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "cost": None}
    return Row(**values | {"episode": job.episode, "seed": job.seed, "outcome": FAILED, "reason": reason})


_TEXTS = ("fallback_codes", "played_by", "model", "state_hash")


def _row(job: Job, game: World, tally: _Tally) -> Row:
    replies = [call.reply for call in tally.calls if call.reply]
    completed, failed = share_counts(game)
    cost = total(call.cost for call in tally.calls)
    read: dict[str, Any] = {**tally.read.columns}
    variant, level, agents = job.column.key
    return Row(
        variant=variant,
        level=level,
        agents=agents,
        alpha=job.alpha,
        episode=job.episode,
        seed=job.seed,
        completed=completed,
        failed=failed,
        steps=game.clock,
        fallbacks=tally.why.total(),
        fallback_codes=counted(tally.why),
        played_by=counted(tally.chose),
        calls=len(tally.calls),
        tokens_input=sum(call.usage.input for call in tally.calls),
        tokens_output=sum(call.usage.output for call in tally.calls),
        tokens_cache_read=sum(call.usage.cache_read for call in tally.calls),
        tokens_cache_write=sum(call.usage.cache_write for call in tally.calls),
        cost=None if cost is None else float(cost),
        model=", ".join(sorted({reply.model for reply in replies if reply.model})),
        ms_median=round(median(tally.times), 3),
        ms_max=round(max(tally.times), 3),
        state_hash=game.state_hash(),
        **read,
    )
