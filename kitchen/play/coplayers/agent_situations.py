"""Prepare the questions to the agents of a step, and check their decisions.

For each agent, the module builds the situation, which is all that the agent may know. The caller runs the
agent: `agent_decisions` does this in a worker, `instant_decisions` in the web process. The module then
converts checked decisions to rows that the caller submits.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import DatabaseError

from kitchen.agents.asking_schedule import AskingSchedule
from kitchen.contract.agent import (
    EVERYBODY,
    MAX_PLAN_STEPS,
    PEOPLE,
    REASON_PLAN_BROKEN,
    REASON_SEAT,
    REASON_TO_ANSWER,
    DecisionLimits,
    DecisionRequest,
    LateDecision,
    Situation,
    TeamTalk,
)
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.answer_delays_and_reminders import reminder_reason
from kitchen.contract.automatic_commands import PLAN_STALE, plans_for_agent, replaced_plans
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.dialogue_rounds import DialoguePosition, StepDialogue
from kitchen.contract.mailbox import LastHeard, may_see_message, reason_with_news, with_aims_of_others
from kitchen.contract.world import Command, Json, World
from kitchen.infra.log_context import error_location
from kitchen.infra.storable_json import storable_json, storable_text
from kitchen.money.budget_ledger import BudgetPurse
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.turn.conversation import (
    checked_messages,
    last_heard_by_mind,
    messages_for_agent,
    note_with_last_heard,
)
from kitchen.play.turn.decision_records import checked_intents, late_decisions, note_with_intents
from kitchen.play.turn.due_decisions import read_schedule
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.state_store import known_commands, known_events
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from kitchen.play.turn.turn_rules import asked_seats, minds_asked
from kitchen.registry.agent_registry import agent_kinds, get_agent, make_agent

log = logging.getLogger(__name__)

UNSTORABLE_ERRORS = (DatabaseError, ArithmeticError, UnicodeError, ValueError)
"""Errors of data that cannot be stored, however often it is tried. Errors of a database that is temporarily
unavailable (`db_errors.database_problem`) are among them and must be excluded.
"""


@dataclass(frozen=True, slots=True)
class MindOutcome:
    """The outcome of asking one agent: the agent's decision or its fallback's decision, the reason for a
    fallback, and the time used."""

    decision: MindDecision
    fallback: str = ""
    error: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one agent: the agent, its situation, and the number of agents that are still to be
    asked (this one included)."""

    mind: Mind
    situation: Situation
    left: int


@dataclass(frozen=True, slots=True)
class AskedMind:
    """One agent that was asked in a step, its situation, and the outcome."""

    mind: Mind
    situation: Situation
    outcome: MindOutcome
    talk: DialoguePosition | None = None
    """The point up to which the agent followed the agents' talk in this step. None if they do not talk."""

    @property
    def seats(self) -> tuple[int, ...]:
        """Return all seats that the agent commands."""
        return self.situation.seats

    @property
    def asked_seats(self) -> tuple[int, ...]:
        """Return the seats for which the agent was asked to give a command in this step."""
        return self.situation.request.asked if self.situation.request.asked is not None else self.seats


Asking = Generator[Question, MindOutcome, list[AskedMind]]
"""Generator that yields one question after another. Send it the outcome of each."""


def ask_minds(
    turn: OpenTurn, more: Mapping[int, Command] | None = None, *, only: int | None = None
) -> Asking:
    """Return a generator that yields a question to each agent that still has to decide in this step. Send the
    outcome of each question back into the generator. Its return value is the list of agents with their
    outcomes.

    `more` are people's commands, by seat, that are not submitted yet. With `only`, just the agent with this
    number is asked. The episode's setting `knowing` decides which commands of other seats an agent knows.
    """
    commanded = _commanded_in_step(turn, more or {})
    situations = _situations_of_step(turn, only)
    apart = {mind.pk for mind, situation in situations if _decides_later(turn, mind, situation)}
    return _ask(turn.world, situations, commanded, _visible_seats(turn), turn.episode.messages, apart)


