"""Choose which item each robot carries next, and to which tool, in the planner's simulation.

A trip carries one item from one place to another, or starts a tool. A batch is the set of ingredients that
are put into one tool before it is started (`work_batches`). The planner is the agent `CuisinePlanner`.
"""

from __future__ import annotations

from collections.abc import Collection

from kitchen.worlds.cuisine.planner.planner_state import KitchenBook, KitchenScene
from kitchen.worlds.cuisine.planner.work_batches import (
    ACTIVATE,
    CARRY,
    FAR_STEPS,
    FETCH,
    NOBODY,
    NOWHERE,
    Batch,
    PlanDraft,
    Trip,
    WorkBatches,
)

HELP_STEPS = 3
"""Number of steps for which an agent that starts another agent's tool may wait there."""


class TripChoice:
    """The state of the planner's simulation at one step, and the choice of the robots' trips.

    `inside`: the batch (filling) in each tool. `reserved`: each tool's next batch. `idle`: robots that
    others command; they take no new trips. `passing`: robots that skip the first trip they find.
    `helping`: robots that start another robot's tool once, if possible. `absent`: robots among `idle` that
    have not moved for a long time.
    """

    def __init__(
        self,
        book: KitchenBook,
        scene: KitchenScene,
        work: WorkBatches,
        draft: PlanDraft,
        idle: Collection[int],
        absent: Collection[int],
    ) -> None:
        self.absent = absent
        self.book = book
        self.tools = book.tools
        self.work = work
        self.patience, self.stay, self.guard, self.helps = draft.style
        self.idle = set(idle)
        self.passing = set(draft.passing)
        self.helping = set(draft.helping)
        self.inside = work.inside
        self.reserved: list[Batch | None] = [None] * len(book.places)
        self.open = work.batches
        self.at = [agent.at for agent in scene.agents]
        self.trips: list[Trip | None] = [None] * len(self.at)
        self.now = 0
        self.ready_at = [max(a.busy, 1 if i in self.idle else 0) for i, a in enumerate(scene.agents)]
        """The step from now at which each agent is asked again."""

    def choose(self, index: int) -> Trip | None:
        """Return the next trip of this robot: the first one, in the order of the plan, that needs no long
        wait.

        If every trip needs a long wait, a trip that prepares or clears a tool is chosen instead or, without
        one, the trip with the shortest wait. None if no trip is possible.
        """
        if index in self.helping and (trip := self._help(index)) is not None:
            self.helping.discard(index)
            return trip
        here = self._from_here(index)
        if here is not None and not (self.passing and self._passes(index)):
            return self.trip_from(index, here)
        blocked: dict[str, int] = {}
        best, wait = self._first_of_all(index, blocked)
        if wait > self.patience:
            trip = self._clear(index, blocked) or self._look_ahead()
            if trip is None and self.helps:
                trip = self._help(index)
            if trip is not None:
                return trip
        return None if best is None else self.trip_for(index, best)

    def _first_of_all(self, index: int, blocked: dict[str, int]) -> tuple[Batch | None, int]:
        """Return the batch (filling of a tool) on which this agent should work, and how long it must wait.
        `blocked` counts the tools that earlier batches need."""
        best: Batch | None = None
        least, patience = FAR_STEPS, self.patience
        for batch in self.open:
            if batch.taker != NOBODY:
                continue
            wait = self._wait(index, batch, blocked)
            if wait < least and not (self.passing and self._passes(index)):
                best, least = batch, wait
                if wait <= patience:
                    break
        return best, least

    def _passes(self, index: int) -> bool:
        """Return True if the agent must skip the trip that was just found. This happens once for each agent
        in `passing`."""
        passes = index in self.passing
        self.passing.discard(index)
        return passes

    def _look_ahead(self) -> Trip | None:
        """Return a trip for a batch (filling of a tool) that has no tool yet. Return None if fewer than two
        agents would still have free hands."""
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

    def _help(self, index: int) -> Trip | None:
        """Return a trip to start a tool as soon as another agent has added the last item. Return None if
        there is no such tool."""
        for batch in self.open:
            if batch.due and not batch.need and batch.tool != NOWHERE and batch.taker == NOBODY:
                filled = self.filled_at(batch)
                if self.now + (self.at[index] != batch.tool) <= filled <= self.now + HELP_STEPS:
                    return self.trip_to_start(index, batch)
        return None

    def filled_at(self, batch: Batch) -> int:
        """Return the step in which the last missing item of this batch (filling of a tool) arrives. Return
        FAR_STEPS if some items are not on their way."""
        if self.inside[batch.tool] is not batch:
            return FAR_STEPS
        coming = [
            self._arrives(index, trip, batch.tool)
            for index, trip in enumerate(self.trips)
            if trip is not None and trip.target is batch
        ]
        return max(coming) if len(coming) == batch.due else FAR_STEPS

    def _arrives(self, index: int, trip: Trip, place: int) -> int:
        """Return the step in which the item of a trip reaches the tool at `place`. The trip is assumed not to
        be delayed by others."""
        ready, at = max(self.ready_at[index], self.now), self.at[index]
        if trip.stage == CARRY:
            return ready + (at != place)
        if trip.source is None:
            return ready + (at != self.book.storage) + 2
        if trip.source.done_at is None:
            return FAR_STEPS
        return max(ready + (at != trip.source.tool), trip.source.done_at) + 2

    def _from_here(self, index: int) -> Batch | None:
        """Return the batch (filling of a tool) at the agent's place. Return None if its product cannot be
        taken soon, or cannot be brought anywhere."""
        batch = self.inside[self.at[index]]
        if batch is None or batch.done_at is None or batch.taker != NOBODY or batch.is_junk:
            return None
        if batch.done_at - self.now > self.stay or not self.has_room(batch):
            return None
        return batch

    def _wait(self, index: int, batch: Batch, blocked: dict[str, int]) -> int:
        """Return the number of steps that an agent must wait on a trip for this batch (filling of a tool).
        Return FAR_STEPS, a very large number, if no trip is possible."""
        if batch.done_at is not None:
            if not self.has_room(batch):
                return FAR_STEPS
            wait = batch.done_at - self.now - (self.at[index] != batch.tool)
        elif batch.tool == NOWHERE:
            return self._wait_to_begin(batch, blocked)
        elif batch.due == 0:
            return 0
        elif not batch.need:
            return FAR_STEPS
        else:
            occupant = self.inside[batch.tool]
            if occupant is batch or occupant is None or occupant.done_at is None:
                return 0
            wait = occupant.done_at - self.now - 3
        return wait if wait > 0 else 0

    def _wait_to_begin(self, batch: Batch, blocked: dict[str, int]) -> int:
        kind = batch.recipe.tool
        spoken_for = blocked.get(kind, 0)
        wait = self._tool_wait(kind, spoken_for) if batch.need else FAR_STEPS
        if wait == FAR_STEPS:
            blocked[kind] = spoken_for + 1
        return wait

    def _tool_wait(self, kind: str, spoken_for: int) -> int:
        """Return the number of steps until a tool of this kind is free, minus 3 for fetching an item first.
        Return FAR_STEPS if none becomes free. `spoken_for` is the number of free tools that others need."""
        left = spoken_for if self.guard else 0
        for place in self.tools[kind]:
            occupant = self.inside[place]
            wait = 0 if occupant is None else self._place_wait(place, occupant)
            if wait != FAR_STEPS:
                if not left:
                    return wait - 3 if wait > 3 else 0
                left -= 1
        return FAR_STEPS

    def _place_wait(self, place: int, occupant: Batch) -> int:
        """Return the number of steps until an occupied tool can be used. Return FAR_STEPS if this is not
        known."""
        if occupant.taker == NOBODY or occupant.done_at is None or self.reserved[place] is not None:
            return FAR_STEPS
        wait = occupant.done_at - self.now
        return wait if wait > 0 else 0

    def has_room(self, batch: Batch) -> bool:
        """Return whether the product of this batch (filling of a tool) can be brought to where it is needed:
        the place is free, or will soon be."""
        parent = batch.parent
        if parent is None or parent.tool != NOWHERE:
            return True
        return self._tool_wait(parent.recipe.tool, 0) != FAR_STEPS

    def reserve(self, batch: Batch, near: int) -> bool:
        """Reserve the tool that becomes free first for this batch (filling of a tool). Return whether there
        is one. Of equally good tools, the one at the place `near` is preferred."""
        best, least = NOWHERE, FAR_STEPS
        for place in self.tools[batch.recipe.tool]:
            occupant = self.inside[place]
            wait = 0 if occupant is None else self._place_wait(place, occupant)
            if wait < least or (wait == least != FAR_STEPS and place == near):
                best, least = place, wait
        if best == NOWHERE:
            return False
        batch.tool = best
        line = self.inside if self.inside[best] is None else self.reserved
        line[best] = batch
        return True

    def trip_to_start(self, index: int, batch: Batch) -> Trip:
        """Return a trip that starts the tool of a batch (filling of a tool). The batch is then assigned to
        this robot."""
        batch.taker = index
        return Trip(ACTIVATE, "", batch, None, NOWHERE)

    def trip_for(self, index: int, batch: Batch) -> Trip:
        if batch.done_at is not None:
            return self.trip_from(index, batch)
        if batch.due == 0:
            return self.trip_to_start(index, batch)
        if batch.tool == NOWHERE:
            self.reserve(batch, self.at[index])
        return Trip(FETCH, batch.need.pop(0), None, batch, NOWHERE)

    def trip_from(self, index: int, batch: Batch) -> Trip:
        """Return a trip that brings the product of a batch (filling of a tool) to where it is needed. The
        batch is then assigned to this robot."""
        batch.taker = index
        parent = batch.parent
        if parent is not None and parent.tool == NOWHERE:
            self.reserve(parent, NOWHERE)
        return Trip(FETCH, batch.recipe.product, batch, parent, self.book.table)

    def _clear(self, index: int, blocked: dict[str, int]) -> Trip | None:
        """Return a trip that throws away a useless product, so that its tool becomes free. Return None if no
        useless product blocks a needed tool."""
        for batch in self.work.junk:
            if batch.done_at is not None and batch.taker == NOBODY and blocked.get(batch.recipe.tool):
                batch.taker = index
                return Trip(FETCH, batch.recipe.product, batch, None, self.book.storage)
        return None
