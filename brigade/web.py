"""Run the web server (daphne) with connection limits and a graceful shutdown: `python -m brigade.web`.

The command takes daphne's options. Several web processes share one listening socket. On the signal SIGTERM, a
process closes its websockets, so that their pages reconnect to another process. It then finishes its
requests, and ends after at most `LAST_SECONDS` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import time
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from weakref import WeakSet

import daphne.server
from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne.cli import CommandLineInterface
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.http import HttpResponse
from twisted.internet import reactor as running_reactor
from twisted.web.http import HTTPChannel

from brigade import paths, server_limits
from brigade.error_pages import PAGES, error_page
from brigade.listen_address import listen_at
from brigade.process_startup import report_ready, share_metrics, share_one_heap
from brigade.server_limits import LAST_SECONDS
from brigade.staff_proxy import StaffProxy
from kitchen.infra import process_pool
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE, connection_drain, is_draining
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, TokenBucket

UNIX_SOCKET = "unix-socket:"
"""Prefix of daphne's option `--endpoint` for a listening unix socket; its file descriptor or path follows."""
LOOK_SECONDS = 0.05
"""Seconds between two checks whether all work is done."""
ACCEPT_PAUSE_SECONDS = 0.1
"""Seconds without a new connection after one could not be accepted."""

log = logging.getLogger(__name__)
reactor: Any = running_reactor


