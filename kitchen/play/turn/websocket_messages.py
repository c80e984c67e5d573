"""Typed messages of the play websocket, from the browser and to it, and between processes.

From the browser, one JSON object each: `{"type": "command", "step": 4, "command": ["get", "storage0",
"rice"]}`, `{"type": "sync"}`, `{"type": "ping"}`, `{"type": "scene", "way": "screen"}`, `{"type": "view",
"view": "tables"}` or `{"type": "say", "to": [1], "text": "Fetch rice"}`. `step` is the step that the command
is for; the first is 1. `command` may also be the same list as JSON text, as a form field sends it. `then` is
a list of commands that follow it, one in each step. `{"type": "plan", "then": [], "step": 4}` replaces what
is left of them in that step; an empty list also works later. Both are for episodes that offer plans only.
Anything else is a `MessageError`, whose text is shown in the language of the page. The consumer has a method
for each type: `on_command`.

To the browser: HTML fragments. A client that asks for the subprotocol `brigade.json` gets the same facts as
JSON (`StateMessage`, `NoticeMessage`). Over the channel layer: `EpisodeChanged`, `EpisodeNews`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

from kitchen.contract.agent import MAX_PLAN_STEPS
from kitchen.contract.organisation import SAY
from kitchen.contract.page import DRAWING_ONLY, DRAWING_TABLES
from kitchen.contract.world import Command, Json
from kitchen.words.translation import gettext_noop

MAX_MESSAGE_CHARACTERS = 8192
"""Characters; a longer message is refused unread."""
MAX_WORD_CHARACTERS = 2000
"""Characters of one word of a command."""
MAX_WORDS = 16
MAX_MEMBERS = 64


class MessageError(ValueError):
    """A message that says nothing we know; the text is for the person who sent it."""


@dataclass(frozen=True, slots=True)
class CommandMessage:
    """A person's command for one step."""

    step: int
    command: Command
    then: tuple[Command, ...] = ()
    """What is to follow it, step by step."""
    type: str = field(default="command", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent; MessageError if it is none."""
        step, command = read_step(sent.get("step")), read_command(sent.get("command"))
        return cls(step=step, command=command, then=read_plan(sent.get("then", [])))


@dataclass(frozen=True, slots=True)
class PlanMessage:
    """Another plan takes the place of what is left of a person's; an empty one ends it."""

    then: tuple[Command, ...]
    step: int | None = None
    """The one that was open where the person did that; None where that is not said."""
    type: str = field(default="plan", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent; MessageError if it is none."""
        step = sent.get("step")
        return cls(read_plan(sent.get("then", [])), None if step is None else read_step(step))


@dataclass(frozen=True, slots=True)
class SyncMessage:
    """The browser asks for the present state."""

    type: str = field(default="sync", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """It says nothing more."""
        return cls()


@dataclass(frozen=True, slots=True)
class PingMessage:
    """The browser asks whether anybody is there."""

    type: str = field(default="ping", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """It says nothing more."""
        return cls()


SCREEN, HEADSET = "screen", "headset"
"""Ways to see the world in three dimensions."""


@dataclass(frozen=True, slots=True)
class SceneMessage:
    """The person sees the world in three dimensions now."""

    way: str
    type: str = field(default="scene", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent; MessageError for another way."""
        way = sent.get("way")
        if not isinstance(way, str) or way not in {SCREEN, HEADSET}:
            raise MessageError(gettext_noop("That message could not be read."))
        return cls(way)


@dataclass(frozen=True, slots=True)
class SayMessage:
    """Something that a person says to other members."""

    text: str
    to: tuple[int, ...]
    """Members, by number; nobody named: all whom they may write to."""
    kind: str = SAY
    data: Mapping[str, Json] = field(default_factory=dict)
    """`job`, the number of the message that gave it, the `status` that is reported of it, `aim`, what a new
    one is to bring about in the codes of the world, and `spoken` where the browser made the text of
    speech."""
    type: str = field(default="say", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent, `to` as a list or as a form sends it; MessageError if it is none."""
        text, kind = sent.get("text", ""), sent.get("kind", SAY)
        if not isinstance(text, str) or not isinstance(kind, str):
            raise MessageError(gettext_noop("That message could not be read."))
        return cls(text, _read_members(sent.get("to")), kind, _read_job(sent))


def _read_job(sent: Mapping[str, Json]) -> dict[str, Json]:
    """What a message about a job says of it."""
    job, status = sent.get("job"), sent.get("status")
    if isinstance(job, str) and job.isascii() and job.isdigit() and len(job) < 7:
        job = int(job)
    if (job is not None and type(job) is not int) or (status is not None and not isinstance(status, str)):
        raise MessageError(gettext_noop("That message could not be read."))
    spoken = True if sent.get("spoken") in (True, "1") else None
    aim = list(read_command(sent["aim"])) if sent.get("aim") else None
    said = {"job": job, "status": status, "aim": aim, "spoken": spoken}
    return {name: value for name, value in said.items() if value is not None}


def _read_members(value: Json) -> tuple[int, ...]:
    many = [_read_member(one) for one in (value if isinstance(value, list) else [value] if value else [])]
    if len(many) > MAX_MEMBERS or any(type(one) is not int for one in many):
        raise MessageError(gettext_noop("That message could not be read."))
    return tuple(many)


def _read_member(one: Json) -> Json:
    digits = isinstance(one, str) and one.isascii() and one.isdigit() and len(one) < 4
    return int(one) if digits else one


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """Of a world that is shown in two ways, the person saw this one when they chose."""

    view: str
    type: str = field(default="view", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent; MessageError for another view."""
        view = sent.get("view")
        if not isinstance(view, str) or view not in {DRAWING_TABLES, DRAWING_ONLY}:
            raise MessageError(gettext_noop("That message could not be read."))
        return cls(view)


ClientMessage = (
    CommandMessage | PlanMessage | SyncMessage | PingMessage | SceneMessage | ViewMessage | SayMessage
)
"""What a browser may send."""
CLIENT_MESSAGES: Mapping[str, type[ClientMessage]] = {
    "command": CommandMessage,
    "ping": PingMessage,
    "say": SayMessage,
    "plan": PlanMessage,
    "scene": SceneMessage,
    "sync": SyncMessage,
    "view": ViewMessage,
}
"""By their types."""


class ReadableMessage(Protocol):
    """A kind of message."""

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Any:
        """From what was sent; MessageError if it is none."""


def read_message(text: str | None) -> ClientMessage:
    """What a browser sent; MessageError if it is not one of ours."""
    message: ClientMessage = read_one_of(CLIENT_MESSAGES, text)
    return message


def read_one_of(kinds: Mapping[str, type[ReadableMessage]], text: str | None) -> Any:
    """What a browser sent, of one of these `kinds`, by their types; MessageError if it is none of them."""
    if text is None or len(text) > MAX_MESSAGE_CHARACTERS:
        raise MessageError(gettext_noop("That message could not be read."))
    sent = _read_object(text)
    kind = sent.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise MessageError(gettext_noop("That message is of a kind this page does not know."))
    return kinds[kind].read(sent)


def _read_object(text: str) -> dict[str, Any]:
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError(gettext_noop("That message could not be read.")) from None
    if not isinstance(sent, dict):
        raise MessageError(gettext_noop("That message could not be read."))
    return sent


def read_step(value: Json) -> int:
    """A step number from JSON or from a form; MessageError if it is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**9:
        raise MessageError(gettext_noop("The message does not say which step it is for."))
    return value


def read_command(value: Json) -> Command:
    """A command from its JSON list, or from that list as text; MessageError if it is none."""
    if isinstance(value, str):
        value = _read_list(value)
    if not isinstance(value, list) or not 0 < len(value) <= MAX_WORDS:
        raise MessageError(gettext_noop("Choose an action first."))
    if not all(
        isinstance(word, str) and len(word) <= MAX_WORD_CHARACTERS and "\x00" not in word for word in value
    ):
        raise MessageError(gettext_noop("That action could not be read."))
    return tuple(value)


def read_plan(value: Json) -> tuple[Command, ...]:
    """Commands that follow, from a list of them; a form sends the text of each, and one alone without a list.
    MessageError if they are none, or too many."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or len(given) > MAX_PLAN_STEPS:
        raise MessageError(gettext_noop("That plan could not be read."))
    return tuple(map(read_command, given))


def _read_list(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError(gettext_noop("Choose an action first.")) from None


TurnStamp = tuple[int, str, str, int, int, int]
"""How an episode stands: steps taken, status, the turn's end, people's commands in for it, messages,
seats that were taken over. Differs when a page has to change: that co-players have decided is nobody's to see
before the step runs."""


@dataclass(frozen=True, slots=True)
class PongMessage:
    """Somebody is."""

    type: str = field(default="pong", init=False)


@dataclass(frozen=True, slots=True)
class NoticeMessage:
    """An answer in words: `code` for programs, `text` for people, `tone` is `info` or `warning`. `again`:
    nothing came of the command for now, and it is to be sent once more."""

    code: str
    text: str
    tone: str = "info"
    again: bool = False
    type: str = field(default="notice", init=False)


@dataclass(frozen=True, slots=True)
class StateMessage:
    """All that a seat may know now (see `kitchen.contract.page.SeatView`)."""

    world: str
    """Name of the world."""
    seats: int
    """How many there are."""
    seat: int
    phase: str
    step: int
    length: int | None
    observation: Json
    legal: Json
    anticipated: Json
    score: Json
    brief: Json
    seconds_left: float | None
    intents: Json
    """By seat; empty where they are not shown."""
    plans: Json
    """By seat: what each does after the open step without being asked."""
    member: int | None = None
    """Who this person is among the members; None where nobody writes to anybody."""
    addressees: Json = ()
    """Members to whom they may write."""
    partner: int | None = None
    """Where they talk with one at a time: with whom now."""
    seen: Json = None
    """What other seats see that they may see, too, by seat; empty for who leads nobody."""
    messages: Json = ()
    """What they said and heard, in order: the newest (see `kitchen.contract.team_messages.TeamMessage`)."""
    jobs: Json = ()
    """Those that they were given or gave (see `kitchen.contract.assigned_jobs.Job`)."""
    aims: Json = field(default_factory=dict)
    """By member whom they may give jobs: what of the world each can be asked for (see `World.aims`)."""
    amounts: Json = ()
    """Commands of `legal` with an amount: each without it, the least and the most (see `World.amounts`)."""
    type: str = field(default="state", init=False)


@dataclass(frozen=True, slots=True)
class EpisodeChanged:
    """A nudge for every open page of an episode, over the channel layer; the handler is `episode_changed`."""

    stamp: TurnStamp | None = None
    """How the episode stands; None where each page is to see for itself."""
    type: str = field(default="episode.changed", init=False)


@dataclass(frozen=True, slots=True)
class EpisodeNews:
    """What staff who watch an audience are told: one for each step and one for each ending, on commit.

    It comes over the channel layer (`stream.audience_group`) as a mapping of these fields; the handler in a
    consumer is `episode_news`.
    """

    episode: str
    """The episode's key."""
    step: int
    """Steps taken."""
    status: str
    """As `Episode.Status`: `playing`, or how it ended."""
    fallbacks: int = 0
    """Commands of this step that a fallback gave for a co-player."""
    ran_out: int = 0
    """People whose time ran out in this step."""
    type: str = field(default="episode.news", init=False)


def message_to_json(message: NoticeMessage | PongMessage | StateMessage) -> str:
    """The message as one JSON object."""
    return json.dumps({slot.name: getattr(message, slot.name) for slot in fields(message)})