def situations_for_later(turn: OpenTurn, *, only: int | None = None) -> list[tuple[Mind, Situation]]:
    """Return the agents that still have to decide this step and may do so while steps continue
    (`Agent.decides_later`). Each comes with its situation. With `only`, just the agent with this number.

    None of them knows what other agents choose in this step.
    """
    commanded = _commanded_in_step(turn, {})
    found = []
    for mind, situation in _situations_of_step(turn, only):
        if _decides_later(turn, mind, situation):
            known = _known(turn.world, situation.seats, commanded)
            found.append((mind, replace(situation, commanded={**situation.commanded, **known})))
    return found


def _decides_later(turn: OpenTurn, mind: Mind, situation: Situation) -> bool:
    """Return whether steps may continue before this agent has decided. Only agents with
    `Agent.decides_later` allow this. Such an agent does not see what others choose in this step, and they do
    not see its command."""
    organisation = turn.episode.team
    if organisation is None or not organisation.least_think_steps or mind.kind not in agent_kinds():
        return False
    try:
        return make_agent(mind.kind, mind.settings).decides_later(situation)
    except Exception as failure:  # an agent may fail in any way: the step waits, and reports it
        log.warning("a step waits for a co-player %s: %s", mind.kind, error_location(failure))
        return False


def _visible_seats(turn: OpenTurn) -> set[int]:
    """Return the seats whose commands for the current step agents may know before they decide. The episode's
    setting `knowing` defines this."""
    knowing = turn.episode.knowing
    return turn.numbers if knowing == EVERYBODY else turn.people if knowing == PEOPLE else set()


def _commanded_in_step(turn: OpenTurn, more: Mapping[int, Command]) -> dict[int, Command]:
    """Return the commands already given for the current step that agents may know, by seat. `more` adds
    commands that are not stored yet. Agents that are asked in this step but decide later are left out."""
    schedule = read_schedule(turn)
    asked = [
        schedule.organisation.member(number).seats
        for number in (schedule.questions if schedule else ())
        if schedule and schedule.asked_in[number] == turn.step
    ]
    visible_seats = _visible_seats(turn).difference(*asked)
    given = {seat: tuple(row.command) for seat, row in turn.given.items()} | dict(more)
    return {seat: command for seat, command in given.items() if seat in visible_seats}


def _situations_of_step(turn: OpenTurn, only: int | None) -> list[tuple[Mind, Situation]]:
    waiting = {mind.pk for mind in minds_asked(turn)}
    minds = [mind for mind in minds_of_step(turn) if only in {None, mind.number}]
    late = late_decisions([mind for mind in minds if _may_be_late(mind)], turn.step)
    schedule = read_schedule(turn)
    situations = []
    for mind in minds:
        if mind.pk not in waiting:
            situations.append((mind, situation_to_answer(turn, mind)))
            continue
        situation = situation_to_open(turn, mind, late=late.get(mind.pk, ()))
        situations.append((mind, _with_schedule(situation, schedule) if schedule else situation))
    return situations


def _with_schedule(situation: Situation, schedule: AskingSchedule) -> Situation:
    """Return the situation with facts from the schedule added: the dropped commands of late decisions. If a
    reminder to the member is due, the reminder becomes the reason for asking."""
    talk, step = situation.talk, situation.step + 1
    situation = replace(situation, late=(*situation.late, *schedule.late.get(talk.member, ())))
    if situation.request.because != REASON_SEAT:
        return situation
    asked_in = schedule.asked_in.get(talk.member, 0)
    return _with_reason(
        situation, reminder_reason(talk.member, step, asked_in, talk.jobs, talk.messages) or REASON_SEAT
    )


def minds_of_step(turn: OpenTurn) -> list[Mind]:
    """Return the agents that must be asked about this step. Empty if no agent has to give a command.

    Usually these are the agents that still have to give a command. If members talk within the step, agents
    with an automatic or planned command are included, too, and the order is that of the seats.
    """
    organisation = turn.episode.team
    if organisation is None or not organisation.within or turn.episode.knowing != EVERYBODY:
        return minds_asked(turn)
    called = asked_seats(turn) | turn.decided
    asked = {seat.mind_id for seat in turn.seats if seat.number in called}
    waiting = {mind.pk for mind in minds_asked(turn)}
    first = {seat.mind_id: seat.number for seat in reversed(turn.seats)}
    minds = [mind for mind in turn.minds if mind.pk in waiting or mind.pk not in asked]
    return sorted(minds, key=lambda mind: first[mind.pk]) if waiting else []


