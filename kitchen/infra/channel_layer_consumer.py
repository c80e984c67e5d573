"""Define a base class of websocket consumers that opens websockets while the channel layer is unreachable.

The channel layer (Redis) passes messages between processes. Channels' own consumer subscribes to it before it
answers the browser, so no websocket would open during an outage of Redis.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from channels.utils import await_many_dispatch
from redis.exceptions import RedisError

CHANNEL_ERRORS = (OSError, TimeoutError, RedisError)
"""Errors that the channel layer raises while Redis is unreachable."""
CHANNEL_SECONDS = 2.0
"""Seconds that the channel layer has for one request."""


async def is_channel_layer_reachable() -> bool:
    """Return whether the channel layer can send messages. Takes `CHANNEL_SECONDS` at most."""
    layer: Any = get_channel_layer()
    try:
        async with asyncio.timeout(CHANNEL_SECONDS):
            await layer.group_send("reachable", {"type": "nothing"})  # a group that nobody joins
    except CHANNEL_ERRORS:
        return False
    return True


class ChannelLayerConsumer(AsyncWebsocketConsumer):
    """A websocket consumer that opens without the channel layer, and joins its groups later.

    `channel_name` is empty until the consumer has joined its first group.
    """

    channel_name = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._has_channel = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle the messages of the browser and, once there is a channel, those of the channel layer."""
        self.scope, self.base_send = scope, send
        self.channel_layer: Any = get_channel_layer(self.channel_layer_alias)
        with contextlib.suppress(StopConsumer):
            await await_many_dispatch([receive, self._receive_from_layer], self.dispatch)

    async def dispatch(self, message: Any) -> None:
        """Call the method that handles this message. Raises ValueError if there is none.

        Channels' own method first visits a thread to close old database connections. That takes longer than
        most messages. Our database work runs in threads that look after their connections (`db_retry`).
        """
        handler = getattr(self, get_handler_name(message), None)
        if handler is None:
            raise ValueError(f"no handler for messages of type {message['type']}")
        await handler(message)

    async def _receive_from_layer(self) -> Any:
        await self._has_channel.wait()
        return await self.channel_layer.receive(self.channel_name)

    async def join_group(self, group: str) -> None:
        """Join this group of the channel layer. Raises one of `CHANNEL_ERRORS` if the layer is unreachable;
        the consumer can then try again. Raises ConnectionAbortedError, which is one of them, if the websocket
        has ended meanwhile: its channel is then removed from the layer."""
        async with asyncio.timeout(CHANNEL_SECONDS):
            if not self.channel_name:
                self.channel_name = await self.channel_layer.new_channel()
                self._has_channel.set()
            try:
                await self.channel_layer.group_add(group, self.channel_name)
            except RuntimeError:
                if self.channel_name in self.channel_layer.channels:
                    raise
                raise ConnectionAbortedError("the websocket has ended") from None

    async def leave_group(self, group: str) -> None:
        """Leave this group of the channel layer, also if joining it failed. Raises one of `CHANNEL_ERRORS`
        if the layer is unreachable."""
        if self.channel_name:
            async with asyncio.timeout(CHANNEL_SECONDS):
                await self.channel_layer.group_discard(group, self.channel_name)

    async def send_to_group(self, group: str, message: dict[str, Any]) -> None:
        """Send a message to this group of the channel layer. Raises one of `CHANNEL_ERRORS` if the layer is
        unreachable."""
        async with asyncio.timeout(CHANNEL_SECONDS):
            await self.channel_layer.group_send(group, message)
