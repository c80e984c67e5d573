"""Whether food goes over a counter now: one lays it there, the other one takes it. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.partners.board import Board, Relay
from kitchen.worlds.overcooked.partners.ground import FAR
from kitchen.worlds.overcooked.things import FOOD, Item

SPARED, LATER, SLOWER = 3, 6, 2
"""A relay is worth it if it spares the giver so many ticks, and has the food in the pot at most so much later
than the giver alone, and than the other one alone."""


def find_relay(board: Board) -> Relay | None:
    """The quickest relay by which both are spared some way; None if there is none."""
    if board.stuck is not None:
        return None
    found = [relay for giver in (0, 1) for relay in _relays(board, giver)]
    return min(found, default=(0, None))[1]


def _relays(board: Board, giver: int) -> Iterator[tuple[int, Relay]]:
    """When food is in a pot by each relay that is worth it."""
    held, other = board.scene.hands[giver], board.scene.hands[1 - giver]
    missing = [food for cell in board.open_pots() for food in board.missing(cell)]
    food = missing[0] if held is None and missing else held
    if not isinstance(food, str) or food not in missing or not (other is None or other in FOOD):
        return
    lying = sum(1 for thing in board.scene.counters.values() if thing == food)
    if lying + (other == food) >= missing.count(food):
        return
    pots = [cell for cell in board.open_pots() if food in board.missing(cell)]
    sources = [cell for cell in board.sources(food) if cell not in board.scene.counters]
    direct = min(_until(board, giver, held, sources, pot) for pot in pots)
    theirs = min(_until(board, 1 - giver, other, sources, pot) for pot in pots)
    for cell in board.shared(giver):
        laid = _until(board, giver, held, sources, cell) + 1
        taken = _until_taken(board, 1 - giver, other, pots, cell)
        pot = min(after(board, 1 - giver, cell, each) for each in pots)
        total = max(laid, taken) + 1 + pot
        if laid + SPARED <= direct and total <= direct + LATER and (other or total <= theirs + SLOWER):
            yield total, Relay(giver, cell, food)


def _until(board: Board, seat: int, held: Item | None, sources: list[Cell], cell: Cell) -> int:
    """Ticks until this seat faces the cell with food in hand."""
    if held is not None:
        return board.cost(seat, cell)
    ground, pose = board.grounds[seat], board.poses[seat]
    return min((ground.between(pose, source, cell) for source in sources), default=FAR)


def _until_taken(board: Board, seat: int, held: Item | None, pots: list[Cell], cell: Cell) -> int:
    """Ticks until this seat faces the cell with empty hands."""
    if held is None:
        return board.cost(seat, cell)
    ground, pose = board.grounds[seat], board.poses[seat]
    return min(ground.between(pose, pot, cell) for pot in pots)


def after(board: Board, seat: int, first: Cell, then: Cell) -> int:
    """Ticks from having used one thing to facing the other."""
    ground, pose = board.grounds[seat], board.poses[seat]
    return ground.between(pose, first, then) - board.cost(seat, first) - 1
