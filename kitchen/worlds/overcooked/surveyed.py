"""What a researcher is told of a layout: what cannot be reached, who reaches what, who is cut off. Plain
Python; read on the console, in English."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kitchen.contract.canvas import CAUTION, FACT, Remark
from kitchen.words.counting import and_list, counted
from kitchen.worlds.overcooked.layout import DISPENSERS, POT, SERVING, Cell, Layout, Soup
from kitchen.worlds.overcooked.reach import Reach, reach_of

NAMES: Mapping[str, str] = {
    "O": "onions",
    "T": "tomatoes",
    "D": "dishes",
    POT: "a pot",
    SERVING: "a serving place",
}
ONE: Mapping[str, str] = {"O": "onions", "T": "tomatoes", "D": "dishes", POT: "pot", SERVING: "serving place"}
"""The same, where it is said where it stands."""


def remarks(layout: Layout) -> tuple[Remark, ...]:
    """All of them: what keeps soups from being served, what nobody reaches, then who reaches what."""
    reach = reach_of(layout)
    return (*_unserved(reach), *_lost(reach), *_apart(reach), *(_reached(reach, seat) for seat in (0, 1)))


def _unserved(reach: Reach) -> Iterator[Remark]:
    orders = reach.layout.orders
    never = [_order(soup) for soup in orders if not reach.can_serve(soup)]
    if len(never) == len(orders):
        yield Remark(
            CAUTION, "No soup can ever be served here: the seats cannot bring together what it needs."
        )
    elif never:
        yield Remark(
            CAUTION, f"Never served here can be {and_list(never)}: what it needs cannot be brought together."
        )


def _order(soup: Soup) -> str:
    return "".join("O" if each == "onion" else "T" for each in soup)


def _lost(reach: Reach) -> Iterator[Remark]:
    furniture = reach.layout.furniture
    if lost := [f"{ONE[furniture[cell]]} ({place(cell)})" for cell in reach.lost()]:
        yield Remark(CAUTION, f"No seat can reach: {'; '.join(lost)}.")
    if idle := reach.idle_floor():
        where = "; ".join(map(place, idle[:3])) + ("; …" if len(idle) > 3 else "")
        yield Remark(CAUTION, f"{counted(len(idle), 'cell')} of floor no seat can reach: {where}.")


def place(cell: Cell) -> str:
    """Where a cell is, counted from 1."""
    return f"row {cell[1] + 1}, column {cell[0] + 1}"


def _apart(reach: Reach) -> Iterator[Remark]:
    if not reach.is_cut:
        return
    if shared := reach.shared:
        over = counted(len(shared), "counter")
        yield Remark(FACT, f"The seats are cut off from each other. They can hand things over across {over}.")
    else:
        yield Remark(CAUTION, "The seats are cut off from each other, and no counter is between them.")


def _reached(reach: Reach, seat: int) -> Remark:
    there, letters = set(reach.layout.furniture.values()), reach.letters(seat)
    useful = [letter for letter in (*DISPENSERS, POT, SERVING) if letter in there]
    reached = _listed(letter for letter in useful if letter in letters) or "nothing of use"
    missing = _listed(letter for letter in useful if letter not in letters)
    return Remark(FACT, f"Seat {seat} reaches {reached}" + (f"; not {missing}." if missing else "."))


def _listed(letters: Iterator[str]) -> str:
    names: Collection[str] = [NAMES[letter] for letter in letters]
    return and_list(list(names)) if names else ""
