"""Carry out what people ask of the agent `blocks_planner`, by fixed rules.

People can ask it to place or remove blocks, to give things, to say what it holds, to stop and to go on.
`builder_words` reads their messages. Requests are done in their order, before what the planner would do. A
text that is not understood is answered with what can be asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Self

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, ASK, DECLINE, INFORM, REQUEST, SAY, Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import Cell, rank_from
from kitchen.worlds.blocks.blueprints import DIRT, TOOLS
from kitchen.worlds.blocks.builder_words import GIVE, HELD, PLACE, REMOVE, RESUME, STOP, Wish, read_wishes
from kitchen.worlds.blocks.item_recipes import Inventory, add_items
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.macro_world import STOP as STOP_COMMAND
from kitchen.worlds.blocks.planner_messages import (
    GIVES,
    HELP,
    HOLDS,
    LACKS,
    NO_CELL,
    NOTHING,
    PLACES,
    REMOVES,
    SHORT_HELP,
    planner_message,
)

READ_KINDS = frozenset({SAY, ASK, REQUEST, INFORM})


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

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the request that `to_json` returned."""
        cells = tuple((x, y, z) for x, y, z in stored["cells"])
        return cls(**{**stored, "seats": tuple(stored["seats"]), "cells": cells})

    def to_json(self) -> dict[str, Json]:
        """Return the request as JSON for the agent's memory."""
        return {**asdict(self), "seats": list(self.seats), "cells": [list(cell) for cell in self.cells]}

    def without(self, seat: int) -> Self:
        """Return the request for its other seats only."""
        return replace(self, seats=tuple(one for one in self.seats if one != seat))


