"""Define the entries of an episode's log, and convert them to JSON and back.

- The head identifies the episode and has everything needed to replay it.
- A step entry has the commands, decisions, model calls and resulting state of one step.
- An entry for an interrupted step has the model calls that were already paid. The cause was an error or a
  spent budget.

A prompt text is stored once, under its SHA-256 hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from kitchen.agents.agent_team import DecisionEffect, DecisionMade
from kitchen.contract.agent import NO_ONE
from kitchen.contract.language_model import Call, Request
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Event, Json
from kitchen.llm.recorded_calls import TOOL_ROLE, request_texts, tool_from_text

StoreText = Callable[[str], str]
"""Stores a text and returns its SHA-256."""

_CALLS: TypeAdapter[Call] = TypeAdapter(Call)


class EntryError(Exception):
    """Raised when stored data are not a valid log entry. The message is one line."""


def text_key(text: str) -> str:
    """Return the SHA-256 of a text, as exports use it. Lone surrogates are allowed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class LogHead:
    """The first entry of a log. It identifies the episode and has everything that is needed to replay it."""

    variant: str
    level: str
    agents: int
    alpha: float
    episode: int
    seed: int
    coplayer: str
    settings: Mapping[str, Json]
    """All settings of the co-player."""
    world: str
    world_version: int
    world_settings: Mapping[str, Json]
    program: str = ""
    """The version of Brigade that began the episode; empty in older logs."""
    organisation: Json = None
    """The rules about who may send messages to whom (`Organisation.to_json`); None if members send no
    messages."""
    knowing: str = NO_ONE
    """The members whose commands of a step a member knows (`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""

    goal: Mapping[str, float] = field(default_factory=dict)
    """Least values of metrics at which the episode ends; empty if it has no goal."""

    @property
    def key(self) -> tuple[str, str, int, float, int]:
        """Return the key of the episode within its experiment."""
        return self.variant, self.level, self.agents, self.alpha, self.episode

    def __str__(self) -> str:
        name = f"{self.level}, {self.agents} agents, alpha {self.alpha:g}, episode {self.episode}"
        return f"{self.variant}: {name}" if self.variant else name

    def to_json(self) -> dict[str, Json]:
        """Return the head as JSON; `from_json` restores an equal head. The fields of a team are left out
        if no team played."""
        values = asdict(self)
        if self.organisation is None and self.knowing == NO_ONE:
            del values["organisation"], values["knowing"]
        if not self.goal:
            del values["goal"]
        return values

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Restore a head from the output of `to_json`. Raises EntryError if it is invalid."""
        try:
            return cls(**stored)
        except TypeError as error:
            raise EntryError(f"is no head of a log: {error}") from error


