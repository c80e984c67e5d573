"""Take back or correct what a person last asked of the agent `blocks_planner`.

Blocks that are placed stay. The answer says how many they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.worlds.blocks.open_requests import BuilderRequest, Dropped, drop_requests
from kitchen.worlds.blocks.parsed_requests import (
    CANCEL,
    CANCEL_ALL,
    CORRECT,
    GIVE,
    HELP_WANTED,
    PLACE,
    REMOVE,
    RESUME,
    STOP,
    UNCLEAR,
    UNDO,
    ParsedRequest,
    corrected_request,
)
from kitchen.worlds.blocks.planner_messages import (
    BLOCKS_REMOVED,
    BLOCKS_STAY,
    DONE_STAYS,
    DROPS,
    NOTHING_TO_DROP,
    SAY_AGAIN,
)
from kitchen.worlds.blocks.requested_blocks import meant_items, named_cells, site_size

Part = tuple[Json, ...]
"""A sentence of an answer: its code and arguments."""
CAN_BE_CORRECTED = (PLACE, REMOVE, GIVE, UNCLEAR)


@dataclass(frozen=True, slots=True)
class LastRequests:
    """The newest requests of one person that can be taken back or corrected."""

    number: int = 0
    """Number of the message."""
    requests: tuple[ParsedRequest, ...] = ()
    asks_back: bool = False
    """True if the agent asked which of several things is meant."""
    stopped: bool = False
    """True if the person's newest request was to stop."""
    helped: int = 0
    """How many answers in a row listed what the agent understands."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return what `to_json` returned."""
        requests = tuple(map(ParsedRequest.read, stored["requests"]))
        return cls(
            stored["number"],
            requests,
            stored["asks_back"],
            stored.get("stopped", False),
            stored.get("helped", 0),
        )

    def to_json(self) -> dict[str, Json]:
        """Return what to remember, as JSON for the agent's memory."""
        requests = [asdict(each) for each in self.requests]
        return {
            "number": self.number,
            "requests": requests,
            "asks_back": self.asks_back,
            "stopped": self.stopped,
            "helped": self.helped,
        }

    def after(
        self, number: int, found: Sequence[ParsedRequest], done: Sequence[ParsedRequest], *, asks_back: bool
    ) -> LastRequests:
        """Return the newest requests after one more message. `found` are its requests as they were read, and
        `done` those that were carried out. Questions and small talk change nothing."""
        requests = tuple(one for one in done if one.do in CAN_BE_CORRECTED)
        changes = any(one.do in (CANCEL, CANCEL_ALL, CORRECT, UNDO) for one in found)
        if requests or changes:
            return LastRequests(number, requests, asks_back)
        kinds = [one.do for one in done if one.do in (STOP, RESUME)]
        return replace(self, stopped=kinds[-1] == STOP) if kinds else self


def take_back(
    situation: Situation,
    number: int,
    parsed: ParsedRequest,
    kept: list[BuilderRequest],
    last: LastRequests,
) -> tuple[ParsedRequest | None, list[BuilderRequest], Sequence[Part]]:
    """Take back what a request of message `number` takes back or corrects. Return the request to carry out
    instead (None if there is none), the open requests that are left, and the sentences of the answer."""
    if parsed.do == HELP_WANTED and last.asks_back and parsed.thing:
        parsed = replace(parsed, do=CORRECT)
    if parsed.do == CANCEL and last.stopped and not _names(parsed):
        return ParsedRequest(RESUME, players=parsed.players), kept, ()
    if parsed.do == UNDO:
        made = drop_requests(situation, kept, number, lambda one: one.number == last.number)
        return parsed, made.kept, list(_dropped_parts(made))
    if parsed.do in (CANCEL, CANCEL_ALL):
        made = _cancelled(situation, number, parsed, kept, last)
        return None, made.kept, list(_dropped_parts(made)) or [(NOTHING_TO_DROP,)]
    if parsed.do != CORRECT and not _replaces(parsed, last):
        return parsed, kept, ()
    made = drop_requests(situation, kept, number, lambda one: one.number == last.number)
    wanted = _wanted(parsed, last, is_open=made.dropped > 0)
    parts = list(_dropped_parts(made))
    if not parts and any(one.do in (PLACE, REMOVE, GIVE) for one in last.requests) and not last.asks_back:
        parts.append((DONE_STAYS,))
    return wanted, made.kept, parts if wanted else [*parts, (SAY_AGAIN,)]


def _names(parsed: ParsedRequest) -> bool:
    return bool(parsed.thing) or any(parsed.places)


def _cancelled(
    situation: Situation,
    number: int,
    parsed: ParsedRequest,
    kept: Sequence[BuilderRequest],
    last: LastRequests,
) -> Dropped:
    """Take back all requests, those for what is named, or those of the person's last message."""
    if parsed.do == CANCEL_ALL:
        return drop_requests(situation, kept, number, lambda _: True)
    if not _names(parsed):
        return drop_requests(situation, kept, number, lambda one: one.number == last.number)
    brief = situation.briefs[situation.seats[0]]
    cells = set(named_cells(brief, parsed)) if any(parsed.places) and any(site_size(brief)) else None

    def is_meant(request: BuilderRequest) -> bool:
        has_thing = not parsed.thing or request.item in meant_items(parsed.thing, {request.item: 1})
        return has_thing and not (cells is not None and request.do == GIVE)

    return drop_requests(situation, kept, number, is_meant, cells)


def _replaces(parsed: ParsedRequest, last: LastRequests) -> bool:
    """Return whether a whole request corrects the last ones: one of them is of its kind."""
    kinds = (one.do == GIVE for one in last.requests if one.do in (PLACE, REMOVE, GIVE))
    return parsed.corrects and (parsed.do == GIVE) in kinds


def _wanted(parsed: ParsedRequest, last: LastRequests, *, is_open: bool) -> ParsedRequest | None:
    """Return the request that the correction makes; None if it is not clear. `is_open` says whether some of
    the last requests was still to be done."""
    one = last.requests[0] if len(last.requests) == 1 else None
    if parsed.do != CORRECT:
        level = one.places[0] if one and parsed.do != GIVE and not parsed.places[0] else parsed.places[0]
        return replace(parsed, places=(level, *parsed.places[1:]))
    new_thing = one is not None and parsed.thing not in ("", one.thing)
    is_given = one is not None and one.do == GIVE and not (is_open or last.asks_back or new_thing)
    return corrected_request(one, parsed) if one and not is_given else None


def _dropped_parts(made: Dropped) -> Iterator[Part]:
    if made.dropped:
        yield (DROPS,)
    if made.placed:
        yield BLOCKS_STAY, made.placed
    if made.removed:
        yield BLOCKS_REMOVED, made.removed
