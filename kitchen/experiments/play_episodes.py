"""Play one episode of an experiment, in which agents play without people.

The module also writes the episode's log and computes its result row.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from kitchen.agents.agent_team import AskedMember, DecisionMade, StepMade, Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import Agent, DecisionLimits
from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.decision_notes import (
    PredictionAccuracy,
    ReplyReadings,
    predictions_in,
    reading_from_note,
)
from kitchen.contract.language_model import BudgetSpentError, Call, Payer, UnpricedError, total_cost
from kitchen.contract.line_up import MEMBER_SEPARATOR, line_up_kinds
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_measures import plannings_a_member, steps_to_goal
from kitchen.contract.world import Json, World
from kitchen.experiments.episode_rows import FAILED, REQUIRED_COLUMNS, EpisodeRow, counts_text
from kitchen.experiments.experiment_setup import EpisodeJob
from kitchen.experiments.log_entries import LogHead, StepEntry, UntakenStep
from kitchen.experiments.log_files import LogError, LogRecorder, PlayedLog, WritePiece
from kitchen.experiments.model_waits import ModelWait, StepDecisions, do_nothing
from kitchen.registry.agent_registry import make_agents
from kitchen.registry.world_metrics import share_count_values, with_log_metrics
from kitchen.registry.world_registry import get_ground, get_world


class RunningEpisode(EpisodeLoop):
    """An experiment's episode in progress. A stored log can be replayed into it."""

    def __init__(self, head: LogHead) -> None:
        """Make world and team from the head of a log. Raises WorldError if one cannot be made."""
        self.head = head
        super().__init__(world_at_start(head), head.seed, team_of_log(head), head.world_settings, head.goal)

    def agents(self) -> dict[int, Agent]:
        """Return a new agent for each member, by the member's number. Raises SettingsError if the settings
        are invalid, and UnknownNameError for an unknown kind of agent."""
        numbers = (member.number for member in self.team.members)
        return dict(zip(numbers, make_agents(self.team.kinds, self.head.settings), strict=True))

    def score(self) -> dict[str, Json]:
        """Return the world's score of the episode, together with the metrics that are computed from its
        log."""
        return with_log_metrics(self.game.score(), self.log())

    def repeat(self, entry: StepEntry) -> bool:
        """Replay one logged step, and return whether its result equals the log. Compared are the world's
        state, the reports of jobs and the delayed decisions."""
        effects = self.effects
        reports = self.take(self.logged_step(entry))
        logged = tuple(message for message in entry.messages if message.step > entry.step)
        same = self.game.state_hash() == entry.state_hash and reports == logged
        return same and effects == entry.effects

    def logged_step(self, entry: StepEntry) -> StepMade:
        """Return the step that this log entry describes. Raises LogError if it does not fit the team."""
        if not self._is_of_team(entry):
            raise LogError(f"has other members in step {entry.step}")
        messages = tuple(each for each in entry.messages if each.step == entry.step)
        if entry.decisions or not entry.asked:
            return StepMade(entry.commands, entry.decisions, messages)
        joint = DecisionMade(
            self.team.members[0].number,
            self.joint_reason,
            entry.played_by,
            entry.fallback,
            entry.milliseconds,
            entry.memory,
            entry.note,
            entry.calls,
            entry.plans,
        )
        return StepMade(entry.commands, (joint,))

    def _is_of_team(self, entry: StepEntry) -> bool:
        """Return whether a log entry fits the team of this episode. The members that decided must belong to
        it. Without an organisation, there must be one memory for each member."""
        numbers = {member.number for member in self.team.members}
        if self.team.organisation is not None:
            made = {each.member for each in entry.decisions}
            return entry.asked == bool(made) and made <= numbers
        if entry.decisions or len(numbers) == 1 or not entry.asked:
            return not entry.decisions
        return isinstance(entry.memory, list) and len(entry.memory) == len(numbers)

    def catch_up(self, log: PlayedLog) -> None:
        """Replay all steps of this log. Raises LogError if it belongs to another episode, or if a step
        leads to another state."""
        if _without_program(log.head) != json.loads(json.dumps(_without_program(self.head))):
            raise LogError(f"is not the log of {self.head}, as it is played now")
        for entry in log.entries:
            if not self.repeat(entry):
                raise LogError(f"leads elsewhere from step {entry.step} on")


def world_at_start(head: LogHead) -> World:
    """Return the world of an episode in its first state. Raises WorldError if it cannot be made."""
    game = get_world(head.world).create(seats=head.agents, settings=head.world_settings)
    game.reset(head.seed)
    return game


def team_of_log(head: LogHead) -> Team:
    """Return the team that plays an episode. Raises SettingsError if it does not fit the seats."""
    organisation = None if head.organisation is None else Organisation.from_json(head.organisation)
    return Team.of(head.coplayer, head.agents, organisation, head.knowing)


def _without_program(head: LogHead) -> dict[str, Json]:
    return {**head.to_json(), "program": ""}


