"""One episode of agents alone: one mind commands them all."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kitchen.contract.agent import Agent, Decision
from kitchen.contract.model import BudgetSpentError, Purse, UnpricedError
from kitchen.contract.world import Command, Json, World
from kitchen.experiments.course import Course
from kitchen.experiments.entries import Entry, Head, Untaken
from kitchen.experiments.log import Log, Recording, Sink
from kitchen.experiments.plan import Job
from kitchen.experiments.rows import Row
from kitchen.experiments.tally import row_of
from kitchen.registry.agents import make_mind
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


def _nowhere(piece: bytes) -> None:
    pass


def play(
    job: Job,
    coplayer: str,
    settings: Mapping[str, Json],
    *,
    purse: Purse | None = None,
    seconds: float = SECONDS,
    steps: int = 0,
    after_step: Callable[[], None] = _nothing,
    sink: Sink = _nowhere,
    before: Log | None = None,
    program: str = "",
) -> Row:
    """Play one episode to its end. The same job and settings give the same episode, as far as the co-player
    decides alike. `sink` keeps its log, with the version of Brigade (`program`); with `before`, what was kept
    of it, it goes on from there and nothing of that is asked again. MoneySpentError ends it, and
    EpisodeFailedError where co-player or world break; LogError where `before` is another episode's, or leads
    elsewhere."""
    course = Course(head_of(job, coplayer, settings, steps, program))
    if before is not None:
        course.catch_up(before)
    kept = Recording(course.head, sink, before)
    try:
        for entry in _steps(course, kept.add_untaken, purse, seconds):
            _keep(kept, entry)
            after_step()
    finally:
        kept.close()
    return row_of(course.head, course.game, kept.log)


def _keep(kept: Recording, entry: Entry) -> None:
    try:
        kept.add(entry)
    except (TypeError, ValueError) as error:  # what the co-player notes or remembers is no JSON
        raise EpisodeFailedError.by(error) from error


def head_of(job: Job, coplayer: str, settings: Mapping[str, Json], steps: int = 0, program: str = "") -> Head:
    """What the log of this job begins with; `steps` is 0 for as many as is usual."""
    variant, level, agents = job.column.key
    ground = job.column.ground
    return Head(
        variant=variant,
        level=level,
        agents=agents,
        alpha=job.alpha,
        episode=job.episode,
        seed=job.seed,
        coplayer=coplayer,
        settings=dict(settings),
        world=job.column.world,
        world_version=get_world(job.column.world).version,
        world_settings=ground.settings(level, job.alpha, steps or ground.steps),
        program=program,
    )


def pace(job: Job, coplayer: str, settings: Mapping[str, Json], *, steps: int) -> float:
    """Seconds of a step of this job, measured over its first steps. EpisodeFailedError."""
    began = time.perf_counter()
    taken = _steps(Course(head_of(job, coplayer, settings)), _forgotten, None, SECONDS)
    played = sum(1 for _ in zip(range(steps), taken, strict=False))
    return (time.perf_counter() - began) / max(played, 1)


def _forgotten(untaken: Untaken) -> None:
    pass


def _steps(
    course: Course, keep_untaken: Callable[[Untaken], None], purse: Purse | None, seconds: float
) -> Iterator[Entry]:
    """Every step from here to the end, as it is taken. What was asked for one that cannot be is kept."""
    with _unforeseen():
        agent = make_mind(course.head.coplayer, course.head.settings)
    while not course.is_over:
        if not course.is_asked:
            with _unforeseen():
                yield _unasked(course)
            continue
        with _unforeseen():
            decision, spent = _decided(agent, course, purse, seconds)
        if decision.fallback in {BudgetSpentError.code, UnpricedError.code}:
            keep_untaken(Untaken(course.game.clock + 1, decision.calls))
            raise MoneySpentError(decision.calls[-1].error_text if decision.calls else decision.fallback)
        with _unforeseen():
            commands = course.all_of(decision.commands)
            course.decided(decision, course.head.coplayer)
            entry = _entry(course, decision, commands, spent)
        yield entry


def _decided(agent: Agent, course: Course, purse: Purse | None, seconds: float) -> tuple[Decision, float]:
    """What the mind decides now, and how many milliseconds that took."""
    situation = course.situation(seconds=seconds, purse=purse)
    began = time.perf_counter()
    decision = agent.decide(situation)
    return decision, (time.perf_counter() - began) * 1000


def _unasked(course: Course) -> Entry:
    """The step as it is taken where every seat goes on by itself."""
    commands, by = course.all_of({}), " ".join(course.settled_by)
    course.take({}, course.memory)
    entry = _entry(course, Decision({}, course.memory, played_by=by), commands, 0.0)
    return replace(entry, asked=False)


def _entry(course: Course, decision: Decision, commands: Mapping[int, Command], milliseconds: float) -> Entry:
    return Entry(
        step=course.game.clock,
        commands=commands,
        played_by=decision.played_by or course.head.coplayer,
        fallback=decision.fallback,
        calls=decision.calls,
        memory=decision.memory,
        note=decision.note,
        milliseconds=round(milliseconds, 3),
        events=course.events,
        state_hash=course.game.state_hash(),
        plans={seat: tuple(then) for seat, then in decision.plans.items()},
    )


@contextmanager
def _unforeseen() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a co-player may fail in any way
        failed = EpisodeFailedError.by(error)
        log.error("an episode failed: %s", failed)
        raise failed from error


def new_game(job: Job, steps: int = 0) -> World:
    """The world of a job at its start."""
    return Course(head_of(job, "", {}, steps)).game
