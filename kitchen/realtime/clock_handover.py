"""Hand real-time episodes from a clock process whose ticks (steps) are late to one whose ticks are not.

Each process sends its `ClockLoad` to all others once a second. A late one (the giver) picks a receiver:

1. The giver offers an episode (`clock.offered`).
2. The receiver joins the group of the episode's keys, keeps them, and accepts (`clock.accepted`).
3. Right after a tick, the giver stores all its ticks and gives the claim to the receiver, in one transaction.
4. The giver sends pages, pressed keys and the time of the next tick (`clock.given`).
5. The receiver reads the stored state and runs the next tick.

So each tick runs once and in time. If the last message is lost, the receiver finds its claim in the database.
If the receiver dies, its claim expires. Pages ask for the whole state, because the `TickSource` has changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kitchen.contract.world import Json
from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS, CHANNEL_SECONDS
from kitchen.realtime.clock_load import ClockLoad, choose_receiver, handed_over
from kitchen.realtime.realtime_episode import RealtimeEpisode
from kitchen.realtime.tick_messages import TickSource, TickUpdates, keys_group, layer_message

log = logging.getLogger(__name__)

CLOCKS_GROUP = "clocks"
"""Channel-layer group of all clock processes."""
FORGET_SECONDS = 3.0
"""Seconds after which the load of a process that sends nothing is forgotten."""
GIVEN_SECONDS = 0.5
"""Seconds after which the receiver looks in the database for an episode that it has accepted."""
ACCEPTED_SECONDS = 3.0
"""Seconds after which the receiver no longer expects an episode that it has accepted."""
REST_SECONDS = 5.0
"""Seconds for which a process does not hand over an episode that it has just begun to compute."""
LAST_STEPS = 10
"""An episode with fewer steps left is not handed over."""


class Receiver(NamedTuple):
    """The process to which an episode is handed: the name for its claims, and its channel."""

    owner: str
    channel: str


class OwnedEpisode:
    """An episode that this process has claimed, and the asyncio task that computes its ticks. `owner` and
    `epoch` are those of its `TickSource`."""

    def __init__(self, game: RealtimeEpisode, owner: str, epoch: int, now: float = 0.0) -> None:
        self.game, self.updates = game, TickUpdates(game, TickSource(owner, epoch, game.episode.step))
        self.began = now
        self.stored = asyncio.Event()
        """Set whenever a group of ticks was stored."""
        self.task: asyncio.Task[None] | None = None
        self.is_loss_reported = False
        """True once a web process has reported that earlier steps are lost."""
        self.is_remembered_loss_reported = False
        """True once a page that came back has reported this. Such a report may be false."""
        self.receiver: Receiver | None = None
        """The process that has accepted the episode and gets it after the present tick."""
        self.is_leaving = False
        """True while the claim goes to the receiver."""
        self.drawing: asyncio.Task[None] | None = None
        """The task that draws a frame (an image of the world), if its world draws itself."""
        self.frame: dict[str, Any] | None = None
        """The message with the last frame, for pages that come."""
        self.kept: list[dict[str, Any]] | None = None
        """Messages of pages that have come while its state is stored in order to be read again, here or by
        the receiver, which keeps them as well. None at other times."""

    @property
    def waits_for_storage(self) -> bool:
        """Return whether the episode is over and its last tick is not stored yet. Until it is stored, the
        pages do not show the end."""
        return self.game.is_over and self.game.unstored_since is not None

    @property
    def can_leave(self) -> bool:
        """Return whether the episode can be handed over now. An answer of a language model that this process
        waits for would be lost. A `costly` world would be played again, while its players wait."""
        game = self.game
        return not (game.is_over or game.minds.waits_for_model or game.turn.world.costly)


@dataclass(slots=True)
class ExpectedEpisode:
    """An episode that this process has accepted and not received yet."""

    since: float
    keys: list[dict[str, Any]] = field(default_factory=list)
    """Messages of its pages that have come in the meantime."""
    is_begun: bool = False


class ClockHandover:
    """Offers episodes of one clock process to others, and accepts theirs. `played` are the process's
    episodes, by id. `room` returns how many more it can begin."""

    def __init__(
        self, name: str, layer: Any, played: Mapping[int, OwnedEpisode], room: Callable[[], int]
    ) -> None:
        self.name, self._layer, self._played, self._room = name, layer, played, room
        self.channel = ""
        self._others: dict[str, tuple[float, ClockLoad]] = {}
        self.expected: dict[int, ExpectedEpisode] = {}

    def others(self) -> list[ClockLoad]:
        """Return the loads of the other processes, of those that sent theirs lately."""
        since = _now() - FORGET_SECONDS
        self._others = {name: each for name, each in self._others.items() if each[0] > since}
        return [load for _, load in self._others.values()]

    async def join(self, channel: str) -> None:
        """Receive the messages of other processes on this channel. Raises one of `CHANNEL_ERRORS`."""
        self.channel = channel
        await self._layer.group_add(CLOCKS_GROUP, channel)

    async def balance(self, load: ClockLoad) -> None:
        """Send this process's load to the others. If it is late, offer episodes to one that is not."""
        async with asyncio.timeout(CHANNEL_SECONDS):
            await self._layer.group_send(CLOCKS_GROUP, layer_message("clock.load", load=load.to_json()))
        if receiver := choose_receiver(load, self.others()):
            to = Receiver(receiver.owner, receiver.channel)
            for episode_id in self._movable()[: handed_over(load, receiver)]:
                await self.offer(episode_id, to)

    def _movable(self) -> list[int]:
        """Return the episodes that can be handed over, with the one that has been here longest first."""
        since = _now() - REST_SECONDS
        able = [(one.began, pk) for pk, one in self._played.items() if one.began < since and one.can_leave]
        return [pk for _, pk in sorted(able)]

    async def offer(self, episode_id: int, to: Receiver) -> None:
        """Offer an episode to this process."""
        await self._send(to.channel, "clock.offered", episode=episode_id)

    async def receive(self, message: dict[str, Any]) -> bool:
        """Handle a message of another process. Return True if it is an episode that this process now has to
        begin."""
        kind = message["type"]
        if kind == "clock.load":
            load = ClockLoad.from_json(message["load"])
            if load.owner != self.name:
                self._others[load.owner] = _now(), load
        elif kind == "clock.offered":
            await self._accept(message)
        elif kind == "clock.accepted" and (played := self._played.get(message["episode"])):
            played.receiver = Receiver(message["owner"], message["reply"])
        return kind == "clock.given" and self.begin(message["episode"])

    async def _accept(self, message: dict[str, Any]) -> None:
        episode_id = message["episode"]
        if self._room() > len(self.expected) and episode_id not in {*self._played, *self.expected}:
            self.expected[episode_id] = ExpectedEpisode(_now())
            await self._layer.group_add(keys_group(episode_id), self.channel)
            await self._send(message["reply"], "clock.accepted", episode=episode_id)

    def keep(self, message: dict[str, Any]) -> bool:
        """Keep the message of a page until its episode has begun here. Return False if this process does not
        expect the episode."""
        if expected := self.expected.get(message["episode"]):
            expected.keys.append(message)
        return expected is not None

    def begin(self, episode_id: int) -> bool:
        """Return whether this process should begin the episode that it expects. True only once, because it
        may learn twice that the episode is its own."""
        if (expected := self.expected.get(episode_id)) is None or expected.is_begun:
            return False
        expected.is_begun = True
        return True

    def kept(self, episode_id: int) -> list[dict[str, Any]]:
        """Return the messages of pages that were kept for the episode, which is no longer expected."""
        expected = self.expected.pop(episode_id, None)
        return expected.keys if expected else []

    async def missing(self) -> Collection[int]:
        """Return the episodes that were accepted a while ago and have not come. Leave the key groups of those
        that will not come any more."""
        now = _now()
        for episode_id, one in list(self.expected.items()):
            if now - one.since > ACCEPTED_SECONDS and not one.is_begun:
                del self.expected[episode_id]
                await self._layer.group_discard(keys_group(episode_id), self.channel)
        return [pk for pk, one in self.expected.items() if now - one.since > GIVEN_SECONDS]

    async def give(self, played: OwnedEpisode, to: Receiver) -> None:
        """Send everything that the database does not know to the process that has the claim now."""
        game = played.game
        content = {"seats_given": game.given, "players": game.players(_now())}
        await self._send(to.channel, "clock.given", episode=game.episode.pk, **content)
        await self._layer.group_discard(keys_group(game.episode.pk), self.channel)

    async def _send(self, channel: str, kind: str, **content: Json) -> None:
        """Send a message to another process. A failure is only logged: the episode stays where its claim
        is."""
        message = layer_message(kind, **content, owner=self.name, reply=self.channel)
        try:
            async with asyncio.timeout(CHANNEL_SECONDS):
                await self._layer.send(channel, message)
        except CHANNEL_ERRORS as error:
            log.warning("another clock process cannot be told: %s", error or type(error).__name__)


def _now() -> float:
    return asyncio.get_running_loop().time()
