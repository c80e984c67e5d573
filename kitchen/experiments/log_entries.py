"""Define the entries of an episode log: its head, each step taken, and each step that was paid but not taken.

Each entry becomes one JSON object and can be read back unchanged. Prompt texts are stored once, under
their SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from kitchen.agents.agent_team import DecisionMade
from kitchen.contract.agent import NO_ONE
from kitchen.contract.language_model import Call, Request
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event, Json
from kitchen.llm.recorded_calls import TOOL_ROLE, request_texts, tool_from_text

KeepText = Callable[[str], str]
"""Keeps a text, and gives its SHA-256."""

_CALLS: TypeAdapter[Call] = TypeAdapter(Call)


class EntryError(Exception):
    """Something stored that is no entry of a log; one line."""


def text_key(text: str) -> str:
    """SHA-256 of a text, as exports name it. Halves of surrogate pairs, which no file keeps, count too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class LogHead:
    """Which episode a log is of: enough to play it again without the experiment."""

    variant: str
    level: str
    agents: int
    alpha: float
    episode: int
    seed: int
    coplayer: str
    settings: Mapping[str, Json]
    """The co-player's, all of them."""
    world: str
    world_version: int
    world_settings: Mapping[str, Json]
    program: str = ""
    """The version of Brigade that began it; empty in logs of before."""
    organisation: Json = None
    """Who may say what to whom (`Organisation.to_json`); None where nobody says anything."""
    knowing: str = NO_ONE
    """Whose commands of a step a member is told (`kitchen.contract.agent.KNOWLEDGE_LABELS`)."""

    @property
    def key(self) -> tuple[str, str, int, float, int]:
        """The episode's name within its experiment."""
        return self.variant, self.level, self.agents, self.alpha, self.episode

    def __str__(self) -> str:
        name = f"{self.level}, {self.agents} agents, alpha {self.alpha:g}, episode {self.episode}"
        return f"{self.variant}: {name}" if self.variant else name

    def to_json(self) -> dict[str, Json]:
        """As JSON; `from_json` gives an equal head. Only a team has an organisation, and says who knows."""
        values = asdict(self)
        if self.organisation is None and self.knowing == NO_ONE:
            del values["organisation"], values["knowing"]
        return values

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """What `to_json` wrote; EntryError."""
        try:
            return cls(**stored)
        except TypeError as error:
            raise EntryError(f"is no head of a log: {error}") from error


@dataclass(frozen=True, slots=True)
class StepEntry:
    """One step: what was decided, what was asked for it, and what came of it."""

    step: int
    """The first is 1."""
    commands: Mapping[int, Command]
    """All that were given, in the order in which they ran: first those of seats that were not asked. A seat
    that is not named did nothing."""
    played_by: str
    fallback: str
    calls: tuple[Call, ...]
    memory: Json
    """What the co-player wanted to be given at the next step."""
    note: Json
    milliseconds: float
    """The decision took, models included."""
    events: tuple[Event, ...]
    state_hash: str
    """Of the state after the step."""
    plans: Mapping[int, tuple[Command, ...]] = field(default_factory=dict)
    """What was to follow, by seat."""
    asked: bool = True
    """False where no seat had anything to choose that was not planned: nobody decided."""
    decisions: tuple[DecisionMade, ...] = ()
    """In an organisation: what each member decided. What all remember and note is then here alone."""
    messages: tuple[TeamMessage, ...] = ()
    """In an organisation: what was said with the decisions and, of the next step, by the platform."""

    def to_json(self, keep: KeepText) -> dict[str, Json]:
        """As JSON, without texts; what is not said is as usual."""
        return {
            **_plans_json({} if self.decisions else self.plans),
            **({} if self.asked else {"asked": False}),
            **self._team_json(keep),
            "step": self.step,
            "commands": [[seat, *command] for seat, command in self.commands.items()],
            "played_by": self.played_by,
            "fallback": self.fallback,
            "calls": [] if self.decisions else [call_to_json(call, keep) for call in self.calls],
            "memory": self.memory,
            "note": self.note,
            "milliseconds": self.milliseconds,
            "events": [event.to_json() for event in self.events],
            "state_hash": self.state_hash,
        }

    def _team_json(self, keep: KeepText) -> dict[str, Json]:
        """What only an organisation has."""
        decisions = [_decision_to_json(each, keep) for each in self.decisions]
        messages = [message_to_json(said) for said in self.messages]
        return {
            **({"decisions": decisions} if decisions else {}),
            **({"messages": messages} if messages else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], texts: Mapping[str, str]) -> Self:
        """What `to_json` wrote; EntryError."""
        try:
            decisions = tuple(_decision_from_json(each, texts) for each in stored.get("decisions", ()))
            calls = tuple(call_from_json(call, texts) for call in stored["calls"])
            read: dict[str, Any] = {
                "commands": {seat: tuple(words) for seat, *words in stored["commands"]},
                "calls": calls or tuple(call for each in decisions for call in each.calls),
                "events": tuple(_event(event) for event in stored["events"]),
                "plans": _plans(stored),
                "decisions": decisions,
                "messages": tuple(message_from_json(said) for said in stored.get("messages", ())),
            }
            return cls(**{**stored, **read})
        except (KeyError, TypeError, ValueError) as error:
            raise EntryError(f"is no step of a log: {error}") from error


