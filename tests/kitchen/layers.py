"""A channel layer in memory that can be unreachable, for tests of outages."""

from __future__ import annotations

from typing import Any

from channels.layers import InMemoryChannelLayer
from redis.exceptions import ConnectionError as RedisConnectionError


class InterruptedLayer(InMemoryChannelLayer):  # type: ignore[misc]
    """A channel layer that refuses everything while `away` is True. A message that is being awaited stays
    awaited, as with Redis."""

    away = False

    def _check(self) -> None:
        if self.away:
            raise RedisConnectionError("nobody listens")

    async def new_channel(self, prefix: str = "specific.") -> Any:
        """Return the name of a new channel. Raises ConnectionError of redis."""
        self._check()
        return await super().new_channel(prefix)

    async def group_add(self, group: str, channel: str) -> None:
        """Add a channel to a group. Raises ConnectionError of redis."""
        self._check()
        await super().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        """Remove a channel from a group. Raises ConnectionError of redis."""
        self._check()
        await super().group_discard(group, channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """Send a message to a group. Raises ConnectionError of redis."""
        self._check()
        await super().group_send(group, message)

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message to a channel. Raises ConnectionError of redis."""
        self._check()
        await super().send(channel, message)


INTERRUPTED = {"default": {"BACKEND": f"{__name__}.{InterruptedLayer.__name__}"}}
"""The setting CHANNEL_LAYERS with this layer."""
