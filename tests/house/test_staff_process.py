"""Staff pages are answered by a process of their own, behind the address of the web processes."""

from __future__ import annotations

import os
import signal
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from twisted.web.http_headers import Headers

from brigade.server_limits import LARGEST_BODY
from brigade.staff_proxy import StaffProxy, forwarded_headers
from kitchen.infra.client_address import resolve_client_address
from tests.servers import Stack, kill, wait_until

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
    assert proxy.takes(request_from("", content_length="12"))
    assert not proxy.takes(request_from("", content_length=str(LARGEST_BODY + 1)))
    assert not proxy.takes(request_from("", upgrade="websocket"))
    other = request_from("")
    other.path = b"/p/somebody/"
    assert not proxy.takes(other)