@dataclass(frozen=True, slots=True)
class BuilderRequests:
    """The requests that people have made and that are not done yet, and the answers to new messages."""

    open: tuple[BuilderRequest, ...] = ()
    last: int = 0
    """Number of the newest message that was read."""
    heard_at: int = 0
    """The step in which a request was last understood."""
    fresh: tuple[int, ...] = ()
    """The messages that were read now."""
    answers: tuple[MessageDraft, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what to remember, as JSON for the agent's memory."""
        kept = [each.to_json() for each in self.open]
        return {"last": self.last, "heard_at": self.heard_at, "open": kept}


def people_in_talk(situation: Situation, *, reads: bool) -> tuple[int, ...]:
    """Return the members who are people and to whom this agent may write; with `reads`, those who may write
    to this agent."""
    team, me = situation.talk.organisation, situation.talk.member
    people = [one.number for one in team.members if one.is_person and one.number != me] if team else []
    pairs = {one: (one, me) if reads else (me, one) for one in people}
    return tuple(one for one, (sender, to) in pairs.items() if team and to in team.to(sender, SAY))


def hear_builder_requests(situation: Situation, memory: Json) -> BuilderRequests:
    """Return all requests of people that are still to be done. `memory` is what `BuilderRequests.to_json`
    returned in an earlier step, or None."""
    known = memory or {"last": 0, "heard_at": 0, "open": []}
    last = max(int(known["last"]), situation.talk.taken_over)
    kept, answers = list(map(BuilderRequest.read, known["open"])), list[MessageDraft]()
    heard_at, fresh = int(known["heard_at"]), list[int]()
    for message in _news(situation, last):
        said = [_request(situation, message, wish) for wish in _wishes(situation, message)]
        for request, _ in said:
            kept = _with_request(kept, request) if request else kept
        heard_at = situation.step if said else heard_at
        answers += _answer(situation, message, [part for _, part in said])
        last = message.number
        fresh.append(last)
    return BuilderRequests(tuple(kept), last, heard_at, tuple(fresh), tuple(answers))


def _news(situation: Situation, last: int) -> list[TeamMessage]:
    """Return the new text messages of people, in order. `last` is the number of the last message read."""
    team, me = situation.talk.organisation, situation.talk.member
    people = {one.number for one in team.members if one.is_person} - {me} if team else set()
    found = (one for one in situation.talk.messages if one.sender in people and one.kind in READ_KINDS)
    return sorted((one for one in found if one.number > last), key=lambda one: one.number)


def _wishes(situation: Situation, message: TeamMessage) -> list[Wish]:
    held = _held(situation, situation.seats).keys() - TOOLS.keys() | {DIRT}
    found = list(read_wishes(message.text, sorted(held)))
    return [wish for wish in found if _is_meant(situation, wish)]


def _is_meant(situation: Situation, wish: Wish) -> bool:
    """Return whether a request is for this agent: it names none of its players, or somebody to give to."""
    return wish.do == GIVE or not wish.players or bool(set(wish.players) & set(situation.seats))


def _held(situation: Situation, seats: Sequence[int]) -> Inventory:
    held: Inventory = {}
    for seat in seats:
        add_items(held, situation.observations[seat]["inventory"])
    return held


def _request(
    situation: Situation, message: TeamMessage, wish: Wish
) -> tuple[BuilderRequest | None, tuple[Json, ...]]:
    """Return the request to do, if any, and the answer as a part of a message."""
    seats = tuple(seat for seat in wish.players or situation.seats if seat in situation.seats)
    mine = BuilderRequest(message.number, wish.do, seats or situation.seats)
    held = _held(situation, mine.seats)
    if wish.do in (STOP, RESUME):
        return mine, (wish.do,)
    if wish.do == HELD:
        return None, (HOLDS, dict(sorted(held.items()))) if held else (NOTHING,)
    if wish.do == GIVE:
        return _gift(situation, message, wish, mine)
    cells = tuple(_cells(situation.briefs[situation.seats[0]], wish))
    if not cells:
        return None, (NO_CELL,)
    if wish.do == REMOVE:
        return replace(mine, cells=cells), (REMOVES, len(cells))
    materials = [item for item in held if item not in TOOLS]
    item = wish.thing or (materials[0] if len(materials) == 1 else "")
    if not item:
        return None, (HELP,)
    if item not in held:
        return None, (LACKS, item)
    return replace(mine, item=item, cells=cells), (PLACES, item, len(cells))


def _gift(
    situation: Situation, message: TeamMessage, wish: Wish, mine: BuilderRequest
) -> tuple[BuilderRequest | None, tuple[Json, ...]]:
    team = situation.talk.organisation
    own = team.member(message.sender).seats if team and message.sender is not None else ()
    to = next((seat for seat in (*wish.players, *own) if seat not in situation.seats), None)
    held = _held(situation, mine.seats)
    if to is None:
        return None, (_help_code(situation),)
    if not (wish.thing in held if wish.thing else held.keys() - TOOLS.keys()):
        return None, (LACKS, wish.thing)
    request = replace(mine, item=wish.thing, amount=wish.amount, to=to)
    return request, (GIVES, wish.thing, min(wish.amount, held.get(wish.thing, 0)))


def _cells(brief: Mapping[str, Json], wish: Wish) -> Iterator[Cell]:
    """Yield the named cells of the building site, in reading order. Numbers that are not named mean all."""
    size = _site_size(brief)
    levels, columns, rows = (
        [number for number in named if 0 <= number < most] if named else range(most)
        for named, most in zip(wish.places, (size[1], size[0], size[2]), strict=True)
    )
    for level, row, column in product(levels, rows, columns):
        yield column, level, row


def _site_size(brief: Mapping[str, Json]) -> tuple[int, int, int]:
    """Return the numbers of columns, levels and rows of the building site; zeros without one."""
    if "size" in brief:
        x, y, z = brief["size"]
        return x, y, z
    levels = brief["blueprint"]["levels"] if "blueprint" in brief else []
    return (len(levels[0][0]), len(levels), len(levels[0])) if levels else (0, 0, 0)


def _with_request(kept: list[BuilderRequest], new: BuilderRequest) -> list[BuilderRequest]:
    """Return the open requests with the new one. To stop ends all earlier ones of its seats. To go on, or any
    other request, ends a stop."""
    ends = {STOP, PLACE, REMOVE, GIVE} if new.do == STOP else {STOP}
    left = []
    for each in kept:
        seats = tuple(seat for seat in each.seats if each.do not in ends or seat not in new.seats)
        if seats:
            left.append(replace(each, seats=seats))
    return left if new.do == RESUME else [*left, new]


def _help_code(situation: Situation) -> str:
    return HELP if any(_site_size(situation.briefs[situation.seats[0]])) else SHORT_HELP


def _answer(
    situation: Situation, message: TeamMessage, parts: Sequence[tuple[Json, ...]]
) -> Iterator[MessageDraft]:
    """Yield the answer to a message. It says what was understood, or lists what people can ask for. The
    answer to a job accepts or declines it."""
    team, sender, kind, data = situation.talk.organisation, message.sender, ANSWER, dict[str, Json]()
    if message.kind == INFORM:
        kind, data = (ACCEPT if parts else DECLINE), {"job": message.number}
    if _may_answer(team, situation.talk.member, sender, kind) and sender is not None:
        yield planner_message(parts or [(_help_code(situation),)], kind, (sender,), data)


def _may_answer(team: Organisation | None, me: int, sender: int | None, kind: str) -> bool:
    return team is not None and sender is not None and sender in team.to(me, kind)


# Commands


def requested_steps(
    situation: Situation, heard: BuilderRequests
) -> tuple[dict[int, Command], tuple[BuilderRequest, ...]]:
    """Return the next command of each seat that has something to do for people, and the requests that are
    left after these commands. A seat that must stop ends its macro in progress."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    commands: dict[int, Command] = {}
    left = heard.open
    for seat in situation.request.may_act:
        stops = (each for each in left if each.do == STOP and each.number in heard.fresh)
        if any(seat in each.seats for each in stops) and STOP_COMMAND in situation.legal[seat]:
            commands[seat] = STOP_COMMAND
    for seat in (seat for seat in situation.seats if seat in asked and seat not in commands):
        command, left = _next_step(situation, seat, left)
        if command:
            commands[seat] = command
    return commands, left


def _next_step(
    situation: Situation, seat: int, requests: tuple[BuilderRequest, ...]
) -> tuple[Command | None, tuple[BuilderRequest, ...]]:
    """Return a seat's command for the first request that it can do, and the requests that are left then."""
    left, command = list[BuilderRequest](), None
    for each in requests:
        rest: BuilderRequest | None = each
        if command is None and seat in each.seats:
            command, rest = _do(situation, seat, each)
        if rest and rest.seats:
            left.append(rest)
    return command, tuple(left)


def _do(
    situation: Situation, seat: int, request: BuilderRequest
) -> tuple[Command | None, BuilderRequest | None]:
    """Return a seat's next command for a request, and what is left of the request after it."""
    held = situation.observations[seat]["inventory"]
    if request.do == STOP:
        return GO_ON, request
    if request.do == GIVE:
        return _do_give(situation, seat, request, held)
    cells = sorted(request.cells, key=rank_from(tuple(situation.observations[seat]["at"])))
    if not cells or (request.do == PLACE and request.item not in held):
        return None, request.without(seat)
    head = (PLACE, request.item) if request.do == PLACE else (REMOVE,)
    return (*head, *map(str, cells[0])), replace(request, cells=tuple(cells[1:]))


def _do_give(
    situation: Situation, seat: int, request: BuilderRequest, held: Mapping[str, int]
) -> tuple[Command | None, BuilderRequest | None]:
    items = [request.item] if request.item else sorted(held.keys() - TOOLS.keys())
    item = next((each for each in items if (GIVE, str(request.to), each, "1") in situation.legal[seat]), None)
    if item is None:
        return None, request.without(seat)
    amount = min(request.amount or held[item], held[item])
    command = (GIVE, str(request.to), item, str(amount))
    if not request.amount:
        return command, request.without(seat) if request.item else request
    left = request.amount - amount
    return command, replace(request, amount=left) if left else None
