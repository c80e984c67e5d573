"""daphne within our limits: what is slow is dropped, what is long is not kept, what floods is closed."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import daphne.server
import pytest
from autobahn.websocket.compress import PerMessageDeflateOffer
from twisted.internet.protocol import Factory
from twisted.internet.task import Clock
from twisted.internet.tcp import Port
from twisted.internet.testing import StringTransportWithDisconnection
from txaio.tx import config
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from brigade import server_limits, web
from brigade.limited_websockets import LimitedWebSocket, WebSocketConnections
from brigade.web import HttpConnections
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE
from kitchen.infra.rate_limits import RATE_CLOSE_CODE

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Wire(StringTransportWithDisconnection):
    """The other end of one connection."""

    protocol: Any

    def __init__(self, channel: Any) -> None:
        super().__init__()
        self.protocol = channel

    def abortConnection(self) -> None:  # noqa: N802 - twisted's name
        self.loseConnection()


class Talk:
    """A server of ours, with a clock for it; what it was asked, and connections to it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.bodies: list[bytes] = []
        self.answer: list[bytes] = []
        self.server = daphne.server.Server(self.application, endpoints=["nowhere"])
        self.server.connections = {}
        self.server.ws_factory = WebSocketConnections(self.server)
        self.pages = HttpConnections(self.server)
        self.pages.reactor = self.clock

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the body of a page; accept a websocket, and read nothing."""
        if scope["type"] == "websocket":
            assert (await receive())["type"] == "websocket.connect"
            await send({"type": "websocket.accept"})
            await asyncio.sleep(3600)
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        self.bodies.append(body)
        length = str(len(b"".join(self.answer))).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        for piece in self.answer:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})

    def connect(self) -> Wire:
        """A new connection."""
        channel = self.pages.buildProtocol(None)
        wire = Wire(channel)
        channel.makeConnection(wire)
        return wire


@pytest.fixture
def talk() -> Talk:
    return Talk()


async def rest() -> None:
    """Let everything go on that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_connections_that_bring_no_request_are_dropped(talk: Talk) -> None:
    silent, slow, line = talk.connect(), talk.connect(), HEAD.index(b"\n") + 1
    talk.clock.advance(1)
    slow.protocol.dataReceived(HEAD[:line])
    for byte in range(line, line + 10):
        slow.protocol.dataReceived(HEAD[byte : byte + 1])
        talk.clock.advance((server_limits.HEAD_SECONDS - 0.5) / 10)
    assert [silent.connected, slow.connected] == [False, True]
    talk.clock.advance(0.6)
    assert not slow.connected


async def test_a_body_that_comes_byte_by_byte_is_dropped_at_last(talk: Talk) -> None:
    wire = talk.connect()
    wire.protocol.dataReceived(HEAD + b"Content-Length: 1000\r\n\r\n")
    for _ in range(int(server_limits.BODY_SECONDS)):
        wire.protocol.dataReceived(b"x")
        talk.clock.advance(0.99)
    assert wire.connected
    talk.clock.advance(0.61)
    assert not wire.connected
    assert talk.bodies == []


async def test_a_request_that_is_whole_has_time_for_its_answer_and_for_the_next(talk: Talk) -> None:
    wire = talk.connect()
    wire.protocol.dataReceived(HEAD + b"Content-Length: 2\r\n\r\nab")
    talk.clock.advance(1000)
    await rest()
    assert talk.bodies == [b"ab"]
    assert wire.value().startswith(b"HTTP/1.1 200")
    talk.clock.advance(server_limits.BODY_SECONDS - 1)
    wire.protocol.dataReceived(HEAD)
    talk.clock.advance(server_limits.HEAD_SECONDS - 1)
    assert wire.connected
    talk.clock.advance(1.1)
    assert not wire.connected


