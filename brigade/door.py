"""The door of the pages: nobody brings in too much, and nobody goes out without a page.

Whoever answers with an error and says nothing (`HttpResponse(status=429)`) need not know our pages: the door
puts in the one of that status. What an answer says itself, as the API does, is left as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from django.utils import translation

from brigade.errors import PAGES, error_page
from brigade.languages import language_of_head
from brigade.limits import LARGEST_BODY

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

log = logging.getLogger(__name__)

ABOUT_THE_BODY = {b"content-type", b"content-length"}
"""Headers that are the page's own."""


class Door:
    """What an ASGI application of pages answers. A body of more than `largest` bytes is refused before it is
    read where the request says so, or else as soon as it has grown too large."""

    def __init__(self, application: Any, largest: int = LARGEST_BODY) -> None:
        self.application, self.largest = application, largest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        with translation.override(language_of_head(scope)):  # for pages of errors
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        incoming, outgoing = Incoming(receive, self.largest), Outgoing(send)
        incoming.too_large = said_length(scope["headers"]) > self.largest
        try:
            if not incoming.too_large:
                await self.application(scope, incoming, outgoing)
        except Exception:
            if outgoing.begun:
                raise
            log.exception("nothing could be answered: %s", scope["path"])
            await outgoing.page(500)
        if incoming.too_large and not outgoing.begun:
            log.warning("too large: %s", scope["path"])
            await outgoing.page(413, file=brings_a_file(scope["headers"]))


class Incoming:
    """The body as it comes; whoever reads one that is too large is told that its sender has gone."""

    def __init__(self, receive: Receive, largest: int) -> None:
        self.too_large = False
        self._receive, self._left = receive, largest

    async def __call__(self) -> Message:
        """The next message."""
        if not self.too_large:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            self.too_large = self._left < 0
        return {"type": "http.disconnect"} if self.too_large else message


class Outgoing:
    """The answer as it goes; an error without a word gets its page."""

    def __init__(self, send: Send) -> None:
        self.begun = False
        self._send = send
        self._error: Message | None = None

    async def __call__(self, message: Message) -> None:
        """The next message."""
        if message["type"] == "http.response.start" and message["status"] in PAGES:
            self._error = message
        elif self._error is None:
            await self._go(message)
        elif message.get("body") or message.get("more_body"):
            error, self._error = self._error, None
            await self._go(error, message)
        else:
            await self.page(self._error["status"], self._error.get("headers", ()))

    async def page(self, status: int, headers: Headers = (), **context: Any) -> None:
        """The page of a status, with what else the answer had in its head."""
        page = error_page(status, **context)
        own = [(name.lower().encode(), value.encode()) for name, value in page.items()]
        taken = {name for name, _ in own} | ABOUT_THE_BODY
        kept = [(name, value) for name, value in headers if name.lower() not in taken]
        length = (b"content-length", str(len(page.content)).encode())
        await self._go(
            {"type": "http.response.start", "status": status, "headers": [*own, length, *kept]},
            {"type": "http.response.body", "body": page.content},
        )

    async def _go(self, *messages: Message) -> None:
        self.begun = True
        for message in messages:
            await self._send(message)


def said_length(headers: Headers) -> int:
    """How long the body is to be; 0 where nothing is said about it that could be read."""
    said = [value for name, value in headers if name.lower() == b"content-length" and value.isdigit()]
    return max(map(int, said), default=0)


def brings_a_file(headers: Headers) -> bool:
    """Whether the body is of a form with a file."""
    return any(
        name.lower() == b"content-type" and value.lower().startswith(b"multipart/form-data")
        for name, value in headers
    )
