"""Participants' pages are made a few at a time, and the others wait in line.

Each page is made in a thread, and all threads of a process share one interpreter. Thirty pages at once make
none of them ready sooner; but who plays on a websocket of the same process waits for all of them at every
turn of the event loop. The threads stay, and with them their connections to the database: Django's own way,
a thread for each request, opens a connection for each page and leaves it behind for the garbage.

What staff look at stands in no line, for a file may take minutes to write; nor does what programs ask to see
whether this process is well.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext

from brigade.door import Message, Receive, Send
from brigade.limits import OF_OTHERS, PAGES_AT_ONCE


class InLine:
    """An ASGI application of pages of which so many are made at once, each in a thread that nobody else has
    meanwhile. The one that was used last is used first."""

    def __init__(self, application: Any, at_once: int = PAGES_AT_ONCE) -> None:
        self.application = application
        self._threads: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for _ in range(at_once):
            self._threads.put_nowait(ThreadPoolExecutor(1, thread_name_prefix="pages"))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """The whole request is there already: nobody holds up the line by sending slowly."""
        if scope["path"].startswith(OF_OTHERS):
            await self.application(scope, receive, send)
            return
        thread = await self._threads.get()
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.application(scope, receive, send)
        finally:
            self._threads.put_nowait(thread)
