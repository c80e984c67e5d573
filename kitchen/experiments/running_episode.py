"""Hold the state of an episode of agents alone, and compute its result row at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from kitchen.agents.agent_team import DecisionMade, StepMade, Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import Agent
from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.decision_notes import (
    PredictionAccuracy,
    ReplyReadings,
    predictions_in,
    reading_from_note,
)
from kitchen.contract.language_model import total_cost
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, World
from kitchen.experiments.episode_rows import FAILED, REQUIRED_COLUMNS, EpisodeRow, counts_text
from kitchen.experiments.experiment_setup import EpisodeJob
from kitchen.experiments.log_entries import LogHead, StepEntry
from kitchen.experiments.log_files import LogError, PlayedLog
from kitchen.registry.agent_registry import make_agents
from kitchen.registry.world_metrics import share_count_values, with_log_metrics
from kitchen.registry.world_registry import get_ground, get_world


class RunningEpisode(EpisodeLoop):
    """The state of an episode in progress, from its start."""

    def __init__(self, head: LogHead) -> None:
        """Make world and team from the head of a log. Raises WorldError if one cannot be made."""
        self.head = head
        super().__init__(world_at_start(head), head.seed, team_of_log(head), head.world_settings)

    def agents(self) -> dict[int, Agent]:
        """Make the agent of each member, by its number. Raises SettingsError or UnknownNameError."""
        numbers = (member.number for member in self.team.members)
        return dict(zip(numbers, make_agents(self.team.kinds, self.head.settings), strict=True))

    def score(self) -> dict[str, Json]:
        """Return the score of the episode, with the metrics computed from its log."""
        return with_log_metrics(self.game.score(), self.log())

    def repeat(self, entry: StepEntry) -> bool:
        """Replay one logged step; return whether it leads to the same state and the same reports."""
        reports = self.take(self.logged_step(entry))
        logged = tuple(message for message in entry.messages if message.step > entry.step)
        return self.game.state_hash() == entry.state_hash and reports == logged

    def logged_step(self, entry: StepEntry) -> StepMade:
        """Return the coming step as logged in this entry; raise LogError if it does not fit the team."""
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
        """Return whether the members that decided and remember are those of this team."""
        numbers = {member.number for member in self.team.members}
        if self.team.organisation is not None:
            made = {each.member for each in entry.decisions}
            return entry.asked == bool(made) and made <= numbers
        if entry.decisions or len(numbers) == 1 or not entry.asked:
            return not entry.decisions
        return isinstance(entry.memory, list) and len(entry.memory) == len(numbers)

    def catch_up(self, log: PlayedLog) -> None:
        """Replay this log. Raises LogError if it belongs to another episode or leads to another state."""
        if _without_program(log.head) != json.loads(json.dumps(_without_program(self.head))):
            raise LogError(f"is not the log of {self.head}, as it is played now")
        for entry in log.entries:
            if not self.repeat(entry):
                raise LogError(f"leads elsewhere from step {entry.step} on")


def world_at_start(head: LogHead) -> World:
    """Make the world of an episode at its start; raise WorldError if that is impossible."""
    game = get_world(head.world).create(seats=head.agents, settings=head.world_settings)
    game.reset(head.seed)
    return game


def team_of_log(head: LogHead) -> Team:
    """Return the team that plays an episode; raise SettingsError if it does not fit the seats."""
    organisation = None if head.organisation is None else Organisation.from_json(head.organisation)
    return Team.of(head.coplayer, head.agents, organisation, head.knowing)


def _without_program(head: LogHead) -> dict[str, Json]:
    return {**head.to_json(), "program": ""}


_TEXTS = ("fallback_codes", "played_by", "model", "state_hash")


def failed_row(job: EpisodeJob, reason: str) -> EpisodeRow:
    """Return the row of an episode that an error ended."""
    variant, level, agents = job.column.key
    values: dict[str, Any] = dict.fromkeys(REQUIRED_COLUMNS, 0) | dict.fromkeys(_TEXTS, "")
    values |= {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "cost": None}
    return EpisodeRow(
        **values | {"episode": job.episode, "seed": job.seed, "outcome": FAILED, "reason": reason}
    )


def episode_row(course: RunningEpisode, log: PlayedLog) -> EpisodeRow:
    """Compute the row of a finished episode from its log; calls of steps not taken count as well."""
    head, game = course.head, course.game
    decided = [made for entry in log.entries for made in _decisions(entry)]
    calls, why = log.calls, Counter(each.fallback for each in decided if each.fallback)
    times = [each.milliseconds for each in decided] or [0.0]
    (completed, failed), figure = _counts(head.world, course.score())
    foresight = PredictionAccuracy.of(predictions_in(each.note for each in decided))
    cost = total_cost(call.cost for call in calls)
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
    )


def _decisions(entry: StepEntry) -> tuple[StepEntry | DecisionMade, ...]:
    """Return every decision of a step: of each member in an organisation, else the joint one, if any."""
    return entry.decisions or ((entry,) if entry.asked else ())


def _counts(world: str, score: Mapping[str, Json]) -> tuple[tuple[int, int], float | None]:
    """Return (completed, failed) and the compared metric; None if undefined or not compared."""
    ground = get_ground(world)
    if not isinstance(ground, ComparisonBenchmark):
        return share_count_values(world, score), None
    value = score[ground.figure]
    return (0, 0), None if value is None else float(value)


def _read(course: RunningEpisode, decided: Iterable[StepEntry | DecisionMade]) -> dict[str, Any]:
    """Return the columns about how model replies were parsed."""
    seats = {member.number: len(member.seats) for member in course.team.members}
    if course.team.organisation is None:
        seats = {}
    made = ((each.note, seats.get(getattr(each, "member", -1), course.game.seats)) for each in decided)
    return sum((ReplyReadings.of(reading_from_note(*each)) for each in made), ReplyReadings()).columns