_TEXTS = ("fallback_codes", "played_by", "model", "state_hash")


def failed_row(job: EpisodeJob, reason: str) -> EpisodeRow:
    """Return the result row of an episode that ended with an error; `reason` is stored in it."""
    variant, level, agents = job.column.key
    values: dict[str, Any] = dict.fromkeys(REQUIRED_COLUMNS, 0) | dict.fromkeys(_TEXTS, "")
    values |= {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "cost": None}
    return EpisodeRow(
        **values | {"episode": job.episode, "seed": job.seed, "outcome": FAILED, "reason": reason}
    )


def episode_row(course: RunningEpisode, log: PlayedLog) -> EpisodeRow:
    """Compute the result row of a finished episode from its log. Model calls for a step that was not taken
    (spent budget or error) are counted as well."""
    head, game = course.head, course.game
    decided = [made for entry in log.entries for made in _decisions(entry)]
    calls, why = log.calls, Counter(each.fallback for each in decided if each.fallback)
    times = [each.milliseconds for each in decided] or [0.0]
    score = course.score()
    (completed, failed), figure, second_figure = _counts(head.world, score)
    foresight = PredictionAccuracy.of(predictions_in(each.note for each in decided))
    cost = total_cost(call.cost for call in calls)
    episode = course.log()
    return EpisodeRow(
        variant=head.variant,
        level=head.level,
        agents=head.agents,
        alpha=head.alpha,
        episode=head.episode,
        seed=head.seed,
        completed=completed,
        failed=failed,
        steps=game.clock,
        fallbacks=why.total(),
        fallback_codes=counts_text(why),
        played_by=counts_text(Counter(who for each in decided for who in line_up_kinds(each.played_by))),
        calls=len(calls),
        tokens_input=sum(call.usage.input for call in calls),
        tokens_output=sum(call.usage.output for call in calls),
        tokens_cache_read=sum(call.usage.cache_read for call in calls),
        tokens_cache_write=sum(call.usage.cache_write for call in calls),
        cost=None if cost is None else float(cost),
        model=", ".join(sorted({call.reply.model for call in calls if call.reply and call.reply.model})),
        ms_median=round(median(times), 3),
        ms_max=round(max(times), 3),
        state_hash=game.state_hash(),
        log=log.hash,
        **_read(course, decided),
        predictions_judged=foresight.judged,
        predictions_right=foresight.right,
        figure=figure,
        goal_steps=steps_to_goal(episode),
        plannings=plannings_a_member(episode),
        second_figure=second_figure,
        more_figures=_more_figures(head.world, score),
    )


def _decisions(entry: StepEntry) -> tuple[StepEntry | DecisionMade, ...]:
    """Return every decision of a step. In an organisation, each member has its own; otherwise there is at
    most one joint decision."""
    return entry.decisions or ((entry,) if entry.asked else ())


def _counts(world: str, score: Mapping[str, Json]) -> tuple[tuple[int, int], float | None, float | None]:
    """Return three values: (completed, failed), the compared metric, and the second one. A metric is None if
    it is undefined or not compared."""
    ground = get_ground(world)
    if not isinstance(ground, ComparisonBenchmark):
        return share_count_values(world, score), None, None
    first, second = (score.get(name) for name in (ground.figure, ground.second_figure))
    return (0, 0), None if first is None else float(first), None if second is None else float(second)


def _more_figures(world: str, score: Mapping[str, Json]) -> str:
    """Return the additional metrics of the world's benchmark as a JSON object. Return an empty text if
    there are none."""
    ground = get_ground(world)
    names = ground.more_figures if isinstance(ground, ComparisonBenchmark) else ()
    return json.dumps({name: score.get(name) for name in names}) if names else ""


def _read(course: RunningEpisode, decided: Iterable[StepEntry | DecisionMade]) -> dict[str, Any]:
    """Return the values of the result row's columns that tell how well model replies could be parsed."""
    seats = {member.number: len(member.seats) for member in course.team.members}
    if course.team.organisation is None:
        seats = {}
    made = ((each.note, seats.get(getattr(each, "member", -1), course.game.seats)) for each in decided)
    return sum((ReplyReadings.of(reading_from_note(*each)) for each in made), ReplyReadings()).columns


log = logging.getLogger(__name__)

DECISION_SECONDS = 60.0
"""Time limit of one decision. Nobody waits for it, so a model may take longer than in play with people."""


