"""What pages are told over the websocket, and what processes tell one another of episodes, as small typed
values; what pages send is `messages`.

To the browser: HTML fragments, or, to a client that asks for the subprotocol `brigade.json`, the same facts
as JSON (`StateMessage`, `NoticeMessage`). Over the channel layer: `EpisodeChanged`, `EpisodeNews`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields

from kitchen.contract.world import Json

Stamp = tuple[int, str, str, int, int, int]
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
    """What they said and heard, in order: the newest (see `kitchen.contract.talk.Said`)."""
    jobs: Json = ()
    """Those that they were given or gave (see `kitchen.contract.jobs.Job`)."""
    aims: Json = field(default_factory=dict)
    """By member whom they may give jobs: what of the world each can be asked for (see `World.aims`)."""
    amounts: Json = ()
    """Commands of `legal` with an amount: each without it, the least and the most (see `World.amounts`)."""
    type: str = field(default="state", init=False)


@dataclass(frozen=True, slots=True)
class EpisodeChanged:
    """A nudge for every open page of an episode, over the channel layer; the handler is `episode_changed`."""

    stamp: Stamp | None = None
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


def to_json(message: NoticeMessage | PongMessage | StateMessage) -> str:
    """The message as one JSON object."""
    return json.dumps({slot.name: getattr(message, slot.name) for slot in fields(message)})
