"""Forward requests of staff, administrators and API clients from a web process to the staff process.

Analyses, exports and password hashes take long. In a process of their own, they do not delay people who play
in the web processes. These only copy bytes. The staff process listens on a unix socket, `paths.staff_socket`.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any
from urllib.parse import unquote_to_bytes

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.protocol import Protocol
from twisted.python.failure import Failure
from twisted.web.client import Agent, FileBodyProducer, HTTPConnectionPool, ResponseDone
from twisted.web.http import NO_BODY_CODES
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH, IAgentEndpointFactory
from zope.interface import implementer

from brigade.error_pages import OVERLOADED, UNANSWERED, unavailable_page
from brigade.server_limits import FORWARD_SECONDS, MOST_FORWARDED, STAFF_PROCESS_PATHS, largest_body

HOP_BY_HOP = {
    b"connection",
    b"content-length",
    b"expect",
    b"keep-alive",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
}
"""Headers about one connection (RFC 9110, 7.6.1), and the length, which is set anew."""
FORWARDED_FOR = b"x-forwarded-for"
LOOPBACK = ("127.0.0.1", "::1", "::ffff:127.0.0.1")

log = logging.getLogger(__name__)


@implementer(IAgentEndpointFactory)
class UnixSocket:
    """Connects all requests to one unix socket. Twisted's `Agent` calls `endpointForURI`."""

    def __init__(self, reactor: Any, path: str) -> None:
        self._reactor, self._path = reactor, path

    def endpointForURI(self, uri: object) -> UNIXClientEndpoint:  # noqa: N802 - twisted's name
        """Return the endpoint of the socket for any address."""
        return UNIXClientEndpoint(self._reactor, self._path)


class StaffProxy:
    """Forwards requests to the staff process that listens on the unix socket `path`."""

    def __init__(self, reactor: Any, path: str) -> None:
        self._reactor = reactor
        self._agent = Agent.usingEndpointFactory(
            reactor, UnixSocket(reactor, path), HTTPConnectionPool(reactor, persistent=False)
        )
        self._running = 0

    def is_for_staff_process(self, request: Any) -> bool:
        """Return whether the staff process answers this request. Websockets and bodies that are refused stay
        here."""
        declared = request.requestHeaders.getRawHeaders(b"content-length", [b"0"])[0]
        too_large = not declared.isdigit() or int(declared) > largest_body(request.path)
        upgrade = request.requestHeaders.getRawHeaders(b"upgrade", [b""])[0]
        if too_large or upgrade.lower() == b"websocket":
            return False
        return unquote_to_bytes(request.path).startswith(STAFF_PROCESS_PATHS)  # as daphne reads the path

    def forward(self, request: Any) -> None:
        """Send the request to the staff process, and its response to the browser. Send an error page if the
        address is invalid, if there are too many requests, or if no response comes."""
        if self._running >= MOST_FORWARDED:
            request.send_page(unavailable_page(OVERLOADED, *method_and_address(request)))
            return
        request.content.seek(0)
        try:
            if not request.uri.startswith(b"/"):
                raise ValueError("the address has no path")
            asked = self._agent.request(
                request.method,
                b"http://staff" + request.uri,
                forwarded_headers(request),
                FileBodyProducer(request.content),
            )
        except ValueError as error:
            request.basic_error(400, b"Bad Request", str(error))
            return
        self._running += 1
        ended = request.notifyFinish()
        ended.addBoth(self._count_end)
        ForwardedRequest(request, asked, ended, self._reactor)

    def _count_end(self, reason: Any) -> Any:
        self._running -= 1
        return reason


def forwarded_headers(request: Any) -> Headers:
    """Return the headers for the staff process. The address of this connection's client is added to those
    that a proxy sent. A program on this machine needs none, nor does one that uses a unix socket: the socket
    of the staff process is of this machine, too."""
    headers = Headers()
    for name, values in request.requestHeaders.getAllRawHeaders():
        if name.lower() not in HOP_BY_HOP:
            headers.setRawHeaders(name, values)
    way = request.requestHeaders.getRawHeaders(FORWARDED_FOR, [])
    address = getattr(request.client, "host", "")
    if address and (way or address not in LOOPBACK):
        headers.setRawHeaders(FORWARDED_FOR, [b", ".join([*way, address.encode()])])
    return headers


