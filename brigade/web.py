"""`python -m brigade.web`: daphne with its own options, made to share a listening socket.

Alone it takes up to a hundred connections at a time: of several on one socket the first to wake up would get
all pages that connect again at the same moment, and would keep them. A socket for each (SO_REUSEPORT) shares
more evenly still, but where one dies, those who come to its socket wait until it runs again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import daphne.server
from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne.cli import CommandLineInterface
from daphne.ws_protocol import WebSocketFactory
from twisted.internet.tcp import Port

LARGEST_MESSAGE = 65_536
"""Bytes to which one message may unfold."""


class SocketFactory(WebSocketFactory):
    """Connections of websockets, squeezed where the browser can: a step is a third as long (RFC 7692)."""

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """daphne's, and ours."""
        super().setProtocolOptions(perMessageCompressionAccept=squeezed, **options)


def squeezed(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Each message for itself: what both ends would remember between two takes 300 kB for each open page."""
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            return PerMessageDeflateOfferAccept(
                offer,
                request_no_context_takeover=True,
                no_context_takeover=True,
                mem_level=6,
                max_message_size=LARGEST_MESSAGE,
            )
    return None


def main() -> None:
    """Serve until asked to end, and take one connection at a time."""
    setattr(Port, "numberAccepts", property(lambda port: 1, lambda port, wanted: None))  # noqa: B010
    daphne.server.WebSocketFactory = SocketFactory
    CommandLineInterface().run(sys.argv[1:])


if __name__ == "__main__":
    main()
