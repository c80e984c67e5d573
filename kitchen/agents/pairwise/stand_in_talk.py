"""Write messages for the agent `pairwise` by fixed rules, in place of a language model.

The messages ask what others have, say what the agent has, and make and accept requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kitchen.agents.pairwise.own_commands import OwnCommands
from kitchen.agents.pairwise.partner_talk import Conversation
from kitchen.agents.pairwise.spoken_reply import SpokenReply
from kitchen.contract.answer_delays_and_reminders import asks_for_answer
from kitchen.contract.organisation import ANSWER, ASK, END, REQUEST
from kitchen.contract.team_messages import BUSY, TeamMessage
from kitchen.contract.world import Command

NO_WORDS = SpokenReply()
BUSY_STEPS = 10
"""Steps after which it tries again to ask a member that was busy."""


@dataclass(frozen=True, slots=True)
class RuledTurn:
    """The message that the stand-in sends and the command that it begins."""

    command: Command | None
    words: SpokenReply = NO_WORDS


def ruled_turn(conversation: Conversation, commands: OwnCommands) -> RuledTurn:
    """Return the words and the command of the stand-in (a program that imitates a language model). It obeys a
    message that tells it to stop, or that requests a command it can begin."""
    unread = conversation.unread
    if not unread:
        return RuledTurn(commands.rule(), _question(conversation))
    newest = unread[-1]
    assert newest.sender is not None  # noqa: S101 - the platform's messages are never unread
    to = conversation.names[newest.sender]
    words, command = _answer(conversation, commands, unread)
    return RuledTurn(command, replace(words, to=to) if words.speaks else words)


def _answer(
    conversation: Conversation, commands: OwnCommands, unread: Sequence[TeamMessage]
) -> tuple[SpokenReply, Command | None]:
    newest, usual = unread[-1], commands.rule()
    if any("stop" in said.text.casefold().split() or "stop!" in said.text.casefold() for said in unread):
        return SpokenReply("I stop and wait.", kind=ANSWER), None
    if newest.kind == END:
        return NO_WORDS, usual
    if newest.kind == REQUEST or newest.text.casefold().startswith("please"):
        wanted = commands.read(newest.text.partition(":")[2] or newest.text)
        if wanted is None or commands.why_not(wanted):
            return SpokenReply("I cannot do that now.", kind=ANSWER), usual
        return SpokenReply(f"Yes, I begin {commands.spell(wanted)}.", kind=ANSWER), wanted
    if asks_for_answer(newest):
        doing = f" I am doing {commands.doing}." if commands.doing else ""
        return SpokenReply(f"I have: {commands.held()}.{doing}", kind=ANSWER), usual
    if newest.kind == ANSWER:
        return _follow_up(conversation, commands, newest), usual
    return NO_WORDS, usual


def _follow_up(conversation: Conversation, commands: OwnCommands, answer: TeamMessage) -> SpokenReply:
    """Return the stand-in's next message after it has received an answer: a request or, if it has none, the
    end of the conversation. The stand-in is a program that imitates a language model."""
    organisation, sender = conversation.talk.organisation, answer.sender
    assert organisation and sender is not None  # noqa: S101 - somebody answered
    own = [said.kind for said in conversation.talk.messages if said.sender == conversation.talk.member]
    seats = organisation.member(sender).seats
    wish = commands.wish(seats[0]) if seats and own[-1:] == [ASK] else ""
    return SpokenReply(f"Please begin: {wish}", kind=REQUEST) if wish else SpokenReply("Thank you.", kind=END)


def _question(conversation: Conversation) -> SpokenReply:
    """Return a question to the first member to whom the agent has not put one yet. Empty if the agent already
    has a conversation partner, or if there is no such member."""
    if conversation.partner is not None:
        return NO_WORDS
    messages, me = conversation.talk.messages, conversation.talk.member
    known = {number for said in messages if said.sender == me for number in said.to}
    known |= {said.sender for said in messages if said.sender is not None}
    known |= {
        said.data["member"]
        for said in messages
        if said.data.get("code") == BUSY and said.step > conversation.step - BUSY_STEPS
    }
    new = [number for number in conversation.addressees if number not in known]
    return SpokenReply("What do you have?", conversation.names[new[0]], ASK) if new else NO_WORDS


def ruled_summary(conversation: Conversation, said: Sequence[TeamMessage]) -> str:
    """Return the summary of a conversation by the stand-in (a program that imitates a language model). It is
    the previous summary and the messages `said`, cut to the maximum length."""
    lines = [conversation.line(each).removeprefix("- ") for each in said]
    return " ".join(filter(None, [conversation.memory.summary, *lines]))
