"""Run daphne as a web process with connection limits and a graceful shutdown: `python -m brigade.web`, with
daphne's own options.

Several web processes share a listening socket. Daphne takes up to a hundred connections at a time, so
the first process to wake up would get all pages that reconnect at once. This one takes one connection at
a time. A socket for each process (SO_REUSEPORT) would share more evenly, but when one dies, its
connections wait until it runs again.

Daphne has no limits for the time that a head or body may take, the length of a body, or unread websocket
messages. Its factories are replaced by those below (`brigade.connection_limits`).

On SIGTERM it takes no new connections, closes websockets with a code that makes pages reconnect at once,
and finishes running requests. Then it ends, at the latest after `LAST_SECONDS`. SIGINT ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import time
from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

import daphne.server
from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne.cli import CommandLineInterface
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import reactor as running_reactor
from twisted.internet.tcp import Port
from twisted.web.http import HTTPChannel

from brigade import connection_limits
from brigade.connection_limits import LAST_SECONDS
from brigade.error_pages import PAGES, error_page
from brigade.process_startup import say_ready, share_metrics, share_one_heap
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE, connection_drain, is_draining
from kitchen.infra.rate_limit import RATE_CLOSE_CODE, TokenBucket

LOOK_SECONDS = 0.05
"""How often it looks whether all is done."""

log = logging.getLogger(__name__)
reactor: Any = running_reactor


class DrainingServer(daphne.server.Server):
    """daphne's, with an end of ours; its factory of pages is a `brigade.web.HttpConnections`."""

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
        if not is_draining():
            connection_drain.draining = True
            for port in self.ports:
                port.stopListening()
            self.leaving = asyncio.ensure_future(self.finish())

    async def finish(self) -> None:
        """See all guests out and all requests finished, then stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await connection_drain.empty()
                self.http_factory.close_idle()
                while self.is_busy():
                    await asyncio.sleep(LOOK_SECONDS)
                    await connection_drain.empty()
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


LAST_OF_DATA = 7
"""The highest code of frames that carry a message (RFC 6455, 5.2); those above it are control frames."""


class LimitedRequest(WebRequest):
    """A request that is there in time. Of its body no more is kept than the door needs to see that it is too
    large; the rest is thrown away as it comes, for browsers show no answer before they have sent it all."""

    _parsePOSTFormSubmission = False  # noqa: N815 - Django reads forms

    def __init__(self, channel: Any, *queued: Any) -> None:
        channel.asked = True
        channel.setTimeout(connection_limits.HEAD_SECONDS)
        super().__init__(channel, *queued)

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - twisted's name
        """The head is whole."""
        super().gotLength(length)
        self.channel.setTimeout(connection_limits.BODY_SECONDS)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """A piece of the body."""
        room = connection_limits.LARGEST_BODY + 1 - self.content.tell()
        super().handleContentChunk(data[: max(0, room)])

    def handle_reply(self, message: dict[str, Any]) -> None:
        """A piece of the answer. Who asked with HEAD gets no body: daphne sends all but its first piece."""
        if self.method == b"HEAD" and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        super().handle_reply(message)

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """What daphne itself refuses."""
        page = error_page(status if status in PAGES else 500)
        headers = [(name.encode(), value.encode()) for name, value in page.items()]
        self.handle_reply({"type": "http.response.start", "status": page.status_code, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": page.content})


class LimitedHttpChannel(HTTPChannel):
    """One connection; bytes that come win it no time."""

    asked = False
    """Whether a request has begun on it, ever."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = time.monotonic()

    def is_fresh(self) -> bool:
        """Whether its first request is on its way."""
        return not self.asked and time.monotonic() - self.opened < connection_limits.FRESH_SECONDS

    def resetTimeout(self) -> None:  # noqa: N802
        """A request is whole in its time, or never."""


