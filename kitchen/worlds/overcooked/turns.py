"""A turn as it is handed in, and what is told of an interact. Plain Python."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.world import Command, Event, Turn, ordered
from kitchen.worlds.overcooked.stands import COMMANDS, INTERACT, SEATS
from kitchen.worlds.overcooked.things import Deed, Item, shown


class Entry(NamedTuple):
    """One command of a turn as it was handed in; `reason` is a refusal code for what makes no sense."""

    seat: int
    command: Command
    reason: str


def read(turn: Turn) -> list[Entry]:
    """The commands of a turn, those that make no sense with the reason."""
    entries: list[Entry] = []
    seen: set[int] = set()
    for seat, command in ordered(turn):
        told = _tidied(command)
        reason = "" if told in COMMANDS else "unknown_command"
        if seat not in SEATS:
            reason = "unknown_seat"
        elif seat in seen:
            reason = "duplicate_seat"
        seen.add(seat)
        entries.append(Entry(seat, told, reason))
    return entries


def _tidied(command: object) -> Command:
    """Whatever was given for a command, as texts, for the log."""
    return tuple(str(part) for part in command) if isinstance(command, list | tuple) else (str(command),)


def refused(seat: int, command: Command, reason: str) -> Event:
    """A command that changed nothing."""
    return Event("refused", seat, {"command": list(command), "reasons": [reason]})


@lru_cache(maxsize=1024)
def vain(seat: int, reason: str) -> Event:
    """An interact that changed nothing."""
    return refused(seat, INTERACT, reason)


@lru_cache(maxsize=1024)
def used(seat: int, did: str, thing: Item | None) -> Event:
    """An interact that did something."""
    return Event("performed", seat, {"command": list(INTERACT), "did": did, "thing": shown(thing)})


def delivered(seat: int, deed: Deed) -> Event:
    """A soup that was served."""
    soup = list(deed.thing) if isinstance(deed.thing, tuple) else []
    return Event("delivered", seat, {"ingredients": soup, "points": deed.points})