@dataclass(frozen=True, slots=True)
class StepEntry:
    """The log entry of one step: commands, decisions, model calls, and the resulting events and state."""

    step: int
    """Number of the step, from 1."""
    commands: Mapping[int, Command]
    """All commands of the step, in the order in which they ran.

    Commands of seats whose agents were not asked come first. A seat without a command did nothing.
    """
    played_by: str
    fallback: str
    calls: tuple[Call, ...]
    memory: Json
    """The co-player's memory for the next step."""
    note: Json
    milliseconds: float
    """Milliseconds of the decision, including model calls."""
    events: tuple[Event, ...]
    state_hash: str
    """Hash of the state after the step."""
    plans: Mapping[int, tuple[Command, ...]] = field(default_factory=dict)
    """Planned later commands, by seat."""
    asked: bool = True
    """False if every seat followed its plan or had no choice, so that no agent decided."""
    decisions: tuple[DecisionMade, ...] = ()
    """In an organisation: the decision of each member, with its memory and note."""
    messages: tuple[TeamMessage, ...] = ()
    """In an organisation: messages sent with the decisions. Also those of the next step that are sent before
    anybody is asked: the platform's, and those of delayed decisions."""
    effects: tuple[DecisionEffect, ...] = ()
    """The results of the delayed decisions that took effect in this step."""

    def to_json(self, store_text: StoreText) -> dict[str, Json]:
        """Return the step as JSON. `store_text` stores a long text and returns its hash, which replaces
        the text. Default values are left out."""
        return {
            **_plans_json({} if self.decisions else self.plans),
            **({} if self.asked else {"asked": False}),
            **self._team_json(store_text),
            "step": self.step,
            "commands": _commands_json(self.commands),
            "played_by": self.played_by,
            "fallback": self.fallback,
            "calls": [] if self.decisions else [call_to_json(call, store_text) for call in self.calls],
            "memory": self.memory,
            "note": self.note,
            "milliseconds": self.milliseconds,
            "events": [event.to_json() for event in self.events],
            "state_hash": self.state_hash,
        }

    def _team_json(self, store_text: StoreText) -> dict[str, Json]:
        """Return the fields that steps have only if the agents play in an organisation."""
        decisions = [_decision_to_json(each, store_text) for each in self.decisions]
        messages = [message_to_json(message) for message in self.messages]
        return {
            **({"decisions": decisions} if decisions else {}),
            **({"messages": messages} if messages else {}),
            **({"effects": [_effect_to_json(each) for each in self.effects]} if self.effects else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], texts: Mapping[str, str]) -> Self:
        """Restore a step from the output of `to_json`. `texts` maps hashes to texts. Raises EntryError if
        it is invalid."""
        try:
            decisions = tuple(_decision_from_json(each, texts) for each in stored.get("decisions", ()))
            calls = tuple(call_from_json(call, texts) for call in stored["calls"])
            read: dict[str, Any] = {
                "commands": _commands(stored["commands"]),
                "calls": calls or tuple(call for each in decisions for call in each.calls),
                "events": tuple(_event(event) for event in stored["events"]),
                "plans": _plans(stored),
                "decisions": decisions,
                "messages": tuple(message_from_json(message) for message in stored.get("messages", ())),
                "effects": tuple(_effect_from_json(each) for each in stored.get("effects", ())),
            }
            return cls(**{**stored, **read})
        except (KeyError, TypeError, ValueError) as error:
            raise EntryError(f"is no step of a log: {error}") from error


@dataclass(frozen=True, slots=True)
class UntakenStep:
    """The log entry of a step that was not taken, because of a spent budget, an error, or a model that was
    paused (the step is then decided again). It has the model calls made for the step."""

    step: int
    calls: tuple[Call, ...]

    def to_json(self, store_text: StoreText) -> dict[str, Json]:
        """Return the entry as JSON. `store_text` stores a long text and returns its hash, which replaces
        the text."""
        return {"untaken": self.step, "calls": [call_to_json(call, store_text) for call in self.calls]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], texts: Mapping[str, str]) -> Self:
        """Restore an entry from the output of `to_json`. `texts` maps hashes to texts. Raises EntryError
        if it is invalid."""
        try:
            return cls(stored["untaken"], tuple(call_from_json(call, texts) for call in stored["calls"]))
        except (KeyError, TypeError) as error:
            raise EntryError(f"is no untaken step of a log: {error}") from error


def _decision_to_json(made: DecisionMade, store_text: StoreText) -> dict[str, Json]:
    return {
        "member": made.member,
        "because": made.because,
        "played_by": made.played_by,
        "fallback": made.fallback,
        **_plans_json(made.plans),
        **_delay_to_json(made),
        "calls": [call_to_json(call, store_text) for call in made.calls],
        "memory": made.memory,
        "note": made.note,
        "milliseconds": made.milliseconds,
    }


def _decision_from_json(stored: Mapping[str, Any], texts: Mapping[str, str]) -> DecisionMade:
    calls = tuple(call_from_json(call, texts) for call in stored["calls"])
    says = tuple(MessageDraft(**{**say, "to": tuple(say["to"])}) for say in stored.get("says", ()))
    given = {"commands": _commands(stored.get("commands", ())), "says": says}
    return DecisionMade(**{**stored, **given, "calls": calls, "plans": _plans(stored)})