def _ask(
    world: World,
    minds: Sequence[tuple[Mind, Situation]],
    commanded: dict[int, Command],
    visible_seats: Collection[int],
    sent: int,
    apart: Collection[int],
) -> Asking:
    """Ask these agents one after another, as a generator like `ask_minds`. `commanded` are the commands known
    so far, by seat; each agent's commands are added. Agents whose ids are in `apart` may decide in a later
    step."""
    before = dict(commanded)
    if talk := _talk_of(world, minds, commanded, sent):
        return (yield from _talk_in_turns([mind for mind, _ in minds], talk))
    asked: list[AskedMind] = []
    for number, (mind, situation) in enumerate(minds):
        settled = situation.commanded
        others = before if mind.pk in apart else commanded
        now = replace(situation, commanded={**settled, **_known(world, situation.seats, others)})
        outcome = yield Question(mind, now, len(minds) - number)
        asked.append(AskedMind(mind, now, outcome))
        given = () if mind.pk in apart else _commands(asked[-1], idle=world.idle)
        commanded |= {each.seat: each.command for each in given if each.seat in visible_seats}
    return asked


def _talk_of(
    world: World, minds: Sequence[tuple[Mind, Situation]], commanded: Mapping[int, Command], sent: int
) -> StepDialogue | None:
    """Return the dialogue in which these agents write to each other within the step. Return None if the
    organisation allows no such dialogue."""
    situations = [situation for _, situation in minds]
    organisation = situations[0].talk.organisation if situations else None
    if organisation is None or not organisation.within:
        return StepDialogue.of(situations, sent=sent)
    now = [
        replace(one, commanded={**_known(world, one.seats, commanded), **one.commanded}) for one in situations
    ]
    return StepDialogue.of(
        now, lambda member, said: may_see_message(world, organisation, said, member), sent=sent
    )


def _talk_in_turns(minds: Sequence[Mind], talk: StepDialogue) -> Asking:
    """Ask each agent when it is its turn in the dialogue `talk`, as a generator like `ask_minds`. No agent
    knows another agent's command in this step."""
    last = [MindOutcome(MindDecision({}))] * len(minds)
    spent, turns = [0.0] * len(minds), talk.turns()
    try:
        place, situation, left = next(turns)
        while True:
            last[place] = yield Question(minds[place], situation, left)
            spent[place] += last[place].milliseconds
            place, situation, left = turns.send(last[place].decision)
    except StopIteration as done:
        decisions: list[MindDecision] = done.value
    made = [
        replace(one, decision=decision, milliseconds=milliseconds)
        for one, decision, milliseconds in zip(last, decisions, spent, strict=True)
    ]
    return [
        AskedMind(mind, talk.situations[place], made[place], talk.followed(place))
        for place, mind in enumerate(minds)
        if talk.decisions[place]
    ]


