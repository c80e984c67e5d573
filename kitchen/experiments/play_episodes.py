"""Play one episode of agents without people, and write its log."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kitchen.agents.agent_team import AskedMember, DecisionMade, StepMade
from kitchen.contract.agent import DecisionLimits
from kitchen.contract.language_model import BudgetSpentError, Payer, UnpricedError
from kitchen.contract.line_up import MEMBER_SEPARATOR
from kitchen.contract.world import Json, World
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import EpisodeJob
from kitchen.experiments.log_entries import LogHead, StepEntry, UntakenStep
from kitchen.experiments.log_files import LogRecorder, PlayedLog, WritePiece
from kitchen.experiments.running_episode import RunningEpisode, episode_row, world_at_start
from kitchen.registry.world_registry import get_world

log = logging.getLogger(__name__)

DECISION_SECONDS = 60.0
"""Time limit of one decision. Nobody waits for it, so a model may take longer than in play with people."""


class EpisodeFailedError(Exception):
    """An unforeseen error ended an episode. Its message is left out: it might contain an API key."""

    @classmethod
    def by(cls, error: Exception) -> EpisodeFailedError:
        """Make the exception that describes this error."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        return cls(f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}")


class MoneySpentError(Exception):
    """The budget does not cover a call. The episode ends, so that no fallback continues it."""


def do_nothing(*_: object) -> None:
    """Ignore what is given (used where nobody listens)."""


def play_episode(
    job: EpisodeJob,
    coplayer: str,
    settings: Mapping[str, Json],
    *,
    purse: Payer | None = None,
    seconds: float = DECISION_SECONDS,
    steps: int = 0,
    after_step: Callable[[], None] = do_nothing,
    sink: WritePiece = do_nothing,
    before: PlayedLog | None = None,
    program: str = "",
) -> EpisodeRow:
    """Play one episode to its end and return its row.

    The same job and settings give the same episode if the co-player decides the same. `sink` stores the log,
    with the version of Brigade (`program`). `before` is an earlier log of the episode: it is replayed without
    new model calls, then continued. `steps` 0 means the usual number of steps.

    Raises MoneySpentError if the budget is spent, and EpisodeFailedError if co-player or world fail. Raise
    LogError if `before` belongs to another episode or leads to another state.
    """
    course = RunningEpisode(log_head(job, coplayer, settings, steps, program))
    if before is not None:
        course.catch_up(before)
    recorder = LogRecorder(course.head, sink, before)
    try:
        for entry in _steps(course, recorder.add_untaken, purse, seconds):
            try:
                recorder.add(entry)
            except (TypeError, ValueError) as error:  # the co-player's note or memory is not JSON
                raise EpisodeFailedError.by(error) from error
            after_step()
    finally:
        recorder.close()
    return episode_row(course, recorder.log)


def log_head(
    job: EpisodeJob, coplayer: str, settings: Mapping[str, Json], steps: int = 0, program: str = ""
) -> LogHead:
    """Return the head of this job's log; `steps` 0 means the usual number."""
    variant, level, agents = job.column.key
    ground, organisation = job.column.ground, job.column.variant.organisation
    return LogHead(
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
        organisation=organisation.to_json() if organisation else None,
        knowing=job.column.variant.knowing,
    )


def seconds_per_step(job: EpisodeJob, coplayer: str, settings: Mapping[str, Json], *, steps: int) -> float:
    """Measure the seconds per step over the first `steps` steps of this job. Raises EpisodeFailedError if a
    step fails."""
    began = time.perf_counter()
    taken = _steps(RunningEpisode(log_head(job, coplayer, settings)), do_nothing, None, DECISION_SECONDS)
    played = sum(1 for _ in zip(range(steps), taken, strict=False))
    return (time.perf_counter() - began) / max(played, 1)


def _steps(
    course: RunningEpisode, record_untaken: Callable[[UntakenStep], None], purse: Payer | None, seconds: float
) -> Iterator[StepEntry]:
    """Yield every step from here to the end when it is taken. Calls for a step that fails are kept."""
    with _unforeseen():
        agents = course.agents()
    with asyncio.Runner() as loop:
        while not course.is_over:
            with _unforeseen():
                asked = loop.run(course.ask(agents, limits=DecisionLimits(seconds, purse)))
            _check_money(course, asked, record_untaken)
            with _unforeseen():
                entry = take_and_log_step(course, course.step_of(asked))
            yield entry


def _check_money(
    course: RunningEpisode, asked: Sequence[AskedMember], record_untaken: Callable[[UntakenStep], None]
) -> None:
    """Raise MoneySpentError if the budget did not cover a call of one of these decisions."""
    for decision in (each.decision for each in asked):
        if decision.fallback in {BudgetSpentError.code, UnpricedError.code}:
            calls = tuple(call for each in asked for call in each.decision.calls)
            record_untaken(UntakenStep(course.game.clock + 1, calls))
            raise MoneySpentError(decision.calls[-1].error_text if decision.calls else decision.fallback)


def take_and_log_step(course: RunningEpisode, step: StepMade) -> StepEntry:
    """Take the step and return its log entry."""
    decision = _decided(course, step)
    reports = course.take(step)
    if course.team.organisation is None and not step.decisions:
        decision = replace(decision, memory=course.memory)
    return StepEntry(
        step=course.game.clock,
        commands=step.commands,
        played_by=decision.played_by,
        fallback=decision.fallback,
        calls=decision.calls,
        memory=decision.memory,
        note=decision.note,
        milliseconds=decision.milliseconds,
        events=course.events,
        state_hash=course.game.state_hash(),
        plans={seat: tuple(then) for seat, then in decision.plans.items()},
        asked=bool(step.decisions),
        decisions=step.decisions if course.team.organisation else (),
        messages=(*step.messages, *reports),
    )


def _decided(course: RunningEpisode, step: StepMade) -> DecisionMade:
    """Combine the decisions of a step into one for the log entry.

    Without decisions, it names who filled the seats. Memory and notes of members of an organisation stay with
    their own decisions.
    """
    if not step.decisions:
        by = sorted({each.chosen_by for each in course.filled.values()})
        return DecisionMade(0, played_by=" ".join(by))
    if course.team.organisation is None:
        return step.decisions[0]
    return DecisionMade(
        step.decisions[0].member,
        played_by=MEMBER_SEPARATOR.join(each.played_by for each in step.decisions),
        fallback=next((each.fallback for each in step.decisions if each.fallback), ""),
        milliseconds=round(sum(each.milliseconds for each in step.decisions), 3),
        calls=tuple(call for each in step.decisions for call in each.calls),
    )


@contextmanager
def _unforeseen() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a co-player may fail with any error
        failed = EpisodeFailedError.by(error)
        log.error("an episode failed: %s", failed)
        raise failed from error


def new_world(job: EpisodeJob, steps: int = 0) -> World:
    """Return the world of a job at its start."""
    return world_at_start(log_head(job, "", {}, steps))
