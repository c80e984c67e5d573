"""Define the typed messages of the play page's websocket, in both directions and between processes.

The browser sends one JSON object for each message:

- `{"type": "command", "step": 4, "command": ["get", "storage0", "rice"]}`: the command for step 4. Steps are
  counted from 1. `then` may list further commands, one for each later step (a plan).
- `{"type": "plan", "then": [], "step": 4}`: replace the plan. An empty list cancels it.
- `{"type": "say", "to": [1], "text": "Fetch rice"}`: a message to member 1 of the team.
- `{"type": "say", "kind": "end", "step": 4}`: from a leader for whom step 4 waits: no more jobs now.
- `{"type": "scene", "way": "screen"}` and `{"type": "view", "view": "tables"}`: which view the person uses.
- `{"type": "sound", "state": "on"}`: whether the person hears sounds.
- `{"type": "probe", "step": 4, "answers": {"trust": {"q1": 5}}}`: answers to the questions that hold the game
  after step 4, by probe and item. A form may send them as `"trust.q1": "5"`.
- `{"type": "slider", "value": 70}`: the slider beside the game was moved.
- `{"type": "sync"}`: send the present state. `{"type": "ping", "trip": 40}`: is the connection alive? `trip`
  is optional: the milliseconds from an earlier ping to its answer.

In worlds where people type commands, the field `typed` holds the text (`Page.read_typed`). An invalid message
raises `MessageError`. The browser receives HTML fragments. If it asks for the subprotocol `brigade.json`, it
receives the same facts as JSON (`StateMessage` lists its fields; `waiting_for` says who is due).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol, Self

from kitchen.contract.agent import MAX_PLAN_STEPS
from kitchen.contract.organisation import SAY
from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES
from kitchen.contract.probes import MAX_ITEMS, MAX_PROBES, SLIDER_END
from kitchen.contract.team_messages import MESSAGE_TOO_LONG, REQUESTS_KEY
from kitchen.contract.world import Aim, Command, Json
from kitchen.infra.storable_json import storable_text
from kitchen.words.gettext_without_django import gettext_noop

MAX_MESSAGE_CHARACTERS = 8192
"""Longest message in characters. A longer one is refused unread."""
MAX_WORD_CHARACTERS = 2000
"""Longest word of a command, in characters."""
MAX_WORDS = 16
MAX_MEMBERS = 64
MAX_ROUND_TRIP_MS = 10_000
"""Longest round trip that is recorded, in milliseconds. A longer one counts as this."""
UNREADABLE = gettext_noop("That message could not be read.")
NO_ACTION = gettext_noop("Choose an action first.")
UNREADABLE_JOB = gettext_noop("That job could not be read. Choose one from the list.")


class MessageError(ValueError):
    """A message from the browser cannot be used. The text of the error is shown to its sender."""


@dataclass(frozen=True, slots=True)
class CommandMessage:
    """A person's command for one step, and the commands planned after it."""

    step: int
    command: Command
    then: tuple[Command, ...] = ()
    """The commands that follow it, one for each later step."""
    typed: str = ""
    """The text that the person typed; the command is then empty."""
    type: str = field(default="command", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if a field is invalid."""
        step = read_step(sent.get("step"))
        if typed := _read_typed(sent):
            return cls(step, (), typed=typed)
        return cls(step, read_command(sent.get("command")), read_plan(sent.get("then", [])))


@dataclass(frozen=True, slots=True)
class PlanMessage:
    """A new plan of a person, which replaces the present one. An empty plan cancels it."""

    then: tuple[Command, ...]
    step: int | None = None
    """The step that was open when the person sent the plan. None if the message does not state it."""
    type: str = field(default="plan", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if a field is invalid."""
        step = sent.get("step")
        return cls(read_plan(sent.get("then", [])), None if step is None else read_step(step))


@dataclass(frozen=True, slots=True)
class SyncMessage:
    """The browser's request for the present state."""

    type: str = field(default="sync", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message. It has no fields, so `sent` is ignored."""
        return cls()


@dataclass(frozen=True, slots=True)
class PingMessage:
    """The browser's check that the connection works, with the milliseconds of an earlier round trip."""

    trip: int | None = None
    type: str = field(default="ping", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if `trip` is invalid."""
        return cls(read_round_trip(sent))


def read_round_trip(sent: Mapping[str, Json]) -> int | None:
    """Return the field `trip` of a message: the milliseconds of a round trip that the page has measured, at
    most `MAX_ROUND_TRIP_MS`. None if it is missing. Raises MessageError if it is invalid."""
    trip = sent.get("trip")
    if trip is None:
        return None
    if type(trip) is not int or trip < 0:
        raise MessageError(UNREADABLE)
    return min(trip, MAX_ROUND_TRIP_MS)


SCREEN, HEADSET = "screen", "headset"
"""Ways to view the world in three dimensions."""


@dataclass(frozen=True, slots=True)
class SceneMessage:
    """The browser's report that the person now views the world in 3D, on a screen or in a headset (`way`)."""

    way: str
    type: str = field(default="scene", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if `way` is unknown."""
        way = sent.get("way")
        if not isinstance(way, str) or way not in {SCREEN, HEADSET}:
            raise MessageError(UNREADABLE)
        return cls(way)


@dataclass(frozen=True, slots=True)
class SayMessage:
    """A message from a person to other members of the episode."""

    text: str
    to: tuple[int, ...]
    """Numbers of the members addressed. Empty means every member whom the person may write to."""
    kind: str = SAY
    data: Mapping[str, Json] = field(default_factory=dict)
    """Further data. `job` is the number of the message that assigned the job. `status` is the reported status
    of it. `aim` is the goal of a new job, in the codes of the world. `spoken` is true if the browser
    transcribed speech. `requests` are commands that the addressee should give, in its own seat.
    """
    typed: str = ""
    """The text in which the person typed further requests."""
    after: int | None = None
    """The number of the last own message that the page showed; 0 if there was none. The same message with
    the same number is a repetition, for example after a double click. None from programs."""
    step: int | None = None
    """The step that an `end` is for. In another step it has no effect. None if it is for any step."""
    type: str = field(default="say", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if a field is invalid.

        The field `to` may be a list of members, or a single member (as an HTML form sends it).
        """
        text, kind = sent.get("text", ""), sent.get("kind", SAY)
        if not isinstance(text, str) or not isinstance(kind, str):
            raise MessageError(UNREADABLE)
        after = _parse_digits(sent.get("after"), 9)
        if after is not None and (type(after) is not int or after < 0):
            raise MessageError(UNREADABLE)
        step = None if sent.get("step") is None else read_step(sent["step"])
        return cls(text, _read_members(sent.get("to")), kind, _read_job(sent), _read_typed(sent), after, step)


def _read_job(sent: Mapping[str, Json]) -> dict[str, Json]:
    """Return the valid fields of `data` in the message: job, status, aim, spoken and requests."""
    job, status = _parse_digits(sent.get("job"), 7), sent.get("status")
    if (job is not None and type(job) is not int) or (status is not None and not isinstance(status, str)):
        raise MessageError(UNREADABLE)
    spoken = True if sent.get("spoken") in (True, "1") else None
    aim = list(read_aim(sent["aim"])) if sent.get("aim") else None
    requests = [list(one) for one in read_plan(sent.get("requests", []))] or None
    said = {"job": job, "status": status, "aim": aim, "spoken": spoken, REQUESTS_KEY: requests}
    return {name: value for name, value in said.items() if value is not None}


def _read_typed(sent: Mapping[str, Json]) -> str:
    typed = sent.get("typed", "")
    if not isinstance(typed, str):
        raise MessageError(UNREADABLE)
    return storable_text(typed).strip()


def _read_members(value: Json) -> tuple[int, ...]:
    given = value if isinstance(value, list) else [value] if value else []
    many = [_parse_digits(one, 4) for one in given]
    if len(many) > MAX_MEMBERS or any(type(one) is not int for one in many):
        raise MessageError(UNREADABLE)
    return tuple(many)


@dataclass(frozen=True, slots=True)
class ViewMessage:
    """The browser's report which view (drawing or tables) the person used when choosing."""

    view: str
    type: str = field(default="view", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if the view is unknown."""
        view = sent.get("view")
        if not isinstance(view, str) or view not in {DRAWING_TABLES, DRAWING_ONLY}:
            raise MessageError(UNREADABLE)
        return cls(view)


SOUND_ON, SOUND_IN_PART = "on", "part"
"""Whether a person hears sounds: in the whole episode, or only in a part of it."""


@dataclass(frozen=True, slots=True)
class SoundMessage:
    """The browser's report that the person hears sounds (`on`), or has switched them on or off since the
    episode began (`part`)."""

    state: str
    type: str = field(default="sound", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if `state` is unknown."""
        state = sent.get("state")
        if not isinstance(state, str) or state not in {SOUND_ON, SOUND_IN_PART}:
            raise MessageError(UNREADABLE)
        return cls(state)


@dataclass(frozen=True, slots=True)
class AwayMessage:
    """The browser's report that the person has turned away from the game, or is back (`away` is false).

    A person turns away by opening another page, another tab, or the question whether to leave the study.
    """

    away: bool
    type: str = field(default="away", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if `away` is no boolean."""
        away = sent.get("away", True)
        if type(away) is not bool:
            raise MessageError(UNREADABLE)
        return cls(away)


MAX_PROBE_ANSWERS = MAX_PROBES * MAX_ITEMS
"""Most answers in one message: each probe of a condition may be due at once."""


@dataclass(frozen=True, slots=True)
class ProbeMessage:
    """A person's answers to the probes that hold the game after `step` steps, by probe and item."""

    step: int
    answers: Mapping[str, Mapping[str, Json]]
    type: str = field(default="probe", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object: `answers`, or the fields of a form, such as
        `trust.q1`. Raises MessageError if a field is invalid."""
        given = sent.get("answers")
        if given is None:
            given = {}
            for name in [name for name in sent if "." in name][:MAX_PROBE_ANSWERS]:
                probe, item = name.split(".", 1)
                given.setdefault(probe, {})[item] = sent[name]
        if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
            raise MessageError(UNREADABLE)
        answers = {
            probe: {item: _storable(value) for item, value in one.items()} for probe, one in given.items()
        }
        return cls(read_step(sent.get("step")), answers)


def _storable(value: Json) -> Json:
    return storable_text(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class SliderMessage:
    """The value, from 0 to 100, at which a person has left the slider beside the game."""

    value: int
    type: str = field(default="slider", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if the value is invalid."""
        value = _parse_digits(sent.get("value"), 4)
        if type(value) is not int or not 0 <= value <= SLIDER_END:
            raise MessageError(UNREADABLE)
        return cls(value)


ClientMessage = (
    CommandMessage
    | ProbeMessage
    | SliderMessage
    | PlanMessage
    | SyncMessage
    | PingMessage
    | SceneMessage
    | SoundMessage
    | ViewMessage
    | SayMessage
    | AwayMessage
)
"""Every message that a browser may send."""
CLIENT_MESSAGES: Mapping[str, type[ClientMessage]] = {
    "away": AwayMessage,
    "command": CommandMessage,
    "ping": PingMessage,
    "say": SayMessage,
    "plan": PlanMessage,
    "probe": ProbeMessage,
    "scene": SceneMessage,
    "slider": SliderMessage,
    "sound": SoundMessage,
    "sync": SyncMessage,
    "view": ViewMessage,
}
"""Message classes by their type."""


class ReadableMessage(Protocol):
    """A message class that can be created from a JSON object."""

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Any:
        """Create the message from its decoded JSON object. Raises MessageError if a field is invalid."""


def read_message(text: str | None) -> ClientMessage:
    """Parse the text of a play websocket message from the browser. Raises MessageError if it is invalid."""
    message: ClientMessage = read_one_of(CLIENT_MESSAGES, text)
    return message


def read_one_of(kinds: Mapping[str, type[ReadableMessage]], text: str | None) -> Any:
    """Parse the text of a message from the browser, and return an object of the class for its `type`.

    `kinds` are the allowed classes, by type. Raises MessageError if the text is invalid or has another
    type.
    """
    if text is not None and len(text) > MAX_MESSAGE_CHARACTERS:
        raise MessageError(MESSAGE_TOO_LONG)  # only words of a person can make it so long
    if text is None:
        raise MessageError(UNREADABLE)
    sent = _parse_json(text, UNREADABLE)
    if not isinstance(sent, dict):
        raise MessageError(UNREADABLE)
    kind = sent.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise MessageError(gettext_noop("This page does not know that kind of message."))
    return kinds[kind].read(sent)


def _parse_json(text: str, refusal: str) -> Json:
    """Convert JSON text to a value. Raises MessageError with the text `refusal` if the JSON is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError(refusal) from None


def _parse_digits(value: Json, below: int) -> Json:
    """Return the number in a form field's text, if it has fewer than `below` digits. Return any other value
    unchanged."""
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < below
    return int(value) if is_number else value


def read_step(value: Json) -> int:
    """Convert a step number from JSON, or from the text of a form field, to an int. Raises MessageError if
    it is invalid."""
    value = _parse_digits(value, 10)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**9:
        raise MessageError(gettext_noop("The message does not say which step it is for."))
    return value


def read_command(value: Json) -> Command:
    """Convert a command to a tuple. `value` is a JSON list, or the JSON text of one. Raises MessageError if
    it is invalid."""
    return _read_words(value, NO_ACTION, gettext_noop("That action could not be read."))


def read_aim(value: Json) -> Aim:
    """Convert the goal of a job to a tuple. `value` is a JSON list, or the JSON text of one. Raises
    MessageError if it is invalid."""
    return _read_words(value, UNREADABLE_JOB, UNREADABLE_JOB)


def _read_words(value: Json, missing: str, unreadable: str) -> tuple[str, ...]:
    """Convert a list of words to a tuple. Raises MessageError with the text `missing` if there is no list,
    and with the text `unreadable` if a word is invalid."""
    if isinstance(value, str):
        value = _parse_json(value, missing)
    if not isinstance(value, list) or not 0 < len(value) <= MAX_WORDS:
        raise MessageError(missing)
    if not all(
        isinstance(word, str) and len(word) <= MAX_WORD_CHARACTERS and "\x00" not in word for word in value
    ):
        raise MessageError(unreadable)
    return tuple(value)


def read_plan(value: Json) -> tuple[Command, ...]:
    """Convert the commands of a plan to tuples. `value` is a list of commands, or the JSON text of a single
    one (as a form sends it).

    Raises MessageError if a command is invalid or there are too many.
    """
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or len(given) > MAX_PLAN_STEPS:
        raise MessageError(gettext_noop("That plan could not be read."))
    return tuple(map(read_command, given))


TurnStamp = tuple[int, str, str, int, int, int]
"""Version of an episode's state: steps taken, status, time of the turn (`stamp_time`), number of people's
commands in the open step, number of messages, number of seats taken over.

It changes whenever a page must change. Decisions of agents are not part of it, because nobody may see them
before the step runs.
"""


JOINED, RETURNED = "joined", "returned"
"""Why a seat is in `Episode.gone` although a person plays it: an agent played it until the person came, or
while the person was away."""
HAVE_PERSON = frozenset({JOINED, RETURNED})


def seat_changes(gone: Mapping[str, Json] | None) -> int:
    """Return a number that changes whenever a seat passes from a person to an agent, or back. `gone` is
    `Episode.gone`."""
    return sum(1 + (each["why"] in HAVE_PERSON) for each in (gone or {}).values())


def stamp_time(closes_at: datetime | None, asked_at: datetime | None) -> str:
    """Return the time in a `TurnStamp`, as ISO text. It is the turn's deadline. Without one, it is the time
    at which people were last asked. Empty if neither is stored."""
    time = closes_at or asked_at
    return time.isoformat() if time else ""


@dataclass(frozen=True, slots=True)
class PongMessage:
    """The answer to a ping."""

    type: str = field(default="pong", init=False)


@dataclass(frozen=True, slots=True)
class NoticeMessage:
    """A short notice to the person. `code` is for programs, `text` for people. `tone` is `info` or `warning`.

    `again` is True if the command had no effect and the page must send it again.
    """

    code: str
    text: str
    tone: str = "info"
    again: bool = False
    type: str = field(default="notice", init=False)


@dataclass(frozen=True, slots=True)
class StateMessage:
    """Everything that a seat may know now (see `kitchen.contract.page_view.SeatView`)."""

    world: str
    """Name of the world."""
    seats: int
    """Number of seats."""
    seat: int
    phase: str
    """See `SeatView.phase`. In phase `answer`, send a message or a plan, or give no answer with
    `{"type": "say", "kind": "end"}`."""
    step: int
    length: int | None
    observation: Json
    legal: Json
    anticipated: Json
    score: Json
    brief: Json
    seconds_left: float | None
    intents: Json
    """Intents by seat. Empty if the episode does not show them."""
    plans: Json
    """Plans by seat: the commands after the open step that run without asking."""
    public_state: Json = field(default_factory=dict)
    """What anybody may know of the present state (`World.public_state`). Empty for a person with a seat."""
    member: int | None = None
    """The person's number among the members. None if the members cannot send messages."""
    addressees: Json = ()
    """Members to whom the person may write."""
    partner: int | None = None
    """The present conversation partner, where people talk with one member at a time."""
    seen: Json = None
    """Observations of other seats that the person may see, by seat. Empty for a person who leads nobody."""
    messages: Json = ()
    """The newest messages that the person sent or received, in order (see
    `kitchen.contract.team_messages.TeamMessage`).
    """
    jobs: Json = ()
    """Jobs that the person was assigned or assigned to others (see `kitchen.contract.assigned_jobs.Job`)."""
    aims: Json = field(default_factory=dict)
    """The goals that can be assigned to each member whom the person may give jobs, by member (see
    `World.aims`).
    """
    amounts: Json = ()
    """Commands of `legal` with an amount: each without its amount, the smallest and the largest (see
    `World.amounts`).
    """
    waiting_for: Json = ()
    """Seats whose command is still missing. Where two members take turns to speak, and it is not this
    person's turn: only the seats of the member who is to speak. The number of a leader without a seat is
    included while the step waits for the leader. Other leaders get an empty list. It is also empty once the
    episode is over."""
    probe: Json = None
    """The questions that hold the game, if this person still has to answer them: `step`, and `probes`, each
    with its `key` and `items` (`kitchen.contract.probes`)."""
    type: str = field(default="state", init=False)


@dataclass(frozen=True, slots=True)
class EpisodeChanged:
    """A notification to every open page of an episode, over the channel layer. The consumer's method
    `episode_changed` handles it."""

    stamp: TurnStamp | None = None
    """The version of the episode's state. None if each page must check for itself."""
    type: str = field(default="episode.changed", init=False)


def message_to_json(message: NoticeMessage | PongMessage | StateMessage) -> str:
    """Return the message as the text of one JSON object."""
    return json.dumps({slot.name: getattr(message, slot.name) for slot in fields(message)})
