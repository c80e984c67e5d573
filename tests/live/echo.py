"""Echo every websocket message, with daphne and channels only. This shows the cost of a websocket without the
app."""

from __future__ import annotations

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

if not settings.configured:
    settings.configure(CHANNEL_LAYERS={})


class Echo(AsyncWebsocketConsumer):
    """A websocket consumer that sends each message back."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Send one message back."""
        await self.send(text_data=text_data)


application = Echo.as_asgi()
