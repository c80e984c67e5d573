"""How a web process ends when it is asked to (SIGTERM): nobody who plays notices.

It takes no new connections; those that come are taken by other processes, or wait in the listening socket
where that is shared. Websockets are closed with a code after which pages connect again at once, and requests
that are under way are finished. Then it ends, or when `LAST_SECONDS` are over. SIGINT ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Any

import daphne.server
from twisted.internet import reactor as running_reactor

from brigade.limits import LAST_SECONDS
from brigade.notify import say_ready
from kitchen.machine.draining import draining, house

LOOK_SECONDS = 0.05
"""How often it looks whether all is done."""

log = logging.getLogger(__name__)
reactor: Any = running_reactor


class Server(daphne.server.Server):
    """daphne's, with an end of ours; its factory of pages is a `brigade.web.PageFactory`."""

    def run(self) -> None:
        """Serve, and be ready to be asked to end."""
        self.ports: list[Any] = []
        reactor.callLater(0, self.begin)
        super().run()

    def listen_success(self, port: Any) -> None:
        """One more socket to listen on."""
        self.ports.append(port)
        super().listen_success(port)

    def begin(self) -> None:
        """It serves: say so. From now on SIGTERM is ours, and no longer Twisted's."""
        signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(self.leave))
        say_ready()

    def leave(self) -> None:
        """End, once all is done. Asked twice it does the same."""
        if not draining():
            house.draining = True
            for port in self.ports:
                port.stopListening()
            self.leaving = asyncio.ensure_future(self.finish())

    async def finish(self) -> None:
        """See all guests out and all requests finished, then stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await house.empty()
                self.http_factory.close_idle()
                while self.is_busy():
                    await asyncio.sleep(LOOK_SECONDS)
                    await house.empty()
                    self.http_factory.close_idle()
        if self.is_busy():
            log.warning("ending in the middle of something: %g s were not enough", LAST_SECONDS)
        reactor.stop()

    def is_busy(self) -> bool:
        """Whether somebody is connected who was not asked to go, or something is still being done."""
        doing = ("disconnected" not in one or _goes_on(one) for one in self.connections.values())
        return any(doing) or bool(self.http_factory.has_fresh())


def _goes_on(connection: dict[str, Any]) -> bool:
    """Whether what was asked for over it is still being done."""
    doing = connection.get("application_instance")
    return doing is not None and not doing.done()
