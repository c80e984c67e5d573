"""Find the unread messages of people to an agent, and write answers to them.

The agents `blocks_dispatcher` and `blocks_planner` use it. Each of them reads the words in its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, ASK, DECLINE, INFORM, REQUEST, SAY
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Json

READ_KINDS = frozenset({SAY, ASK, REQUEST, INFORM})
"""Kinds of message that can ask for something."""
DraftWriter = Callable[[str, tuple[int, ...], Mapping[str, Json]], MessageDraft]
"""Writes a message of a kind to some members, with data."""


def people_in_talk(situation: Situation, *, reads: bool) -> tuple[int, ...]:
    """Return the members who are people and to whom this agent may write; with `reads`, those who may write
    to this agent."""
    team, me = situation.talk.organisation, situation.talk.member
    people = [one.number for one in team.members if one.is_person and one.number != me] if team else []
    pairs = {one: (one, me) if reads else (me, one) for one in people}
    return tuple(one for one, (sender, to) in pairs.items() if team and to in team.to(sender, SAY))


def unread_messages(situation: Situation, last: int) -> list[TeamMessage]:
    """Return the text messages of people that are newer than number `last`, in order. Messages from the time
    when a person had the agent's seat are left out."""
    team, me, least = situation.talk.organisation, situation.talk.member, max(last, situation.talk.taken_over)
    people = {one.number for one in team.members if one.is_person} - {me} if team else set()
    found = (one for one in situation.talk.messages if one.sender in people and one.kind in READ_KINDS)
    return sorted((one for one in found if one.number > least), key=lambda one: one.number)


def answers_to(
    situation: Situation, message: TeamMessage, write: DraftWriter, *, understood: bool
) -> tuple[MessageDraft, ...]:
    """Return the answer to a message, or nothing if the agent may not write to its sender. `write` writes it.
    The answer to a job accepts the job if it was `understood`, and declines it otherwise."""
    team, sender, kind, data = situation.talk.organisation, message.sender, ANSWER, dict[str, Json]()
    if message.kind == INFORM:
        kind, data = (ACCEPT if understood else DECLINE), {"job": message.number}
    if team is None or sender is None or sender not in team.to(situation.talk.member, kind):
        return ()
    return (write(kind, (sender,), data),)
