"""Every request and every websocket as it comes and goes: it has a name for the logs, and it is counted.

The name is that of the web server in front (`X-Request-ID`) where it is one, or else made here. Answers carry
it back.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from kitchen.machine import metrics
from kitchen.machine.about import note

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADER = b"x-request-id"
_NAME = re.compile(rb"[A-Za-z0-9._-]{8,64}")
NORMAL, REFUSED = "1000", "refused"
CODES = {NORMAL, "1001", "1005", "1006", "1009", "1011", "1012", "4401", "4403", "4404", "4409", "4429"}
"""Close codes that are counted by themselves; browsers may send any other."""


def request_name(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """What this request is called in logs."""
    given = next((value for name, value in headers if name.lower() == HEADER), b"")
    return given.decode() if _NAME.fullmatch(given) else secrets.token_hex(8)


class Pages:
    """An ASGI application of pages."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        name = request_name(scope["headers"])
        note(request=name)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.answers.labels(str(message["status"])).inc()
                head = [*message.get("headers", ()), (HEADER, name.encode())]
                message = {**message, "headers": head}
            await send(message)

        await self.application(scope, receive, answer)


class Sockets:
    """An ASGI application of websockets."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        note(request=request_name(scope["headers"]))
        line = Line("staff" if scope["path"].startswith("/ws/staff/") else "play", receive, send)
        try:
            await self.application(scope, line.receive, line.send)
        finally:
            line.end()


class Line:
    """One websocket between its two ends."""

    def __init__(self, page: str, receive: Receive, send: Send) -> None:
        self._open, self._code = False, ""
        self._page, self._receive, self._send = page, receive, send

    async def receive(self) -> Message:
        """What the other end says."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            self._closed(message.get("code", 1005))
        return message

    async def send(self, message: Message) -> None:
        """What we say."""
        if message["type"] == "websocket.accept" and not self._open:
            self._open = True
            metrics.sockets.labels(self._page).inc()
        elif message["type"] == "websocket.close":
            self._closed(message.get("code") or 1000)
        await self._send(message)

    def end(self) -> None:
        """It is over."""
        if self._open:
            metrics.sockets.labels(self._page).dec()
        if self._code:
            metrics.closes.labels(self._code).inc()

    def _closed(self, code: int) -> None:
        """Whoever closes first says why."""
        known = str(code) if str(code) in CODES else metrics.OTHER
        self._code = self._code or (known if self._open else REFUSED)
