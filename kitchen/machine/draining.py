"""Whether this process is about to end: whoever hands out work gives it none. Plain Python."""

from __future__ import annotations


class House:
    """This process, as those see it who send people here."""

    def __init__(self) -> None:
        self.draining = False


house = House()
"""That of this process."""


def draining() -> bool:
    """Whether this process is about to end."""
    return house.draining
