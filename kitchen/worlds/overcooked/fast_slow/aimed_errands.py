"""Choose the next errand of a cook that has aims (`WorkAims`), for the agent `fast_and_slow`.

The choice is a ranked list: kinds of work that come first are tried before all others, and those that are
left to the partner are never tried. It depends on the present state only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.worlds.overcooked.fast_slow.work_aims import POT, SERVE, WORK, WorkAims
from kitchen.worlds.overcooked.game_rules import DISH, FOOD
from kitchen.worlds.overcooked.layout import POT as POT_LETTER
from kitchen.worlds.overcooked.partners.errand_assignment import (
    EMPTY,
    SOUP,
    WITH_DISH,
    WITH_FOOD,
    Errand,
    fetch_ahead,
    fetch_dish,
    fetch_food,
    lay_down,
    start_pot,
    supply_partner,
    take_lying_soup,
)
from kitchen.worlds.overcooked.partners.grid_snapshot import TaskBoard

Known = Mapping[int, Errand]


def aimed_errand(board: TaskBoard, seat: int, known: Known, aims: WorkAims) -> Errand | None:
    """Return the errand that these aims choose for a seat. `known` has the partner's errand if it is known.
    None if there are no aims: the planner then assigns the errand."""
    if aims.mode != WORK:
        return Errand()
    if not (aims.first or aims.left):
        return None
    if board.scene.hands[seat] is not None:
        return _with_hands(board, seat, aims)
    if POT in aims.left or not board.reachable(seat, board.places(POT_LETTER)):
        return _to_counters(board, seat, aims)
    found = (errand for errand in _ranked(board, seat, known, aims) if errand)
    return next(found, None) or fetch_ahead(board, seat, known, aims.left) or Errand()


def _with_hands(board: TaskBoard, seat: int, aims: WorkAims) -> Errand | None:
    """Return the errand of a seat that holds something. What it may not use itself, it puts where its partner
    can take it. An ingredient that it holds already still goes into an open pot. None if the aims change
    nothing."""
    held = board.scene.hands[seat]
    if isinstance(held, tuple):
        return lay_down(board, seat, SOUP) if SERVE in aims.left else None
    if held == DISH:
        is_left = bool(aims.left & {DISH, SERVE, POT})
        return lay_down(board, seat, WITH_DISH) if is_left else None
    is_open = bool(board.pots_for(held))
    hands_over = POT in aims.left or (held in aims.left and not is_open)
    return lay_down(board, seat, WITH_FOOD) if hands_over else None


def _to_counters(board: TaskBoard, seat: int, aims: WorkAims) -> Errand:
    """Return the errand of a seat that uses no pot. It brings things to counters, those that come first
    before others."""
    for work in aims.first:
        others = {*FOOD, DISH} - {work}
        if (errand := supply_partner(board, seat, others | aims.left)).goals:
            return errand
    if SERVE not in aims.left and (soup := take_lying_soup(board, seat)):
        return soup
    return supply_partner(board, seat, aims.left)


def _ranked(board: TaskBoard, seat: int, known: Known, aims: WorkAims) -> Iterator[Errand | None]:
    """Yield the errand of each kind of work, the most important one first. None where there is nothing to
    do."""
    for work in aims.first:
        if work in FOOD:
            yield fetch_food(board, seat, known, {*FOOD} - {work})
        elif work == DISH:
            yield _own_dish(board, seat)
        elif work == SERVE:
            yield take_lying_soup(board, seat)
    if POT not in aims.left:
        yield start_pot(board, seat)
    if SERVE not in aims.left:
        yield take_lying_soup(board, seat)
    if DISH not in aims.left:
        yield fetch_dish(board, seat, known)
    yield fetch_food(board, seat, known, aims.left)


def _own_dish(board: TaskBoard, seat: int) -> Errand | None:
    """Return the errand to fetch a dish, although the partner may be nearer to one. None if there are enough
    already: as many as pots that cook, but at least one."""
    other = board.scene.hands[1 - seat]
    lying = [cell for cell, thing in board.scene.counters.items() if thing == DISH]
    is_served = other == DISH or isinstance(other, tuple)
    if is_served + len(board.reachable(1 - seat, lying)) >= max(1, len(board.started())):
        return None
    sources = board.reachable(seat, board.scene.sources(DISH))
    return Errand(dict.fromkeys(sources, 0), EMPTY) if sources else None
