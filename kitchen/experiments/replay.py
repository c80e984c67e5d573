"""Playing logs again from what models answered then, at no cost: the same prompts, commands and states?

Every step is played for itself: the co-player is given what it was given then (its memory too), its model's
place is taken by the stored answers, and what it asks, commands, says and remembers is compared, and the
state that follows. No key is needed and nobody is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from kitchen.agents.teams import DecisionMade, StepMade, Team
from kitchen.contract.agent import Agent
from kitchen.contract.world import Json, WorldError, canonical_json
from kitchen.experiments.course import Course
from kitchen.experiments.entries import Entry, said_to_json, same_request
from kitchen.experiments.log import Log
from kitchen.experiments.play import SECONDS
from kitchen.experiments.rows import Row
from kitchen.experiments.tally import row_of
from kitchen.llm.registry import STAND_IN
from kitchen.llm.stored_answers import StoredAnswers
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world

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
class Replay:
    """What came of playing one log again."""

    episode: str
    steps: int = 0
    calls: int = 0
    """Stored answers, and failures, that were given again."""
    faults: tuple[str, ...] = field(default=())
    """What was not as it had been, in words."""


def replay(log: Log, row: Row | None = None, program: str = "") -> Replay:
    """Play it again, by the version `program` of Brigade; with its row of `episodes.csv`, if it came to its
    end, that is compared, too."""
    if get_world(log.head.world).version != log.head.world_version:
        return Replay(str(log.head), faults=(OTHER_VERSION,))
    try:
        faults = tuple(_faults(log, row))
    except (WorldError, UnknownNameError) as error:
        faults = (f"it cannot be played here: {error.args[0]}",)
    if faults and log.head.program not in {"", program}:
        faults += (OTHER_PROGRAM.format(then=log.head.program, now=program),)
    calls = sum(len(each.calls) for each in log.entries)
    return Replay(str(log.head), len(log.entries), calls, faults)


def _faults(log: Log, row: Row | None) -> Iterator[str]:
    course = Course(log.head)
    agents = course.agents()
    for entry in log.entries:
        if entry.asked:
            yield from (f"step {entry.step}: {why}" for why in _of_step(course, agents, entry))
        if not course.repeat(entry):
            yield f"step {entry.step}: {OTHER_STATE}"
    if row is not None and not course.is_over:
        yield NOT_TO_ITS_END
    elif row is not None and _is_other(row, row_of(course, log)):
        yield OTHER_ROW


def _of_step(course: Course, agents: Mapping[int, Agent], entry: Entry) -> Iterator[str]:
    answers = _answers(course.team, entry)
    try:
        step = course.step_of(course.ask(agents, answers.get, seconds=SECONDS))
    except Exception as error:  # a co-player may fail in any way
        yield f"the co-player failed ({type(error).__name__})"
    else:
        given = {id(each): each for each in answers.values()}
        for each in given.values():
            yield from each.differences()
        yield from _differences(entry, step, course.kept(entry))


def _answers(team: Team, entry: Entry) -> dict[int, StoredAnswers]:
    """The stored answers of a step by member: its own in an organisation, else the same for all."""
    numbers = [member.number for member in team.members]
    if team.organisation is None:
        return dict.fromkeys(numbers, StoredAnswers(entry.calls, same_request))
    calls = {each.member: each.calls for each in entry.decisions}
    return {number: StoredAnswers(calls.get(number, ()), same_request) for number in numbers}


def _is_other(then: Row, now: Row) -> bool:
    """Whether two rows differ; a column that came later is blank in a file of before."""
    return any(
        getattr(then, each.name) not in (getattr(now, each.name), each.default) for each in fields(Row)
    )


def _differences(entry: Entry, now: StepMade, then: StepMade) -> Iterator[str]:
    if list(now.commands.items()) != list(then.commands.items()):
        yield OTHER_COMMANDS
    if [each.member for each in now.decisions] != [each.member for each in then.decisions]:
        yield OTHER_PLAYER
        return
    pairs = list(zip(now.decisions, then.decisions, strict=True))
    if any(each.plans != kept.plans for each, kept in pairs):
        yield OTHER_PLANS
    if any((each.played_by, each.fallback) != (kept.played_by, kept.fallback) for each, kept in pairs):
        yield OTHER_PLAYER
    if any(_remembers_otherwise(each, kept) for each, kept in pairs):
        yield OTHER_MEMORY
    if json.loads(json.dumps(_said(now))) != _said(then):
        yield OTHER_MESSAGES


def _said(step: StepMade) -> list[Json]:
    return [said_to_json(said) for said in step.messages]


def _remembers_otherwise(now: DecisionMade, then: DecisionMade) -> bool:
    """Whether something else is remembered. Commands of the stand-in come from the planner, whose plan is
    remembered where it is asked: here it is not."""
    if any(call.provider == STAND_IN for call in then.calls):
        return False
    return canonical_json(now.memory) != canonical_json(then.memory)
