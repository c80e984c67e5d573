"""A light kitchen that plays ahead: everyone does the next sensible thing until a horizon.

The steps of the real kitchen (goto, get, put, activate, one after another within a step) without its
checks. Who has nothing to do looks through the batches in their order and takes the first trip that needs
no long wait. Nothing here is by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kitchen.worlds.cuisine.planner.book import Book
from kitchen.worlds.cuisine.planner.choice import Floor
from kitchen.worlds.cuisine.planner.pickup import errands_of, take_up
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.trips import ACTIVATE, CARRY, FAR, FETCH, Errand, Style, Trip
from kitchen.worlds.cuisine.planner.work import NOBODY, NOWHERE, Batch, Work


class Rollout(Floor):
    """Plays a scene ahead for given work.

    After `run`: `first`, the (agent, command) pairs of the first step in their order; `served`, the (dish,
    step from now) pairs put on the serving table; `goals`, what each agent set out to do in the first step;
    `after_first`, the errands that go on after it; `still_passing`, who has yet to pass over something.
    """

    def __init__(
        self,
        book: Book,
        scene: Scene,
        work: Work,
        style: Style,
        idle: Collection[int],
        under_way: Mapping[int, Errand],
        passing: Collection[int] = (),
        absent: Collection[int] = (),
    ) -> None:
        super().__init__(book, scene, work, style, idle, passing, absent)
        self.free_at = [max(a.busy, 1 if i in self.idle else 0) for i, a in enumerate(scene.agents)]
        self.served: list[tuple[str, int]] = []
        self.first: list[tuple[int, tuple[str, ...]]] = []
        self.goals: list[Trip | None] = [None] * len(self.at)
        self.after_first: dict[int, Errand] = {}
        self.still_passing: list[int] = []
        take_up(self, scene, under_way)

    def run(self, horizon: int) -> None:
        """Play this many steps."""
        everyone = range(len(self.at))
        for self.now in range(horizon):
            waiting = [i for i in everyone if self.trips[i] is not None and self.free_at[i] <= self.now]
            waiting += [i for i in everyone if self.trips[i] is None and self.free_at[i] <= self.now]
            before = len(waiting)
            self._act_in_turn(waiting)
            if before == len(waiting) == self._ours_among(waiting) and not self._something_cooks():
                self._give_up(waiting)
            for index in waiting:
                self._stroll(index)
            if self.now == 0:
                self.after_first = errands_of(self)
                self.still_passing = sorted(self.passing)

    def _act_in_turn(self, waiting: list[int]) -> None:
        """Everyone acts who can; who could act only after another one is asked again. Who waits is left."""
        moved = True
        while moved and waiting:
            moved = False
            for index in waiting[:]:
                if self._act(index):
                    waiting.remove(index)
                    moved = True

    def _ours_among(self, waiting: list[int]) -> int:
        """All who wait, if none of our own is busy elsewhere; else -1."""
        ours = sum(1 for index in waiting if index not in self.idle)
        return len(waiting) if ours == len(self.at) - len(self.idle) else -1

    def _something_cooks(self) -> bool:
        return any(b is not None and b.done_at is not None and b.done_at > self.now for b in self.inside)

    def _give_up(self, waiting: list[int]) -> None:
        """Nobody can do anything any more: of what we hold, throw away what is wanted last."""
        held = [
            (trip.target.rank, index)
            for index in waiting
            if index not in self.idle and (trip := self.trips[index]) is not None
            if trip.stage == CARRY and trip.target is not None
        ]
        if held:
            index = max(held)[1]
            trip = self.trips[index]
            self.trips[index] = Trip(CARRY, trip.item if trip else "", None, None, self.book.storage)
            waiting.remove(index)
            self._act(index)

    def _act(self, index: int) -> bool:
        """Carry out this agent's next command; False if it has to wait."""
        trip = self.trips[index]
        if trip is None:
            if index in self.idle:
                return False
            trip = self.choose(index)
            if trip is None:
                return False
            self.trips[index] = trip
        if self.now == 0:
            self.goals[index] = trip
        if trip.stage == FETCH:
            return self._fetch(index, trip)
        if trip.stage == CARRY:
            return self._carry(index, trip)
        return self._activate(index, trip)

    def _stroll(self, index: int) -> None:
        """Who has nothing to do goes to the storage: most trips begin there."""
        if self.trips[index] is None and index not in self.idle and self.at[index] != self.book.storage:
            self._go(index, self.book.storage)

    def _go(self, index: int, place: int) -> bool:
        self.at[index] = place
        if self.now == 0:
            self.first.append((index, ("goto", self.book.places[place])))
        return True

    def _say(self, index: int, verb: str, item: str | None = None) -> None:
        place = self.book.places[self.at[index]]
        self.first.append((index, (verb, place) if item is None else (verb, place, item)))

    def _fetch(self, index: int, trip: Trip) -> bool:
        source = trip.source
        place = self.book.storage if source is None else source.tool
        if self.at[index] != place:
            return self._go(index, place)
        if source is not None:
            if source.done_at is None or source.done_at > self.now:
                return False
            self._empty(source)
        trip.stage = CARRY
        if self.now == 0:
            self._say(index, "get", trip.item)
        return True

    def _empty(self, batch: Batch) -> None:
        """The product leaves its tool; who reserved the tool behind it may come."""
        self.inside[batch.tool] = self.behind[batch.tool]
        self.behind[batch.tool] = None
        if batch in self.open:
            self.open.remove(batch)

    def _carry(self, index: int, trip: Trip) -> bool:
        target = trip.target
        if target is not None and target.tool == NOWHERE and not self.reserve(target, self.at[index]):
            return self._queue_up(index, target.recipe.tool)
        place = trip.to if target is None else target.tool
        if self.at[index] != place:
            return self._go(index, place)
        if target is not None and self.inside[place] is not target:
            return False
        self._put(index, trip, target)
        return True

    def _queue_up(self, index: int, kind: str) -> bool:
        """Wait at a tool of this kind: at the one that can be free first."""
        places = self.book.tools[kind]
        if self.at[index] in places:
            return False
        ends = [(batch.done_at if batch and batch.done_at is not None else FAR) for batch in self.inside]
        return self._go(index, min(places, key=lambda place: ends[place]))

    def _put(self, index: int, trip: Trip, target: Batch | None) -> None:
        if self.now == 0:
            self._say(index, "put")
        self.trips[index] = None
        if target is None:
            if trip.to == self.book.table:
                self.served.append((trip.item, self.now))
        else:
            target.due -= 1
            if target.due == 0:
                self._stay_to_activate(index, target)
        self.free_at[index] = self.now + 1

    def _stay_to_activate(self, index: int, batch: Batch) -> None:
        batch.taker = index
        self.trips[index] = Trip(ACTIVATE, "", batch, None, NOWHERE)

    def _activate(self, index: int, trip: Trip) -> bool:
        batch = trip.source
        if batch is None:
            return False
        if self.at[index] != batch.tool:
            return self._go(index, batch.tool)
        if self.now == 0:
            self._say(index, "activate")
        recipe = batch.recipe
        batch.done_at = self.now + recipe.lag
        self.free_at[index] = self.now + max(1, recipe.holds_agent)
        self.trips[index] = None
        batch.taker = NOBODY
        if index not in self.idle and recipe.lag - 1 <= self.style.stay and self.has_room(batch):
            self.trips[index] = self.trip_from(index, batch)
        return True
