"""Exchange messages with the pages of the real-time episodes that a clock process computes.

Pages send pressed and released keys, ask for the whole state, and report that a page plays a seat or was
closed. `tick_messages` defines what they receive. Steps that pages were shown and that are not stored are
logged here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from channels.exceptions import ChannelFull
from django.db import Error

from kitchen.contract.team_messages import MessageDraft
from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.play.models import Episode, Seat
from kitchen.realtime.clock_handover import OwnedEpisode
from kitchen.realtime.realtime_episode import RealtimeEpisode
from kitchen.realtime.tick_messages import layer_message, pages_group, source_of

Seated = tuple[int, int, str]
"""(episode id, seat number, page id)."""
log = logging.getLogger(__name__)

LOST_STEPS = "episode %s: steps %s to %s were shown and are lost: their clock process did not store them%s"
SEND_SECONDS = 1.0
"""Maximum seconds to wait for Redis."""
RESEND_SECONDS = 0.25
"""Seconds after which a message that could not be sent is sent again."""


class PageMessages:
    """Handles pages' messages about episodes of one clock process. `layer` is the channel layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._sitting: dict[Seated, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Short tasks. Kept here because asyncio may discard a task without a reference."""

    async def handle(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Handle one message about this episode, with the method of its type."""
        await getattr(self, f"_{message['type'].replace('.', '_')}")(played, message)

    def keep(self, doing: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine beside the others."""
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keys_pressed(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Handle a pressed or released key."""
        if sitting := self._sitting.get(_seated(played.game, message)):
            sitting.add_done_callback(lambda _: self._press(played.game, message))
        else:
            self._press(played.game, message)

    def _press(self, game: RealtimeEpisode, message: dict[str, Any]) -> None:
        """Record a pressed or released key at once. If the world does not know the key, the page gets an
        answer."""
        accepted = game.press(
            message["seat"],
            message["page"],
            tuple(message["command"]),
            down=message["down"],
            number=message["number"],
            now=asyncio.get_running_loop().time(),
        )
        if not accepted:
            self.keep(self._reply(message, layer_message("tick.unknown")))

    async def _keys_said(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Handle a person's message to other members."""
        if sitting := self._sitting.get(_seated(played.game, message)):
            sitting.add_done_callback(lambda _: self._say(played.game, message))
        else:
            self._say(played.game, message)

    def _say(self, game: RealtimeEpisode, message: dict[str, Any]) -> None:
        """Send a person's message to other members. The page gets an answer if it is refused."""
        given = message["say"]
        say = MessageDraft(given["text"], given["kind"], tuple(given["to"]), given["data"])
        if code := game.say(message["seat"], message["page"], say, message["after"]):
            self.keep(self._reply(message, layer_message("tick.refused", code=code)))

    async def _keys_sat(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Handle a message that a new page plays a seat. While the database confirms this, keys and messages
        of this page wait. Those of other pages do not wait."""
        seated = _seated(played.game, message)
        played.game.connect(message["seat"], message["page"], message["reply"])
        if seated not in self._sitting:
            self._sitting[seated] = task = asyncio.create_task(self._sit(played.game, message))
            task.add_done_callback(lambda _: self._sitting.pop(seated))
        await self._keys_asked(played, message)

    async def _sit(self, game: RealtimeEpisode, message: dict[str, Any]) -> None:
        """Assign the seat to a page if it is the newest page of the seat. A late message from an older page
        changes nothing."""
        if await _plays(message):
            game.sit(message["seat"], message["page"])

    async def _keys_asked(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Send the whole state to a page. The end is sent only after it is stored."""
        if not played.waits_for_storage:
            await self._reply(message, self.whole(played))
            if played.frame:
                await self._reply(message, played.frame)

    async def _keys_lost(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Log once that pages were shown steps which are lost: another process computed them, and did not
        store them. A report of a page that came back may be false, so it does not count as the one report."""
        source, is_remembered = played.updates.source, bool(message.get("remembered"))
        is_reported = played.is_loss_reported or (is_remembered and played.is_remembered_loss_reported)
        if source_of(message) != source or is_reported:
            return
        if is_remembered:
            played.is_remembered_loss_reported = True
        else:
            played.is_loss_reported = True
        log.warning(
            LOST_STEPS,
            *(played.game.episode.pk, source.since + 1, message["newest"]),
            " (as a page remembers that came back)" if is_remembered else "",
        )

    async def _keys_left(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Release the keys of a page, or of its old connection, that was closed."""
        played.game.leave(message["seat"], message["page"], message["reply"])

    async def notify(self, played: OwnedEpisode, message: dict[str, Any]) -> None:
        """Send a message to all pages of this episode, and repeat it until it is sent."""
        while True:
            try:
                await self.send_to_all(played.game.episode.pk, message)
                return
            except CHANNEL_ERRORS as error:
                log.warning("pages cannot be told, the clock stands still: %s", error)
                await asyncio.sleep(RESEND_SECONDS)

    async def send_to_all(self, episode_id: int, message: dict[str, Any]) -> None:
        """Send a message to all pages of this episode. Raises one of `CHANNEL_ERRORS`."""
        async with asyncio.timeout(SEND_SECONDS):
            await self._layer.group_send(pages_group(episode_id), message)

    def whole(self, played: OwnedEpisode, *, to_all: bool = False) -> dict[str, Any]:
        """Return the message with the episode's whole present state, for one page or for all of them."""
        game = played.game
        begins = game.pace.due - game.pace.seconds
        starts_in = 0.0 if game.episode.step else begins - asyncio.get_running_loop().time()
        return played.updates.whole(starts_in=starts_in, lost_ms=game.lost_ms, to_all=to_all)

    async def _reply(self, to: dict[str, Any], message: dict[str, Any]) -> None:
        """Send an answer to one page. A failure is only logged: the page asks again."""
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._layer.send(to["reply"], message)
        except (ChannelFull, *CHANNEL_ERRORS) as error:
            log.warning("a page could not be answered: %s", error or type(error).__name__)


async def report_discarded(game: RealtimeEpisode) -> None:
    """Log that ticks were shown and are not stored, because somebody ended the episode. If another process
    computes it, that process logs what its pages report (`keys.lost`)."""
    ended = Episode.objects.filter(pk=game.episode.pk).exclude(status=Episode.Status.PLAYING)
    stored = await run_in_db_thread(ended.values_list("step", flat=True).first)
    if stored is not None:
        log.warning(
            "episode %s was ended: steps %s to %s were shown and are not stored",
            *(game.episode.pk, stored + 1, game.episode.step),
        )


def _seated(game: RealtimeEpisode, message: dict[str, Any]) -> Seated:
    return game.episode.pk, message["seat"], message["page"]


async def _plays(message: dict[str, Any]) -> bool:
    """Return True if this page still plays its seat. While the database is unavailable, assume that it
    does."""
    rows = Seat.objects.filter(episode=message["episode"], number=message["seat"])
    try:
        return message["page"] in await run_in_db_thread(lambda: list(rows.values_list("page", flat=True)))
    except Error as error:
        log.warning("who plays a seat cannot be read: %s", error)
        return True
