"""Define the channel layer: pub/sub of Redis whose receiver notices that the machine of Redis has vanished.

When the operating system gives up a silent connection, reading raises Python's `TimeoutError` (`ETIMEDOUT`).
redis-py takes this for its own short time limit, which only means that no message has come, and reads again.
Channels then reads forever, without a pause. The process stands still, and its memory grows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.asyncio.connection import Connection, parse_url
from redis.exceptions import ConnectionError as RedisConnectionError

GROUP_SECONDS = 2.0
"""Seconds that Redis has to let a channel join or leave a group."""


class RedisChannelLayer(RedisPubSubChannelLayer):  # type: ignore[misc] # the library has no types
    """Channels' pub/sub layer, with connections that are replaced when their machine has vanished.

    `hosts` are dicts with the URL of a server as `address`, and options of `redis.asyncio.Connection`.
    Joining and leaving a group raise TimeoutError after `GROUP_SECONDS`.
    """

    def __init__(self, *, hosts: Sequence[Mapping[str, Any]], **options: Any) -> None:
        super().__init__(hosts=[connection_options(**host) for host in hosts], **options)

    async def group_add(self, group: str, channel: str) -> None:
        """Let a channel of this process join a group."""
        async with asyncio.timeout(GROUP_SECONDS):
            await self._get_layer().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        """Let a channel of this process leave a group."""
        async with asyncio.timeout(GROUP_SECONDS):
            await self._get_layer().group_discard(group, channel)


def connection_options(*, address: str, **options: Any) -> dict[str, Any]:
    """Return the arguments of a redis-py connection pool for the server at this URL."""
    found: dict[str, Any] = {**options, **parse_url(address)}
    found["connection_class"] = noticing_connection(found.get("connection_class", Connection))
    return found


@cache
def noticing_connection(base: Any) -> type:
    """Return a subclass of this class of redis-py connections that reports a lost machine as
    `redis.exceptions.ConnectionError`."""

    class NoticingConnection(base):  # type: ignore[misc] # mypy wants a fixed class
        async def read_response(self, *args: Any, **options: Any) -> Any:
            reply = await super().read_response(*args, **options)
            if reply is None and (lost := self._reader and self._reader.exception()):
                await self.disconnect(nowait=True)
                raise RedisConnectionError(f"the connection to Redis is lost: {lost}")
            return reply

    return NoticingConnection
