"""daphne that shares a listening socket."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest
from autobahn.websocket.compress import PerMessageDeflateOffer
from daphne.cli import CommandLineInterface
from twisted.internet.protocol import Factory
from twisted.internet.tcp import Port

from brigade import web


class Door(Factory):
    """Lets nobody in, and counts who came."""

    def __init__(self) -> None:
        self.came = 0

    def buildProtocol(self, addr: Any) -> None:  # noqa: N802 - twisted's
        self.came += 1


class Idle:
    """A reactor that is not running."""

    def addReader(self, port: Port) -> None:  # noqa: N802 - twisted's
        pass


def test_of_many_who_wait_one_is_taken_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Port, "numberAccepts", None, raising=False)  # as it was, after this test
    monkeypatch.setattr(CommandLineInterface, "run", lambda self, arguments: None)
    web.main()
    door = Door()
    port: Any = Port(0, cast(Any, door), interface="127.0.0.1", reactor=Idle())
    port.startListening()
    people = [socket.create_connection(("127.0.0.1", port.getHost().port)) for _ in range(3)]
    counts = []
    for _ in people:
        port.doRead()
        counts.append(door.came)
    for each in [*people, port.socket]:
        each.close()
    assert counts == [1, 2, 3]


def test_a_browser_that_can_is_sent_squeezed_messages_each_for_itself() -> None:
    factory = web.SocketFactory(SimpleNamespace(server_name="daphne"))
    factory.setProtocolOptions(autoPingTimeout=30)
    accepted = factory.perMessageCompressionAccept([object(), PerMessageDeflateOffer()])
    assert accepted.no_context_takeover and "client_no_context_takeover" in accepted.get_extension_string()
    assert factory.perMessageCompressionAccept([]) is None
