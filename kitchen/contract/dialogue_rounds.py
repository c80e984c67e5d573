"""Run the dialogue in which agents exchange messages within one step, before they give their commands.

`Organisation.talks_within` enables the dialogue. Agents with new messages speak in turn, each up to `rounds`
times. An agent that says nothing or repeats itself leaves the dialogue. Where two members take turns, only
the opener ends it. Every agent decides at least once, and only its last decision is carried out.
"""

# The rules hold for any number of agents, in the order of their member numbers:
#
# - The first agent opens a conversation. In each round, the agents that received a new message speak in
#   order. Each agent speaks up to `rounds` times in a step. An agent's first turn does not count if it sends
#   no message.
# - An agent that sends no message, ends the conversation or repeats itself is not asked again in this
#   conversation.
# - Within the step, agents receive only messages of this conversation that they may read. A new job reaches
#   its worker in the next step.
# - When no agent has a message to answer, the first agent without a decision opens the next conversation. All
#   agents may answer in it. So each agent decides at least once.
# - An agent that has no command to choose in this step takes part only if somebody writes to it. Its request
#   then has the reason `REASON_TO_ANSWER`.
# - Only the last decision of an agent is carried out.
#
# In the organisation `pair` with the setting `within` (`Organisation.takes_turns`), only the opener ends the
# conversation. If the other agent says nothing, ends or repeats itself, the opener speaks again (source: the
# released code of Collab-Overcooked).
#
# In the organisation `pair` without the setting `within`, two agents talk as in Collab-Overcooked. Each
# message is answered, even if it could not be sent. Only the opener ends the conversation when it repeats
# itself. A message repeats an earlier one if its text (without case and spaces) and its requests are the
# same.

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Self

from kitchen.contract.agent import REASON_TO_ANSWER, Decision, Situation, add_to_note
from kitchen.contract.language_model import Call
from kitchen.contract.organisation import END, TALK_KINDS, Organisation
from kitchen.contract.team_messages import (
    MessageDraft,
    TeamMessage,
    mask_blocked_words,
    message_content,
    message_recipients,
    message_refusal,
)
from kitchen.contract.world import Json

ROUND_KEY = "round"
"""Key of a message's data for its round of the dialogue, counted over the whole step; the first is 1."""
DIALOGUE_KEY = "talk"
"""Key of a note for the notes of the decisions before the last one."""

Turns = Generator[tuple[int, Situation, int], Decision, list[Decision]]
"""Generator of the turns. It yields (place in `StepDialogue.situations`, situation, maximum number of turns
left including this one). Send it the decision. It returns the final decision of each place."""
Hears = Callable[[int, TeamMessage], bool]
"""Return whether this member, an addressee of the message, gets to know it."""


def _everybody_hears(member: int, message: TeamMessage) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class DialoguePosition:
    """The part of the dialogue within a step that an agent knew when it was last asked."""

    last_known: int
    """Number of the last message that it knew before the dialogue; 0 where there was none."""
    sent: int
    """Number of the episode's messages sent before the dialogue."""
    round: int
    """The round in which it was last asked."""


