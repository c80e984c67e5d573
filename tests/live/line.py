"""Connect to one websocket with the package `websockets`, but without its tasks and queues.

The measuring program shares the machine with the app, so each message must cost little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Origin, Subprotocol
from websockets.uri import parse_uri

LARGEST = 2**22
"""The largest accepted message in bytes."""


class Line(asyncio.Protocol):
    """A websocket connection. It calls `heard` with each text message, and `lost` with the close code at its
    end. `opened` is done when it is open, or raises OSError."""

    def __init__(
        self,
        address: str,
        protocols: list[Subprotocol],
        heard: Callable[[bytes], None],
        lost: Callable[[int], None],
        *,
        squeezed: bool = False,
        cookie: str = "",
    ) -> None:
        """Create the connection. `squeezed` offers compression, as browsers do. `cookie` has the browser's
        cookies as `name=value; name=value`."""
        self.cookie = cookie
        origin = Origin(f"http://{urlsplit(address).netloc}")
        self.protocol = ClientProtocol(
            parse_uri(address),
            origin=origin,
            subprotocols=protocols or None,
            extensions=[ClientPerMessageDeflateFactory()] if squeezed else None,
            max_size=LARGEST,
        )
        self.heard, self.lost = heard, lost
        self.bytes_heard = 0
        self.transport: asyncio.Transport | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the websocket handshake."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        request = self.protocol.connect()
        if self.cookie:
            request.headers["Cookie"] = self.cookie
        self.protocol.send_request(request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Pass on each complete message."""
        self.bytes_heard += len(data)
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                assert event.fin, "a message in pieces"
                self.heard(bytes(event.data))
            elif isinstance(event, Response) and not self.opened.done():
                self._open(self.protocol.handshake_exc)
        self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        """Record that the connection has ended."""
        self.transport = None
        if not self.opened.done():
            self._open(error)
            return
        said = self.protocol.close_rcvd
        self.lost(said.code if said else 1006)

    def _open(self, error: Exception | None) -> None:
        if error is None and self.transport is not None:
            self.opened.set_result(None)
        else:
            self.opened.set_exception(ConnectionError(f"no websocket: {error}"))

    def say(self, text: bytes) -> bool:
        """Send a text message. If the connection is closed or closing, return False and send nothing."""
        if self.transport is None or self.protocol.state is not State.OPEN:
            return False
        self.protocol.send_text(text)
        self._flush()
        return True

    def hang_up(self) -> None:
        """Close the connection without waiting for an answer. `lost` is called."""
        if self.transport is not None:
            self.transport.close()

    def _flush(self) -> None:
        if self.transport is not None:
            for data in self.protocol.data_to_send():
                self.transport.write(data) if data else self.transport.close()


async def dial(
    address: str,
    protocols: list[Subprotocol],
    heard: Callable[[bytes], None],
    lost: Callable[[int], None],
    *,
    cookie: str = "",
    connect_seconds: float | None = None,
) -> Line:
    """Connect to this address. Raises OSError, also if the machine does not accept within `connect_seconds`.
    If the caller does not wait any longer, the connection is closed, and nothing is heard of it."""
    parts = urlsplit(address)
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(connect_seconds):
        _, line = await loop.create_connection(
            lambda: Line(address, protocols, heard, lost, squeezed=not protocols, cookie=cookie),
            parts.hostname or "",
            parts.port or 80,
        )
    try:
        await line.opened
    except asyncio.CancelledError:
        line.heard, line.lost = (lambda text: None), (lambda code: None)
        line.hang_up()
        raise
    return line
