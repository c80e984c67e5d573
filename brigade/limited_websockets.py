"""Limit the websockets of a web process, and compress their messages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from brigade import server_limits
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, TokenBucket

LAST_OF_DATA = 7
"""The highest opcode of frames that carry a message (RFC 6455, 5.2); higher ones are control frames."""


class LimitedWebSocket(WebSocketProtocol):
    """A websocket with limits. It is closed if it sends many messages without waiting for answers. It is
    also closed if it sends endless pings, pongs or fragments, which no browser does.

    After a pause of this process, all messages that came meanwhile are here at once. So they count only
    after the application had time to read them, and not while it catches up.
    """

    unread_check: asyncio.TimerHandle | None = None
    """The coming check whether the application has read enough. None if few messages are unread."""
    peak_unread = 0
    """The highest number of unread messages since the last check whether the application has read enough."""
    is_refused = False
    """True once the application has closed the websocket because of a limit."""

    def __init__(self) -> None:
        super().__init__()
        self.odd_frames = TokenBucket(
            rate=server_limits.ODD_FRAMES_PER_SECOND, most=server_limits.MOST_ODD_FRAMES
        )

    def onFrameBegin(self) -> None:  # noqa: N802
        """Count a ping, pong or fragment, and close the websocket if there are too many. Complete messages
        are counted elsewhere."""
        odd = self.current_frame.opcode > LAST_OF_DATA or self.inside_message
        super().onFrameBegin()
        if odd and self.state == self.STATE_OPEN and not self.odd_frames.take():
            self.shut()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803
        """Pass a message from the browser to the application. Close the websocket if too many messages are
        waiting for the application, or many for `UNREAD_SECONDS`. Drop the message if the application has
        closed the websocket because of a limit."""
        if self.is_refused:
            return
        unread = self.application_queue.qsize()
        if unread < server_limits.MOST_UNREAD:
            self.cancel_unread_check()
            super().onMessage(payload, isBinary)
        elif self.state != self.STATE_OPEN:
            return
        elif unread < server_limits.MOST_UNREAD_AT_ONCE and len(payload) <= server_limits.LARGEST_UNREAD:
            super().onMessage(payload, isBinary)
            self.peak_unread = max(self.peak_unread, unread + 1)
            if self.unread_check is None:
                self.check_unread_later()
        else:
            self.shut()

    def check_unread_later(self) -> None:
        """Check in `UNREAD_SECONDS` how many messages are still unread."""
        loop, self.peak_unread = asyncio.get_running_loop(), self.application_queue.qsize()
        due = loop.time() + server_limits.UNREAD_SECONDS
        self.unread_check = loop.call_at(due, self.check_unread, due)

    def check_unread(self, due: float) -> None:
        """Close the websocket if many messages are still unread at the time `due`. If this process paused
        meanwhile, or the application is catching up, check again later."""
        self.unread_check, unread = None, self.application_queue.qsize()
        if self.state != self.STATE_OPEN or unread < server_limits.MOST_UNREAD:
            return
        is_late = asyncio.get_running_loop().time() - due > server_limits.PAUSE_SECONDS
        if is_late or unread <= self.peak_unread * (1 - server_limits.LEAST_READ):
            self.check_unread_later()
        else:
            self.shut()

    def cancel_unread_check(self) -> None:
        """Cancel the check of unread messages, if one is due."""
        if self.unread_check is not None:
            self.unread_check.cancel()
            self.unread_check = None

    def serverSend(self, content: Any, binary: bool = False) -> None:  # noqa: N802 - daphne's
        """Send a message of the application to the browser. If the connection is closed, drop the message
        without an error, as ASGI requires."""
        if self.state in (self.STATE_CONNECTING, self.STATE_OPEN):
            super().serverSend(content, binary)

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802 - daphne's name
        """Close the websocket with this close code. autobahn's own method refuses the code for a restart
        (`RESTART_CLOSE_CODE`)."""
        self.is_refused = self.is_refused or code == RATE_CLOSE_CODE
        if code == RESTART_CLOSE_CODE and self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code, isReply=False)
        else:
            super().serverClose(code)

    def shut(self) -> None:
        """Close the websocket because the browser sent too much. Discard all waiting and later messages, and
        let the application end after the message that it handles now. The close code tells it the reason."""
        self.cancel_unread_check()
        self.sendClose(RATE_CLOSE_CODE)
        self.transport.pauseProducing()
        self.data = b""
        while not self.application_queue.empty():
            self.application_queue.get_nowait()
        self.application_queue.put_nowait({"type": "websocket.disconnect", "code": RATE_CLOSE_CODE})
        self.muted = True  # daphne then reports the end of the connection no second time


class WebSocketConnections(WebSocketFactory):
    """The factory of websocket connections. If the browser supports it, messages are compressed to about a
    third of the bytes (RFC 7692)."""

    protocol = LimitedWebSocket

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """Set daphne's options and this app's options of the websocket server.

        By default, autobahn waits one second for the answer to a close, and rounds its timers down to full
        seconds. So it sometimes cut a connection before the close was sent. Daphne cuts it if it is not open
        after five seconds. On a busy machine, pages then connect again and again, which takes more time.
        """
        ours = {
            "perMessageCompressionAccept": compression_offer,
            "openHandshakeTimeout": server_limits.OPEN_SECONDS,
            "closeHandshakeTimeout": server_limits.CLOSE_SECONDS,
        }
        super().setProtocolOptions(**{**options, **ours})


def compression_offer(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Return the answer to a browser's offers of compression. Return None if there is no offer.

    Each message is compressed on its own. A context shared by several messages would take 300 kB for each
    open page.
    """
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            return PerMessageDeflateOfferAccept(
                offer,
                request_no_context_takeover=True,
                no_context_takeover=True,
                mem_level=6,
                max_message_size=server_limits.LARGEST_MESSAGE,
            )
    return None
