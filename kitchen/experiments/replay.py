"""Playing logs again from what models answered then, at no cost: the same prompts, commands and states?

Every step is played for itself: the co-player is given what it was given then (its memory too), its model's
place is taken by the stored answers, and what it asks, commands and remembers is compared, and the state that
follows. No key is needed and nobody is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

from kitchen.contract.agent import Agent, Decision
from kitchen.contract.world import WorldError, canonical_json
from kitchen.experiments.course import Course
from kitchen.experiments.entries import Entry, same_request
from kitchen.experiments.log import Log
from kitchen.experiments.play import SECONDS
from kitchen.experiments.rows import Row
from kitchen.experiments.tally import row_of
from kitchen.llm.registry import STAND_IN
from kitchen.llm.stored_answers import StoredAnswers
from kitchen.registry.agents import make_mind
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world

OTHER_COMMANDS = "other commands came out"
OTHER_PLANS = "something else was to follow"
OTHER_PLAYER = "somebody else decided"
OTHER_MEMORY = "something else was remembered"
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
    course, agent = Course(log.head), make_mind(log.head.coplayer, log.head.settings)
    for entry in log.entries:
        if entry.asked:
            yield from (f"step {entry.step}: {why}" for why in _of_step(log, course, agent, entry))
        if not course.repeat(entry):
            yield f"step {entry.step}: {OTHER_STATE}"
    if row is not None and not course.is_over:
        yield NOT_TO_ITS_END
    elif row is not None and _is_other(row, row_of(log.head, course.game, log)):
        yield OTHER_ROW


def _of_step(log: Log, course: Course, agent: Agent, entry: Entry) -> Iterator[str]:
    answers = StoredAnswers(entry.calls, same_request)
    try:
        decision = agent.decide(course.situation(seconds=SECONDS, answers=answers))
    except Exception as error:  # a co-player may fail in any way
        yield f"the co-player failed ({type(error).__name__})"
    else:
        decision = replace(decision, commands=course.all_of(decision.commands))
        yield from _differences(log, entry, decision, answers)


def _is_other(then: Row, now: Row) -> bool:
    """Whether two rows differ; a column that came later is blank in a file of before."""
    return any(
        getattr(then, each.name) not in (getattr(now, each.name), each.default) for each in fields(Row)
    )


def _differences(log: Log, entry: Entry, decision: Decision, answers: StoredAnswers) -> Iterator[str]:
    yield from answers.differences()
    if list(decision.commands.items()) != list(entry.commands.items()):
        yield OTHER_COMMANDS
    if {seat: tuple(then) for seat, then in decision.plans.items()} != entry.plans:
        yield OTHER_PLANS
    if (decision.played_by or log.head.coplayer, decision.fallback) != (entry.played_by, entry.fallback):
        yield OTHER_PLAYER
    if not _is_by_stand_in(entry) and canonical_json(decision.memory) != canonical_json(entry.memory):
        yield OTHER_MEMORY


def _is_by_stand_in(entry: Entry) -> bool:
    """Its commands come from the planner, whose plan is remembered where it is asked: here it is not."""
    return any(call.provider == STAND_IN for call in entry.calls)