def _delay_to_json(made: DecisionMade) -> dict[str, Json]:
    """Return the fields of a decision that takes effect in a later step, because planning takes steps. Other
    decisions have no such fields."""
    says = [{**asdict(say), "to": list(say.to)} for say in made.says]
    return {
        **({"due": made.due} if made.due else {}),
        **({"commands": _commands_json(made.commands)} if made.commands else {}),
        **({"says": says} if says else {}),
    }


def _effect_to_json(effect: DecisionEffect) -> dict[str, Json]:
    known = {"member": effect.member, "asked_in": effect.asked_in}
    return {**known, "stale": _commands_json(effect.stale), "unsaid": list(effect.unsaid)}


def _effect_from_json(stored: Mapping[str, Any]) -> DecisionEffect:
    given = {"stale": _commands(stored["stale"]), "unsaid": tuple(stored["unsaid"])}
    return DecisionEffect(**{**stored, **given})


def _commands_json(commands: Mapping[int, Command]) -> list[Json]:
    return [[seat, *command] for seat, command in commands.items()]


def _commands(stored: Sequence[Any]) -> dict[int, Command]:
    return {seat: tuple(words) for seat, *words in stored}


def _plans_json(plans: Mapping[int, Sequence[Command]]) -> dict[str, Json]:
    found = [[seat, [list(command) for command in then]] for seat, then in plans.items()]
    return {"plans": found} if found else {}


def _plans(stored: Mapping[str, Any]) -> dict[int, tuple[Command, ...]]:
    return {seat: tuple(map(tuple, then)) for seat, then in stored.get("plans", ())}


def message_to_json(message: TeamMessage) -> dict[str, Json]:
    """Return a message as JSON; `message_from_json` restores an equal one."""
    named = {"number": message.number, "step": message.step, "sender": message.sender, "to": list(message.to)}
    return {**named, "kind": message.kind, "text": message.text, "data": dict(message.data)}


def message_from_json(stored: Mapping[str, Any]) -> TeamMessage:
    """Restore a message from the output of `message_to_json`."""
    return TeamMessage(**{**stored, "to": tuple(stored["to"])})


def call_to_json(call: Call, store_text: StoreText) -> dict[str, Json]:
    """Return all data of a model call as JSON. `store_text` stores each text that was sent and returns its
    hash, which replaces the text."""
    bare = replace(call, request=replace(call.request, messages=(), tool=None))
    stored: dict[str, Json] = _CALLS.dump_python(bare)
    stored["request"]["messages"] = [
        {"role": each.role, "text": store_text(each.text), "fixed": each.fixed}
        for each in call.request.messages
    ]
    stored["request"][TOOL_ROLE] = next(
        (store_text(text) for role, text in request_texts(call.request) if role == TOOL_ROLE), None
    )
    return stored


def call_from_json(stored: Mapping[str, Any], texts: Mapping[str, str]) -> Call:
    """Restore a call from the output of `call_to_json`. `texts` maps hashes to texts. Raises EntryError if
    it is invalid."""
    try:
        asked: dict[str, Any] = dict(stored["request"])
        asked["messages"] = [{**each, "text": texts[each["text"]]} for each in asked["messages"]]
        tool = asked.pop(TOOL_ROLE)
        call = _CALLS.validate_python({**stored, "request": asked})
        request = replace(call.request, messages=tuple(call.request.messages))
        return replace(call, request=replace(request, tool=tool_from_text(texts[tool]) if tool else None))
    except (KeyError, TypeError, ValidationError) as error:
        raise EntryError(f"is no call of a model: {type(error).__name__}") from error


def same_request(one: Request, other: Request) -> bool:
    """Return whether two model requests have the same texts and parameters. Their time limits are not
    compared."""
    return request_texts(one) == request_texts(other) and _parameters(one) == _parameters(other)


def _parameters(request: Request) -> Request:
    return replace(request, messages=(), tool=None, seconds=0.0)


def _event(stored: Mapping[str, Any]) -> Event:
    data = {name: value for name, value in stored.items() if name not in {"kind", "seat"}}
    return Event(stored["kind"], stored["seat"], data)