class HttpConnections(HTTPFactory):
    """Connections of pages."""

    protocol = LimitedHttpChannel

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        self.timeOut = connection_limits.HEAD_SECONDS
        self._open: WeakSet[LimitedHttpChannel] = WeakSet()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        """A new connection."""
        channel = super().buildProtocol(addr)
        channel.requestFactory = LimitedRequest
        self._open.add(channel)
        return channel

    def close_idle(self) -> None:
        """End connections on which nothing is asked for."""
        for channel in [one for one in self._open if not one.requests and not one.is_fresh()]:
            self._open.discard(channel)
            channel.loseConnection()

    def has_fresh(self) -> bool:
        """Whether somebody has just connected, and is about to ask for something."""
        return any(channel.is_fresh() for channel in self._open)


class LimitedWebSocket(WebSocketProtocol):
    """A websocket; one that sends on and on without waiting for answers is closed, and so is one that sends
    pings, pongs or pieces of messages without end: no browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.odd_frames = TokenBucket(
            rate=connection_limits.ODD_FRAMES_PER_SECOND, most=connection_limits.MOST_ODD_FRAMES
        )

    def onFrameBegin(self) -> None:  # noqa: N802
        """A frame comes; a message in one piece is counted where it is read."""
        odd = self.current_frame.opcode > LAST_OF_DATA or self.inside_message
        super().onFrameBegin()
        if odd and self.state == self.STATE_OPEN and not self.odd_frames.take():
            self.shut()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803
        """A message came, perhaps one of many."""
        if self.application_queue.qsize() < connection_limits.MOST_UNREAD:
            super().onMessage(payload, isBinary)
        elif self.state == self.STATE_OPEN:
            self.shut()

    def serverSend(self, content: Any, binary: bool = False) -> None:  # noqa: N802 - daphne's
        """The application says something; nobody hears it where the page has gone, and that is no error: it
        may be told of one step more before it is known here (ASGI: such a message does nothing)."""
        if self.state in (self.STATE_CONNECTING, self.STATE_OPEN):
            super().serverSend(content, binary)

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802 - daphne's name
        """The application closes it; autobahn would let it send no code of the registry."""
        if code == RESTART_CLOSE_CODE and self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code, isReply=False)
        else:
            super().serverClose(code)

    def shut(self) -> None:
        """Say why, and read nothing more: neither what is on its way nor what waits."""
        self.sendClose(RATE_CLOSE_CODE)
        self.transport.pauseProducing()
        self.data = b""
        while not self.application_queue.empty():
            self.application_queue.get_nowait()


class WebSocketConnections(WebSocketFactory):
    """Connections of websockets, squeezed where the browser can: a step is a third as long (RFC 7692)."""

    protocol = LimitedWebSocket

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """daphne's, and ours. autobahn would wait a second for the answer to a close, and rounds its timers
        down to full seconds: now and then it would cut a connection before the close was even sent."""
        ours = {
            "perMessageCompressionAccept": compression_offer,
            "closeHandshakeTimeout": connection_limits.CLOSE_SECONDS,
        }
        super().setProtocolOptions(**ours, **options)


def compression_offer(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Each message for itself: what both ends would remember between two takes 300 kB for each open page."""
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            return PerMessageDeflateOfferAccept(
                offer,
                request_no_context_takeover=True,
                no_context_takeover=True,
                mem_level=6,
                max_message_size=connection_limits.LARGEST_MESSAGE,
            )
    return None


class WebProcess(DrainingServer):
    """daphne, which has loaded what pages need before it takes one, gives signs of life, and ends so that
    nobody notices."""

    def run(self) -> None:
        """Serve; our apps are loaded by now."""
        from kitchen.play.live.render_page import preload_pages
        from kitchen.uptime.heartbeat import start_heartbeat
        from kitchen.uptime.models import Part

        preload_pages()
        start_heartbeat(Part.WEB)
        super().run()


def main() -> None:
    """Serve until asked to end, and take one connection at a time."""
    connection_limits.raise_open_file_limit()
    share_one_heap()
    share_metrics()
    setattr(Port, "numberAccepts", property(lambda port: 1, lambda port, wanted: None))  # noqa: B010
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = HttpConnections, WebSocketConnections
    command = CommandLineInterface()
    command.server_class = WebProcess
    longest = connection_limits.LARGEST_MESSAGE
    command.parser.set_defaults(websocket_max_message_size=longest, websocket_max_frame_size=longest)
    command.run(sys.argv[1:])


if __name__ == "__main__":
    main()
