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
from http import HTTPStatus
from pathlib import Path
from typing import Any
from weakref import WeakSet

import daphne.server
from daphne.cli import CommandLineInterface
from daphne.http_protocol import HTTPFactory, WebRequest
from django.http import HttpResponse
from twisted.internet import reactor as running_reactor
from twisted.web.http import HTTPChannel

from brigade import paths, server_limits
from brigade.error_pages import PAGES, error_page
from brigade.limited_websockets import WebSocketConnections
from brigade.listen_address import listen_at
from brigade.process_startup import report_ready, share_metrics, share_one_heap
from brigade.server_limits import LAST_SECONDS
from brigade.staff_proxy import StaffProxy
from kitchen.infra import process_pool
from kitchen.infra.connection_drain import connection_drain, is_draining

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
        room = server_limits.largest_body(self.channel._path) + 1 - self.content.tell()
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
