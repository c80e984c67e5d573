"""Verify that an episode and its agents' decisions can be reproduced from the stored data.

Each agent with a language model gets its recorded situation and the stored model replies again. No model is
called. The agent's requests and commands are compared with the stored ones. `why_not_repeatable` says why a
decision cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from kitchen.contract.agent import EVERYBODY, PEOPLE, REASON_TO_ANSWER
from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.language_model import Call, Message, Reply, Request, Usage
from kitchen.contract.mailbox import HEARD_KEY
from kitchen.contract.organisation import Organisation
from kitchen.contract.talk_cost import charge_talk
from kitchen.contract.world import Command, World
from kitchen.infra.storable_json import storable_text
from kitchen.llm.recorded_calls import TOOL_ROLE, RecordedCalls, request_texts, tool_from_text
from kitchen.play.coplayers.agent_situations import (
    AskedMind,
    MindOutcome,
    checked_decision,
    commands_and_decisions,
    situation_with_commands,
)
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Mind, SeatCommand
from kitchen.play.turn.decision_records import REMEMBERED_STEPS
from kitchen.play.turn.due_decisions import is_scheduled
from kitchen.registry.agent_registry import agent_kinds, decide_with_settings, get_agent
from kitchen.replay.episode_record import CallRecord, EpisodeRecord, read_episode_records
from kitchen.replay.step_replay import PastTurn, initial_world, replay_faults, replay_step

OTHER_COMMANDS = "other commands came out"
READ_DIFFERENTLY = "the reply is read differently by this version"
"""The same, where the model's replies were free text."""
FAILED = "it failed ({name})"
PLATFORM_FALLBACKS = frozenset({"timeout", "error", "outage"})
"""Fallbacks chosen by the system. The agent's own decision is unknown."""
DECISION_SECONDS = 3600.0
"""Time limit of a repeated decision, in which everything is answered at once."""


@dataclass(frozen=True, slots=True)
class RepeatedDecision:
    """The result of repeating one agent's decision with the stored model replies."""

    step: int
    mind: int
    """The agent's number."""
    replies: int
    """Number of stored replies, and failures, that were given again."""
    fault: str = ""
    """The first difference, as text; empty if there is none."""
    why_not: str = ""
    """The reason why it cannot be repeated, one of `REASONS_NOT_REPEATABLE`. Empty if it was repeated."""


def repeat_decisions(record: EpisodeRecord) -> Iterator[RepeatedDecision]:
    """Repeat all decisions of agents with language models from the stored replies, and yield each result.
    Decisions that had no effect are left out.

    Raises WorldError or UnknownNameError if the episode's version of the world is not available.
    """
    known = agent_kinds()
    minds = {
        mind.pk: mind for mind in record.minds if mind.kind in known and get_agent(mind.kind).names_model
    }
    rows = [row for row in record.decisions if row.mind_id in minds and not row.dropped]
    if not rows:
        return
    world = initial_world(record)
    for step, taken in enumerate([*record.steps, None], start=1):
        for row in [each for each in rows if each.step == step]:
            yield _repeat_decision(record, world, minds[row.mind_id], row)
        if taken is not None:
            replay_step(world, taken)


CLOCK, CHANGED, TALK = "a clock took the steps", "seats changed hands", "they talked within the step"
LATE, PLATFORM_DECIDED = "it was not asked in this very step", "it was late or failed"
DROPPED = "others of the same co-player had just been dropped"
SCHEDULED = "members were asked at different times"
REASONS_NOT_REPEATABLE = (CLOCK, CHANGED, TALK, SCHEDULED, LATE, PLATFORM_DECIDED, DROPPED)
"""Reasons why a decision cannot be repeated from what is stored."""


def why_not_repeatable(record: EpisodeRecord, row: Decision) -> str:
    """Return the reason why this decision cannot be repeated (one of `REASONS_NOT_REPEATABLE`). Empty if
    it can."""
    if why := _why_not_here(record):
        return why
    if row.because == REASON_TO_ANSWER or row.seen_step != row.step - 1:
        return TALK if row.because == REASON_TO_ANSWER else LATE
    if row.fallback in PLATFORM_FALLBACKS:
        return PLATFORM_DECIDED
    vain = (each for each in record.decisions if each.dropped and each.mind_id == row.mind_id)
    return DROPPED if any(row.step - REMEMBERED_STEPS <= each.step <= row.step for each in vain) else ""


