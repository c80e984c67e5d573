"""Find the minds that are to speak within the open step before anybody chooses (`Organisation.talks_within`).

A mind that somebody wrote to answers while people are still to choose. After each message of a person, every
mind speaks at most once, and in one step at most as often as the organisation lets it (`rounds`). Where the
setting `within` is on, the first member that is asked opens the talk: if it is a mind, it may write to a
person before that person chooses. Nobody answers the words of who ended the talk, repeats themselves or has
chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.agent import TO_ANSWER
from kitchen.contract.mailbox import HEARD
from kitchen.contract.organisation import END, SAY, TALK, Organisation
from kitchen.machine.statements import change
from kitchen.play import clock
from kitchen.play.models import Decision, Episode, Message, Mind
from kitchen.play.queue import ask_answer, is_aside
from kitchen.play.saying import may_know, organisation_of
from kitchen.play.turns import OpenTurn


def minds_to_answer(turn: OpenTurn) -> list[Mind]:
    """Return the minds that are to speak now, in order."""
    organisation = organisation_of(turn.episode)
    if organisation is None or not organisation.talks_within or not turn.is_open:
        return []
    people_talk = turn.choosing or (organisation.within and turn.is_held)
    if not people_talk or not turn.minds:
        return []
    said = [row for row in turn.sent if row.step == turn.step and row.kind in TALK]
    opener = _opener(turn, organisation)
    if not said and opener is None:
        return []
    calling = [row for row in said if _calls(turn, organisation, row, said)]
    newest = max((row.number for row in said if row.decision_id is None), default=0)
    answered = _answered(turn)
    return [
        mind
        for mind in turn.minds
        if len(answered[mind.pk]) < organisation.rounds
        and (
            (mind == opener and not answered[mind.pk])
            or _is_called(turn, organisation, mind, calling, answered[mind.pk], newest)
        )
    ]


def _is_called(
    turn: OpenTurn,
    organisation: Organisation,
    mind: Mind,
    calling: Sequence[Message],
    heard: Sequence[int],
    newest: int,
) -> bool:
    """Whether this mind is to answer one of these messages: it has not spoken since the newest of people's,
    by what it had `heard` whenever it spoke."""
    known = max(heard, default=0)
    if heard and known >= newest:
        return False
    member = organisation.holder(next(seat.number for seat in turn.seats if seat.mind_id == mind.pk)).number
    new = [row for row in calling if row.number > known and row.sender != member and member in row.to]
    return any(may_know(turn.world, organisation, row, member) for row in new)


def ask_for_answers(turn: OpenTurn) -> None:
    """Ask the minds that are to speak now, after the commit; people have their time anew once they have.
    Needs a transaction around it."""
    if not turn.talks_within or is_aside():
        return
    if minds := minds_to_answer(turn):
        time_anew(turn, turn.episode.decision_seconds)
    for mind in minds:
        transaction.on_commit(partial(ask_answer, turn.episode.pk, turn.step, mind.number))


def time_anew(turn: OpenTurn, more: float = 0.0) -> None:
    """Give people their time for a step anew, from now on or from so many seconds on."""
    episode = turn.episode
    if episode.step_seconds is None or episode.turn_closes_at is None:
        return
    episode.asked_at = timezone.now() + timedelta(seconds=more)
    episode.turn_closes_at = episode.asked_at + timedelta(seconds=episode.step_seconds)
    times = {"asked_at": episode.asked_at, "turn_closes_at": episode.turn_closes_at}
    change(Episode, times, where={"id": episode.pk})
    clock.arm(episode)


def _answered(turn: OpenTurn) -> dict[int, list[int]]:
    """Return by mind, for each time that it spoke in this step, the last message that it knew then."""
    rows = Decision.objects.filter(mind__in=turn.minds, step=turn.step, because=TO_ANSWER, dropped="")
    heard: dict[int, list[int]] = {mind.pk: [] for mind in turn.minds}
    for mind, note in rows.order_by("number").values_list("mind", "note"):
        heard[mind].append(note[HEARD])
    return heard


def _opener(turn: OpenTurn, organisation: Organisation) -> Mind | None:
    """Return the mind that opens the talk: the first member that is asked, if it may write to a person who is
    still to choose."""
    if not organisation.within or not turn.asked:
        return None
    first = min((organisation.holder(seat) for seat in turn.asked), key=lambda member: member.number)
    others = map(organisation.member, organisation.to(first.number, SAY))
    if first.is_person or not any(one.is_person and not _has_chosen(turn, one.seats) for one in others):
        return None
    of_seat = {seat.number: seat.mind_id for seat in turn.seats}
    return next(mind for mind in turn.minds if mind.pk == of_seat[first.seats[0]])


def _has_chosen(turn: OpenTurn, seats: Sequence[int]) -> bool:
    return any(seat in turn.given for seat in turn.asked.intersection(seats))


def _calls(turn: OpenTurn, organisation: Organisation, row: Message, said: Sequence[Message]) -> bool:
    """Return whether the words of the sender of this message are to be answered."""
    if row.sender is None:
        return False
    words = [one for one in said if one.sender == row.sender]
    repeats = len(words) > 1 and words[-1].text == words[-2].text
    sender = organisation.member(row.sender)
    has_chosen = sender.is_person and _has_chosen(turn, sender.seats)
    return not (words[-1].kind == END or repeats or has_chosen)
