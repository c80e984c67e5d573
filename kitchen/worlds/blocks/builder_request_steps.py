"""Carry out what people have asked of the agent `blocks_planner`: choose the next command of each seat.

Requests are done before what the planner would do: gifts first, the others in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import Cell, rank_from
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.macro_rule import OCCUPIED, words_cell
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.macro_world import STOP as STOP_COMMAND
from kitchen.worlds.blocks.open_requests import HALT, BuilderRequest
from kitchen.worlds.blocks.parsed_requests import GIVE, PLACE, REMOVE, STOP
from kitchen.worlds.blocks.planner_messages import OCCUPIED_CELL

Requests = tuple[BuilderRequest, ...]


def requested_steps(situation: Situation, requests: Requests) -> tuple[dict[int, Command], Requests]:
    """Return the next command of each seat that has something to do for people, and the requests that are
    left after these commands. A seat that must stop ends its macro in progress."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    first = {seat: each.do for each in reversed(requests) for seat in each.seats}
    stopping = {seat for seat, do in first.items() if do in (STOP, HALT)}
    commands: dict[int, Command] = {
        seat: STOP_COMMAND
        for seat in situation.request.may_act
        if seat in stopping and STOP_COMMAND in situation.legal[seat]
    }
    left = tuple(each for each in requests if each.do != HALT)
    for seat in (seat for seat in situation.seats if seat in asked and seat not in commands):
        command, left = _next_step(situation, seat, left)
        if command:
            commands[seat] = command
    return commands, left


def tried_cells(tried: Mapping[int, Cell], commands: Mapping[int, Command]) -> dict[int, Cell]:
    """Return the cells in which seats last tried to place a block on request. `commands` are the new commands
    of this kind; a seat with another command is left out."""
    new = {seat: words_cell(command) for seat, command in commands.items() if command[0] == PLACE}
    return {seat: cell for seat, cell in tried.items() if seat not in commands} | new


def blocked_cells(situation: Situation, tried: Mapping[int, Cell]) -> list[list[Json]]:
    """Return a sentence for each cell of `tried` that turned out in the last step to have a block already."""
    found = list[list[Json]]()
    for event in situation.events:
        cell = tried.get(event.seat) if event.seat is not None else None
        if cell and OCCUPIED in event.data.get("reasons", ()):
            command = event.data.get("macro") or event.data["command"]
            found += [[OCCUPIED_CELL, *cell]] if command[0] == PLACE and words_cell(command) == cell else []
    return found


def _next_step(situation: Situation, seat: int, requests: Requests) -> tuple[Command | None, Requests]:
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
    rest = replace(request, cells=tuple(cells[1:]), begun=(*request.begun, cells[0]))
    return (*head, *map(str, cells[0])), rest


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