def _why_not_here(record: EpisodeRecord) -> str:
    """Return the reason why the agents' decisions in this episode cannot be repeated. Return an empty text
    if they can."""
    episode, stored = record.episode, record.episode.organisation
    if episode.tick_ms is not None or episode.gone:
        return CHANGED if episode.tick_ms is None else CLOCK
    if stored is None:
        return ""
    organisation = Organisation.from_json(stored)
    return TALK if organisation.talks_within else SCHEDULED if is_scheduled(organisation) else ""


def _repeat_decision(record: EpisodeRecord, world: World, mind: Mind, row: Decision) -> RepeatedDecision:
    if why := why_not_repeatable(record, row):
        return RepeatedDecision(row.step, mind.number, 0, why_not=why)
    calls = record.calls_of.get(row.pk, [])
    try:
        fault = _fault(record, world, mind, row, calls)
    except Exception as error:  # an agent may fail in any way
        fault = FAILED.format(name=type(error).__name__)
    return RepeatedDecision(row.step, mind.number, len(calls), fault)


def _fault(
    record: EpisodeRecord, world: World, mind: Mind, row: Decision, calls: Sequence[CallRecord]
) -> str:
    """Repeat a decision and return its first difference from the stored decision. Return an empty text if
    there is no difference."""
    answers = RecordedCalls([_call(each) for each in calls], _asks_the_same)
    turn = PastTurn(record, row.step - 1, world, _last_heard(row))
    past_situation = situation_with_commands(turn, mind, _known_then(record, turn, mind))
    request = replace(past_situation.request, because=row.because)
    situation = replace(past_situation, request=request).limited(seconds=DECISION_SECONDS, answers=answers)
    made = decide_with_settings(mind.kind, mind.settings, situation)
    decision = checked_decision(charge_talk(situation, made))
    asked = AskedMind(mind, situation, MindOutcome(decision))
    if why := next(answers.differences(), ""):
        return why
    if _gives_the_same(record, world, asked, row.step):
        return ""
    return READ_DIFFERENTLY if _is_free_text(calls) else OTHER_COMMANDS


def _is_free_text(calls: Sequence[CallRecord]) -> bool:
    """Return whether all replies of a decision were text, not structured lists."""
    replies = [each.row for each in calls if not each.row.error]
    return bool(replies) and all(row.reply and row.reply_call is None for row in replies)


def _last_heard(row: Decision) -> int:
    """Return the number of the last message that the agent had received for this decision."""
    last = row.note.get(HEARD_KEY, 0) if isinstance(row.note, dict) else 0
    return last if isinstance(last, int) else 0


def _known_then(record: EpisodeRecord, turn: PastTurn, mind: Mind) -> dict[int, Command]:
    """Return the commands of people, and of agents asked earlier in the step, that this agent may know."""
    knowing = turn.episode.knowing
    if knowing not in {EVERYBODY, PEOPLE}:
        return {}
    before = {each.pk for each in record.minds if each.number < mind.number and knowing == EVERYBODY}
    seats = {seat.number for seat in turn.acting if seat.is_person or seat.mind_id in before}
    rows = [row for row in record.commands if row.step == turn.step and row.seat in seats]
    settled = {seat: row for seat, row in turn.given.items() if knowing == EVERYBODY}
    return {row.seat: tuple(row.command) for row in [*settled.values(), *rows]}


def _gives_the_same(record: EpisodeRecord, world: World, asked: AskedMind, step: int) -> bool:
    """Return whether the repeated commands are the stored ones."""
    commands, _ = commands_and_decisions([asked], step=step, idle=world.idle)
    now = {each.seat: (tuple(each.command), tuple(each.then), each.chosen_by) for each in commands}
    rows = [row for row in record.commands if row.step == step and row.seat in asked.asked_seats]
    then = {row.seat: _stored(row) for row in rows if row.chosen_by not in NOT_ASKED}
    return now == then