@dataclass(slots=True)
class StepDialogue:
    """A dialogue in which several agents exchange messages and decide within one step."""

    situations: list[Situation]
    """The situation of each agent, by place; after the dialogue, the one in which it was last asked."""
    organisation: Organisation
    hears: Hears = _everybody_hears
    sent: int = 0
    """Number of the episode's messages sent before."""
    decisions: list[list[Decision]] = field(default_factory=list)
    """The decisions of each agent, by place; empty for an agent that was not asked."""
    last_round: list[int] = field(default_factory=list)
    """The last round in which each agent was asked, by place; 0 if it was not."""
    messages: list[TeamMessage] = field(default_factory=list)
    _before: list[int] = field(default_factory=list)
    """Number of messages that each agent sent in this step before the dialogue."""
    _known: list[int] = field(default_factory=list)
    """Number of the last message that each knew before the dialogue; 0 where there was none."""
    _opener: int = 0
    """The place of the agent that opened the present conversation."""
    _said_here: list[list[Json]] = field(default_factory=list)
    """The messages of each agent in each of its turns in the present conversation, by place."""
    _to_answer: set[int] = field(default_factory=set)
    _done: set[int] = field(default_factory=set)
    """The places of the agents that are not asked again in the present conversation."""

    @classmethod
    def of(
        cls, situations: Sequence[Situation], hears: Hears = _everybody_hears, *, sent: int = 0
    ) -> Self | None:
        """Return a dialogue between the agents of these situations. None if the team's rules do not let
        agents talk within a step.

        `hears` decides which addressees receive a message. `sent` is the number of messages sent in the
        episode so far.
        """
        organisation = situations[0].talk.organisation if len(situations) > 1 else None
        if organisation is None or not organisation.talks_within:
            return None
        talk = cls(list(situations), organisation, hears, sent)
        talk.decisions = [[] for _ in situations]
        talk.last_round, talk._said_here = [0] * len(situations), [[] for _ in situations]
        talk._before = [_sent_in_step(situation) for situation in situations]
        talk._known = [one.talk.messages[-1].number if one.talk.messages else 0 for one in situations]
        return talk

    def turns(self) -> Turns:
        """Run the whole dialogue as a generator. It yields requests to agents; send the agent's decision back
        for each. Its return value has the final decision of each agent."""
        for number in count(1):
            for place in range(len(self.situations)):
                if not self._to_answer and self._is_left(place):
                    self._open(place)
                if place in self._to_answer:
                    self._take(place, (yield self._ask(place)), number)
            if not self._to_answer and not any(map(self._is_left, range(len(self.situations)))):
                break
        return [
            _merged(made) if made else Decision({}, memory=told.memory)
            for made, told in zip(self.decisions, self.situations, strict=True)
        ]

    def followed(self, place: int) -> DialoguePosition | None:
        """Return how much of the dialogue the agent with this index knew when it was last asked. None without
        the setting `within`: the agent's own note then records this."""
        if not self.organisation.within:
            return None
        return DialoguePosition(self._known[place], self.sent, self.last_round[place])

    def _open(self, place: int) -> None:
        """Let the agent with the index `place` open the next conversation. All others may answer."""
        self._opener, self._to_answer = place, {place}
        self._done = {other for other in range(len(self.situations)) if not self._turns_left(other)}
        self._said_here = [[] for _ in self.situations]

    def _turns_left(self, place: int) -> int:
        made = self.decisions[place]
        return self.organisation.rounds + (bool(made) and not made[0].says) - len(made)

    def _is_left(self, place: int) -> bool:
        """Return whether the agent with the index `place` has not decided yet."""
        return not self.decisions[place] and self.situations[place].request.because != REASON_TO_ANSWER

    def _ask(self, place: int) -> tuple[int, Situation, int]:
        now, made = self.situations[place], self.decisions[place]
        known = {one.number for one in now.talk.messages}
        heard = (
            replace(one, is_new=one.sender != now.talk.member)
            for one in self.messages
            if one.number not in known and (one.sender == now.talk.member or self._hears(place, one))
        )
        memory = made[-1].memory if made else now.memory
        talk = replace(now.talk, messages=(*now.talk.messages, *heard))
        self.situations[place] = replace(now, talk=talk, memory=memory)
        return place, self.situations[place], sum(map(self._turns_left, range(len(self.situations))))

    def _hears(self, place: int, message: TeamMessage) -> bool:
        member = self.situations[place].talk.member
        return member in message.to and (not self.organisation.within or self.hears(member, message))

    def _take(self, place: int, decision: Decision, number: int) -> None:
        """Record the decision of the agent with the index `place`. Agents that receive a message with it must
        answer, unless the message ends the dialogue."""
        says = tuple(replace(say, data={**say.data, ROUND_KEY: number}) for say in decision.says)
        self.decisions[place].append(replace(decision, says=says))
        self.last_round[place] = number
        self._to_answer.discard(place)
        called = {other for say in says for other in self._say(place, say)}
        if self._is_responder(place):
            called = {self._opener}
        goes_on = self._goes_on(place, says)
        self._said_here[place].append(_contents(says))
        if not goes_on or not self._turns_left(place):
            self._done.add(place)
        if goes_on:
            self._to_answer |= called - self._done

    def _is_responder(self, place: int) -> bool:
        """Return whether this agent must answer the member that opened the conversation. This concerns teams
        in which two members take turns. Such an agent cannot end the conversation."""
        return self.organisation.takes_turns and place != self._opener

    def _goes_on(self, place: int, says: Sequence[MessageDraft]) -> bool:
        if self._is_responder(place):
            return True
        if not says or any(say.kind == END for say in says):
            return False
        is_new = _contents(says) not in self._said_here[place]
        return is_new or (place != self._opener and not self.organisation.within)

    def _say(self, place: int, say: MessageDraft) -> set[int]:
        """Send this message from the agent with the index `place`, if the rules allow it. Return the indices
        of the agents that should answer."""
        member, others = self.situations[place].talk.member, set(range(len(self.situations))) - {place}
        sent = self._before[place] + sum(one.sender == member for one in self.messages)
        if say.kind not in TALK_KINDS or message_refusal(self.organisation, member, say, sent=sent):
            return set() if self.organisation.within else others
        before = [one.talk.messages[-1].number for one in self.situations if one.talk.messages]
        number = max([self.sent, *before, *(one.number for one in self.messages)]) + 1
        to, text = (
            message_recipients(self.organisation, member, say),
            mask_blocked_words(say.text, self.organisation.blocked),
        )
        step = self.situations[0].step + 1
        said = TeamMessage(number, step, member, to, say.kind, text.strip(), say.data)
        self.messages.append(said)
        return {other for other in others if self._hears(other, said)} if self.organisation.within else others


def _sent_in_step(situation: Situation) -> int:
    """Return the number of messages that this agent has sent in the current step."""
    step = situation.step + 1
    return sum(one.step == step and one.sender == situation.talk.member for one in situation.talk.messages)


def _contents(says: Sequence[MessageDraft]) -> Json:
    return [message_content(say.text, say.data) for say in says]


def _merged(decisions: list[Decision]) -> Decision:
    """Return the last of these decisions, with the messages and model calls of all of them added."""
    calls: tuple[Call, ...] = tuple(call for each in decisions for call in each.calls)
    says = tuple(say for each in decisions for say in each.says)
    earlier: list[Json] = [each.note for each in decisions[:-1]]
    note = add_to_note(decisions[-1].note, DIALOGUE_KEY, earlier) if earlier else decisions[-1].note
    return replace(decisions[-1], calls=calls, says=says, note=note)
