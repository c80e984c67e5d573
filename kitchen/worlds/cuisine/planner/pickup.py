"""Trips that are under way already when a rollout begins, and errands: how they are remembered.

The others come first, so that no tool is taken from under a person.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.worlds.cuisine.planner.choice import Floor
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.trips import ACTIVATE, CARRY, FAR, FETCH, Errand, Trip
from kitchen.worlds.cuisine.planner.work import NOBODY, NOWHERE, Batch


def take_up(floor: Floor, scene: Scene, under_way: Mapping[int, Errand]) -> None:
    """Give trips to those who hold something, to the others who stand at something that is theirs to go on
    with, and to our own who are on an errand."""
    for index in sorted(range(len(scene.agents)), key=lambda i: i not in floor.idle):
        thing = scene.agents[index].holds
        if thing is not None:
            floor.trips[index] = _delivery(floor, index, thing)
        elif index in floor.idle:
            floor.trips[index] = _stands_at(floor, index)
        elif index in under_way:
            floor.trips[index] = _resumed(floor, index, under_way[index])
    for index, (what, where) in under_way.items():
        if what == "start" and floor.trips[index] is None:
            floor.trips[index] = _helped(floor, index, where)


def _helped(floor: Floor, index: int, where: str) -> Trip | None:
    """Who went to start somebody else's tool still does if all that it waits for is on its way."""
    batch = floor.inside[floor.book.number[where]]
    if batch is None or not batch.due or batch.taker != NOBODY or floor.filled_at(batch) == FAR:
        return None
    batch.taker = index
    return Trip(ACTIVATE, "", batch, None, NOWHERE)


def _delivery(floor: Floor, index: int, thing: str) -> Trip | None:
    """Where a thing in hand goes: to whom it is for, to the serving table, or into the waste."""
    book = floor.book
    if index in floor.work.bringing:
        batch = floor.work.bringing[index]
        if batch is not None and batch.tool == NOWHERE:
            floor.reserve(batch, floor.at[index])
        return Trip(CARRY, thing, None, batch, book.table)
    if index in floor.idle:
        _keep_room(floor, index, thing)
        return None
    return Trip(CARRY, thing, None, None, book.table if thing in book.dishes else book.storage)


def _keep_room(floor: Floor, index: int, thing: str) -> None:
    """Leave a tool that takes it, best the one they stand at, to somebody who holds what we do not need."""
    places = [
        place
        for kind, recipes in floor.book.at_tool.items()
        if any(thing in recipe.parts for recipe in recipes)
        for place in floor.book.tools[kind]
        if floor.inside[place] is None
    ]
    if places:
        place = floor.at[index] if floor.at[index] in places else places[0]
        guest = Batch(floor.book.at_tool[floor.book.kinds[place]][0], len(floor.work.batches), None)
        guest.tool, guest.due = place, 1
        floor.inside[place] = guest


def _stands_at(floor: Floor, index: int) -> Trip | None:
    """Somebody with empty hands at a tool goes on with what is in it: that is left to them."""
    if index in floor.absent:
        return None
    return _go_on(floor, index, floor.inside[floor.at[index]])


def _go_on(floor: Floor, index: int, batch: Batch | None) -> Trip | None:
    if batch is None or batch.taker != NOBODY or batch.is_junk:
        return None
    if batch.done_at is not None:
        return floor.trip_from(index, batch) if floor.has_room(batch) else None
    if batch.due == 0:
        batch.taker = index
        return Trip(ACTIVATE, "", batch, None, NOWHERE)
    return None


def _resumed(floor: Floor, index: int, errand: Errand) -> Trip | None:
    """The trip that an errand of the last step meant, if it still makes sense."""
    what, where = errand
    if what in ("take", "start", "bring"):
        batch = floor.inside[floor.book.number[where]]
        cooked = batch is not None and batch.done_at is not None
        return _go_on(floor, index, batch) if cooked == (what == "take") else None
    for batch in floor.open:
        if batch.recipe.product == where and what in batch.need:
            if batch.tool == NOWHERE:
                floor.reserve(batch, NOWHERE)
            batch.need.remove(what)
            return Trip(FETCH, what, None, batch, NOWHERE)
    return None


def errands_of(floor: Floor) -> dict[int, Errand]:
    """Everybody's trip at the end of the first step in words, so that the next decision can go on with it."""
    errands: dict[int, Errand] = {}
    for index, trip in enumerate(floor.trips):
        if trip is not None and index not in floor.idle:
            errand = _errand(floor, trip)
            if errand is not None:
                errands[index] = errand
    return errands


def _errand(floor: Floor, trip: Trip) -> Errand | None:
    places, target = floor.book.places, trip.target
    if trip.in_hand(0):
        place = trip.to if target is None else target.tool
        return None if place in (NOWHERE, floor.book.table) else ("bring", places[place])
    if trip.source is not None:
        return ("take" if trip.stage == FETCH else "start", places[trip.source.tool])
    return (trip.item, target.recipe.product) if target is not None else None
