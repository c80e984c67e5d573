"""Store what the agent `pairwise` knows about its conversation.

This includes its partner, the members it may contact, unread messages, and a summary of older messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Self

from kitchen.contract.agent import TeamTalk
from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import TeamMessage, conversation_partners
from kitchen.contract.world import Json
from kitchen.words.quoted_messages import without_chat_marks

MAX_SUMMARY_CHARACTERS = 500
LEAST_SUMMARISED = 5
"""The least number of messages that are summed up at a time."""
MAX_SILENT_ANSWERS = 3
"""Answers in a row without a command after which the agent stops until a message comes."""


@dataclass(frozen=True, slots=True)
class ConversationMemory:
    """The data that an agent remembers of its conversations for one seat."""

    summary: str = ""
    summarised: int = 0
    """Number of the last message in the summary."""
    read: int = 0
    """Number of the last message that the model has read."""
    silent: int = 0
    """Answers in a row without a command."""
    put_off: int = 0
    """Number of the last message that the model decided to answer later; 0 if there was none."""

    @classmethod
    def from_json(cls, stored: Json) -> Self:
        """Return the memory that `to_json` stored. Return an empty memory for any other value."""
        return cls(**stored) if isinstance(stored, dict) else cls()

    def to_json(self) -> dict[str, Json]:
        """Return the memory as JSON for storage. `put_off` is left out while it is 0."""
        return {name: value for name, value in asdict(self).items() if value or name != "put_off"}


class Conversation:
    """The conversations of one agent in one step."""

    def __init__(
        self, talk: TeamTalk, step: int, names: Mapping[int, str], memory: ConversationMemory
    ) -> None:
        self.talk, self.step, self.names, self.memory = talk, step, names, memory

    @property
    def addressees(self) -> tuple[int, ...]:
        """Return the members to whom the agent may write."""
        organisation = self.talk.organisation
        return organisation.to(self.talk.member, SAY) if organisation else ()

    @property
    def partner(self) -> int | None:
        """Return the member with whom the agent is in conversation. None if there is no partner, or if the
        organisation has no conversations between two."""
        organisation = self.talk.organisation
        if organisation is None or not organisation.one_partner:
            return None
        return conversation_partners(organisation, self.talk.messages, self.step).get(self.talk.member)

    @property
    def shown(self) -> list[TeamMessage]:
        """Return the messages that are not yet part of the summary."""
        return [said for said in self.talk.messages if said.number > self.memory.summarised]

    @property
    def unread(self) -> list[TeamMessage]:
        """Return messages of other members that the model has not read."""
        return [
            said
            for said in self.talk.messages
            if said.number > self.memory.read and said.sender not in (None, self.talk.member)
        ]

    def to_summarise(self, kept: int) -> list[TeamMessage]:
        """Return the oldest messages, for the next summary, if more than `kept` messages are not summarised
        yet. Otherwise return none."""
        shown = self.shown
        return shown[: max(LEAST_SUMMARISED, len(shown) - kept)] if len(shown) > kept else []

    def add_summary(self, summary: str, said: list[TeamMessage]) -> None:
        """Replace these messages by a new summary. The summary also covers the earlier one."""
        text = " ".join(summary.split())[:MAX_SUMMARY_CHARACTERS]
        self.memory = replace(self.memory, summary=text, summarised=said[-1].number)

    def put_off(self) -> None:
        """Record that all messages that are unread now will be answered later."""
        self.memory = replace(self.memory, put_off=self.unread[-1].number)

    @property
    def is_put_off(self) -> bool:
        """Return True if all unread messages are marked to be answered later."""
        return bool(self.unread) and self.unread[-1].number <= self.memory.put_off

    def mark_read(self, *, has_command: bool, could_act: bool) -> None:
        """Record that the model has read all messages. Also count its answers without a command, if the seat
        could act."""
        before = 0 if has_command or self.unread else self.memory.silent
        silent = before + (could_act and not has_command)
        newest = self.talk.messages[-1].number if self.talk.messages else self.memory.read
        self.memory = replace(self.memory, read=newest, silent=silent)

    @property
    def has_stopped(self) -> bool:
        """Return whether the agent no longer asks its model, because too many answers in a row had no
        command. A new message resets this."""
        return self.memory.silent >= MAX_SILENT_ANSWERS

    def member_named(self, name: str) -> tuple[int, ...]:
        """Return the number of the addressee with this name, as a tuple of one. Empty if there is none.
        Case and spaces do not matter."""
        plain = "".join(name.split()).casefold()
        return tuple(
            number for number in self.addressees if "".join(self.names[number].split()).casefold() == plain
        )[:1]

    def line(self, said: TeamMessage) -> str:
        """Return a message as one line."""
        me = self.talk.member
        if said.sender is None:
            return f"- {said.text}"
        sender = "You" if said.sender == me else self.names[said.sender]
        to = " and ".join("you" if number == me else self.names[number] for number in said.to)
        kind = "" if said.kind == SAY else f" ({said.kind})"
        return f"- {sender} to {to}{kind}: {' '.join(without_chat_marks(said.text).split())}"