def method_and_address(request: Any) -> tuple[str, str]:
    """Return the method of a request, and its URL without scheme and host."""
    return request.method.decode("latin-1"), request.uri.decode("latin-1")


class ForwardedRequest:
    """A forwarded request. Each piece of the response is sent to the browser when it arrives."""

    def __init__(self, request: Any, asked: Deferred[Any], ended: Deferred[Any], reactor: Any) -> None:
        self._request = request
        self._is_open = True
        self._asked = asked
        self._body: ResponseBody | None = None
        self._is_late = False
        self._timer = reactor.callLater(FORWARD_SECONDS, self._stop_waiting)
        ended.addErrback(self._browser_left)
        asked.addCallbacks(self._begin, self._fail)

    def _stop_waiting(self) -> None:
        self._is_late = True
        self._asked.cancel()

    def _stop_timer(self) -> None:
        if self._timer.active():
            self._timer.cancel()

    def _browser_left(self, reason: Failure) -> None:
        self._is_open = False
        self._asked.cancel()
        if self._body is not None:
            self._body.drop()

    def _begin(self, response: Any) -> None:
        self._stop_timer()
        try:
            self._send_head(response)
            self._body = ResponseBody(self._request, self)
            response.deliverBody(self._body)
        except Exception:  # an exception here would leave the browser waiting
            log.exception("a response of the staff process cannot be passed on")
            self._refuse(response)

    def _refuse(self, response: Any) -> None:
        """Read no more of this response, and send status 502 in its place. If it has begun, cut the
        connection."""
        if self._body is None:
            dropped: Any = Protocol()
            response.deliverBody(dropped)
            dropped.transport.loseConnection()
        else:
            self._body.drop()
        if not self._is_open:
            return
        if self._request.startedWriting:
            self._request.loseConnection()
            return
        self._request.responseHeaders = Headers()  # without those of the response
        page = unavailable_page(UNANSWERED, *method_and_address(self._request))
        page.status_code = 502
        self._request.send_page(page)

    def _send_head(self, response: Any) -> None:
        request = self._request
        request.setResponseCode(response.code, response.phrase)
        for name, values in response.headers.getAllRawHeaders():
            request.responseHeaders.setRawHeaders(name, values)
        has_body = request.method != b"HEAD" and response.code not in NO_BODY_CODES
        if has_body and response.length is not UNKNOWN_LENGTH:
            request.responseHeaders.setRawHeaders(b"content-length", [b"%d" % response.length])

    def _fail(self, reason: Failure) -> None:
        self._stop_timer()
        if not self._is_open:
            return
        if self._is_late:
            log.warning("the staff process did not answer within %g s", FORWARD_SECONDS)
        else:
            log.warning("the staff process did not answer: %s", reason.getErrorMessage())
        self._request.send_page(unavailable_page(UNANSWERED, *method_and_address(self._request)))

    def end(self, reason: Failure) -> None:
        """Finish the response. If the staff process ended in the middle of it, cut the connection: so the
        browser knows that something is missing."""
        if not self._is_open:
            return
        self._request.unregisterProducer()
        if reason.check(ResponseDone):
            self._request.finish()
        else:
            log.warning("a response of the staff process was cut: %s", reason.getErrorMessage())
            self._request.loseConnection()


class ResponseBody(Protocol):
    """The body of a response. It is read only as fast as the browser takes it."""

    transport: Any

    def __init__(self, request: Any, forwarded: ForwardedRequest) -> None:
        self._request, self._forwarded = request, forwarded

    def connectionMade(self) -> None:  # noqa: N802 - twisted's name
        """Let the browser's connection pause this body. Twisted calls this."""
        self._request.registerProducer(self.transport, True)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        """Send the next piece to the browser. Twisted calls this."""
        self._request.write(data)

    def connectionLost(self, reason: Any = None) -> None:  # noqa: N802
        """Finish the response. Twisted calls this."""
        self._forwarded.end(reason)

    def drop(self) -> None:
        """Read no more."""
        with contextlib.suppress(AttributeError):  # it has ended
            self.transport.loseConnection()
