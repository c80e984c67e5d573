"""Replay a logged episode, and compare prompts, commands and states with the log.

Each step starts from its logged situation and agent memory. Logged answers take the place of model calls, so
no API key is needed. If an agent is not repeatable (`Agent.repeatable`), no agent is asked, and only the
states are compared with the log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields

from kitchen.agents.agent_team import DecisionMade, StepMade, Team
from kitchen.contract.agent import Agent, DecisionLimits
from kitchen.contract.world import Json, canonical_json
from kitchen.contract.world_errors import WorldError
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.log_entries import StepEntry, message_to_json, same_request
from kitchen.experiments.log_files import PlayedLog
from kitchen.experiments.play_episodes import DECISION_SECONDS, RunningEpisode, episode_row
from kitchen.llm.provider_registry import STAND_IN
from kitchen.llm.recorded_calls import RecordedCalls
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world

OTHER_COMMANDS = "other commands came out"
OTHER_PLANS = "something else was to follow"
OTHER_PLAYER = "somebody else decided"
OTHER_MEMORY = "something else was remembered"
OTHER_MESSAGES = "something else was said"
OTHER_STATE = "it led to another state"
OTHER_ROW = "its row in episodes.csv is not what its log comes to"
NOT_TO_ITS_END = "its log does not come to the end"
OTHER_VERSION = "it was played by another version of the world"
OTHER_PROGRAM = "it was begun by Brigade {then}; this is {now}"


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of replaying one log: how much was replayed, and the differences."""

    episode: str
    steps: int = 0
    calls: int = 0
    """Number of stored answers and failures of models that were replayed."""
    faults: tuple[str, ...] = field(default=())
    """Differences from the log, as texts."""


def replay_log(log: PlayedLog, row: EpisodeRow | None = None, program: str = "") -> ReplayResult:
    """Replay a log, and return the result with all differences.

    `program` is the present version of this application. If `row`, the episode's row in `episodes.csv`, is
    given, it is compared, too.
    """
    if get_world(log.head.world).version != log.head.world_version:
        return ReplayResult(str(log.head), faults=(OTHER_VERSION,))
    try:
        faults = tuple(_faults(log, row))
    except (WorldError, UnknownNameError) as error:
        faults = (f"it cannot be played here: {error.args[0]}",)
    if faults and log.head.program not in {"", program}:
        faults += (OTHER_PROGRAM.format(then=log.head.program, now=program),)
    calls = sum(len(each.calls) for each in log.entries)
    return ReplayResult(str(log.head), len(log.entries), calls, faults)


def _faults(log: PlayedLog, row: EpisodeRow | None) -> Iterator[str]:
    course = RunningEpisode(log.head)
    agents = course.agents()
    asks_again = all(agent.repeatable for agent in agents.values())
    for entry in log.entries:
        if entry.asked and asks_again:
            yield from (f"step {entry.step}: {why}" for why in _of_step(course, agents, entry))
        if not course.repeat(entry):
            yield f"step {entry.step}: {OTHER_STATE}"
    if row is not None and not course.is_over:
        yield NOT_TO_ITS_END
    elif row is not None and _is_other(row, episode_row(course, log)):
        yield OTHER_ROW


def _of_step(course: RunningEpisode, agents: Mapping[int, Agent], entry: StepEntry) -> Iterator[str]:
    answers = _answers(course.team, entry)
    try:
        asked = asyncio.run(course.ask(agents, answers.get, DecisionLimits(DECISION_SECONDS)))
        step = course.step_of(asked)
    except Exception as error:  # a co-player may fail with any error
        yield f"the co-player failed ({type(error).__name__})"
    else:
        given = {id(each): each for each in answers.values()}
        for each in given.values():
            yield from each.differences()
        yield from _differences(entry, step, course.logged_step(entry))


def _answers(team: Team, entry: StepEntry) -> dict[int, RecordedCalls]:
    """Return the recorded model answers of a step, by member number. Without an organisation, all members
    share one recording."""
    numbers = [member.number for member in team.members]
    if team.organisation is None:
        return dict.fromkeys(numbers, RecordedCalls(entry.calls, same_request))
    calls = {each.member: each.calls for each in entry.decisions}
    return {number: RecordedCalls(calls.get(number, ()), same_request) for number in numbers}


def _is_other(then: EpisodeRow, now: EpisodeRow) -> bool:
    """Return whether two result rows differ. Columns that an older file lacks are not compared."""
    return any(
        getattr(then, each.name) not in (getattr(now, each.name), each.default) for each in fields(EpisodeRow)
    )


def _differences(entry: StepEntry, now: StepMade, then: StepMade) -> Iterator[str]:
    if _commands(now) != _commands(then):
        yield OTHER_COMMANDS
    if [each.member for each in now.decisions] != [each.member for each in then.decisions]:
        yield OTHER_PLAYER
        return
    pairs = list(zip(now.decisions, then.decisions, strict=True))
    if any(each.plans != before.plans for each, before in pairs):
        yield OTHER_PLANS
    if any((each.played_by, each.fallback) != (before.played_by, before.fallback) for each, before in pairs):
        yield OTHER_PLAYER
    if any(_remembers_otherwise(each, before) for each, before in pairs):
        yield OTHER_MEMORY
    if json.dumps(_messages(now), sort_keys=True) != json.dumps(_messages(then), sort_keys=True):
        yield OTHER_MESSAGES


def _commands(step: StepMade) -> list[object]:
    """Return the commands of a step, in order, and those of its decisions that take effect in a later
    step."""
    return [*step.commands.items(), *((each.due, each.commands) for each in step.decisions)]


def _messages(step: StepMade) -> list[Json]:
    later = [asdict(say) for each in step.decisions for say in each.says]
    return [*(message_to_json(message) for message in step.messages), *later]


def _remembers_otherwise(now: DecisionMade, then: DecisionMade) -> bool:
    """Return whether a replayed agent's memory differs from the logged one. Memories are not compared if a
    program imitated the model, because they contain its plan."""
    if any(call.provider == STAND_IN for call in then.calls):
        return False
    return canonical_json(now.memory) != canonical_json(then.memory)
