"""Define the messages between play pages and the clock processes that compute real-time episodes.

A tick is a step of the episode. A page sends JSON objects over the websocket `/ws/ticks/<key>/`:

- `{"type": "key", "command": ["north"], "down": true, "number": 7}`: a key was pressed, or released (`down`
  is false). The page repeats a held key at least every five seconds. `number` grows with each message. A key
  and a ping may have `trip`: the milliseconds of a round trip that the page has measured.
- `{"type": "say", "to": [1], "text": "Onions are yours"}`: a message to member 1 of the team.
- `{"type": "probe", …}` and `{"type": "slider", …}`: answers to questions, as in turn-based episodes.
- `{"type": "sync"}`: send the whole state. `{"type": "ping"}`: is the connection alive?
- `{"type": "sound", "state": "on"}`: whether the person hears sounds, as in turn-based episodes.
- `{"type": "away", "away": true}`: the person has turned away from the game, or is back (`away` is false).

A page receives:

- `state`: the stored state (`websocket_messages.StateMessage`), sent after connecting and after a `sync`.
  Only this message has `brief`, the facts that never change.
- `whole`: `{step, tick_ms, observation, score, key, starts_in_ms, lost_ms, lost_steps, source}`, the present
  state. `key` is the `number` of the last key message received. `starts_in_ms` is the time until the first
  tick begins. `lost_ms` is the time that was lost in an outage. After an outage, `step` may be lower than
  before: `lost_steps` is the number of steps that the page was shown and that could not be stored.
- `tick`: `{step, changed, gone, score, events, key, lost_ms}`, the changes of one more step. `changed` has
  new values of the observation by name, and `gone` the names that were removed. `events` has the events that
  this player may know.
- `intents`, a field of `whole` and `tick`: what other players are about to do, if the page shows this.
- `errand`, a field of `whole` and `tick`: the action that a hint recommends to this player. A `tick` has
  these two fields only if they have changed.
- `heard`, a field of the first `tick` after a key: `[number, milliseconds]`, the newest key message that the
  web process has read, and how long ago it read it. The page computes its round trip from this.
- `over`: `{status, html}`: the episode has ended and is stored. `html` has the final panels of the page.
- `probe`: `{html, probe, on}`: the panels of the questions that hold the game, the questions as JSON, and
  whether the clock stands still for them.
- `talk`: `{html}`: the panels of messages, after each new message.
- `gone`: `{said}`: sentences about players who have left.
- `away`: `{said, seats}`: sentences about players who are away at the moment, and their seats.
- `waits`: no clock process has room for the game at the moment, so that it begins later.
- `late`: `{late}`: whether ticks cannot arrive at the moment, because Redis is unreachable.
- a binary message: four bytes with the step, then an image of the world, if it draws itself (`World.frame`).
- `notice`: see `websocket_messages.NoticeMessage`. `pong`: the answer to a `ping`.

A page that reconnects adds the `source` of its last step, and the step, to the address (`SeenSteps`). So
another web process can tell it which steps are lost.

A clock process sends one message for all pages of an episode over the channel layer. Each page receives only
the part for its player. The message has the `TickSource` of its step. A consumer that receives a step of
another source requests the whole state, because changes apply only to the state before them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.play.turn.websocket_messages import (
    AwayMessage,
    MessageError,
    PingMessage,
    ProbeMessage,
    ReadableMessage,
    SayMessage,
    SliderMessage,
    SoundMessage,
    SyncMessage,
    read_command,
    read_round_trip,
)
from kitchen.realtime.realtime_episode import RealtimeEpisode, SeatUpdate
from kitchen.words.gettext_without_django import gettext_noop

MAX_KEY_NUMBER = 2**53
"""Upper bound of the numbers of key messages."""


@dataclass(frozen=True, slots=True)
class KeyMessage:
    """The browser's report that a key was pressed or released."""

    command: Command
    down: bool
    number: int
    trip: int | None = None
    type: str = field(default="key", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """Create the message from its decoded JSON object. Raises MessageError if a field is invalid."""
        down, number = sent.get("down", True), sent.get("number", 0)
        if type(down) is not bool or type(number) is not int or not 0 <= number < MAX_KEY_NUMBER:
            raise MessageError(gettext_noop("That message could not be read."))
        return cls(read_command(sent.get("command")), down, number, read_round_trip(sent))


TICK_MESSAGE_KINDS: Mapping[str, type[ReadableMessage]] = {
    "away": AwayMessage,
    "key": KeyMessage,
    "ping": PingMessage,
    "probe": ProbeMessage,
    "say": SayMessage,
    "slider": SliderMessage,
    "sound": SoundMessage,
    "sync": SyncMessage,
}
"""Messages that a page may send, by type."""


class TickSource(NamedTuple):
    """The clock process that computes the steps of an episode. Another process, or the same one that begins
    anew, is another source."""

    owner: str = ""
    """Random name of the process."""
    epoch: int = 0
    """Number of the episode among all that this process has begun to compute."""
    since: int = 0
    """Number of steps that were stored when the process began. It computes all later ones."""


def source_of(message: Mapping[str, Any]) -> TickSource:
    """Return the source of the step in this channel-layer message. Processes of an older version do not
    name theirs."""
    return TickSource(*message.get("source", ()))


class SeenSteps(NamedTuple):
    """The last step that a page was shown before it reconnected, and where it came from."""

    source: TickSource
    step: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read the parameter `seen` of a websocket's address: owner, epoch, since and step, with dots. Return
        None if it is invalid."""
        found = _SEEN.fullmatch(text)
        if found is None:
            return None
        owner, *numbers = found.groups()
        epoch, since, step = map(int, numbers)
        return cls(TickSource(owner, epoch, since), step) if since <= step else None


_SEEN = re.compile(r"([0-9a-f]{1,32})\.([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
MAX_REMEMBERED_LOSS_MS = 2000
"""Maximum milliseconds of lost steps that are believed of a page. Clock processes usually store a tick within
a second."""


def pages_group(episode_id: int) -> str:
    """Return the name of the channel-layer group of the episode's open pages."""
    return f"ticks.{episode_id}"


def keys_group(episode_id: int) -> str:
    """Return the name of the channel-layer group of the clock process that owns the episode."""
    return f"keys.{episode_id}"


def changed_values(before: Mapping[str, Json], now: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """Compare two mappings. Return the values of `now` that are new or changed, by name, and the names
    that are missing in `now`."""
    changed = {name: value for name, value in now.items() if name not in before or before[name] != value}
    return changed, [name for name in before if name not in now]


def layer_message(kind: str, **more: Any) -> dict[str, Any]:
    """Return a channel-layer message of type `kind` with the values `more`."""
    return {"type": kind, **more}


class TickUpdates:
    """Builds the messages of one episode to its pages. It remembers what was last sent, so that only
    changes are sent. `source` is part of each message."""

    def __init__(self, game: RealtimeEpisode, source: TickSource) -> None:
        self._game, self.source = game, source
        self._seen: dict[int, Mapping[str, Json]] = {}
        self._score: Mapping[str, Json] = {}
        self._sent: dict[int, Mapping[str, Json]] = {}
        self._said: dict[int, int] = {}
        """The number of the last message that was sent to all pages of a seat, by seat."""

    def whole(self, *, starts_in: float = 0.0, lost_ms: int = 0, to_all: bool = False) -> dict[str, Any]:
        """Return a channel-layer message with the whole present state of every seat.

        `starts_in` are the seconds until the first tick begins. `lost_ms` are the milliseconds lost just
        before. `to_all` is true if all pages receive it. Otherwise the next tick repeats its messages for
        the other pages.
        """
        sights = self._game.sights()
        seats = {
            str(seat): {
                "observation": dict(sight.observation),
                "key": sight.key,
                **_intents_and_hint(sight),
                **_said(sight, 0),
            }
            for seat, sight in sights.items()
        }
        self._know(sights, to_all=to_all)
        return layer_message(
            "tick.whole",
            step=self._game.episode.step,
            tick_ms=self._game.episode.tick_ms,
            score=self._game.episode.score,
            seats=seats,
            starts_in_ms=max(0, round(starts_in * 1000)),
            lost_ms=lost_ms,
            source=list(self.source),
        )

    def tick(self, lost_ms: int = 0) -> dict[str, Any]:
        """Return a channel-layer message with each seat's changes since the last message. `lost_ms` are
        the milliseconds lost before the tick."""
        sights, score = self._game.sights(), self._game.episode.score
        changed, _ = changed_values(self._score, score)
        seats = {str(seat): self._part(seat, sight) for seat, sight in sights.items()}
        self._know(sights, to_all=True)
        return layer_message(
            "tick.shown",
            step=self._game.episode.step,
            score=changed,
            seats=seats,
            lost_ms=lost_ms,
            source=list(self.source),
        )

    def _part(self, seat: int, sight: SeatUpdate) -> dict[str, Any]:
        changed, gone = changed_values(self._seen.get(seat, {}), sight.observation)
        events = [event.to_json() for event in sight.events]
        part = {"changed": changed, "gone": gone, "events": events, "key": sight.key}
        part |= _said(sight, self._said.get(seat, 0))
        before = self._sent.get(seat, {})
        return {
            **part,
            **{name: value for name, value in _intents_and_hint(sight).items() if before.get(name) != value},
        }

    def _know(self, sights: Mapping[int, SeatUpdate], *, to_all: bool) -> None:
        self._seen = {seat: sight.observation for seat, sight in sights.items()}
        self._sent = {seat: _intents_and_hint(sight) for seat, sight in sights.items()}
        if to_all:
            self._said = {seat: sight.messages[-1].number for seat, sight in sights.items() if sight.messages}
        self._score = self._game.episode.score


SAID_KEY = "said"
"""The messages in an update of a clock process. The web process shows them as HTML, and takes them out."""


def _said(sight: SeatUpdate, known: int) -> dict[str, Json]:
    """Return the newest messages that the person may know, of those after the message with the number
    `known`. Empty if there are none."""
    new = [one for one in sight.messages if one.number > known]
    return (
        {SAID_KEY: [{**asdict(one), "to": list(one.to), "data": dict(one.data)} for one in new]}
        if new
        else {}
    )


def read_said(part: dict[str, Any]) -> list[TeamMessage]:
    """Remove the messages from an update for a page, and return them."""
    return [TeamMessage(**{**one, "to": tuple(one["to"])}) for one in part.pop(SAID_KEY, ())]


def _intents_and_hint(sight: SeatUpdate) -> dict[str, Json]:
    """Return the intents of other seats and the hint, where the page shows them."""
    content: dict[str, Json] = {}
    if sight.intents is not None:
        content["intents"] = {str(seat): dict(intent) for seat, intent in sight.intents.items()}
    if sight.errand is not None:
        content["errand"] = dict(sight.errand)
    return content
