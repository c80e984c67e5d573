"""What each seat is doing and why, in a few words, for the log."""

from __future__ import annotations

from kitchen.worlds.cuisine.planner.book import Book
from kitchen.worlds.cuisine.planner.rollout import Rollout
from kitchen.worlds.cuisine.planner.trips import ACTIVATE, Trip
from kitchen.worlds.cuisine.planner.work import NOWHERE, Batch


def goals(book: Book, rollout: Rollout, seats: tuple[int, ...]) -> dict[str, str]:
    """One phrase for each of these seats: "bring rice to pot0 for salmonSushi"."""
    return {str(seat): _phrase(book, rollout.goals[seat]) for seat in seats}


def _phrase(book: Book, trip: Trip | None) -> str:
    if trip is None:
        return "nothing to do: wait near the storage"
    if trip.stage == ACTIVATE and trip.source is not None and not trip.item:
        return f"start {_tool(book, trip.source)} for {_dish(trip.source)}"
    if trip.target is not None:
        return f"bring {trip.item} to {_tool(book, trip.target)} for {_dish(trip.target)}"
    if trip.to == book.table:
        return f"serve {trip.item}"
    return f"throw {trip.item} away: nobody needs it"


def aim(book: Book, trip: Trip | None) -> dict[str, str]:
    """The same in codes: `do` is wait, start, bring, serve or discard; `item`, `to`, `dish` if known."""
    if trip is None:
        return {"do": "wait"}
    if trip.stage == ACTIVATE and trip.source is not None and not trip.item:
        return {"do": "start", "to": _tool(book, trip.source), "dish": _dish(trip.source)}
    if trip.target is not None:
        return {"do": "bring", "item": trip.item, "to": _tool(book, trip.target), "dish": _dish(trip.target)}
    return {"do": "serve" if trip.to == book.table else "discard", "item": trip.item}


def intents(book: Book, rollout: Rollout, seats: tuple[int, ...]) -> dict[int, dict[str, str]]:
    """What each of these seats does after the first step, in the codes of `aim`."""
    return {seat: aim(book, rollout.ahead[seat]) for seat in seats}


def _tool(book: Book, batch: Batch) -> str:
    return batch.recipe.tool if batch.tool == NOWHERE else book.places[batch.tool]


def _dish(batch: Batch) -> str:
    while batch.parent is not None:
        batch = batch.parent
    return batch.recipe.product
