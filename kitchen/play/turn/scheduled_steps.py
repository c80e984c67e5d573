"""Open the steps of live episodes in which team members are asked at different times.

An agent's decision takes effect `think_steps` steps after the agent was asked. Until then, its players
continue their plans or wait. People are asked only in the steps that the schedule gives them, and their
choices take effect immediately. This includes leaders without a seat in the schedule `rounds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from kitchen.agents.agent_team import DecisionMade
from kitchen.agents.asking_schedule import AskingSchedule, OpenQuestion
from kitchen.contract.agent import REASON_TO_ANSWER, Situation, add_to_note
from kitchen.contract.answer_delays_and_reminders import reminder_reason
from kitchen.contract.automatic_commands import BY_WORLD, THINKING, WAITING
from kitchen.contract.mailbox import UNSAID_KEY, LastHeard
from kitchen.contract.organisation import Member
from kitchen.play.models import Decision
from kitchen.play.turn.conversation import (
    conversation_partners,
    last_heard_by_mind,
    mailbox_of,
    messages_for_agent,
    messages_of_decision,
    store_messages,
)
from kitchen.play.turn.due_decisions import read_schedule, store_schedule
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.step_store import (
    add_commands,
    ask_after_all,
    await_answer,
    call_busy_agent,
    command_row,
    stop_calling,
    wait_not,
)
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision

DUE_KEY = "due"
"""Key in the note of a decision for which an agent planned: the step in which the decision takes effect."""


def open_scheduled_step(turn: OpenTurn) -> None:
    """Prepare a step that has just opened. Send the messages of decisions that take effect now, and give idle
    commands to seats whose players are not asked.

    Call this in the transaction that opened the step. Does nothing in episodes in which every member chooses
    in each step.
    """
    if not turn.is_open or (schedule := read_schedule(turn)) is None:
        return
    for made in turn.due_decisions:
        _send_messages(turn, schedule, made)
    begun = {seat for made in turn.due_decisions for seat in made.commands if seat in turn.given}
    asked = _ask_by_schedule(turn, schedule, begun)
    rows = []
    for member in schedule.organisation.members:
        if member.number in asked:
            _wait_for(turn, member)
            continue
        if not (member.seats or member.is_person):
            wait_not(turn, member.number)
        why = THINKING if member.number in schedule.thinking else WAITING
        free = [seat for seat in member.seats if seat not in turn.given and seat not in turn.may_act]
        rows += [command_row(turn, seat, turn.world.idle, chosen_by=why) for seat in free]
    add_commands(turn, rows)
    store_schedule(turn, schedule)


def _wait_for(turn: OpenTurn, member: Member) -> None:
    """Make the step wait for this member if the step would not wait otherwise: the member has no seat, or is
    an agent whose seats are all busy."""
    mind = _mind_id(turn, member.number)
    if mind is None:
        if not member.seats:
            await_answer(turn, member.number, waits=True)
    elif not member.seats:
        ask_after_all(turn, member.number)
    elif not set(member.seats) - turn.given.keys() - turn.may_act:
        call_busy_agent(turn, member.number, mind)


def _send_messages(turn: OpenTurn, schedule: AskingSchedule, made: DecisionMade) -> None:
    """Send the messages of a decision that takes effect now. Refused messages are noted in the agent's next
    decision."""
    if not made.says:
        return
    rows = Decision.objects.filter(
        mind=_mind_id(turn, made.member), step=schedule.asked_in[made.member], dropped=""
    )
    decision = rows.exclude(because=REASON_TO_ANSWER).latest("number")
    decision.note = None
    store_messages(turn, messages_of_decision(turn, made.member, made.says, decision))
    if decision.note:
        schedule.unsaid[made.member] = decision.note[UNSAID_KEY]


def _mind_id(turn: OpenTurn, member: int) -> int | None:
    return next(seat.mind_id for seat in turn.seats if seat.number == member)


def _ask_by_schedule(turn: OpenTurn, schedule: AskingSchedule, begun: Set[int]) -> set[int]:
    """Return the numbers of the members that are asked for a decision in this step. `begun` has the numbers
    of members that began an action."""
    since = last_heard_by_mind(turn.episode) | _heard_in_questions(turn, schedule)
    heard: dict[int, LastHeard] = {}
    wants: set[int] = set()
    if schedule.organisation.delays_answers:
        _delay_answers(turn, schedule, since)
    for member in schedule.organisation.members:
        mind = _mind_id(turn, member.number)
        if mind is None:
            if _wants_person(turn, member):
                wants.add(member.number)
            continue
        heard[member.number] = since[mind]
        if _wants(turn, schedule, member, since[mind], begun):
            wants.add(member.number)
    mailbox = mailbox_of(turn)
    now = schedule.activity(
        wants,
        turn.given.keys() | turn.may_act,
        mailbox.open_jobs if mailbox else (),
        {number: last.number for number, last in heard.items()},
    )
    asked = schedule.members_to_ask(turn.step, now)
    for number in asked - heard.keys():  # people, who decide within the step
        schedule.asked_in[number] = turn.step
    return asked


def _wants_person(turn: OpenTurn, member: Member) -> bool:
    """Return whether there is a reason to ask this person now: an open choice or, where leaders without a
    seat are asked, workers to lead."""
    if member.seats:
        return bool(set(member.seats) - turn.given.keys() - turn.may_act)
    return turn.can_wait_for_leaders and bool(
        turn.episode.team and turn.episode.team.commanded_by(member.number)
    )


def _heard_in_questions(turn: OpenTurn, schedule: AskingSchedule) -> dict[int, LastHeard]:
    """Return which message each agent that is still thinking had received last when it was asked. The keys
    are agent ids."""
    heard = {}
    for number, question in schedule.questions.items():
        if (mind := _mind_id(turn, number)) is not None:
            heard[mind] = LastHeard(question.heard, schedule.asked_in[number])
    return heard


def _delay_answers(turn: OpenTurn, schedule: AskingSchedule, since: Mapping[int, LastHeard]) -> None:
    """Decide which agents answer new messages in a later step. People are not affected: they answer when they
    like."""
    filled = {seat: (row.chosen_by, tuple(row.command)) for seat, row in turn.given.items()}
    filled |= dict.fromkeys(turn.may_act - turn.given.keys(), (BY_WORLD, turn.world.idle))
    messages = {}
    for member in schedule.organisation.members:
        if (mind := _mind_id(turn, member.number)) is not None:
            messages[member.number], _ = messages_for_agent(turn, member.number, since=since[mind])
    schedule.delay_answers(turn.step, turn.world, filled, messages, conversation_partners(turn))


def _wants(
    turn: OpenTurn, schedule: AskingSchedule, member: Member, since: LastHeard, begun: Set[int]
) -> bool:
    """Return True if there is a reason to ask this agent now: an open choice, a new message or a reminder. A
    new message can also make the step wait for seats that may act."""
    messages, jobs = messages_for_agent(turn, member.number, since=since)
    has_news = schedule.is_called_by(member.number, messages)
    free = turn.may_act.intersection(member.seats)
    if free and has_news and schedule.is_interruptible(member, begun):
        for seat in free:
            ask_after_all(turn, seat)
    if set(member.seats) - turn.given.keys() - turn.may_act:
        return True
    asked_in = schedule.asked_in.get(member.number, 0)
    is_reminded = reminder_reason(member.number, turn.step, asked_in, jobs, messages) != ""
    return schedule.is_called(member, begun, lambda: has_news or is_reminded)


def let_think(turn: OpenTurn, schedule: AskingSchedule, situation: Situation) -> OpenQuestion:
    """Record that an agent is asked in this situation, and return the question. The current step continues
    without the agent's decision, and its seats are idle.

    Call this in the transaction that stores the question.
    """
    member = schedule.organisation.member(situation.talk.member)
    heard = situation.talk.messages[-1].number if situation.talk.messages else 0
    question = schedule.ask_later(member.number, turn.step, heard)
    asked = situation.request.asked or ()
    rows = [command_row(turn, seat, turn.world.idle, chosen_by=THINKING) for seat in sorted(asked)]
    add_commands(turn, rows)
    if not member.seats:
        wait_not(turn, member.number)
    elif member.number in turn.called and (mind := _mind_id(turn, member.number)) is not None:
        stop_calling(turn, member.number, mind)
    store_schedule(turn, schedule)
    return question


def take_answer(turn: OpenTurn, commands: Sequence[SubmittedCommand], answer: SubmittedDecision) -> None:
    """Store an agent's answer to a question from an earlier step. The step in which the answer takes effect
    is stored, too. `commands` are the commands of this decision.

    Call this in the transaction that stores the decision. Raises RuntimeError if no question to the agent is
    open.
    """
    schedule = read_schedule(turn)
    if schedule is None or answer.member not in schedule.questions:
        raise RuntimeError(f"member {answer.member} of episode {turn.episode.pk} has no open question")
    due = schedule.due_of_answer(answer.member, turn.step)
    schedule.take_answer(_made(answer, commands, due))
    _complete_note(schedule, answer, due)
    store_schedule(turn, schedule)


def _complete_note(schedule: AskingSchedule, decision: SubmittedDecision, due: int) -> None:
    row = decision.row
    if unsaid := schedule.unsaid.pop(decision.member, None):
        row.note = add_to_note(row.note, UNSAID_KEY, unsaid)
    if due:
        row.note = add_to_note(row.note, DUE_KEY, due)


def delay_decisions(
    turn: OpenTurn, commands: Sequence[SubmittedCommand], decisions: Sequence[SubmittedDecision]
) -> tuple[list[SubmittedCommand], list[SubmittedDecision]]:
    """Split decisions by the step in which they take effect. Return the commands and decisions for the
    current step, and store the rest for later steps.

    If an agent's decision takes effect later, its seats are idle in the current step. Call this in the
    transaction that stores the decisions.
    """
    schedule = read_schedule(turn) if decisions else None
    if schedule is None:
        return list(commands), list(decisions)
    now, kept = list(commands), []
    for each in decisions:
        due = schedule.due_in(turn.step, planned=each.planned)
        made = _made(each, now, due)
        schedule.remember(made, turn.step)
        _complete_note(schedule, each, due)
        if due > turn.step:
            seats = schedule.organisation.member(each.member).seats
            idle = sorted({given.seat for given in now if given.seat in seats} - turn.may_act)
            now = [given for given in now if given.seat not in seats]
            now += [SubmittedCommand(seat, turn.world.idle, THINKING) for seat in idle]
            each = replace(each, says=(), plans={})
        kept.append(each)
    store_schedule(turn, schedule)
    return now, kept


def _made(each: SubmittedDecision, commands: Sequence[SubmittedCommand], due: int) -> DecisionMade:
    own = sorted((given for given in commands if given.seat in each.commanded), key=lambda given: given.seat)
    begun = {given.seat: given.then for given in own if given.then}
    return DecisionMade(
        each.member,
        played_by=each.row.played_by,
        fallback=each.row.fallback,
        due=due,
        commands={given.seat: given.command for given in own},
        plans={**begun, **{seat: tuple(then) for seat, then in each.plans.items()}},
        says=each.says,
    )
