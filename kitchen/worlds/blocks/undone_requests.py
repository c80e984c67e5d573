"""Undo what the agent `blocks_planner` did because of a person's last request.

A builder who knows the plan does not undo: it would build the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kitchen.contract.agent import Situation
from kitchen.worlds.blocks.open_requests import BegunCommand, BuilderRequest
from kitchen.worlds.blocks.parsed_requests import PLACE, REMOVE
from kitchen.worlds.blocks.planner_messages import CANNOT_UNDO, PLACES, REMOVES
from kitchen.worlds.blocks.withdrawn_requests import Part

MOST_DONE = 150
"""Maximum number of blocks that the agent remembers to have placed or removed on request."""


class SettledCommands(NamedTuple):
    """The commands on request that are in progress, and what was done."""

    begun: Mapping[int, BegunCommand]
    done: tuple[BuilderRequest, ...]
    """The blocks placed and removed on request: requests for one cell each, with its item."""


def settle_commands(
    situation: Situation, begun: Mapping[int, BegunCommand], done: Sequence[BuilderRequest]
) -> SettledCommands:
    """Move the commands that have ended from those in progress (`begun`) to what is done. Commands that may
    have had no effect stay."""
    left, found = dict(begun), list(done)
    for seat, each in begun.items():
        seen = situation.observations[seat]
        if seen["doing"] or not each.began_in(situation, seat):
            continue
        del left[seat]
        changed = seen["since"]["lost" if each.request.do == PLACE else "gained"]
        if each.request.do == PLACE and each.request.item in changed:
            found.append(each.request)
        elif each.request.do == REMOVE and len(changed) == 1:
            found.append(replace(each.request, item=next(iter(changed))))
    return SettledCommands(left, tuple(found[-MOST_DONE:]))


def with_progress(
    situation: Situation, kept: Iterable[BuilderRequest], begun: Mapping[int, BegunCommand]
) -> list[BuilderRequest]:
    """Return the open requests, and those whose last cell is just being done."""
    found = list(kept)
    for seat, each in begun.items():
        doing = situation.observations[seat]["doing"]
        number, cells = each.request.number, each.request.cells
        known = any(one.number == number and set(cells) <= set(one.begun) for one in found)
        if cells and doing == list(each.command) and not known:
            found.append(replace(each.request, seats=(seat,), cells=(), begun=cells))
    return found


def undoing_requests(
    mine: BuilderRequest, done: Iterable[BuilderRequest], number: int, only: str
) -> list[BuilderRequest]:
    """Return the requests that undo what was done because of message `number`. `mine` is the request to undo,
    and `only` the kind to undo; empty for both kinds."""
    cells: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for each in done:
        if each.number == number and only in ("", each.do):
            key = (REMOVE, "") if each.do == PLACE else (PLACE, each.item)
            cells.setdefault(key, []).extend(each.cells)
    return [
        replace(mine, do=do, item=item, cells=tuple(dict.fromkeys(found)))
        for (do, item), found in cells.items()
    ]


def undo_answer(
    requests: Sequence[BuilderRequest], *, dropped: bool, knows: bool
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the requests that undo, and the sentences of the answer. Builders who know the plan undo
    nothing. `dropped` says whether an open request was taken back."""
    if knows or not requests:
        return (), [] if dropped else [(CANNOT_UNDO,)]
    return requests, [
        (PLACES, one.item, len(one.cells)) if one.do == PLACE else (REMOVES, len(one.cells))
        for one in requests
    ]
