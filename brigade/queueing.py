"""Participants' pages are made a few at a time, and the others wait in line.

Each page is made in a thread of its own, and all threads of a process share one interpreter. Thirty pages at
once make none of them ready sooner; but who plays on a websocket of the same process waits for all of them at
every turn of the event loop. What staff look at stands in no line: a file may take minutes to write.
"""

from __future__ import annotations

import asyncio
from typing import Any

from brigade.door import Message, Receive, Send
from brigade.limits import PAGES_AT_ONCE

OF_STAFF = ("/staff/", "/admin/", "/api/")
"""How addresses begin that participants do not see."""


class InLine:
    """An ASGI application of pages of which so many are made at once."""

    def __init__(self, application: Any, at_once: int = PAGES_AT_ONCE) -> None:
        self.application = application
        self._room = asyncio.Semaphore(at_once)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """The whole request is there already: nobody holds up the line by sending slowly."""
        if scope["path"].startswith(OF_STAFF):
            await self.application(scope, receive, send)
            return
        async with self._room:
            await self.application(scope, receive, send)