class EpisodeFailedError(Exception):
    """Raised when an unforeseen error ends an episode. The error's own message is left out, because it
    might contain an API key."""

    @classmethod
    def by(cls, error: Exception) -> EpisodeFailedError:
        """Return the exception for this error, with its type, file and line."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        return cls(f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}")


class MoneySpentError(Exception):
    """Raised when the budget does not cover a call. The episode ends, so that no fallback plays on."""


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
    sleep: Callable[[float], None] = time.sleep,
) -> EpisodeRow:
    """Play one episode to its end and return its result row. The same job and settings give the same episode
    if the co-player decides the same.

    `purse` pays for model calls. `seconds` is the time limit of a decision. `steps` is the number of steps; 0
    means the usual number. `sink` stores the log. `program` is the version of this application for the log.
    `before` is an earlier log of the episode, which is replayed without new model calls before the episode
    continues. While a model is paused because it keeps failing, the episode waits for it; `sleep` waits.

    Raises MoneySpentError if the budget is spent, ModelAwayError if a model gives no answer for too long, and
    EpisodeFailedError if the co-player or the world fails.
    Raises LogError if `before` belongs to another episode or leads to another state.
    """
    course = RunningEpisode(log_head(job, coplayer, settings, steps, program))
    if before is not None:
        course.catch_up(before)
    recorder = LogRecorder(course.head, sink, before)
    wait = ModelWait(after_step, sleep)
    try:
        for entry in _steps(course, recorder.add_untaken, purse, seconds, wait):
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
    """Return the first entry of the log of this episode. `steps` 0 means the usual number of steps."""
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
        goal=job.column.goal,
    )


def seconds_per_step(job: EpisodeJob, coplayer: str, settings: Mapping[str, Json], *, steps: int) -> float:
    """Measure the seconds per step over the first `steps` steps of this job. Raises EpisodeFailedError if a
    step fails."""
    began = time.perf_counter()
    course = RunningEpisode(log_head(job, coplayer, settings))
    taken = _steps(course, do_nothing, None, DECISION_SECONDS, ModelWait())
    played = sum(1 for _ in zip(range(steps), taken, strict=False))
    return (time.perf_counter() - began) / max(played, 1)


def _steps(
    course: RunningEpisode,
    record_untaken: Callable[[UntakenStep], None],
    purse: Payer | None,
    seconds: float,
    wait: ModelWait,
) -> Iterator[StepEntry]:
    """Play the episode to its end, and yield each step when it is taken. If a step fails, or a decision is
    made again, `record_untaken` still records the model calls."""
    with unforeseen():
        agents = course.agents()

    def record(asked: Sequence[AskedMember]) -> None:
        if calls := _calls_of(asked):
            record_untaken(UntakenStep(course.game.clock + 1, calls))

    with asyncio.Runner() as loop:

        def ask(decisions: StepDecisions) -> list[AskedMember] | None:
            with unforeseen():
                return loop.run(decisions.ask(course, agents, DecisionLimits(seconds, purse)))

        while not course.is_over:
            asked = _decide_step(ask, record, wait)
            with unforeseen():
                entry = take_and_log_step(course, course.step_of(asked))
            yield entry


def _decide_step(
    ask: Callable[[StepDecisions], list[AskedMember] | None],
    record: Callable[[Sequence[AskedMember]], None],
    wait: ModelWait,
) -> list[AskedMember]:
    """Return the decisions of a step. If a model is paused, wait for it and ask its member again. `record`
    records the calls of decisions that are not used."""
    decisions = StepDecisions(wait)
    try:
        while (asked := ask(decisions)) is None:
            paused = [decisions.paused] if decisions.paused else []
            record(paused)
            _check_money([*decisions.made, *paused])
            wait.until_next_try(_calls_of(paused))
        _check_money(asked)
    except BaseException:  # also an interruption
        record(decisions.made)
        raise
    return asked


def _calls_of(asked: Sequence[AskedMember]) -> tuple[Call, ...]:
    return tuple(call for each in asked for call in each.decision.calls)


def _check_money(asked: Sequence[AskedMember]) -> None:
    """Raise MoneySpentError if the budget did not cover a call of one of these decisions."""
    for decision in (each.decision for each in asked):
        if decision.fallback in {BudgetSpentError.code, UnpricedError.code}:
            raise MoneySpentError(decision.calls[-1].error_text if decision.calls else decision.fallback)


def take_and_log_step(course: RunningEpisode, step: StepMade) -> StepEntry:
    """Run the step in the episode, and return the log entry that describes it."""
    decision, effects = _decided(course, step), course.effects
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
        effects=effects,
    )


def _decided(course: RunningEpisode, step: StepMade) -> DecisionMade:
    """Return one decision for the log entry of a step, merged from all decisions. If no agent decided, it
    says who gave the seats their commands. In an organisation, it has no memories or notes, which stay in the
    members' decisions."""
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
def unforeseen() -> Iterator[None]:
    """Log any error of the co-player or the world, and raise it as EpisodeFailedError."""
    try:
        yield
    except Exception as error:  # a co-player may fail with any error
        failed = EpisodeFailedError.by(error)
        log.error("an episode failed: %s", failed)
        raise failed from error


def new_world(job: EpisodeJob, steps: int = 0) -> World:
    """Return a new world for this episode. `steps` 0 means the usual number of steps."""
    return world_at_start(log_head(job, "", {}, steps))
