"""Staff pages are answered by a process of their own, behind the address of the web processes."""

from __future__ import annotations

import os
import signal
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.address import UNIXAddress
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import HTTP11ClientProtocol, Request
from twisted.web.http_headers import Headers

from brigade import web
from brigade.server_limits import (
    FORWARD_SECONDS,
    LARGEST_BODY,
    MOST_AT_ONCE,
    MOST_FORWARDED,
    MOST_IN_QUEUE,
    MOST_WAITING_FOR_RATE_LIMIT,
)
from brigade.staff_proxy import StaffProxy, forwarded_headers
from kitchen.infra.client_address import resolve_client_address
from tests.house.test_web_server_limits import Talk, Wire
from tests.servers import Stack, answers, kill, wait_until

LOGIN = "/admin/login/?next=/staff/"


def answer(
    stack: Stack, path: str, *, seconds: float = 60, **more: object
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a response; an error response is one, too."""
    request = urllib.request.Request(f"{stack.url}{path}", **more)  # type: ignore[arg-type]  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=seconds) as found:  # noqa: S310 - our own server
            return found.status, dict(found.headers), found.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


@pytest.mark.servers
def test_pages_of_staff_and_of_participants_come_from_different_processes(live_stack: Stack) -> None:
    process = live_stack.staff.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError):
            answer(live_stack, LOGIN, seconds=2)
        assert answer(live_stack, "/s/demo/")[0] == 200
        assert answer(live_stack, "/health")[0] == 200
    finally:
        os.kill(process.pid, signal.SIGCONT)
    status, headers, body = answer(live_stack, LOGIN)
    assert (status, int(headers["Content-Length"])) == (200, len(body))
    assert headers["Content-Security-Policy"] and "csrftoken" in headers["Set-Cookie"]
    assert b"brigade_" in answer(live_stack, "/metrics")[2]


@pytest.mark.servers
def test_forms_and_refusals_go_through_as_they_are(live_stack: Stack) -> None:
    assert answer(live_stack, LOGIN, data=b"username=a&password=b")[0] == 403  # without a token of the page
    assert answer(live_stack, LOGIN, method="HEAD")[::2] == (200, b"")
    assert answer(live_stack, LOGIN, data=b"x" * (LARGEST_BODY + 1))[0] == 413
    assert answer(live_stack, "/staff/nowhere/")[0] == 200, "led to the login"
    assert answer(live_stack, "/api/studies")[0] == 401


@pytest.mark.servers
def test_a_staff_process_that_dies_is_told_and_comes_back(live_stack: Stack) -> None:
    process = live_stack.staff.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)  # so that it dies in the middle of the request
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(answer, live_stack, LOGIN)
        wait_until(lambda: asked.running(), "a request")
        wait_until(lambda: answer(live_stack, "/s/demo/")[0] == 200, "another one, later")
        kill(live_stack.staff)
        live_stack.restart()
        status, _, body = asked.result()
    # what the process had not accepted waited for the new one
    assert (status, b"One moment" in body) in {(503, True), (200, False)}
    assert answer(live_stack, LOGIN)[0] == 200


def request_from(host: str, **headers: str) -> SimpleNamespace:
    """A request as Twisted has it."""
    own = Headers({name.replace("_", "-"): [value] for name, value in headers.items()})
    return SimpleNamespace(client=SimpleNamespace(host=host), requestHeaders=own, path=b"/staff/")


@pytest.mark.parametrize(
    ("host", "headers", "expected"),
    [
        ("127.0.0.1", {}, "127.0.0.1"),
        ("203.0.113.5", {}, "203.0.113.5"),
        ("203.0.113.5", {"x_forwarded_for": "198.51.100.7"}, "203.0.113.5"),  # which is no trusted proxy
        ("127.0.0.1", {"x_forwarded_for": "198.51.100.7"}, "198.51.100.7"),
    ],
)
def test_the_staff_process_knows_who_asks(host: str, headers: dict[str, str], expected: str) -> None:
    sent = forwarded_headers(request_from(host, **headers)).getRawHeaders("x-forwarded-for", [])
    assert str(resolve_client_address(None, ", ".join(sent))) == expected


def test_websockets_and_too_large_bodies_stay() -> None:
    proxy = StaffProxy(None, "/nowhere")
    assert proxy.is_for_staff_process(request_from("", content_length="12"))
    assert not proxy.is_for_staff_process(request_from("", content_length=str(LARGEST_BODY + 1)))
    assert not proxy.is_for_staff_process(request_from("", upgrade="WebSocket"))
    assert proxy.is_for_staff_process(request_from("", upgrade="h2c"))


@pytest.mark.parametrize(
    ("path", "is_for_staff"),
    [
        (b"/p/somebody/", False),
        (b"/%61dmin/login/", True),
        (b"/admin%2Flogin/", True),
        (b"%2Fadmin/login/", True),
        (b"/%2561dmin/login/", False),  # which is unquoted once
        (b"/s/?/admin/", False),
    ],
)
def test_paths_of_staff_are_known_however_they_are_written(path: bytes, is_for_staff: bool) -> None:
    request = request_from("")
    request.path = path
    assert StaffProxy(None, "/nowhere").is_for_staff_process(request) == is_for_staff


class StaffEnd:
    """An agent whose requests go to a staff process that answers what a test says."""

    def __init__(self) -> None:
        self.protocols: list[HTTP11ClientProtocol] = []
        self.wires: list[StringTransport] = []
        self.headers: list[Headers] = []

    def request(self, method: bytes, uri: bytes, headers: Headers, body: object) -> Deferred[Any]:
        """Send a request on a connection of its own."""
        self.protocols.append(protocol := HTTP11ClientProtocol())
        self.wires.append(wire := StringTransport())
        self.headers.append(headers)
        protocol.makeConnection(wire)
        headers.setRawHeaders(b"host", [b"staff"])
        asked: Deferred[Any] = protocol.request(Request(method, uri, headers, None))
        return asked

    def answer(self, data: bytes, number: int = -1) -> None:
        """Let the staff process send this."""
        self.protocols[number].dataReceived(data)

    def die(self, number: int = -1) -> None:
        """Cut the connection."""
        self.protocols[number].connectionLost(Failure(ConnectionDone()))


class Front(Talk):
    """A web process with a staff process behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.staff, self.proxy = StaffEnd(), StaffProxy(self.clock, "/nowhere")
        self.proxy._agent = self.staff
        self.pages.staff_proxy = self.proxy

    def ask(self, start: bytes) -> Wire:
        """Send the head of a request."""
        wire = self.connect()
        wire.protocol.dataReceived(start + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return wire


@pytest.fixture
def front() -> Front:
    return Front()


async def test_an_address_without_a_path_is_refused(front: Front) -> None:
    front.proxy._agent = StaffProxy(None, "/nowhere")._agent
    assert front.ask(b"GET %2Fstaff/").value().startswith(b"HTTP/1.1 400")
    assert front.proxy._running == 0


@pytest.mark.parametrize("uri", [b"/staff/\xff", b"/staff/?a=\xe9", b"/staff/ a", b"/staff/\x00"])
def test_an_address_with_strange_bytes_is_refused(uri: bytes) -> None:
    request, refused = request_from(""), list[int]()
    request.method, request.uri, request.content = b"GET", uri, BytesIO()
    request.basic_error = lambda status, *more: refused.append(status)
    proxy = StaffProxy(None, "/nowhere")
    proxy.forward(request)
    assert (refused, proxy._running) == ([400], 0)


async def test_each_kind_fits_into_the_proxy_when_all_queues_are_full(front: Front) -> None:
    queued = sum(MOST_AT_ONCE[kind] + MOST_IN_QUEUE for kind in ("staff", "downloads", "logins"))
    queued += 2 * MOST_WAITING_FOR_RATE_LIMIT  # staff and downloads
    front.proxy._running = queued
    assert front.ask(b"GET /staff/").value() == b""
    front.proxy._running = MOST_FORWARDED
    refused = front.ask(b"GET /staff/?a=1").value()
    assert refused.startswith(b"HTTP/1.1 503") and b"Retry-After: 5" in refused
    assert b"too many requests" in refused and b'href="/staff/?a=1" data-again="5"' in refused


async def test_a_response_goes_to_the_browser(front: Front) -> None:
    wire = front.ask(b"GET /staff/")
    front.staff.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Own: a\r\n\r\nab")
    assert front.proxy._running == 1
    front.staff.answer(b"cde")
    head, _, body = wire.value().partition(b"\r\n\r\n")
    assert b"X-Own: a" in head and b"Content-Length: 5" in head and body == b"abcde"
    assert front.proxy._running == 0


async def test_a_staff_process_that_dies_before_its_answer_is_told(front: Front) -> None:
    page, form = front.ask(b"GET /staff/"), front.ask(b"POST /staff/")
    api = front.ask(b"GET /api/studies")
    for number in range(3):
        front.staff.die(number)
    for wire in (page, form, api):
        assert wire.value().startswith(b"HTTP/1.1 503") and b"Retry-After: 5" in wire.value()
    assert b"data-again" in page.value() and b"Check whether" not in page.value()
    assert b"Check whether your change was saved" in form.value() and b"is lost" not in form.value()
    assert b'{"detail": "The server did not answer.' in api.value()


async def test_a_staff_process_that_does_not_answer_in_time_is_told(
    front: Front, caplog: pytest.LogCaptureFixture
) -> None:
    wire = front.ask(b"GET /staff/")
    front.clock.advance(FORWARD_SECONDS - 1)
    assert wire.value() == b""
    front.clock.advance(1)
    assert wire.value().startswith(b"HTTP/1.1 503") and b"did not answer" in wire.value()
    assert f"within {FORWARD_SECONDS:g} s" in caplog.text
    assert front.proxy._running == 0


async def test_a_response_that_began_in_time_may_take_longer(front: Front) -> None:
    wire = front.ask(b"GET /staff/")
    front.staff.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
    front.clock.advance(2 * FORWARD_SECONDS)
    front.staff.answer(b"cd")
    assert wire.value().endswith(b"\r\n\r\nabcd")


async def test_a_response_that_cannot_be_passed_on_is_told(
    front: Front, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("brigade.staff_proxy.ForwardedRequest._send_head", fail)
    wire = front.ask(b"GET /api/studies")
    front.staff.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nab")
    assert wire.value().startswith(b"HTTP/1.1 502 Bad Gateway") and b"Content-Length: 40" not in wire.value()
    assert b'before you send it again."}' in wire.value()
    assert (front.proxy._running, front.staff.wires[0].disconnecting) == (0, True)
    assert "a fault of ours" in caplog.text


async def test_a_body_that_nobody_takes_is_told(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("brigade.staff_proxy.ResponseBody.connectionMade", fail)
    wire = front.ask(b"GET /staff/")
    front.staff.answer(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\nX-Own: a\r\n\r\nab")
    assert wire.value().startswith(b"HTTP/1.1 502 Bad Gateway") and b"X-Own" not in wire.value()
    assert front.proxy._running == 0


async def test_a_browser_that_leaves_ends_its_request(front: Front, caplog: pytest.LogCaptureFixture) -> None:
    wire = front.ask(b"GET /staff/")
    wire.loseConnection()
    assert (front.proxy._running, front.staff.wires[0].disconnected) == (0, True)
    front.clock.advance(FORWARD_SECONDS)
    assert (wire.value(), caplog.text) == (b"", "")


@pytest.mark.parametrize(
    ("method", "answered", "length"),
    [
        (b"HEAD", b"200 OK\r\nContent-Length: 13", b"Content-Length: 13"),
        (b"HEAD", b"200 OK", None),
        (b"GET", b"204 No Content", None),
        (b"GET", b"304 Not Modified", None),
        (b"GET", b"200 OK\r\nContent-Length: 0", b"Content-Length: 0"),
    ],
)
async def test_responses_without_a_body_get_no_length(
    front: Front, method: bytes, answered: bytes, length: bytes | None
) -> None:
    wire = front.ask(method + b" /staff/")
    front.staff.answer(b"HTTP/1.1 " + answered + b"\r\n\r\n")
    if answered == b"200 OK":
        front.staff.die()
    head, end, body = wire.value().partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    assert (lengths, end, body) == ([length] if length else [], b"\r\n\r\n", b"")
    assert front.proxy._running == 0


def test_a_client_on_a_unix_socket_adds_no_empty_address() -> None:
    request = request_from("", x_forwarded_for="198.51.100.7")
    request.client = UNIXAddress("/run/web.sock")
    assert forwarded_headers(request).getRawHeaders("x-forwarded-for") == ["198.51.100.7"]
    request.requestHeaders = Headers()
    assert forwarded_headers(request).getRawHeaders("x-forwarded-for") is None


def test_a_staff_process_can_make_its_socket_itself(tmp_path: Path) -> None:
    """As in a container, where no other program holds it."""
    server: Any = object.__new__(web.DrainingServer)
    server.accepting, server.http_factory = [], None
    where = tmp_path / "staff.sock"
    server.listen_on_unix(str(where))
    (accepting,) = server.accepting
    assert answers(where) and where.stat().st_mode & 0o777 == 0o600
    accepting.stop()
    assert not answers(where)