def current_situation(turn: OpenTurn, mind: Mind) -> Situation:
    """Return an agent's situation (everything that the agent may know). Three things are left out:
    messages, other seats' commands of this step, and a time limit."""
    episode, world = turn.episode, turn.world
    seats = tuple(seat.number for seat in turn.acting if seat.mind_id == mind.pk)
    last = turn.past[0].events if turn.past else []
    free = tuple(seat for seat in seats if seat in turn.may_act)
    asked = tuple(seat for seat in seats if seat not in turn.given and seat not in free)
    return Situation(
        world=episode.world,
        step=episode.step,
        seats=seats,
        plans=plans_for_agent(world, seats, turn.plans, turn.step),
        briefs={seat: turn.briefs[seat] for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        commanded={seat: tuple(turn.given[seat].command) for seat in seats if seat in turn.given},
        people=tuple(sorted(turn.people)),
        events=known_events(world, seats, last),
        memory=turn.memories[mind.pk],
        seed=derived_seed(episode.seed, mind.number, episode.step),
        request=DecisionRequest(
            because=_because(asked, last),
            asked=asked,
            may_act=free,
            knowing=episode.knowing,
            tells=episode.shows_intents,
        ),
        limits=DecisionLimits(purse=purse_of(episode, mind, turn.step)),
    )


def realtime_situation(turn: OpenTurn, mind: Mind, heard: int) -> Situation:
    """Return the situation of an agent in a real-time episode, with its messages. Needs no query. `heard` is
    the number of the last message that it knew when it was asked before."""
    return (
        _with_talk(turn, mind, LastHeard(heard, turn.step - 1))
        if turn.episode.messages
        else _with_talk(turn, mind)
    )


def situation_to_answer(turn: OpenTurn, mind: Mind) -> Situation:
    """Return the situation of an agent that only has to answer a message, with its messages."""
    return _with_reason(_with_talk(turn, mind), REASON_TO_ANSWER)


def situation_to_open(turn: OpenTurn, mind: Mind, *, late: Sequence[LateDecision] | None = None) -> Situation:
    """Return the situation of an agent that chooses commands, with its messages. Commands of other seats, and
    data of the schedule, are not included.

    `late` are the agent's decisions that came too late, if the caller knows them.
    """
    if late is None:
        late = late_decisions([mind] if _may_be_late(mind) else [], turn.step).get(mind.pk, ())
    situation = replace(_with_talk(turn, mind), late=tuple(late))
    return _with_reason(situation, reason_with_news(situation.request.because, situation.talk.messages))


def situation_with_commands(turn: OpenTurn, mind: Mind, commanded: Mapping[int, Command]) -> Situation:
    """Return the agent's situation with two additions: the messages to the agent, and those commands in
    `commanded` (by seat) that its seats may know."""
    situation = _with_talk(turn, mind)
    known = _known(turn.world, situation.seats, commanded)
    return replace(situation, commanded={**situation.commanded, **known})


def _because(asked: Collection[int], last: Iterable[Json]) -> str:
    """Return the code of the reason for asking these seats. `last` are the events of the last step. If that
    step dropped a plan of one of the seats, the dropped plan is the reason."""
    broken = {
        event["seat"] for event in last if event["kind"] == REASON_PLAN_BROKEN and event["why"] != PLAN_STALE
    }
    return REASON_PLAN_BROKEN if broken & set(asked) else REASON_SEAT


def _may_be_late(mind: Mind) -> bool:
    """Return True if the agent uses a language model. Only then can its decision come too late."""
    return mind.kind in agent_kinds() and bool(get_agent(mind.kind).names_model)


def _with_reason(situation: Situation, because: str) -> Situation:
    return replace(situation, request=replace(situation.request, because=because))


def _with_talk(turn: OpenTurn, mind: Mind, since: LastHeard | None = None) -> Situation:
    """Return the situation of an agent with its messages. Without messages, if the members cannot send any.
    `since` is what it knew at its last decision; None to read it from the database."""
    situation, organisation = current_situation(turn, mind), turn.episode.team
    if organisation is None:
        return situation
    member = organisation.holder(next(seat.number for seat in turn.seats if seat.mind_id == mind.pk)).number
    if since is None:
        since = last_heard_by_mind(turn.episode)[mind.pk] if turn.episode.messages else LastHeard()
    messages, jobs = messages_for_agent(turn, member, since=since)
    gone = (turn.episode.gone or {}).get(str(member))
    talk = TeamTalk(organisation, member, messages, jobs, gone["said"] if gone else 0)
    talk = with_aims_of_others(talk, turn.world)
    seen = {seat: turn.world.observe(seat) for seat in organisation.seats_seen(member)}
    return replace(situation, talk=talk, observations={**situation.observations, **seen})


def purse_of(episode: Episode, mind: Mind, step: int) -> BudgetPurse | None:
    """Return the account that pays for an agent's model calls in this step. Return None if the episode has no
    budget."""
    if episode.budget_id is None:
        return None
    return BudgetPurse(episode.budget_id, mind_id=mind.pk, step=step, episode_id=episode.pk)


def _known(world: World, seats: Sequence[int], commanded: Mapping[int, Command]) -> dict[int, Command]:
    """Return the commands of this step that at least one of these seats may know."""
    entries = [{"seat": seat, "command": list(command)} for seat, command in commanded.items()]
    known: dict[int, Command] = {}
    for seat in seats:
        known |= known_commands(world, seat, entries)
    return {seat: commanded[seat] for seat in commanded if seat in known}


def checked_decision(decision: MindDecision) -> MindDecision:
    """Return the decision in a form that the database can store. Raises TypeError or ValueError if a part has
    the wrong form.

    Commands must be tuples of strings, memory and note must be JSON, and intents must be strings.
    Characters that no database stores are removed from texts, but refused in commands.
    """
    for seat, command in decision.commands.items():
        _check_command(seat, command)
    for seat, plan in decision.plans.items():
        _check_plan(seat, plan)
    json.dumps([decision.memory, decision.note], allow_nan=False)
    return replace(
        decision,
        memory=storable_json(decision.memory),
        note=storable_json(decision.note),
        intents=checked_intents(decision.intents),
        says=checked_messages(decision.says),
    )


def _check_command(seat: int, command: Command) -> None:
    if not isinstance(command, tuple) or not all(isinstance(word, str) for word in command):
        raise TypeError(f"the command for seat {seat} is {command!r}, not a tuple of words")
    if any(word != storable_text(word) for word in command):
        raise ValueError("a command holds characters that cannot be stored")


def _check_plan(seat: int, plan: Sequence[Command]) -> None:
    if not isinstance(plan, list | tuple) or len(plan) > MAX_PLAN_STEPS:
        raise ValueError(f"the plan for seat {seat} is no list of at most {MAX_PLAN_STEPS} commands")
    for command in plan:
        _check_command(seat, command)


def commands_and_decisions(
    asked: Iterable[AskedMind], *, step: int, idle: Command
) -> tuple[list[SubmittedCommand], list[SubmittedDecision]]:
    """Return the commands and the decisions of the agents that were asked, ready to submit for this step.

    Seats without a command get the command `idle`. Every call creates new, unsaved rows.
    """
    commands = [given for each in asked for given in _commands(each, idle=idle)]
    return commands, [_made(each, step) for each in asked]


def _made(asked: AskedMind, step: int) -> SubmittedDecision:
    decision, member = asked.outcome.decision, asked.situation.talk.member
    plans = replaced_plans(asked.situation, decision)
    commanded = frozenset(decision.commands)
    return SubmittedDecision(
        decision_row(asked, step),
        decision.calls,
        member,
        decision.says,
        plans,
        decision.planned,
        commanded,
        asked.talk,
    )


def _commands(asked: AskedMind, *, idle: Command) -> list[SubmittedCommand]:
    """Return the commands of an agent for one step, in the order in which the agent gave them.

    A seat that was asked but got no command does `idle`. A seat that may act, but was not asked, is included
    only if the agent gave it a command.
    """
    outcome = asked.outcome
    chosen_by = outcome.decision.played_by or asked.mind.kind
    fallback = outcome.fallback or outcome.decision.fallback
    given = [
        SubmittedCommand(seat, command, chosen_by, fallback, then=_then(outcome.decision, seat))
        for seat, command in outcome.decision.commands.items()
        if seat in asked.asked_seats or seat in asked.situation.request.may_act
    ]
    left = sorted(set(asked.asked_seats) - {one.seat for one in given})
    if outcome.fallback:
        chosen_by = "fallback"
    return given + [
        SubmittedCommand(seat, idle, chosen_by, fallback, then=_then(outcome.decision, seat)) for seat in left
    ]


def _then(decision: MindDecision, seat: int) -> tuple[Command, ...]:
    return tuple(decision.plans.get(seat, ()))


def decision_row(asked: AskedMind, step: int) -> Decision:
    """Return an agent's decision for this step as an unsaved database row."""
    outcome, note = asked.outcome, asked.outcome.decision.note
    if asked.situation.request.tells:
        note = note_with_intents(note, asked.outcome.decision.intents, asked.seats)
    note = note_with_last_heard(note, asked.situation)
    return Decision(
        mind=asked.mind,
        step=step,
        memory=outcome.decision.memory,
        note=note,
        played_by=outcome.decision.played_by or asked.mind.kind,
        fallback=outcome.fallback or outcome.decision.fallback,
        error=storable_text(outcome.error)[:2000],
        milliseconds=outcome.milliseconds,
        seen_step=asked.situation.step,
        because=asked.situation.request.because,
    )
