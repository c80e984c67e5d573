"""What the commands that play recorded episodes share."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from kitchen.contract.recordings import Recordings
from kitchen.registry.names import load
from kitchen.registry.worlds import DEFAULT, get_kit, known_worlds


def add_world(parser: ArgumentParser) -> None:
    """Which world the recordings are of."""
    having = [name for name in known_worlds() if get_kit(name).recordings]
    parser.add_argument("--world", choices=having, default=DEFAULT, help=f"(default: {DEFAULT})")


def recordings_of(world: str) -> Recordings[Any]:
    """How those of this world are read and played; it has some."""
    recordings: Recordings[Any] = load(get_kit(world).recordings)
    return recordings
