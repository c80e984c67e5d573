"""One look for all pages of a process: what they show is compared with what is stored, every few seconds, in
case a nudge was lost. Every other look is for steps that no worker sees to (`stranded`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from kitchen.machine.hops import in_database
from kitchen.machine.pace import Newest
from kitchen.machine.storage import trouble_of
from kitchen.play.open_page import OpenPage
from kitchen.play.selectors import seats_stand
from kitchen.play.stranded import see_to, stranded_turns

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""How often it looks."""
STRANDED_EVERY = 2
"""Every so many looks it looks for steps that no worker sees to."""
AT_ONCE = 500
"""Pages that one question asks for."""


class Watched(Protocol):
    """Who shows an open page."""

    page: OpenPage | None
    subscribed: bool

    async def look(self) -> None:
        """Show what has changed."""

    async def subscribe(self) -> None:
        """Be nudged from now on, if that can be had."""

    async def close(self, code: int) -> None:
        """End the connection."""


class Watch:
    """The pages of one event loop; it looks as long as there are any."""

    def __init__(self) -> None:
        self._pages: WeakSet[Watched] = WeakSet()
        self._newest: Newest[Watched] = Newest(1)
        self._looking: asyncio.Task[None] | None = None
        self._seeing_to: asyncio.Task[None] | None = None

    def add(self, one: Watched, page: OpenPage) -> list[Watched]:
        """Look after this one, too; older connections of the same page are to be closed."""
        self._pages.add(one)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        return self._newest.come((page.seat.pk, page.name), one)

    def discard(self, one: Watched, page: OpenPage) -> None:
        """It is closed."""
        self._pages.discard(one)
        self._newest.go((page.seat.pk, page.name), one)

    async def _keep_looking(self) -> None:
        for look in count(1):
            await asyncio.sleep(LOOK_SECONDS)
            pages = list(self._pages)
            try:
                for first in range(0, len(pages), AT_ONCE):
                    await self._look(pages[first : first + AT_ONCE])
                if look % STRANDED_EVERY == 0:
                    await self._see_to_stranded()
            except Exception as error:  # whatever it was, the next look may succeed
                if trouble := trouble_of(error):
                    log.warning("pages could not be looked after: %s", trouble)
                else:
                    log.exception("pages could not be looked after")
            if not self._pages:
                return

    async def _see_to_stranded(self) -> None:
        """In a thread of its own, for fallbacks may take a moment; one after the other."""
        if self._seeing_to is not None and not self._seeing_to.done():
            return
        if self._seeing_to is not None:
            self._seeing_to.result()  # what went wrong the last time is said where looks say it
            self._seeing_to = None
        undecided, unclosed = await in_database(stranded_turns)
        if undecided or unclosed:
            log.warning("%s steps wait for workers in vain", len(undecided) + len(unclosed))
            self._seeing_to = asyncio.create_task(asyncio.to_thread(see_to, undecided, unclosed))

    async def _look(self, pages: list[Watched]) -> None:
        """Have those look that show something else than what is stored, and those subscribe that are not."""
        stored = await in_database(seats_stand, [each.page.seat.pk for each in pages if each.page])
        await _all(each.look() for each in pages if each.page and not each.page.shows(stored))
        await _all(each.subscribe() for each in pages if not each.subscribed and each in self._pages)


async def _all(doing: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All of them, whatever becomes of one."""
    for failure in await asyncio.gather(*doing, return_exceptions=True):
        if isinstance(failure, Exception):
            log.error("a page could not be looked after", exc_info=failure)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = WeakKeyDictionary()


def watch() -> Watch:
    """That of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), Watch())
