"""Decide whose turn it is to write a message within a step: which agents write now, and which people wait.

This applies to a `pair` of two members that talk before they choose commands (`Organisation.takes_turns`).
The member asked first opens. If it says something, the other one answers, and so on. The talk ends after
`Organisation.rounds` rounds, or when one of the two has chosen a command. The opener can also end it by a
message or by a repetition. Then both may choose. While a person waits for a turn, the server refuses what the
person sends.

Everything is computed from the stored messages, decisions and commands of the open step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.organisation import END, SAY, TALK_KINDS, Organisation
from kitchen.contract.page_view import SpeakingTurn
from kitchen.contract.team_messages import message_content
from kitchen.infra.database_writes import update_row_where
from kitchen.play.models import Episode, Message, Mind
from kitchen.play.turn.conversation import may_know
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_answer, is_offline
from kitchen.play.turn.step_timer import restart_step_timer
from kitchen.play.turn.turn_rules import asked_seats, choosing_people, is_held, overdue_seats

NOT_YOUR_TURN = "not_your_turn"
"""Code of the receipt if a person chooses, plans or writes before their turn."""


def member_to_speak(turn: OpenTurn) -> int | None:
    """Return the number of the member whose turn it is. None if every person may choose, and where members
    do not take turns."""
    organisation = turn.episode.team
    if organisation is None or not organisation.takes_turns or not turn.is_open or turn.is_past:
        return None
    choosing = choosing_people(turn)
    if not choosing:
        return None
    if minds := minds_to_answer(turn):
        return _member_number(turn, organisation, minds[0])
    if words_of_step(turn):
        return person_to_answer(turn, choosing)
    return min(organisation.holder(seat).number for seat in choosing)


def person_to_answer(turn: OpenTurn, people: set[int]) -> int | None:
    """Return the number of the member who has to answer the last message of the step, if this is a person in
    one of the seats `people`. None if the conversation is over, or if nothing was said."""
    organisation, said = turn.episode.team, words_of_step(turn)
    if organisation is None or not said:
        return None
    last, opener = said[-1], _opener_of(said)
    other = next(member for member in organisation.members if member.number != last.sender)
    spoken = sum(row.sender == opener for row in said)
    if (
        not _calls(turn, organisation, last, said)
        or people.isdisjoint(other.seats)
        or (other.number == opener and spoken >= organisation.rounds)
        or not may_know(turn.world, organisation, last, other.number)
    ):
        return None
    return other.number


def held_seats(turn: OpenTurn) -> set[int]:
    """Return the seats of people who have to choose, but whose turn has not come yet."""
    speaker, team = member_to_speak(turn), turn.episode.team
    if speaker is None or team is None:
        return set()
    return choosing_people(turn).difference(team.member(speaker).seats)


def overdue_people(turn: OpenTurn) -> list[int]:
    """Return the seats of people whose time to choose or to answer is over. People whose turn has not come
    (`held_seats`) are left out, because their time has not begun."""
    overdue = overdue_seats(turn)
    return sorted({*overdue} - held_seats(turn)) if overdue else []


def talk_refusal(turn: OpenTurn, seat: int, kind: str) -> str:
    """Return the code of the reason why a person in this seat may not write such a message now. Empty if the
    person may.

    `not_your_turn`: the other member speaks first, or the person is busy. `too_many`: the person has used up
    their rounds, or the opener has ended the conversation.
    """
    organisation = turn.episode.team
    if organisation is None or not organisation.takes_turns or kind not in TALK_KINDS:
        return ""
    is_asked = seat in choosing_people(turn) or (seat in turn.may_act and kind != END)
    if not is_asked or seat in held_seats(turn):
        return NOT_YOUR_TURN
    return "too_many" if is_conversation_over_for(turn, seat) else ""


def is_conversation_over_for(turn: OpenTurn, seat: int) -> bool:
    """Return whether the person in this seat may write nothing more in the conversation of the step: the
    person has used up the rounds, or the opener has ended the conversation."""
    organisation, said = turn.episode.team, words_of_step(turn)
    if organisation is None or (opener := _opener_of(said)) is None:
        return False
    own = sum(row.sender == organisation.holder(seat).number for row in said)
    last = [row for row in said if row.sender == opener][-1]
    return own >= organisation.rounds or _ends_talk(last, said)


def _opener_of(said: Iterable[Message]) -> int | None:
    """Return the number of the member that opened the conversation of the step, or None. A message that only
    ends a conversation opens none."""
    return next((row.sender for row in said if row.kind != END), None)


@contextmanager
def passing_turn(turn: OpenTurn) -> Iterator[None]:
    """Context manager for storing a person's message or command. If the turn of a person who had to wait has
    begun afterwards, it restarts the time limit.

    Use it inside a transaction, with the turn refreshed and locked.
    """
    step, free = turn.step, _free_people(turn)
    yield
    if turn.step == step and turn.is_open and _free_people(turn) - free:
        begin_turn_of_people(turn)


def _free_people(turn: OpenTurn) -> set[int]:
    """Return the seat numbers of the people who may choose a command now. Return an empty set if members
    do not take turns to speak."""
    team = turn.episode.team
    return choosing_people(turn) - held_seats(turn) if team and team.takes_turns else set()


def begin_turn_of_people(turn: OpenTurn, more: float = 0.0) -> None:
    """Restart the people's time limit for the open step, from now or from `more` seconds later.

    Without a time limit, where members take turns, only store the time, so that pages show the new turn.
    """
    episode = turn.episode
    if episode.turn_closes_at is not None:
        restart_step_timer(episode, more)
    elif episode.team and episode.team.takes_turns:
        episode.asked_at = timezone.now()
        update_row_where(Episode, {"asked_at": episode.asked_at}, where={"id": episode.pk})


def turn_began_at(turn: OpenTurn) -> datetime:
    """Return the time of the last message in this step, or the opening of the step if nothing was said."""
    said = words_of_step(turn)
    return max(said[-1].sent_at, turn.episode.turn_opened_at) if said else turn.episode.turn_opened_at


def speaking_turn(turn: OpenTurn, seat: int) -> SpeakingTurn | None:
    """Return whose turn it is, for the page of a person who still has to choose in this seat. None if
    everybody may choose."""
    speaker = member_to_speak(turn) if seat in choosing_people(turn) else None
    if speaker is None:
        return None
    waited = (timezone.now() - turn_began_at(turn)).total_seconds()
    return SpeakingTurn(speaker, bool(words_of_step(turn)), max(0, round(waited)))


def opens_step(turn: OpenTurn, mind: Mind) -> bool:
    """Return whether this agent now decides first, before a person who takes turns with it. If it says
    nothing, this decision counts."""
    organisation = turn.episode.team
    if organisation is None or not organisation.takes_turns or words_of_step(turn):
        return False
    return _opener(turn, organisation) == mind


def words_of_step(turn: OpenTurn) -> list[Message]:
    """Return the messages of conversations in the open step, in order."""
    return [row for row in turn.sent if row.step == turn.step and row.kind in TALK_KINDS]


def has_spoken_enough(turn: OpenTurn, mind: Mind) -> bool:
    """Return whether this agent has used up its rounds of the conversation in this step."""
    organisation = turn.episode.team
    if organisation is None or not organisation.takes_turns:
        return False
    return _turns_spoken(turn.heard_in_step[mind.pk], words_of_step(turn)) >= organisation.rounds


def minds_to_answer(turn: OpenTurn) -> list[Mind]:
    """Return the agents that have to write a message now, before the people choose: to answer a message, or
    to open the conversation.

    An agent writes at most `Organisation.rounds` times in a step. Members who ended the conversation,
    repeated a message or have chosen a command get no answer. Where members take turns, only the opener can
    end the conversation. With the setting `Organisation.within`, an
    agent opens the conversation if it is the first member that is asked.
    """
    organisation = None if turn.is_probing else turn.episode.team
    if organisation is None or not organisation.talks_within or not turn.is_open:
        return []
    people_talk = choosing_people(turn) or (organisation.within and is_held(turn))
    if not people_talk or not turn.minds:
        return []
    said = words_of_step(turn)
    opener = None if said and organisation.takes_turns else _opener(turn, organisation)
    if not said and opener is None:
        return []
    calling = [row for row in said if _calls(turn, organisation, row, said)]
    newest = max((row.number for row in said if row.decision_id is None), default=0)
    answered = turn.heard_in_step
    return [
        mind
        for mind in turn.minds
        if _turns_spoken(answered[mind.pk], said) < organisation.rounds
        and (
            (mind == opener and not answered[mind.pk])
            or _is_called(turn, organisation, mind, calling, answered[mind.pk], newest)
        )
    ]


def _turns_spoken(heard: Iterable[int], said: Sequence[Message]) -> int:
    """Return how often an agent has spoken in the conversation of the open step. If it sent no message
    before a person opened the conversation, that turn is not counted."""
    first = said[0].number if said and said[0].decision_id is None else 0
    return sum(number >= first for number in heard)


def _is_called(
    turn: OpenTurn,
    organisation: Organisation,
    mind: Mind,
    calling: Sequence[Message],
    heard: Sequence[int],
    newest: int,
) -> bool:
    """Return whether this agent has to answer one of these messages.

    `heard` has the last message known at each time the agent spoke. An agent that has spoken since people's
    newest message is not asked again.
    """
    known = max(heard, default=0)
    if heard and known >= newest:
        return False
    member = _member_number(turn, organisation, mind)
    new = [row for row in calling if row.number > known and row.sender != member and member in row.to]
    return any(may_know(turn.world, organisation, row, member) for row in new)


def _member_number(turn: OpenTurn, organisation: Organisation, mind: Mind) -> int:
    return organisation.holder(next(seat.number for seat in turn.seats if seat.mind_id == mind.pk)).number


def ask_for_answers(turn: OpenTurn) -> None:
    """Queue a task for each agent that has to write a message now, and restart the people's time limit.

    Call this inside a transaction; the tasks are queued after the commit.
    """
    if is_offline() or not (team := turn.episode.team) or not team.talks_within:
        return
    if minds := minds_to_answer(turn):
        restart_step_timer(turn.episode, turn.episode.decision_seconds)
    for mind in minds:
        transaction.on_commit(partial(ask_answer, turn.episode.pk, turn.step, mind.number))


def _opener(turn: OpenTurn, organisation: Organisation) -> Mind | None:
    """Return the agent that opens the conversation of the step, or None. It is the first member to be
    asked, if this is an agent that has not chosen a command yet and may write to a person who has not
    chosen either."""
    if not organisation.within or not asked_seats(turn):
        return None
    first = min((organisation.holder(seat) for seat in asked_seats(turn)), key=lambda member: member.number)
    if first.is_person or asked_seats(turn).intersection(first.seats) <= turn.given.keys():
        return None
    others = map(organisation.member, organisation.to(first.number, SAY))
    if not any(one.is_person and not _has_chosen(turn, one.seats) for one in others):
        return None
    of_seat = {seat.number: seat.mind_id for seat in turn.seats}
    return next(mind for mind in turn.minds if mind.pk == of_seat[first.seats[0]])


def _has_chosen(turn: OpenTurn, seats: Sequence[int]) -> bool:
    return any(seat in turn.given for seat in asked_seats(turn).intersection(seats))


def _calls(turn: OpenTurn, organisation: Organisation, row: Message, messages: Sequence[Message]) -> bool:
    """Return whether this message requires an answer. If members take turns, the opener may always speak
    again after an answer."""
    if row.sender is None:
        return False
    sender = organisation.member(row.sender)
    has_chosen = sender.is_person and _has_chosen(turn, sender.seats)
    opener = _opener_of(messages) if organisation.takes_turns else None
    answers = opener is not None and row.sender != opener
    return not has_chosen and (answers or not _ends_talk(row, messages))


def _ends_talk(row: Message, messages: Sequence[Message]) -> bool:
    """Return whether the sender's last message ends the conversation or repeats an earlier one."""
    words = [one for one in messages if one.sender == row.sender]
    *earlier, last = [message_content(one.text, one.data) for one in words]
    return words[-1].kind == END or last in earlier
