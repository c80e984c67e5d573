"""`python -m brigade.web`: daphne with its own options, within our limits (`brigade.limits`).

Several of them share a listening socket. Alone daphne takes up to a hundred connections at a time; of several
on one socket the first to wake up would get all pages that connect again at the same moment, and would keep
them. A socket for each (SO_REUSEPORT) shares more evenly still, but where one dies, those who come to its
socket wait until it runs again.

What daphne leaves without a limit: how long a head or a body may take (twisted waits for a minute from the
last byte, so a byte a minute keeps a connection), how long a body is, and how many messages of a websocket
wait to be read. It has no option for these, so its factories are replaced by those below.
"""

from __future__ import annotations

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
from twisted.internet.tcp import Port
from twisted.web.http import HTTPChannel

from brigade import limits
from brigade.errors import PAGES, error_page
from brigade.leaving import Server
from brigade.memory import share_one_heap
from brigade.sharing import count_together
from kitchen.machine.draining import RESTART
from kitchen.machine.pace import TOO_MUCH, Bucket

LAST_OF_DATA = 7
"""The highest code of frames that carry a message (RFC 6455, 5.2); those above it are control frames."""


class Request(WebRequest):
    """A request that is there in time. Of its body no more is kept than the door needs to see that it is too
    large; the rest is thrown away as it comes, for browsers show no answer before they have sent it all."""

    _parsePOSTFormSubmission = False  # noqa: N815 - Django reads forms

    def __init__(self, channel: Any, *queued: Any) -> None:
        channel.asked = True
        channel.setTimeout(limits.HEAD_SECONDS)
        super().__init__(channel, *queued)

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - twisted's name
        """The head is whole."""
        super().gotLength(length)
        self.channel.setTimeout(limits.BODY_SECONDS)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """A piece of the body."""
        room = limits.LARGEST_BODY + 1 - self.content.tell()
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


class Channel(HTTPChannel):
    """One connection; bytes that come win it no time."""

    asked = False
    """Whether a request has begun on it, ever."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = time.monotonic()

    def is_fresh(self) -> bool:
        """Whether its first request is on its way."""
        return not self.asked and time.monotonic() - self.opened < limits.FRESH_SECONDS

    def resetTimeout(self) -> None:  # noqa: N802
        """A request is whole in its time, or never."""


class PageFactory(HTTPFactory):
    """Connections of pages."""

    protocol = Channel

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        self.timeOut = limits.HEAD_SECONDS
        self._open: WeakSet[Channel] = WeakSet()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        """A new connection."""
        channel = super().buildProtocol(addr)
        channel.requestFactory = Request
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


class Socket(WebSocketProtocol):
    """A websocket; one that sends on and on without waiting for answers is closed, and so is one that sends
    pings, pongs or pieces of messages without end: no browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.odd_frames = Bucket(rate=limits.ODD_FRAMES_PER_SECOND, most=limits.MOST_ODD_FRAMES)

    def onFrameBegin(self) -> None:  # noqa: N802
        """A frame comes; a message in one piece is counted where it is read."""
        odd = self.current_frame.opcode > LAST_OF_DATA or self.inside_message
        super().onFrameBegin()
        if odd and self.state == self.STATE_OPEN and not self.odd_frames.take():
            self.shut()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803
        """A message came, perhaps one of many."""
        if self.application_queue.qsize() < limits.MOST_UNREAD:
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
        if code == RESTART and self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code, isReply=False)
        else:
            super().serverClose(code)

    def shut(self) -> None:
        """Say why, and read nothing more: neither what is on its way nor what waits."""
        self.sendClose(TOO_MUCH)
        self.transport.pauseProducing()
        self.data = b""
        while not self.application_queue.empty():
            self.application_queue.get_nowait()


class SocketFactory(WebSocketFactory):
    """Connections of websockets, squeezed where the browser can: a step is a third as long (RFC 7692)."""

    protocol = Socket

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """daphne's, and ours. autobahn would wait a second for the answer to a close, and rounds its timers
        down to full seconds: now and then it would cut a connection before the close was even sent."""
        ours = {"perMessageCompressionAccept": squeezed, "closeHandshakeTimeout": limits.CLOSE_SECONDS}
        super().setProtocolOptions(**ours, **options)


def squeezed(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Each message for itself: what both ends would remember between two takes 300 kB for each open page."""
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            return PerMessageDeflateOfferAccept(
                offer,
                request_no_context_takeover=True,
                no_context_takeover=True,
                mem_level=6,
                max_message_size=limits.LARGEST_MESSAGE,
            )
    return None


class Living(Server):
    """daphne, which has loaded what pages need before it takes one, gives signs of life, and ends so that
    nobody notices."""

    def run(self) -> None:
        """Serve; our apps are loaded by now."""
        from kitchen.play.warm import load_all
        from kitchen.uptime.beat import beat_begin
        from kitchen.uptime.models import Part

        load_all()
        beat_begin(Part.WEB)
        super().run()


def main() -> None:
    """Serve until asked to end, and take one connection at a time."""
    limits.more_files()
    share_one_heap()
    count_together()
    setattr(Port, "numberAccepts", property(lambda port: 1, lambda port, wanted: None))  # noqa: B010
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = PageFactory, SocketFactory
    command = CommandLineInterface()
    command.server_class = Living
    longest = limits.LARGEST_MESSAGE
    command.parser.set_defaults(websocket_max_message_size=longest, websocket_max_frame_size=longest)
    command.run(sys.argv[1:])


if __name__ == "__main__":
    main()
