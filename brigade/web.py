"""`python -m brigade.web`: daphne with its own options, made to share a listening socket.

Alone it takes up to a hundred connections at a time: of several on one socket the first to wake up would get
all pages that connect again at the same moment, and would keep them. A socket for each (SO_REUSEPORT) shares
more evenly still, but where one dies, those who come to its socket wait until it runs again.
"""

from __future__ import annotations

import sys

from daphne.cli import CommandLineInterface
from twisted.internet.tcp import Port


def main() -> None:
    """Serve until asked to end, and take one connection at a time."""
    setattr(Port, "numberAccepts", property(lambda port: 1, lambda port, wanted: None))  # noqa: B010
    CommandLineInterface().run(sys.argv[1:])


if __name__ == "__main__":
    main()
