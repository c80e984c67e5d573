"""Who does what next: trips chosen from the batches in their order, and tools given to batches."""

from __future__ import annotations

from collections.abc import Collection

from kitchen.worlds.cuisine.planner.book import Book
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.trips import ACTIVATE, FAR, FETCH, Style, Trip
from kitchen.worlds.cuisine.planner.work import NOBODY, NOWHERE, Batch, Work


class Floor:
    """The kitchen floor at one step of a rollout, and the choice of trips on it.

    `inside` and `behind`: the batch in each tool and the one that has reserved it next; `idle`: agents who
    take no new trips, the others in the kitchen; `passing`: agents who pass over the first thing they find;
    `absent`: others who have not moved for long.
    """

    def __init__(
        self,
        book: Book,
        scene: Scene,
        work: Work,
        style: Style,
        idle: Collection[int],
        passing: Collection[int] = (),
        absent: Collection[int] = (),
    ) -> None:
        self.absent = absent
        self.book = book
        self.work = work
        self.style = style
        self.idle = set(idle)
        self.passing = set(passing)
        self.inside = work.inside
        self.behind: list[Batch | None] = [None] * len(book.places)
        self.open = work.batches
        self.at = [agent.at for agent in scene.agents]
        self.trips: list[Trip | None] = [None] * len(self.at)
        self.now = 0

    def choose(self, index: int) -> Trip | None:
        """The first trip, in the order of the batches, without a long wait; else the one that waits least."""
        here = self._from_here(index)
        if here is not None and not self._passes(index):
            return self.trip_from(index, here)
        blocked: dict[str, int] = {}
        best, wait = self._first_of_all(index, blocked)
        if wait > self.style.patience:
            trip = self._clear(index, blocked) or self._look_ahead()
            if trip is not None:
                return trip
        return None if best is None else self.trip_for(index, best)

    def _first_of_all(self, index: int, blocked: dict[str, int]) -> tuple[Batch | None, int]:
        """The batch to do something for, and the wait; counts in `blocked` the tools spoken for."""
        best: Batch | None = None
        least = FAR
        for batch in self.open:
            wait = self._wait(index, batch, blocked)
            if wait < least and not self._passes(index):
                best, least = batch, wait
                if wait <= self.style.patience:
                    break
        return best, least

    def _passes(self, index: int) -> bool:
        """Whether this agent passes over what it has just found; once only."""
        passes = index in self.passing
        self.passing.discard(index)
        return passes

    def _look_ahead(self) -> Trip | None:
        """Fetch for a batch that has no tool yet, while somebody else's hands stay free."""
        hands = len(self.at) - len(self.idle)
        for trip in self.trips:
            if trip is not None and trip.target is not None and trip.target.tool == NOWHERE:
                hands -= 1
        if hands < 2:
            return None
        for batch in self.open:
            if batch.need and batch.tool == NOWHERE:
                return Trip(FETCH, batch.need.pop(0), None, batch, NOWHERE)
        return None

    def _from_here(self, index: int) -> Batch | None:
        """The batch where one stands, if its product can be taken along without a long wait."""
        batch = self.inside[self.at[index]]
        if batch is None or batch.done_at is None or batch.taker != NOBODY or batch in self.work.junk:
            return None
        if batch.done_at - self.now > self.style.stay or not self.has_room(batch):
            return None
        return batch

    def _wait(self, index: int, batch: Batch, blocked: dict[str, int]) -> int:
        """How long a trip for this batch would stand waiting; FAR if there is none."""
        if batch.done_at is not None:
            if batch.taker != NOBODY or not self.has_room(batch):
                return FAR
            return max(0, batch.done_at - self.now - (self.at[index] != batch.tool))
        if batch.due == 0:
            return 0 if batch.taker == NOBODY else FAR
        if batch.tool == NOWHERE:
            kind = batch.recipe.tool
            wait = self._tool_wait(kind, blocked.get(kind, 0))
            if wait == FAR or not batch.need:
                blocked[kind] = blocked.get(kind, 0) + 1
                return FAR
            return wait
        if not batch.need:
            return FAR
        occupant = self.inside[batch.tool]
        if occupant is batch or occupant is None or occupant.done_at is None:
            return 0
        return max(0, occupant.done_at - self.now - 3)

    def _tool_wait(self, kind: str, spoken_for: int) -> int:
        """Steps until a tool of this kind is free for someone who first fetches; FAR if none is in sight."""
        left = spoken_for if self.style.guard else 0
        for place in self.book.tools[kind]:
            wait = self._place_wait(place)
            if wait != FAR:
                if not left:
                    return max(0, wait - 3)
                left -= 1
        return FAR

    def _place_wait(self, place: int) -> int:
        occupant = self.inside[place]
        if occupant is None:
            return 0
        if self.behind[place] is None and occupant.done_at is not None and occupant.taker != NOBODY:
            return max(0, occupant.done_at - self.now)
        return FAR

    def has_room(self, batch: Batch) -> bool:
        """The product of this batch can go where it is needed."""
        parent = batch.parent
        if parent is None or parent.tool != NOWHERE:
            return True
        return self._tool_wait(parent.recipe.tool, 0) != FAR

    def reserve(self, batch: Batch, near: int) -> bool:
        """Give the batch the tool that is free first; one where the agent stands is taken first."""
        places = self.book.tools[batch.recipe.tool]
        waits = [(self._place_wait(place), place != near, place) for place in places]
        wait, _, place = min(waits)
        if wait == FAR:
            return False
        batch.tool = place
        if self.inside[place] is None:
            self.inside[place] = batch
        else:
            self.behind[place] = batch
        return True

    def trip_for(self, index: int, batch: Batch) -> Trip:
        if batch.done_at is not None:
            return self.trip_from(index, batch)
        if batch.due == 0:
            batch.taker = index
            return Trip(ACTIVATE, "", batch, None, NOWHERE)
        if batch.tool == NOWHERE:
            self.reserve(batch, self.at[index])
        return Trip(FETCH, batch.need.pop(0), None, batch, NOWHERE)

    def trip_from(self, index: int, batch: Batch) -> Trip:
        """Take the product of this batch where it belongs."""
        batch.taker = index
        parent = batch.parent
        if parent is not None and parent.tool == NOWHERE:
            self.reserve(parent, NOWHERE)
        return Trip(FETCH, batch.recipe.product, batch, parent, self.book.table)

    def _clear(self, index: int, blocked: dict[str, int]) -> Trip | None:
        """Throw away a product that nobody wants from a tool that somebody needs."""
        for batch in self.work.junk:
            if batch.done_at is not None and batch.taker == NOBODY and blocked.get(batch.recipe.tool):
                batch.taker = index
                return Trip(FETCH, batch.recipe.product, batch, None, self.book.storage)
        return None
