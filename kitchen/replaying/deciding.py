"""Co-players of language models asked again: with what was answered then they give the same commands.

Each decision is made for itself: its mind is told what it was told then, its model's place is taken by the
stored replies, and what it asks and commands is compared. No key is needed, and nobody is called.

Some cannot be made again from what is stored (`why_not_again`): those of a clock, where a mind thinks beside
the game, minds that talk within a step, of seats that changed hands, and those that came after others of the
same mind that were dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kitchen.contract.agent import EVERYBODY, PEOPLE, TO_ANSWER
from kitchen.contract.mailbox import HEARD
from kitchen.contract.model import Call, Message, Reply, Request, Usage
from kitchen.contract.organisation import Organisation
from kitchen.contract.plans import WORLD
from kitchen.contract.world import Command, World
from kitchen.llm.sent import TOOL, read_tool, sent
from kitchen.llm.stored_answers import StoredAnswers
from kitchen.machine.storable import printable
from kitchen.play.asking import Asked, MindOutcome, checked, situation_told, to_hand_in
from kitchen.play.dropping import REMEMBERED
from kitchen.play.models import Decision, Mind, SeatCommand
from kitchen.play.stored import read_stored_command
from kitchen.registry.agents import agent_kinds, get_agent, make_agent
from kitchen.replaying.course import step_again, world_at_start
from kitchen.replaying.record import CallRecord, Record
from kitchen.replaying.rewound import Rewound

OTHER_COMMANDS = "other commands came out"
FAILED = "it failed ({name})"
OF_HOUSE = frozenset({"timeout", "error", "outage"})
"""Fallbacks that the house chose: nobody knows what the mind would have said."""
SECONDS = 3600.0
"""Time for what is answered at once."""


@dataclass(frozen=True, slots=True)
class Again:
    """What came of one decision."""

    step: int
    mind: int
    """Its number."""
    replies: int
    """Stored replies, and failures, that were given again."""
    fault: str = ""
    """The first thing that is not as it was, in words."""
    why_not: str = ""
    """Why it cannot be made again from what is stored, one of WHY; empty where it is."""


def decisions_again(record: Record) -> Iterator[Again]:
    """Every decision of a mind that asks language models, in order, but for those of which nothing came.
    WorldError or UnknownNameError where the episode cannot be played here."""
    minds = {mind.pk: mind for mind in record.minds if _asks_models(mind)}
    rows = [row for row in record.decisions if row.mind_id in minds and not row.dropped]
    if not rows:
        return
    world = world_at_start(record)
    for step, taken in enumerate([*record.steps, None], start=1):
        for row in [each for each in rows if each.step == step]:
            yield _again(record, world, minds[row.mind_id], row)
        if taken is not None:
            step_again(world, taken)


CLOCK, CHANGED, TALK = "a clock took the steps", "seats changed hands", "they talked within the step"
LATE, HOUSE = "it was not asked in this very step", "it was late or failed"
DROPPED = "others of the same co-player had just been dropped"
WHY = (CLOCK, CHANGED, TALK, LATE, HOUSE, DROPPED)
"""Why a decision cannot be made again from what is stored."""


def why_not_again(record: Record, row: Decision) -> str:
    """Why not all that this decision came from is stored, one of WHY; empty where it is."""
    if why := _why_not_here(record):
        return why
    if row.because == TO_ANSWER or row.seen_step != row.step - 1:
        return TALK if row.because == TO_ANSWER else LATE
    if row.fallback in OF_HOUSE:
        return HOUSE
    vain = (each for each in record.decisions if each.dropped and each.mind_id == row.mind_id)
    return DROPPED if any(row.step - REMEMBERED <= each.step <= row.step for each in vain) else ""


def _why_not_here(record: Record) -> str:
    """The same for all decisions of an episode."""
    episode, stored = record.episode, record.episode.organisation
    if episode.tick_ms is not None or episode.gone:
        return CHANGED if episode.tick_ms is None else CLOCK
    return TALK if stored is not None and Organisation.from_json(stored).talks_within else ""


def _asks_models(mind: Mind) -> bool:
    return mind.kind in agent_kinds() and bool(get_agent(mind.kind).names_model)


def _again(record: Record, world: World, mind: Mind, row: Decision) -> Again:
    if why := why_not_again(record, row):
        return Again(row.step, mind.number, 0, why_not=why)
    calls = record.calls_of.get(row.pk, [])
    try:
        fault = _fault(record, world, mind, row, calls)
    except Exception as error:  # a co-player may fail in any way
        fault = FAILED.format(name=type(error).__name__)
    return Again(row.step, mind.number, len(calls), fault)


def _fault(record: Record, world: World, mind: Mind, row: Decision, calls: Sequence[CallRecord]) -> str:
    """The first thing that is otherwise than then; empty: nothing is."""
    answers = StoredAnswers([_call(each) for each in calls], _asks_the_same)
    turn = Rewound(record, row.step - 1, world, _heard(row))
    told = situation_told(turn, mind, _known_then(record, turn, mind))
    situation = replace(told, because=row.because, seconds=SECONDS, answers=answers)
    decision = checked(make_agent(mind.kind, mind.settings).decide(situation))
    asked = Asked(mind, situation, MindOutcome(decision))
    return next(answers.differences(), "") or _difference(record, world, asked, row.step)


def _heard(row: Decision) -> int:
    """The last message that its mind could know."""
    heard = row.note.get(HEARD, 0) if isinstance(row.note, dict) else 0
    return heard if isinstance(heard, int) else 0


def _known_then(record: Record, turn: Rewound, mind: Mind) -> dict[int, Command]:
    """The commands of the step that were in, and that the episode lets this mind know: of people, and of
    minds that are asked before it."""
    knowing = turn.episode.knowing
    if knowing not in {EVERYBODY, PEOPLE}:
        return {}
    before = {each.pk for each in record.minds if each.number < mind.number and knowing == EVERYBODY}
    seats = {seat.number for seat in turn.acting if seat.is_person or seat.mind_id in before}
    rows = [row for row in record.commands if row.step == turn.step and row.seat in seats]
    settled = {seat: row for seat, row in turn.given.items() if knowing == EVERYBODY}
    return {row.seat: read_stored_command(row.command) for row in [*settled.values(), *rows]}


def _difference(record: Record, world: World, asked: Asked, step: int) -> str:
    """What it commands now beside what is stored of it."""
    commands, _ = to_hand_in([asked], step=step, idle=world.idle)
    now = {each.seat: (tuple(each.command), tuple(each.then), each.chosen_by) for each in commands}
    then = {row.seat: _stored(row) for row in _of_mind(record.commands, asked.asked, step)}
    return "" if now == then else OTHER_COMMANDS


def _of_mind(rows: Sequence[SeatCommand], seats: Sequence[int], step: int) -> Iterator[SeatCommand]:
    for row in rows:
        if row.step == step and row.seat in seats and row.chosen_by != WORLD:
            yield row


def _stored(row: SeatCommand) -> tuple[Command, tuple[Command, ...], str]:
    then = tuple(map(read_stored_command, row.to_follow or ()))
    return read_stored_command(row.command), then, row.chosen_by


def _call(call: CallRecord) -> Call:
    """The call as its mind knew it, as far as it is stored."""
    row, messages = call.row, [(role, text) for role, text in call.sent if role != TOOL]
    tool = next((read_tool(text) for role, text in call.sent if role == TOOL), None)
    said = tuple(Message(role, text) for role, text in messages)  # type: ignore[arg-type]
    request = Request(row.model_asked, said, tool=tool)
    usage = Usage(row.tokens_input, row.tokens_output, row.tokens_cache_read, row.tokens_cache_write)
    cost = None if row.cost is None else float(row.cost)
    known: dict[str, Any] = {"usage": usage, "seconds": row.seconds, "cost": cost}
    if row.error:
        return Call(row.provider, request, None, row.error, row.error_text, row.reply, **known)
    reply = Reply(row.reply, row.reply_call, row.model_named, row.stop, reasoning=row.reasoning, **known)
    return Call(row.provider, request, reply, **known)


def _asks_the_same(then: Request, now: Request) -> bool:
    """The same texts are sent to the same model, as they can be stored."""
    texts = [(role, printable(text)) for role, text in sent(now)]
    return then.model == printable(now.model)[:120] and sent(then) == texts