def _stored(row: SeatCommand) -> tuple[Command, tuple[Command, ...], str]:
    then = tuple(map(tuple, row.to_follow or ()))
    return tuple(row.command), then, row.chosen_by


def _call(call: CallRecord) -> Call:
    """Rebuild a model call from its stored parts, in the form in which the agent received it."""
    row, messages = call.row, [(role, text) for role, text in call.sent if role != TOOL_ROLE]
    tool = next((tool_from_text(text) for role, text in call.sent if role == TOOL_ROLE), None)
    sent = tuple(Message(role, text) for role, text in messages)  # type: ignore[arg-type]
    request = Request(row.model_asked, sent, tool=tool)
    cached = (row.tokens_cache_read, row.tokens_cache_write)
    usage = Usage(row.tokens_input, row.tokens_output, *cached, row.tokens_thinking or 0)
    cost = None if row.cost is None else float(row.cost)
    known: dict[str, Any] = {"usage": usage, "seconds": row.seconds, "cost": cost}
    if row.error:
        return Call(row.provider, request, None, row.error, row.error_text, row.reply, **known)
    reply = Reply(row.reply, row.reply_call, row.model_named, row.stop, reasoning=row.reasoning, **known)
    return Call(row.provider, request, reply, **known)


def _asks_the_same(then: Request, now: Request) -> bool:
    """Return whether two model requests send the same texts to the same model. Texts that cannot be stored
    are not compared."""
    texts = [(role, storable_text(text)) for role, text in request_texts(now)]
    return then.model == storable_text(now.model)[:120] and request_texts(then) == texts


DECISION_FAULT = "step {step}, co-player {mind}: {why}, from what was answered then"
READING_FAULT = "step {step}, co-player {mind}: {why}"


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """The result of verifying one episode by a replay."""

    episode: str
    """The episode's key."""
    fault: str
    """The first difference, as text; empty if there is none."""
    decisions: int = 0
    """Number of decisions by agents with language models."""
    replies: int = 0
    """Number of stored replies, and failures, that were given again."""
    left_out: tuple[str, ...] = ()
    """The reason of each decision that cannot be repeated, one of `REASONS_NOT_REPEATABLE`."""
    note: str = ""
    """The first difference that shows no change of the data: a text that this version reads differently, in
    an episode whose seal is valid."""


def verify_replays(episodes: QuerySet[Episode]) -> Iterator[ReplayVerdict]:
    """Check the log of each of these episodes, replay the episode, and repeat its decisions. Yield the
    results, ordered by id. Episodes that are erased during this are left out."""
    for record in read_episode_records(episodes):
        for written in verify_episode_logs(Episode.objects.filter(pk=record.episode.pk)):
            fault = next(replay_faults(record), "") or next(map(str, written.faults), "")
            yield (
                ReplayVerdict(written.episode, fault)
                if fault
                else _verdict_of_decisions(record, is_sealed=written.is_over and written.is_sealed)
            )


def _verdict_of_decisions(record: EpisodeRecord, *, is_sealed: bool) -> ReplayVerdict:
    """Repeat the decisions of an episode, and return the verdict. The replay of the episode must already
    match its log. `is_sealed` tells that its seal is valid."""
    repeated = list(repeat_decisions(record))
    wrong = [each for each in repeated if each.fault]
    noted = [each for each in wrong if is_sealed and each.fault == READ_DIFFERENTLY]
    return ReplayVerdict(
        str(record.episode.key),
        next((_in_words(each) for each in wrong if each not in noted), ""),
        decisions=len(repeated),
        replies=sum(each.replies for each in repeated),
        left_out=tuple(each.why_not for each in repeated if each.why_not),
        note=next(map(_in_words, noted), ""),
    )


def _in_words(repeated: RepeatedDecision) -> str:
    """Return one line about the difference in a repeated decision."""
    text = READING_FAULT if repeated.fault == READ_DIFFERENTLY else DECISION_FAULT
    return text.format(step=repeated.step, mind=repeated.mind, why=repeated.fault)
