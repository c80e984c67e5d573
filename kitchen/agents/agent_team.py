"""Define `Team`, the agents that play an episode without people, and the records of what they do in a step.

The records hold each agent's situation (what it saw), its decision, and the commands and messages that took
effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.agent import NO_ONE, REASON_SEAT, Decision, Situation
from kitchen.contract.dialogue_rounds import DialoguePosition
from kitchen.contract.language_model import Call
from kitchen.contract.line_up import line_up_kinds, line_up_members
from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json


@dataclass(frozen=True, slots=True)
class Team:
    """The members (agents) that play one episode without people, and the rules of their communication."""

    members: tuple[Member, ...]
    kinds: tuple[str, ...]
    """The kind of each member, in the same order."""
    organisation: Organisation | None = None
    """The rules about who may send what to whom; None in an episode without messages."""
    knowing: str = NO_ONE
    """Whose commands of a step a member knows before it decides
    (`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""

    @classmethod
    def of(
        cls, line_up: str, seats: int, organisation: Organisation | None = None, knowing: str = NO_ONE
    ) -> Team:
        """Create the team that `line_up` describes, for a world with this number of seats. A line-up is a
        text that lists the agents (`kitchen.contract.line_up`). Raises SettingsError if the line-up does not
        fit the seats."""
        members = organisation.members if organisation else line_up_members(line_up, seats)
        return cls(members, line_up_kinds(line_up), organisation, knowing)


@dataclass(frozen=True, slots=True)
class AskedMember:
    """The situation that one member saw and the decision that it made."""

    member: Member
    situation: Situation
    """The situation in which it was last asked, where members talk within the step."""
    decision: Decision
    milliseconds: float
    talk: DialoguePosition | None = None
    """The part of this step's dialogue that the member knew, if members talk `within` the step."""


@dataclass(frozen=True, slots=True)
class DecisionMade:
    """One decision in the form that logs store. In a team without an organisation (rules for messages),
    this is one joint decision of all members."""

    member: int
    """The number of the first member that decided."""
    because: str = REASON_SEAT
    played_by: str = ""
    fallback: str = ""
    milliseconds: float = 0.0
    memory: Json = None
    note: Json = None
    calls: tuple[Call, ...] = ()
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    due: int = 0
    """The step in which it takes effect, if the agent planned in a schedule other than `together`; else 0."""
    commands: Mapping[int, Command] = field(default_factory=dict)
    """Its commands, by seat, if it takes effect in a later step."""
    says: tuple[MessageDraft, ...] = ()
    """Its messages, if it takes effect in a later step."""

    @classmethod
    def of(
        cls, member: int, decision: Decision, kind: str, because: str, milliseconds: float
    ) -> DecisionMade:
        """Return the record of a decision. `member` is the number of the member, `kind` the kind of agent,
        and `because` the reason why the member was asked."""
        return cls(
            member,
            because,
            decision.played_by or kind,
            decision.fallback,
            round(milliseconds, 3),
            decision.memory,
            decision.note,
            decision.calls,
            {seat: tuple(then) for seat, then in decision.plans.items()},
        )


@dataclass(frozen=True, slots=True)
class DecisionEffect:
    """The effect of a delayed decision when it became due. It lists the commands that were dropped and the
    messages that were not sent."""

    member: int
    asked_in: int
    """The step for which the member saw the state."""
    stale: Mapping[int, Command] = field(default_factory=dict)
    """Commands that were dropped because they were no longer possible, by seat."""
    unsaid: tuple[Json, ...] = ()
    """Messages that the member may not send, with the code."""


@dataclass(frozen=True, slots=True)
class StepMade:
    """The commands, decisions and messages of one step: everything that is needed to run, log and repeat
    it."""

    commands: Mapping[int, Command]
    """The commands in the order in which they run. Without an organisation, those of seats that are not asked
    come first. With an organisation, the order is member by member, as in live play."""
    decisions: tuple[DecisionMade, ...] = ()
    messages: tuple[TeamMessage, ...] = ()
    """Messages sent with the decisions. The platform's messages after the step are not included."""
