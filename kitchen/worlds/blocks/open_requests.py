"""Keep the requests of people that the agent `blocks_planner` still has to do, and take requests back.

If people take back a request, blocks that were already placed stay. The builder stops its
work on the request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, Self

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import Cell
from kitchen.worlds.blocks.macro_rule import words_cell
from kitchen.worlds.blocks.parsed_requests import GIVE, PLACE, REMOVE, RESUME, STOP

HALT = "halt"
"""The kind of request to end the macro in progress, and to do nothing else because of it."""


@dataclass(frozen=True, slots=True)
class BuilderRequest:
    """A request that seats of the agent still have to do."""

    number: int
    """Number of the message."""
    do: str
    seats: tuple[int, ...]
    """The seats that shall do it."""
    item: str = ""
    """What to place or give; empty: everything."""
    amount: int = 0
    """How many to give; 0: all."""
    to: int = 0
    """The seat that gets it."""
    cells: tuple[Cell, ...] = ()
    """The cells that are left to do."""
    begun: tuple[Cell, ...] = ()
    """The cells that were done, or are just being done."""
    paused: bool = False
    """True from the request to stop until the request to go on."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the request that `to_json` returned."""
        cells, begun = (tuple((x, y, z) for x, y, z in stored.get(name, ())) for name in ("cells", "begun"))
        return cls(**{**stored, "seats": tuple(stored["seats"]), "cells": cells, "begun": begun})

    def to_json(self) -> dict[str, Json]:
        """Return the request as JSON for the agent's memory."""
        cells = {name: list(map(list, getattr(self, name))) for name in ("cells", "begun")}
        return {**asdict(self), "seats": list(self.seats), **cells}

    def without(self, seat: int) -> Self:
        """Return the request for its other seats only."""
        return replace(self, seats=tuple(one for one in self.seats if one != seat))


def with_request(kept: list[BuilderRequest], new: BuilderRequest) -> list[BuilderRequest]:
    """Return the open requests with the new one. To stop pauses those from earlier messages, until the seats
    shall go on. Any other request ends a stop. A gift comes before what is to be placed or removed."""
    if new.do == STOP:
        kept = _paused(kept, new)
    left = []
    for each in kept:
        seats = tuple(seat for seat in each.seats if each.do != STOP or seat not in new.seats)
        resumes = new.do == RESUME and bool(set(seats) & set(new.seats))
        if seats:
            left.append(replace(each, seats=seats, paused=each.paused and not resumes))
    if new.do == GIVE:
        gifts = [each for each in left if each.do == GIVE]
        return [*gifts, new, *(each for each in left if each.do != GIVE)]
    return left if new.do == RESUME else [*left, new]


def _paused(kept: Sequence[BuilderRequest], stop: BuilderRequest) -> list[BuilderRequest]:
    """Return the open requests with those paused that a request to stop is for. What was paused before is
    dropped if more is paused now. A request with further seats goes on with these seats."""
    earlier = [each for each in kept if each.do in (PLACE, REMOVE, GIVE) and each.number < stop.number]
    ends = [each for each in earlier if each.seats and set(each.seats) <= set(stop.seats)]
    pauses = any(not each.paused for each in ends)
    left = list[BuilderRequest]()
    for each in kept:
        if each in ends:
            left += [] if pauses and each.paused else [replace(each, paused=True)]
        elif each in earlier:
            left.append(replace(each, seats=tuple(seat for seat in each.seats if seat not in stop.seats)))
        else:
            left.append(each)
    return left


class BegunCommand(NamedTuple):
    """The last command of a seat on request. It can be without effect, or be stopped."""

    step: int
    command: Command
    request: BuilderRequest
    """What the command does of the request: a request for one cell or one gift."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the command that `to_json` returned."""
        step, command, request = stored
        return cls(int(step), tuple(command), BuilderRequest.read(request))

    def to_json(self) -> Json:
        """Return the command as JSON for the agent's memory."""
        return [self.step, list(self.command), self.request.to_json()]

    def began_in(self, situation: Situation, seat: int) -> bool:
        """Return whether the command is the last one with which the seat began."""
        seen = situation.observations[seat]
        began = seen["step"] - seen["since"]["steps"]
        return bool(seen["since"]["command"] == list(self.command) and began >= self.step)

    def had_effect(self, situation: Situation, seat: int) -> bool:
        """Return whether the seat began with the command, or whether the command was refused."""
        if self.began_in(situation, seat):
            return True
        told = (event.data for event in situation.events if event.seat == seat)
        return any(data.get("reasons") and data.get("command") == list(self.command) for data in told)


def with_rest(requests: Sequence[BuilderRequest], rest: BuilderRequest) -> tuple[BuilderRequest, ...]:
    """Return the open requests with what a command did not do after all."""
    for place, each in enumerate(requests):
        if replace(each, cells=(), begun=(), amount=0, paused=False) != replace(
            rest, cells=(), begun=(), amount=0, paused=False
        ):
            continue
        begun = tuple(cell for cell in each.begun if cell not in rest.cells)
        amount = each.amount + rest.amount if each.amount else 0
        whole = replace(each, cells=(*rest.cells, *each.cells), begun=begun, amount=amount)
        return (*requests[:place], whole, *requests[place + 1 :])
    return (rest, *requests)


class Dropped(NamedTuple):
    """What taking requests back leads to."""

    kept: list[BuilderRequest]
    """The requests that are left, and a request to halt for builders that are just doing what was dropped."""
    dropped: int
    """How many requests were taken back."""
    placed: int
    """How many blocks were placed because of them. They stay."""
    removed: int
    """How many blocks were removed because of them; 0 for builders who do not see the site."""


def drop_requests(
    situation: Situation,
    kept: Sequence[BuilderRequest],
    number: int,
    is_meant: Callable[[BuilderRequest], bool],
    cells: Collection[Cell] | None = None,
) -> Dropped:
    """Take back the open requests that are meant; only their named `cells`, if given. `number` is that of the
    message that takes them back."""
    left, meant = list[BuilderRequest](), list[BuilderRequest]()
    for each in kept:
        rest = () if cells is None else tuple(cell for cell in each.cells if cell not in cells)
        if each.do not in (PLACE, REMOVE, GIVE) or not is_meant(each) or (rest and rest == each.cells):
            left.append(each)
            continue
        meant.append(each)
        left += [replace(each, cells=rest)] if rest else []
    busy = {seat: _request_in_progress(situation, seat, meant, cells) for seat in situation.seats}
    halted = tuple(seat for seat, request in busy.items() if request)
    done = Counter[str]()
    for each in meant:
        begun = [cell for cell in each.begun if cells is None or cell in cells]
        done[each.do] += len(begun) - sum(request is each for request in busy.values())
    halts = [BuilderRequest(number, HALT, halted)] if halted else []
    knows = any("blueprint" in situation.briefs[seat] for seat in situation.seats)
    return Dropped([*halts, *left], len(meant), done[PLACE], done[REMOVE] if knows else 0)


def _request_in_progress(
    situation: Situation, seat: int, meant: Sequence[BuilderRequest], cells: Collection[Cell] | None
) -> BuilderRequest | None:
    """Return which of some requests a seat is just doing, in `cells` only, if given. None if it does none."""
    doing = situation.observations[seat]["doing"]
    for each in meant:
        if not doing or seat not in each.seats or doing[0] != each.do:
            continue
        if each.do == GIVE and doing[1] == str(each.to):
            return each
        if each.do != GIVE and (cell := words_cell(doing)) in each.begun and (not cells or cell in cells):
            return each
    return None