class DrainingServer(daphne.server.Server):
    """Daphne's server with a graceful shutdown. Its HTTP factory is a `brigade.web.HttpConnections`."""

    endpoints: list[str]

    def run(self) -> None:
        """Run the server until it has shut down."""
        self.accepting: list[SingleAccept] = []
        given: list[str] = self.endpoints
        self.endpoints = [end for end in given if not end.startswith(UNIX_SOCKET)]
        for end in given:
            if end.startswith(UNIX_SOCKET):
                reactor.callLater(0, self.listen_on_unix, end.removeprefix(UNIX_SOCKET))
        reactor.callLater(0, self.begin)
        super().run()

    def listen_on_unix(self, where: str) -> None:
        """Accept connections on a listening unix socket with this file descriptor, or on a new one with this
        path."""
        number = int(where) if where.isdecimal() else listen_at(Path(where)).detach()
        self.accepting.append(SingleAccept(UnixListener(number), self.http_factory))

    def listen_success(self, port: Any) -> None:
        """Start to accept connections on a listening port. Daphne calls this."""
        self.accepting.append(SingleAccept(port, self.http_factory))
        super().listen_success(port)

    def begin(self) -> None:
        """Report that the process is ready. From now on, SIGTERM starts the graceful shutdown."""
        signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(self.leave))
        report_ready()

    def leave(self) -> None:
        """Start the graceful shutdown: accept no more connections, finish all work, then stop. A second
        call has no effect."""
        if not is_draining():
            connection_drain.draining = True
            for each in self.accepting:
                each.stop()
            self.leaving = asyncio.ensure_future(self.finish())

    async def finish(self) -> None:
        """Close all websockets, wait until all requests are finished, then stop the server."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                await connection_drain.drain()
                self.http_factory.close_idle()
                while self.is_busy():
                    await asyncio.sleep(LOOK_SECONDS)
                    await connection_drain.drain()
                    self.http_factory.close_idle()
        if self.is_busy():
            log.warning("ending in the middle of something: %g s were not enough", LAST_SECONDS)
        reactor.stop()

    def is_busy(self) -> bool:
        """Return True if a request is still running. Also return True if there is a websocket that the server
        has not yet asked to close."""
        for connection in self.connections.values():
            running = connection.get("application_instance")
            if "disconnected" not in connection or (running is not None and not running.done()):
                return True
        return bool(self.http_factory.has_fresh())


class UnixListener:
    """A listening unix socket, which this process shares with others. Twisted's own class would delete its
    file when this process ends, and would let all users connect."""

    def __init__(self, number: int) -> None:
        self.socket = socket.socket(fileno=number)
        self.socket.setblocking(False)

    def fileno(self) -> int:
        """Return the file descriptor, or -1 after `stopListening`."""
        return self.socket.fileno()

    def stopListening(self) -> None:  # noqa: N802 - as Twisted's ports have it
        """Close the socket in this process."""
        self.socket.close()


class SingleAccept:
    """Accepts connections of a listening Twisted port one at a time, in place of the port's own loop.

    Twisted's loop accepts up to a hundred at once. So the first process to wake up would get all pages
    that reconnect. If too many files are open to accept a connection, this class tries again after a
    pause.
    """

    def __init__(self, port: Any, factory: Any, loop: Any = reactor) -> None:
        self.port, self.factory, self.reactor = port, factory, loop
        self.reactor.removeReader(port)
        self.reactor.addReader(self)

    def fileno(self) -> int:
        """Return the file descriptor of the listening socket."""
        return int(self.port.fileno())

    def logPrefix(self) -> str:  # noqa: N802 - twisted's name
        """Return the name under which Twisted logs this listening port."""
        return "accept"

    def doRead(self) -> None:  # noqa: N802 - twisted's name
        """Accept one connection. If another process has already accepted it, do nothing. Twisted calls
        this."""
        try:
            connection, _ = self.port.socket.accept()
            with connection:
                connection.setblocking(False)
                self.reactor.adoptStreamConnection(connection.fileno(), connection.family, self.factory)
        except (BlockingIOError, ConnectionError):
            return
        except OSError as error:
            log.warning("no connection can be accepted: %s", error)
            self.reactor.removeReader(self)
            self.reactor.callLater(ACCEPT_PAUSE_SECONDS, self.resume)

    def resume(self) -> None:
        """Accept connections again. Do nothing if the port was closed."""
        if self.port.fileno() >= 0:
            self.reactor.addReader(self)

    def stop(self) -> None:
        """Accept no more connections, and close the port."""
        self.reactor.removeReader(self)
        self.port.stopListening()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - twisted's name
        """Do nothing: the port closes its socket itself. Twisted calls this."""


LAST_OF_DATA = 7
"""The highest opcode of frames that carry a message (RFC 6455, 5.2); higher ones are control frames."""


class LimitedRequest(WebRequest):
    """An HTTP request with limits on time and size.

    Of a body that is too large, at most one byte beyond the limit is stored. The rest is read and
    discarded, because browsers show no response before they have sent everything.
    """

    def __init__(self, channel: Any, *queued: Any) -> None:
        channel.asked = True
        channel.setTimeout(server_limits.HEAD_SECONDS)
        super().__init__(channel, *queued, parsePOSTFormSubmission=False)  # Django reads forms

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - twisted's name
        """Set the time limit for the body. Twisted calls this at the end of the request's headers."""
        super().gotLength(length)
        self.channel.setTimeout(server_limits.BODY_SECONDS)

    def process(self) -> None:
        """Answer the request, or forward it to the staff process. Twisted calls this when the whole request
        has been read."""
        proxy = self.channel.factory.staff_proxy
        if proxy and proxy.is_for_staff_process(self):
            proxy.forward(self)
        else:
            super().process()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        """Store a piece of the request's body, up to the size limit."""
        room = server_limits.LARGEST_BODY + 1 - self.content.tell()
        super().handleContentChunk(data[: max(0, room)])

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a piece of the response. For a HEAD request, the whole body is left out; Daphne leaves out
        only its first piece."""
        if self.method == b"HEAD" and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        super().handle_reply(message)

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:  # noqa: N802 - twisted's name
        """Set the status of the response, with its usual reason phrase. Twisted does not know all of them."""
        if message is None and code in set(HTTPStatus):
            message = HTTPStatus(code).phrase.encode()
        super().setResponseCode(code, message)

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Send the error page of this status for a request that daphne itself refuses."""
        self.send_page(error_page(status if status in PAGES else 500))

    def send_page(self, page: HttpResponse) -> None:
        """Send this response."""
        headers = [(name.encode(), value.encode()) for name, value in page.items()]
        self.handle_reply({"type": "http.response.start", "status": page.status_code, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": page.content})


class LimitedHttpChannel(HTTPChannel):
    """One HTTP connection. Its time limit is not extended when bytes arrive."""

    asked = False
    """True if a request has ever begun on it."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = time.monotonic()

    def is_fresh(self) -> bool:
        """Return whether the connection was just opened and has not sent its first request yet."""
        return not self.asked and time.monotonic() - self.opened < server_limits.FRESH_SECONDS

    def resetTimeout(self) -> None:  # noqa: N802
        """Do nothing, so that a whole request must arrive within the time limit. Twisted's own method would
        extend the limit here."""


class HttpConnections(HTTPFactory):
    """The factory of HTTP connections. If `staff_proxy` is not None, it takes requests of staff."""

    protocol = LimitedHttpChannel
    staff_proxy: StaffProxy | None = None

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        self.timeOut = server_limits.HEAD_SECONDS
        self._open: WeakSet[LimitedHttpChannel] = WeakSet()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        """Return the protocol object for a new connection, and remember it as open."""
        channel = super().buildProtocol(addr)
        channel.requestFactory = LimitedRequest
        self._open.add(channel)
        return channel

    def close_idle(self) -> None:
        """Close all connections without a request in progress. Connections that were just opened stay."""
        for channel in [one for one in self._open if not one.requests and not one.is_fresh()]:
            self._open.discard(channel)
            channel.loseConnection()

    def has_fresh(self) -> bool:
        """Return whether any connection was just opened and has not sent its first request yet."""
        return any(channel.is_fresh() for channel in self._open)


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
        seconds. So it sometimes cut a connection before the close was sent.
        """
        ours = {
            "perMessageCompressionAccept": compression_offer,
            "closeHandshakeTimeout": server_limits.CLOSE_SECONDS,
        }
        super().setProtocolOptions(**ours, **options)


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


class WebProcess(DrainingServer):
    """The server of one web process: daphne with preloaded pages, children for agents, a heartbeat and a
    graceful shutdown."""

    def run(self) -> None:
        """Preload the pages, start the children and the heartbeat, and serve requests until the server has
        shut down.

        The children are forked before there are threads, and after the agents are imported, so that no first
        decision waits for imports.
        The staff process has neither children nor heartbeat: nobody plays in it, so it must not hide that all
        web processes are gone.
        """
        from kitchen.play.live.render_page import preload_pages
        from kitchen.registry.agent_registry import preload_agents
        from kitchen.uptime.heartbeat import start_heartbeat
        from kitchen.uptime.models import Part

        preload_pages()
        if not any(end.startswith(UNIX_SOCKET) for end in self.endpoints):
            preload_agents()
            process_pool.fork_children()
            start_heartbeat(Part.WEB)
        super().run()


def main() -> None:
    """Run a web process until a signal ends it."""
    server_limits.raise_open_file_limit()
    share_one_heap()
    share_metrics()
    try:
        path = paths.staff_socket_in_use()
    except paths.PathError as error:
        print(f"brigade: {error}", file=sys.stderr)
        sys.exit(2)
    if path and not any(UNIX_SOCKET in argument for argument in sys.argv):
        HttpConnections.staff_proxy = StaffProxy(reactor, path)
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = HttpConnections, WebSocketConnections
    command = CommandLineInterface()
    command.server_class = WebProcess
    longest = server_limits.LARGEST_MESSAGE
    command.parser.set_defaults(websocket_max_message_size=longest, websocket_max_frame_size=longest)
    command.run(sys.argv[1:])


if __name__ == "__main__":
    main()
