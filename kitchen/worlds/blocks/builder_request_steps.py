"""Carry out what people have asked of the agent `blocks_planner`: choose the next command of each seat.

Requests are done before what the planner would do: gifts first, the others in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import Cell, rank_from
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.macro_rule import OCCUPIED, words_cell
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.macro_world import STOP as STOP_COMMAND
from kitchen.worlds.blocks.open_requests import HALT, BegunCommand, BuilderRequest, with_rest
from kitchen.worlds.blocks.parsed_requests import GIVE, PLACE, REMOVE, STOP
from kitchen.worlds.blocks.planner_messages import OCCUPIED_CELL

Requests = tuple[BuilderRequest, ...]


class RequestedSteps(NamedTuple):
    """What the seats do next for people."""

    commands: Mapping[int, Command]
    left: Requests
    """The requests that are left after these commands."""
    begun: Mapping[int, BegunCommand]
    """The last command of each seat on request."""


def requested_steps(
    situation: Situation, requests: Requests, begun: Mapping[int, BegunCommand]
) -> RequestedSteps:
    """Return the next command of each seat that has something to do for people. A seat that must stop ends
    its macro in progress. What earlier commands (`begun`) did not do after all is done again."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    first = {seat: each.do for each in reversed(requests) if not each.paused for seat in each.seats}
    stopping = {seat for seat, do in first.items() if do in (STOP, HALT)}
    commands: dict[int, Command] = {
        seat: STOP_COMMAND
        for seat in situation.request.may_act
        if seat in stopping and STOP_COMMAND in situation.legal[seat]
    }
    left, last = tuple(each for each in requests if each.do != HALT), dict(begun)
    for seat in commands:
        if (stopped := last.pop(seat, None)) and first[seat] == STOP:
            left = with_rest(left, replace(stopped.request, paused=True))
    for seat in (seat for seat in situation.seats if seat in asked and seat not in commands):
        if (earlier := last.pop(seat, None)) and not earlier.had_effect(situation, seat):
            left = with_rest(left, replace(earlier.request, paused=first.get(seat) == STOP))
        command, left, done = _next_step(situation, seat, left)
        if command:
            commands[seat] = command
        if command and done:
            last[seat] = BegunCommand(situation.step, command, done)
    return RequestedSteps(commands, left, last)


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


def _next_step(
    situation: Situation, seat: int, requests: Requests
) -> tuple[Command | None, Requests, BuilderRequest | None]:
    """Return a seat's command for the first request that it can do, the requests that are left then, and what
    the command does of its request."""
    left, command, done = list[BuilderRequest](), None, None
    for each in requests:
        rest: BuilderRequest | None = each
        if command is None and seat in each.seats and not each.paused:
            command, rest = _do(situation, seat, each)
            done = _part_done(each, command) if command else None
        if rest and rest.seats:
            left.append(rest)
    return command, tuple(left), done


def _part_done(request: BuilderRequest, command: Command) -> BuilderRequest | None:
    """Return what a command does of a request; None if the command only waits."""
    if request.do in (PLACE, REMOVE):
        return replace(request, cells=(words_cell(command),), begun=())
    if request.do == GIVE:
        return replace(request, amount=int(command[-1]) if request.amount else 0)
    return None


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
