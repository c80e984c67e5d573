"""The websocket of one seat: reads messages, calls the services, sends what the seat may see.

A page names itself in the address (`?page=…`) and says `&take=1` until it has been heard for the first time:
so the page that was opened last plays, and one that only connects anew never pushes out a newer one. Whoever
names no page (a program) is one of its own at every connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from redis.exceptions import RedisError

from kitchen.play import render, seating, selectors
from kitchen.play.messages import (
    CommandMessage,
    MessageError,
    NoticeMessage,
    PingMessage,
    PongMessage,
    SyncMessage,
    read_message,
    to_json,
)
from kitchen.play.models import Episode, Seat
from kitchen.play.services import GivenCommand, commands_submit
from kitchen.play.stream import episode_group

log = logging.getLogger(__name__)

JSON_PROTOCOL = "brigade.json"
"""Subprotocol of clients that want JSON instead of HTML fragments."""
LOOK_SECONDS = 2.0
"""How often a page looks for itself, in case a nudge was lost."""
NO_SUCH_SEAT = 4404
ELSEWHERE = 4409
"""Close code: a newer page plays this seat."""
AWAY = (OSError, TimeoutError, RedisError)
"""What the channel layer raises while Redis is away."""


class NowhereConsumer(AsyncWebsocketConsumer):
    """Any other address: closed, without a word."""

    async def connect(self) -> None:
        """Refused."""
        await self.close(NO_SUCH_SEAT)


class SeatConsumer(AsyncWebsocketConsumer):
    """`/ws/seat/<key>/`: whoever knows the key of a person's seat plays it."""

    seat: Seat | None = None
    page = ""
    subscribed = False
    looking: asyncio.Task[None] | None = None
    stamp: tuple[object, ...] | None = None

    async def connect(self) -> None:
        """Open for a known seat only, and show the present state at once."""
        self.seat = await database_sync_to_async(selectors.seat_by_key)(
            self.scope["url_route"]["kwargs"]["key"]
        )
        self.screen = render.Screen()
        self.json = JSON_PROTOCOL in self.scope.get("subprotocols", [])
        await self.accept(JSON_PROTOCOL if self.json else None)
        if self.seat is None:
            await self.close(NO_SUCH_SEAT)
        elif not await self._take_seat(self.seat):
            await self.close(ELSEWHERE)
        else:
            await self._begin()

    async def _take_seat(self, seat: Seat) -> bool:
        """Whether this page may play."""
        asked = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        self.page = seating.page_name(asked.get("page", [""])[0])
        newest = "page" not in asked or "take" in asked
        taken: bool = await database_sync_to_async(seating.seat_take)(
            episode_id=seat.episode_id, seat=seat.number, page=self.page, newest=newest
        )
        return taken

    async def _begin(self) -> None:
        await self.show()
        self.looking = asyncio.create_task(self._keep_looking())

    async def disconnect(self, code: int) -> None:
        """Stop looking; the episode waits."""
        if self.looking:
            self.looking.cancel()
        if self.seat and self.subscribed:
            with contextlib.suppress(*AWAY):
                group = episode_group(self.seat.episode_id)
                await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message from the browser, for the method that its type names."""
        try:
            message = read_message(text_data)
        except MessageError as error:
            await self.notify(NoticeMessage("unreadable", str(error), "warning"))
        else:
            await getattr(self, f"on_{message.type}")(message)

    async def on_ping(self, message: PingMessage) -> None:
        """Somebody is there."""
        await self.send(text_data=to_json(PongMessage()) if self.json else render.PONG)

    async def on_sync(self, message: SyncMessage) -> None:
        """The present state."""
        await self.show()

    async def on_command(self, message: CommandMessage) -> None:
        """Hand it in, say what came of it, and show the state."""
        assert self.seat is not None  # noqa: S101 - a socket without a seat is closed in connect
        try:
            receipt = await database_sync_to_async(commands_submit)(
                episode_id=self.seat.episode_id,
                step=message.step,
                commands=[GivenCommand(self.seat.number, message.command, page=self.page)],
            )
        except Episode.DoesNotExist:  # erased: its person withdrew
            await self.close(NO_SUCH_SEAT)
            return
        if not receipt.accepted:
            tone = "info" if receipt.code in {"repeated", "over"} else "warning"
            await self.notify(NoticeMessage(receipt.code, receipt.text, tone))
            if receipt.code == "elsewhere":
                await self._close_out()
                return
        elif not self.json:
            await self.notify(NoticeMessage("", ""))
        await self.show()

    async def episode_changed(self, event: dict[str, Any]) -> None:
        """A nudge from the channel layer."""
        await self.look()

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self._subscribe()
                await asyncio.sleep(LOOK_SECONDS)
                await self.look()
            except Exception:  # whatever it was, the next look may succeed
                log.exception("a page could not look at its episode")
                await asyncio.sleep(LOOK_SECONDS)

    async def _subscribe(self) -> None:
        """Be nudged from now on. While Redis is away the page looks for itself, and tries again."""
        assert self.seat is not None  # noqa: S101 - a socket without a seat is closed in connect
        if not self.subscribed:
            with contextlib.suppress(*AWAY):
                group = episode_group(self.seat.episode_id)
                await asyncio.wait_for(self.channel_layer.group_add(group, self.channel_name), LOOK_SECONDS)
                self.subscribed = True

    async def look(self) -> None:
        """Send the state if it has changed since it was last sent."""
        assert self.seat is not None  # noqa: S101 - a socket without a seat is closed in connect
        stamp = await database_sync_to_async(selectors.episode_stamp)(self.seat.episode_id)
        if stamp is None:
            await self.close(NO_SUCH_SEAT)
        elif not await database_sync_to_async(selectors.seat_is_played_by)(self.seat.pk, self.page):
            await self._close_out()
        elif stamp != self.stamp:
            await self.show()

    async def _close_out(self) -> None:
        """This page plays no longer: another one does, or its key opens nothing any more."""
        assert self.seat is not None  # noqa: S101 - a socket without a seat is closed in connect
        known = await database_sync_to_async(selectors.seat_by_key)(self.seat.key)
        await self.close(ELSEWHERE if known else NO_SUCH_SEAT)

    async def show(self) -> None:
        """Send everything this seat may see now."""
        try:
            self.stamp, text = await database_sync_to_async(self._state_text)()
        except Episode.DoesNotExist:
            await self.close(NO_SUCH_SEAT)
        else:
            if text:
                await self.send(text_data=text)

    def _state_text(self) -> tuple[tuple[object, ...] | None, str]:
        assert self.seat is not None  # noqa: S101 - a socket without a seat is closed in connect
        stamp = selectors.episode_stamp(self.seat.episode_id)
        view = selectors.seat_view(self.seat)
        if self.json:
            return stamp, to_json(selectors.state_message(self.seat, view))
        return stamp, self.screen.fragments(selectors.seat_page(self.seat), view)

    async def notify(self, message: NoticeMessage) -> None:
        """Send an answer in words."""
        text = to_json(message) if self.json else await sync_to_async(self.screen.notice)(message)
        if text:
            await self.send(text_data=text)
