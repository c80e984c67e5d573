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
    `ahead`, what it is on after that, or sets out to do next; `after_first`, the errands that go on after it;
    `still_passing` and `still_helping`, who has yet to do so.
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
        helping: Collection[int] = (),
        absent: Collection[int] = (),
    ) -> None:
        super().__init__(book, scene, work, style, idle, passing, helping, absent)
        self.walks_until = [0] * len(self.at)
        self.served: list[tuple[str, int]] = []
        self.first: list[tuple[int, tuple[str, ...]]] = []
        self.goals: list[Trip | None] = [None] * len(self.at)
        self.ahead: list[Trip | None] = []
        self.after_first: dict[int, Errand] = {}
        self.still_passing: list[int] = []
        self.still_helping: list[int] = []
        take_up(self, scene, under_way)
        self._dismiss_the_idle()

    def run(self, horizon: int) -> None:
        """Play this many steps, at least one."""
        self._step()
        self.ahead = list(self.trips)
        self.after_first = errands_of(self)
        self.still_passing = sorted(self.passing)
        self.still_helping = sorted(self.helping)
        ready_at = self.ready_at
        self.now = min(ready_at)
        while self.now < horizon:
            self._step()
            self.now = min(ready_at)

    def _dismiss_the_idle(self) -> None:
        """Of the others, who is not under way does nothing."""
        for index in self.idle:
            if self.trips[index] is None:
                self.ready_at[index] = FAR

    def _step(self) -> None:
        """Everyone acts who is ready; who is under way comes first. Who had to wait is asked again."""
        now = self.now
        waiting: list[int] = []
        free: list[int] = []
        for index, ready in enumerate(self.ready_at):
            if ready <= now:
                (free if self.trips[index] is None else waiting).append(index)
        waiting += free
        left = self._act_in_turn(waiting)
        if left:
            if len(left) == len(waiting) and self._nothing_moves(left):
                left = self._give_up(left)
            self._wait_a_step(left)

    def _act_in_turn(self, waiting: list[int]) -> list[int]:
        """Everyone acts who can; who could act only after another one is asked again. Returns who waits."""
        somebody_passes = bool(self.passing)
        left = [index for index in waiting if not self._act(index)]
        moved = len(left) < len(waiting) or (somebody_passes and self._somebody_walks())
        while moved and left:
            asked = left
            left = [index for index in asked if not self._act(index)]
            moved = len(left) < len(asked)
        return left

    def _somebody_walks(self) -> bool:
        return any(until > self.now for until in self.walks_until)

    def _nothing_moves(self, waiting: list[int]) -> bool:
        """All of our own wait, nobody is on the way, nothing cooks."""
        ours = sum(index not in self.idle for index in waiting)
        return (
            ours == len(self.at) - len(self.idle)
            and not self._somebody_walks()
            and not any(b is not None and b.done_at is not None and b.done_at > self.now for b in self.inside)
        )

    def _wait_a_step(self, waiting: list[int]) -> None:
        """Who waits is asked again in the next step; who has nothing to do strolls to the storage."""
        after = self.now + 1
        for index in waiting:
            self._stroll(index)
            if self.ready_at[index] < after:
                self.ready_at[index] = after

    def _give_up(self, waiting: list[int]) -> list[int]:
        """Nobody can do anything any more: of what we hold, throw away what is wanted last. Returns who
        still waits."""
        held = [
            (trip.target.rank, index)
            for index in waiting
            if index not in self.idle and (trip := self.trips[index]) is not None
            if trip.stage == CARRY and trip.target is not None
        ]
        if not held:
            return waiting
        index = max(held)[1]
        trip = self.trips[index]
        self.trips[index] = Trip(CARRY, trip.item if trip else "", None, None, self.book.storage)
        self._act(index)
        return [each for each in waiting if each != index]

    def _act(self, index: int) -> bool:
        """Carry out this agent's next command, and those after it that nothing can hinder: `ready_at` says
        when it is to be asked again. False if it has to wait."""
        trip = self.trips[index]
        if trip is None:
            trip = self.trips[index] = self.choose(index)
            if trip is None:
                return False
        if self.now == 0:
            self.goals[index] = trip
        elif self.ahead[index] is None:
            self.ahead[index] = trip
        if trip.stage == FETCH:
            return self._take(index, trip, trip.source) if trip.source else self._fetch(index, trip)
        if trip.stage == CARRY:
            return self._carry(index, trip)
        return self._activate(index, trip)

    def _stroll(self, index: int) -> None:
        """Who has nothing to do goes to the storage: most trips begin there."""
        if self.trips[index] is None and index not in self.idle and self.at[index] != self.book.storage:
            self._go(index, self.book.storage)

    def _go(self, index: int, place: int) -> bool:
        self.at[index] = place
        self.ready_at[index] = self.now + 1
        if self.now == 0:
            self.first.append((index, ("goto", self.book.places[place])))
        return True

    def _say(self, index: int, verb: str, item: str | None = None) -> None:
        place = self.book.places[self.at[index]]
        self.first.append((index, (verb, place) if item is None else (verb, place, item)))

    def _fetch(self, index: int, trip: Trip) -> bool:
        """A base ingredient: nothing hinders it until it is in hand."""
        trip.since = self.now
        if self.at[index] != self.book.storage:
            self._go(index, self.book.storage)
            trip.since += 1
        elif self.now == 0:
            self._say(index, "get", trip.item)
        self._set_out(index, trip)
        return True

    def _take(self, index: int, trip: Trip, source: Batch) -> bool:
        """A product, as soon as it is done."""
        done_at = FAR if source.done_at is None else source.done_at
        if self.at[index] != source.tool:
            self._go(index, source.tool)
            self.ready_at[index] = max(self.now + 1, done_at)
            return True
        if done_at > self.now:
            self.ready_at[index] = done_at
            return False
        self._empty(source)
        trip.since = self.now
        if self.now == 0:
            self._say(index, "get", trip.item)
        self._set_out(index, trip)
        return True

    def _set_out(self, index: int, trip: Trip) -> None:
        """From the step after `since` on the thing is carried; straight to its place if that is known."""
        trip.stage = CARRY
        target = trip.target
        place = trip.to if target is None else target.tool
        arrives = trip.since + 1
        if place != NOWHERE and place != self.at[index]:
            self.at[index] = place
            arrives += 1
        self.ready_at[index] = self.walks_until[index] = arrives

    def _empty(self, batch: Batch) -> None:
        """The product leaves its tool; who reserved the tool behind it may come."""
        self.inside[batch.tool] = self.behind[batch.tool]
        self.behind[batch.tool] = None
        if not batch.is_junk:
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
        self.ready_at[index] = self.now + 1
        if target is None:
            if trip.to == self.book.table:
                self.served.append((trip.item, self.now))
        else:
            target.due -= 1
            if target.due == 0 and target.taker == NOBODY:
                self._stay_to_activate(index, target)
        if index in self.idle and self.trips[index] is None:
            self.ready_at[index] = FAR

    def _stay_to_activate(self, index: int, batch: Batch) -> None:
        batch.taker = index
        self.trips[index] = Trip(ACTIVATE, "", batch, None, NOWHERE)

    def _activate(self, index: int, trip: Trip) -> bool:
        batch = trip.source
        if batch is None:
            return False
        if self.at[index] != batch.tool:
            return self._go(index, batch.tool)
        if batch.due:
            return False
        if self.now == 0:
            self._say(index, "activate")
        recipe = batch.recipe
        batch.done_at = self.now + recipe.lag
        self.ready_at[index] = self.now + max(1, recipe.holds_agent)
        self.trips[index] = None
        batch.taker = NOBODY
        if index in self.idle:
            self.ready_at[index] = FAR
        elif recipe.lag - 1 <= self.stay and self.has_room(batch):
            self.trips[index] = self.trip_from(index, batch)
            self.ready_at[index] = max(self.ready_at[index], batch.done_at)
        return True
