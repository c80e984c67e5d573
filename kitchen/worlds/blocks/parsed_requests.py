"""Define `ParsedRequest`, one request in the words of a person to the agent `blocks_planner`.

`request_parser` makes them. The module also applies a correction to the request before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from kitchen.contract.world import Json

PLACE, REMOVE, GIVE, HELD, STOP, RESUME = "place", "remove", "give", "held", "stop", "go_on"
NEEDED, PLAN, UNCLEAR = "needed", "plan", "unclear"
CANCEL, CANCEL_ALL, CORRECT = "cancel", "cancel_all", "correct"
GREETING, THANKS, HELP_WANTED = "greeting", "thanks", "help"
FOLLOW, YES, DOING, UNDO = "follow", "yes", "doing", "undo"
NOTED, UNREAD, AMOUNT = "noted", "unread", "amount"
"""Kinds of request. `NEEDED` and `PLAN` ask what the builder needs, and what belongs where. `UNCLEAR` is a
request to build that is only understood in part, or that is a question. `CANCEL` takes the last request back,
or those for the named thing and places. `CORRECT` changes the last request: what it names replaces what the
request had. A correction that names nothing says that the request was wrong. `HELP_WANTED` asks for help, or
looks like a request and is none. `FOLLOW` names only what differs from the last request, and `YES` confirms
it. `DOING` asks what the builder does. `UNDO` asks to undo the last request. `NOTED` tells something, and
`UNREAD` is not understood. `AMOUNT` asks for a gift without a clear amount."""
SMALL_TALK = frozenset({GREETING, THANKS, HELP_WANTED, NOTED, UNREAD, YES})
"""Kinds that say nothing about the game."""
CORNERS, EDGE = "corners", "edge"
"""Shapes: only the corners of the levels, or only the cells all around them."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """One request in the words of a person."""

    do: str
    thing: str = ""
    """The code of an item, or `wood`; empty: everything, or what the member holds."""
    amount: int = 0
    """How many to give, or to place; 0: all."""
    players: tuple[int, ...] = ()
    """The seats that the person addresses; empty: nobody by number."""
    to: tuple[int, ...] = ()
    """The seats that shall get a gift; empty: the sender's."""
    places: tuple[tuple[int, ...], ...] = ((), (), ())
    """The named levels, columns and rows, counted from 0. An empty tuple means all of them."""
    every_level: bool = False
    """True if the person asks for all levels in words, and does not only name none."""
    shape: str = ""
    """CORNERS or EDGE; empty: the named places as they are."""
    without: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Places to leave out, each as in `places`."""
    keeps: tuple[tuple[str, int], ...] = ()
    """What not to give, as (item, amount); amount 0: all of it."""
    adds: bool = False
    """For FOLLOW: True if a word such as *also* or *same* takes the rest from the last request."""
    undoes: str = ""
    """For UNDO: PLACE or REMOVE if only what was placed or removed is meant."""
    which: bool = False
    """For CANCEL and UNDO: True if another request than the last one is meant. It is not clear which."""
    may_resume: bool = False
    """For CANCEL: True if it may only take back a stop, such as *never mind*."""
    refuses: bool = False
    """For CANCEL: True if the builder shall not build something, such as *do not build level 2*."""
    corrects: bool = False
    """True if the request is for the sender's last request of the same kind, which is then taken back."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the request that was stored as JSON of `asdict`."""
        numbers = {name: tuple(stored[name]) for name in ("players", "to")}
        without = tuple(tuple(map(tuple, place)) for place in stored.get("without", ()))
        keeps = tuple((item, int(amount)) for item, amount in stored.get("keeps", ()))
        places = tuple(map(tuple, stored["places"]))
        return cls(**{**stored, **numbers, "places": places, "without": without, "keeps": keeps})

    def leaving_out(self, place: tuple[tuple[int, ...], ...]) -> Self:
        """Return the request without one more place."""
        return replace(self, without=(*self.without, place))


def corrected_request(last: ParsedRequest, change: ParsedRequest) -> ParsedRequest | None:
    """Return a request with a correction. None if it is not clear what the correction changes."""
    if last.do not in (PLACE, REMOVE, GIVE) or not (change.thing or change.amount or any(change.places)):
        return None
    if (change.amount and not last.amount) or (any(change.places) and last.do == GIVE):
        return None
    places = tuple(new or old for new, old in zip(change.places, last.places, strict=True))
    shape = "" if any(change.places[1:]) else last.shape
    thing, amount = change.thing or last.thing, change.amount or last.amount
    return replace(
        last, thing=thing, amount=amount, places=places, shape=change.shape or shape, corrects=True
    )


def add_request(found: list[ParsedRequest], new: ParsedRequest) -> None:
    """Add a request of a message to those before it. A correction changes the last of them. *Wait* before a
    correction is no request."""
    if not found or new.do not in (CORRECT, CANCEL, PLACE, REMOVE, GIVE):
        found.append(new)
        return
    if found[-1].do == FOLLOW and new.do in (PLACE, REMOVE):
        _add_to_place(found, new)
    elif new.do == CORRECT or found[-1].do == CORRECT:
        _add_correction(found, new)
    elif new.do == CANCEL:
        _add_cancel(found, new)
    elif (
        new.corrects and (new.do == GIVE) == (found[-1].do == GIVE) and found[-1].do in (PLACE, REMOVE, GIVE)
    ):
        found[-1] = replace(new, corrects=found[-1].corrects)
    else:
        found.append(new)


def _add_to_place(found: list[ParsedRequest], new: ParsedRequest) -> None:
    """Add a request to a place that was named before it, such as *level 2, row 1: put planks there*."""
    pairs = list(zip(found[-1].places, new.places, strict=True))
    if found[-1].thing or any(before and after for before, after in pairs):
        found.append(new)
    else:
        without = (*found[-1].without, *new.without)
        found[-1] = replace(new, places=tuple(before or after for before, after in pairs), without=without)


def _add_cancel(found: list[ParsedRequest], new: ParsedRequest) -> None:
    """Add a request that takes places back. The request before it leaves them out."""
    last = found[-1]
    leaves_out = any(new.places) and last.do == PLACE and new.thing in ("", last.thing)
    found[-1:] = [last.leaving_out(new.places)] if leaves_out else [last, new]


def _correct_before_stop(found: list[ParsedRequest], new: ParsedRequest, *, says_nothing: bool) -> None:
    """Add a correction after *wait* or *stop*. The stop stays only if the correction names nothing."""
    stop = found[-1]
    found[:] = [one for one in found if one.do != STOP]
    add_request(found, new)
    found += [stop] if says_nothing else []


def _add_correction(found: list[ParsedRequest], new: ParsedRequest) -> None:
    """Add a correction of the request before it, or what follows a correction."""
    last, says_nothing = found[-1], not (new.thing or new.amount or any(new.places))
    if new.do != CORRECT and new.do == GIVE and not new.thing:
        found[-1] = replace(new, thing=last.thing, corrects=True)
    elif new.do in (PLACE, REMOVE, GIVE):
        found[-1] = replace(new, corrects=True)
    elif new.do == CANCEL:
        found.append(new)
    elif last.do == CORRECT:
        found[-1] = last if new == ParsedRequest(CORRECT) else new
    elif last.do == STOP:
        _correct_before_stop(found, new, says_nothing=says_nothing)
    elif last.do in (PLACE, REMOVE, GIVE, UNCLEAR):
        made = corrected_request(last, new) or ParsedRequest(UNCLEAR, players=last.players)
        found[-1] = replace(made, corrects=last.corrects)
    else:
        found.append(new)