async def test_who_asks_with_head_gets_no_piece_of_the_body(talk: Talk) -> None:
    talk.answer, wire = [b"one ", b"two ", b"three"], talk.connect()
    wire.protocol.dataReceived(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await rest()
    head, end, body = wire.value().partition(b"\r\n\r\n")
    assert (b"Content-Length: 13" in head, end, body) == (True, b"\r\n\r\n", b"")


@pytest.mark.parametrize("chunked", [False, True])
async def test_of_a_body_without_end_no_more_is_kept_than_shows_that_it_is_too_large(
    talk: Talk, chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "LARGEST_BODY", 100)
    wire = talk.connect()
    if chunked:
        wire.protocol.dataReceived(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + 50 * b"a\r\n0123456789\r\n")
        wire.protocol.dataReceived(b"0\r\n\r\n")
    else:
        wire.protocol.dataReceived(HEAD + b"Content-Length: 500\r\n\r\n" + 500 * b"x")
    await rest()
    assert [len(body) for body in talk.bodies] == [101]


async def test_what_daphne_refuses_itself_has_our_page(talk: Talk) -> None:
    wire = talk.connect()
    wire.protocol.dataReceived(HEAD + b"Cookie: \x1c\r\nContent-Length: 0\r\n\r\n")
    await rest()
    assert wire.value().startswith(b"HTTP/1.1 400")
    assert b"That could not be read" in wire.value()
    assert b"script-src 'self'" in wire.value()


async def connected(talk: Talk) -> tuple[Wire, ClientProtocol]:
    """A websocket whose application reads nothing."""
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/seat/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    client.receive_data(wire.value())
    wire.clear()
    return wire, client


def send(wire: Wire, client: ClientProtocol, number: int, text: bytes = b"{}") -> tuple[str, int]:
    """Send so many messages at once. Whether more is read from the websocket, and how many are unread."""
    for _ in range(number):
        client.send_text(text)
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    return wire.producerState, wire.protocol.application_queue.qsize()


def close_code(wire: Wire, client: ClientProtocol) -> int | None:
    client.receive_data(wire.value())
    return client.close_rcvd.code if client.close_rcvd else None


async def test_a_websocket_that_sends_on_unread_is_closed_and_read_no_more(talk: Talk) -> None:
    wire, client = await connected(talk)
    assert isinstance(wire.protocol, LimitedWebSocket)
    most = server_limits.MOST_UNREAD_AT_ONCE
    assert send(wire, client, most) == ("producing", most)
    assert send(wire, client, 100) == ("paused", 1)
    assert close_code(wire, client) == RATE_CLOSE_CODE
    ended = {"type": "websocket.disconnect", "code": RATE_CLOSE_CODE}
    assert wire.protocol.application_queue.get_nowait() == ended
    socket = wire.protocol
    wire.loseConnection()
    assert socket.state == socket.STATE_CLOSED
    assert socket.application_queue.empty()  # the application is told once


async def test_a_long_message_behind_many_unread_ones_closes_a_websocket(talk: Talk) -> None:
    wire, client = await connected(talk)
    long = b"x" * (server_limits.LARGEST_UNREAD + 1)
    assert send(wire, client, server_limits.MOST_UNREAD, long)[0] == "producing"
    assert send(wire, client, 1, long) == ("paused", 1)
    assert close_code(wire, client) == RATE_CLOSE_CODE


async def test_what_came_in_a_pause_of_the_server_counts_only_if_it_stays_unread(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "UNREAD_SECONDS", 0.02)
    wire, client = await connected(talk)
    came = 3 * server_limits.MOST_UNREAD
    assert send(wire, client, came) == ("producing", came)
    for _ in range(came):
        wire.protocol.application_queue.get_nowait()
    await asyncio.sleep(0.05)
    assert (wire.producerState, close_code(wire, client)) == ("producing", None)
    send(wire, client, came)
    await asyncio.sleep(0.05)
    assert (wire.producerState, close_code(wire, client)) == ("paused", RATE_CLOSE_CODE)


async def test_a_pause_of_the_server_before_the_check_counts_against_nobody(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "UNREAD_SECONDS", 0.02)
    monkeypatch.setattr(server_limits, "PAUSE_SECONDS", 0.05)
    wire, client = await connected(talk)
    send(wire, client, 3 * server_limits.MOST_UNREAD)
    time.sleep(0.1)  # the whole process pauses
    await asyncio.sleep(0)
    assert (wire.producerState, close_code(wire, client)) == ("producing", None)
    assert wire.protocol.unread_check is not None
    await asyncio.sleep(0.05)
    assert (wire.producerState, close_code(wire, client)) == ("paused", RATE_CLOSE_CODE)


async def test_an_application_that_catches_up_after_a_pause_has_more_time(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_limits, "UNREAD_SECONDS", 0.02)
    wire, client = await connected(talk)
    send(wire, client, 8 * server_limits.MOST_UNREAD)
    for read in (2, 2, 1):
        for _ in range(read * server_limits.MOST_UNREAD):
            wire.protocol.application_queue.get_nowait()
        wire.protocol.check_unread(asyncio.get_running_loop().time())
        assert (wire.producerState, close_code(wire, client)) == ("producing", None)
    wire.protocol.application_queue.get_nowait()  # too few
    wire.protocol.check_unread(asyncio.get_running_loop().time())
    assert (wire.producerState, close_code(wire, client)) == ("paused", RATE_CLOSE_CODE)


async def test_nothing_is_passed_on_that_comes_after_the_application_refused_more(talk: Talk) -> None:
    for code, unread in ((RATE_CLOSE_CODE, 0), (RESTART_CLOSE_CODE, 5)):
        wire, client = await connected(talk)
        wire.protocol.serverClose(code)
        assert send(wire, client, 5) == ("producing", unread)
        assert close_code(wire, client) == code


PING, PONG = b"\x89\x80\0\0\0\0", b"\x8a\x80\0\0\0\0"
BEGIN, PIECE = b"\x01\x80\0\0\0\0", b"\0\x80\0\0\0\0"


@pytest.mark.parametrize("frames", [[PING], [PONG], [BEGIN, PIECE]], ids=["pings", "pongs", "pieces"])
async def test_a_websocket_that_sends_frames_without_messages_is_closed(
    talk: Talk, frames: list[bytes]
) -> None:
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/seat/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    client.receive_data(wire.value())
    first, last = frames[0], frames[-1]
    wire.protocol.dataReceived(first + last * (server_limits.MOST_ODD_FRAMES - 2))
    assert wire.producerState == "producing"
    wire.clear()
    wire.protocol.dataReceived(last * 10_000)
    assert wire.producerState == "paused"
    client.receive_data(wire.value())
    assert client.close_rcvd
    assert client.close_rcvd.code == RATE_CLOSE_CODE


async def test_a_websocket_is_closed_with_the_code_after_which_pages_connect_at_once(talk: Talk) -> None:
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/seat/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    wire.protocol.handle_reply({"type": "websocket.close", "code": RESTART_CLOSE_CODE})
    client.receive_data(wire.value())
    assert client.close_rcvd
    assert client.close_rcvd.code == RESTART_CLOSE_CODE


async def test_what_is_said_to_a_page_that_has_gone_is_no_error(talk: Talk) -> None:
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/ticks/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    socket = wire.protocol
    wire.loseConnection()
    assert socket.state == socket.STATE_CLOSED
    socket.handle_reply({"type": "websocket.send", "text": "one step more"})


async def test_whoever_is_told_that_a_websocket_is_closed_has_time_to_read_it(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "loop", talk.clock)
    talk.server.ws_factory.setProtocolOptions()
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/seat/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    talk.clock.advance(0.999 - talk.clock.seconds() % 1)  # autobahn's timers end at full seconds
    wire.protocol.handle_reply({"type": "websocket.close", "code": RESTART_CLOSE_CODE})
    talk.clock.advance(server_limits.CLOSE_SECONDS - 1)
    assert wire.connected
    talk.clock.advance(1)
    assert not wire.connected


async def test_a_busy_process_has_as_long_to_open_a_websocket_as_a_page_waits(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "loop", talk.clock)
    talk.server.ws_factory.setProtocolOptions(openHandshakeTimeout=5)  # as daphne does

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    talk.server.application = busy
    wire, client = talk.connect(), ClientProtocol(parse_uri("ws://localhost/ws/seat/x/"))
    client.send_request(client.connect())
    wire.protocol.dataReceived(b"".join(client.data_to_send()))
    await rest()
    talk.clock.advance(server_limits.OPEN_SECONDS - 1)
    assert wire.connected
    talk.clock.advance(2)
    assert not wire.connected


async def test_only_connections_on_which_nothing_is_asked_for_are_ended(talk: Talk) -> None:
    idle, asking, fresh = talk.connect(), talk.connect(), talk.connect()
    idle.protocol.opened -= server_limits.FRESH_SECONDS
    asking.protocol.dataReceived(HEAD + b"Content-Length: 2\r\n\r\n")
    talk.pages.close_idle()
    assert [idle.connected, asking.connected, fresh.connected] == [False, True, True]
    assert talk.pages.has_fresh()
    fresh.protocol.opened -= server_limits.FRESH_SECONDS
    assert not talk.pages.has_fresh()
    asking.protocol.dataReceived(b"ab")
    await rest()
    assert asking.value().startswith(b"HTTP/1.1 200")
    talk.pages.close_idle()
    assert not asking.connected


@pytest.fixture
def few_files() -> Iterator[int]:
    """No more open files than a program has that does not ask; how many it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    yield server_limits.open_file_limit()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_program_asks_for_as_many_files_as_it_may_have(few_files: int) -> None:
    server_limits.raise_open_file_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == few_files


# Several on one socket


class Door(Factory):
    """Lets nobody in, and counts who came."""

    def __init__(self) -> None:
        self.came = 0

    def buildProtocol(self, addr: Any) -> None:  # noqa: N802 - twisted's
        self.came += 1


class Idle:
    """A reactor that is not running."""

    def __init__(self) -> None:
        self.readers: set[Any] = set()
        self.later: list[Any] = []
        self.addReader, self.removeReader = self.readers.add, self.readers.discard
        self.callLater = lambda seconds, act: self.later.append(act)

    def adoptStreamConnection(self, fd: int, family: int, factory: Any) -> None:  # noqa: N802 - twisted's
        factory.buildProtocol(None)


def test_of_many_who_wait_one_is_taken_at_a_time() -> None:
    door, idle = Door(), Idle()
    port: Any = Port(0, cast(Any, door), interface="127.0.0.1", reactor=idle)
    port.startListening()
    accepting = web.SingleAccept(port, door, idle)
    assert idle.readers == {accepting}
    people = [socket.create_connection(("127.0.0.1", port.getHost().port)) for _ in range(3)]
    counts = []
    for _ in people:
        accepting.doRead()
        counts.append(door.came)
    accepting.doRead()  # another process was faster
    assert idle.readers == {accepting} and idle.later == []
    for each in [*people, port.socket]:
        each.close()
    assert counts == [1, 2, 3]


def test_where_too_many_files_are_open_connections_wait() -> None:
    idle = Idle()
    accepting = web.SingleAccept(FullPort(), None, idle)
    accepting.doRead()
    assert idle.readers == set()
    idle.later.pop()()
    assert idle.readers == {accepting}


class FullPort:
    """A listening port of a program with too many open files."""

    @property
    def socket(self) -> FullPort:
        return self

    def accept(self) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    def fileno(self) -> int:
        return 5


def test_a_browser_that_can_is_sent_squeezed_messages_each_for_itself() -> None:
    factory = WebSocketConnections(SimpleNamespace(server_name="daphne"))
    factory.setProtocolOptions(autoPingTimeout=30)
    accepted = factory.perMessageCompressionAccept([object(), PerMessageDeflateOffer()])
    assert accepted.no_context_takeover and "client_no_context_takeover" in accepted.get_extension_string()
    assert factory.perMessageCompressionAccept([]) is None


@pytest.mark.parametrize(("status", "phrase"), [(429, b"Too Many Requests"), (404, b"Not Found"), (299, b"")])
def test_a_status_has_its_usual_reason_phrase(status: int, phrase: bytes) -> None:
    request: Any = object.__new__(web.LimitedRequest)
    request.setResponseCode(status)
    assert (request.code, request.code_message) == (status, phrase or b"Unknown Status")