@dataclass(frozen=True, slots=True)
class UntakenStep:
    """What was asked for a step that was then not taken: the money was spent, or nobody could go on."""

    step: int
    calls: tuple[Call, ...]

    def to_json(self, keep: KeepText) -> dict[str, Json]:
        """As JSON, without texts."""
        return {"untaken": self.step, "calls": [call_to_json(call, keep) for call in self.calls]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], texts: Mapping[str, str]) -> Self:
        """What `to_json` wrote; EntryError."""
        try:
            return cls(stored["untaken"], tuple(call_from_json(call, texts) for call in stored["calls"]))
        except (KeyError, TypeError) as error:
            raise EntryError(f"is no untaken step of a log: {error}") from error


def _decision_to_json(made: DecisionMade, keep: KeepText) -> dict[str, Json]:
    return {
        "member": made.member,
        "because": made.because,
        "played_by": made.played_by,
        "fallback": made.fallback,
        **_plans_json(made.plans),
        "calls": [call_to_json(call, keep) for call in made.calls],
        "memory": made.memory,
        "note": made.note,
        "milliseconds": made.milliseconds,
    }


def _decision_from_json(stored: Mapping[str, Any], texts: Mapping[str, str]) -> DecisionMade:
    calls = tuple(call_from_json(call, texts) for call in stored["calls"])
    return DecisionMade(**{**stored, "calls": calls, "plans": _plans(stored)})


def _plans_json(plans: Mapping[int, Sequence[Command]]) -> dict[str, Json]:
    found = [[seat, [list(command) for command in then]] for seat, then in plans.items()]
    return {"plans": found} if found else {}


def _plans(stored: Mapping[str, Any]) -> dict[int, tuple[Command, ...]]:
    return {seat: tuple(map(tuple, then)) for seat, then in stored.get("plans", ())}


def message_to_json(said: TeamMessage) -> dict[str, Json]:
    """Return a message as JSON; `message_from_json` gives an equal one."""
    named = {"number": said.number, "step": said.step, "sender": said.sender, "to": list(said.to)}
    return {**named, "kind": said.kind, "text": said.text, "data": dict(said.data)}


def message_from_json(stored: Mapping[str, Any]) -> TeamMessage:
    """Return the message that `message_to_json` wrote."""
    return TeamMessage(**{**stored, "to": tuple(stored["to"])})


def call_to_json(call: Call, keep: KeepText) -> dict[str, Json]:
    """A call with all that is known of it; of the texts that were sent, their hashes."""
    bare = replace(call, request=replace(call.request, messages=(), tool=None))
    stored: dict[str, Json] = _CALLS.dump_python(bare)
    stored["request"]["messages"] = [
        {"role": each.role, "text": keep(each.text), "fixed": each.fixed} for each in call.request.messages
    ]
    stored["request"][TOOL_ROLE] = next(
        (keep(text) for role, text in request_texts(call.request) if role == TOOL_ROLE), None
    )
    return stored


def call_from_json(stored: Mapping[str, Any], texts: Mapping[str, str]) -> Call:
    """What `call_to_json` wrote; EntryError."""
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
    """Whether two requests ask the same with the same parameters; how much time there is may differ."""
    return request_texts(one) == request_texts(other) and _parameters(one) == _parameters(other)


def _parameters(request: Request) -> Request:
    return replace(request, messages=(), tool=None, seconds=0.0)


def _event(stored: Mapping[str, Any]) -> Event:
    data = {name: value for name, value in stored.items() if name not in {"kind", "seat"}}
    return Event(stored["kind"], stored["seat"], data)
