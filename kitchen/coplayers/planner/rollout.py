"""A light kitchen that plays ahead: everyone does the next sensible thing until a horizon.

The steps of the real kitchen (goto, get, put, activate, one after another within a step) without its
checks. Who has nothing to do looks through the batches in their order and takes the first trip that needs
no long wait. Nothing here is by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kitchen.coplayers.planner.book import Book
from kitchen.coplayers.planner.scene import Scene
from kitchen.coplayers.planner.work import NOBODY, NOWHERE, Batch, Work

Errand = tuple[str, str]
"""A trip in words: ("take", place), ("start", place), or (base ingredient, product it is for)."""

FAR = 1 << 20
FETCH, CARRY, ACTIVATE = 0, 1, 2
"""What a trip is doing: going for its thing, bringing it, activating where it was brought."""


@dataclass(frozen=True, slots=True)
class Style:
    """How trips are chosen. `patience`: waiting allowed in a trip; `stay`: waiting allowed at a tool one has
    just activated; `guard`: leave tools free for wishes that come first."""

    patience: int = 1
    stay: int = 1
    guard: bool = True


class Trip:
    """One thing brought from one place to another, empty hands to empty hands."""

    __slots__ = ("item", "source", "stage", "target", "to")

    def __init__(self, stage: int, item: str, source: Batch | None, target: Batch | None, to: int) -> None:
        self.stage = stage
        self.item = item
        self.source = source
        """The batch whose product it is; None for a base ingredient."""
        self.target = target
        """The batch it is for; None for the serving table and the waste."""
        self.to = to
        """Where it goes if not into a batch."""


class Rollout:
    """Plays a scene ahead for given work.

    After `run`: `first`, the (agent, command) pairs of the first step in their order; `served`, the (dish,
    step from now) pairs put on the serving table; `goals`, what each agent did first, as a trip.
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
    ) -> None:
        self.book = book
        self.work = work
        self.style = style
        self.inside = work.inside
        self.behind: list[Batch | None] = [None] * len(book.places)
        self.at = [agent.at for agent in scene.agents]
        self.free_at = [agent.busy for agent in scene.agents]
        self.trips: list[Trip | None] = [None] * len(self.at)
        self.idle = set(idle)
        self.passing = set(passing)
        self.still_passing: list[int] = []
        self.open = work.batches
        self.served: list[tuple[str, int]] = []
        self.first: list[tuple[int, tuple[str, ...]]] = []
        self.goals: list[Trip | None] = [None] * len(self.at)
        self.after_first: dict[int, Errand] = {}
        self.now = 0
        self._take_up(scene)
        for index, errand in under_way.items():
            if scene.agents[index].holds is None and index not in self.idle:
                self.trips[index] = self._resume(index, errand)

    def _take_up(self, scene: Scene) -> None:
        """Trips for those who hold something already."""
        for index, agent in enumerate(scene.agents):
            if agent.holds is None:
                continue
            if index in self.work.bringing:
                batch = self.work.bringing[index]
                trip = Trip(CARRY, agent.holds, None, batch, self.book.table)
                if batch is not None and batch.tool == NOWHERE:
                    self._reserve(batch, agent.at)
            elif agent.holds in self.book.dishes:
                trip = Trip(CARRY, agent.holds, None, None, self.book.table)
            else:
                trip = Trip(CARRY, agent.holds, None, None, self.book.storage)
            self.trips[index] = trip

    def _resume(self, index: int, errand: Errand) -> Trip | None:
        """The trip that an errand of the last step meant, if it still makes sense."""
        what, where = errand
        if what == "take" or what == "start":
            batch = self.inside[self.book.number[where]]
            if batch is None or batch.taker != NOBODY or batch in self.work.junk:
                return None
            if what == "take" and batch.done_at is not None and self._has_room(batch):
                return self._trip_from(index, batch)
            if what == "start" and batch.done_at is None and batch.due == 0:
                return self._trip_for(index, batch)
            return None
        for batch in self.open:
            if batch.recipe.product == where and what in batch.need:
                if batch.tool == NOWHERE:
                    self._reserve(batch, NOWHERE)
                batch.need.remove(what)
                return Trip(FETCH, what, None, batch, NOWHERE)
        return None

    def errands(self) -> dict[int, Errand]:
        """Trips of the first step that go on after it, for those who still have empty hands."""
        return self.after_first

    def _note_errands(self) -> dict[int, Errand]:
        found: dict[int, Errand] = {}
        for index, trip in enumerate(self.trips):
            if trip is None:
                continue
            if trip.stage == CARRY:
                if trip.target is not None and trip.target.tool != NOWHERE:
                    found[index] = ("bring", self.book.places[trip.target.tool])
                continue
            if trip.source is not None:
                what = "take" if trip.stage == FETCH else "start"
                found[index] = (what, self.book.places[trip.source.tool])
            elif trip.target is not None:
                found[index] = (trip.item, trip.target.recipe.product)
        return found

    def run(self, horizon: int) -> None:
        """Play this many steps."""
        everyone = range(len(self.at))
        for self.now in range(horizon):
            waiting = [i for i in everyone if self.trips[i] is not None and self.free_at[i] <= self.now]
            waiting += [i for i in everyone if self.trips[i] is None and self.free_at[i] <= self.now]
            moved = True
            while moved and waiting:
                moved = False
                for index in waiting[:]:
                    if self._act(index):
                        waiting.remove(index)
                        moved = True
            for index in waiting:
                self._stroll(index)
            if self.now == 0:
                self.after_first = self._note_errands()
                self.still_passing = sorted(self.passing)

    # -- acting -----------------------------------------------------------------------------------------

    def _act(self, index: int) -> bool:
        """Carry out this agent's next command; False if it has to wait."""
        trip = self.trips[index]
        if trip is None:
            if index in self.idle:
                return False
            trip = self._choose(index)
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
        place = trip.to if target is None else target.tool
        if place == NOWHERE:
            if not self._reserve(target, self.at[index]):  # type: ignore[arg-type]
                return self._queue_up(index, target.recipe.tool)  # type: ignore[union-attr]
            place = target.tool  # type: ignore[union-attr]
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
        assert batch is not None  # noqa: S101
        if self.at[index] != batch.tool:
            return self._go(index, batch.tool)
        if self.now == 0:
            self._say(index, "activate")
        recipe = batch.recipe
        batch.done_at = self.now + recipe.lag
        self.free_at[index] = self.now + max(1, recipe.holds_agent)
        self.trips[index] = None
        batch.taker = NOBODY
        if index not in self.idle and recipe.lag - 1 <= self.style.stay and self._has_room(batch):
            self.trips[index] = self._trip_from(index, batch)
        return True

    # -- choosing ---------------------------------------------------------------------------------------

    def _choose(self, index: int) -> Trip | None:
        """The first trip, in the order of the batches, without a long wait; else the one that waits least."""
        here = self._from_here(index)
        if here is not None:
            if index not in self.passing:
                return self._trip_from(index, here)
            self.passing.discard(index)
        best: Batch | None = None
        least = FAR
        blocked: dict[str, int] = {}
        for batch in self.open:
            wait = self._wait(index, batch, blocked)
            if wait < least and index in self.passing:
                self.passing.discard(index)
            elif wait < least:
                best, least = batch, wait
                if wait <= self.style.patience:
                    break
        if least > self.style.patience:
            trip = self._clear(blocked) or self._look_ahead()
            if trip is not None or best is None:
                return trip
        return self._trip_for(index, best)  # type: ignore[arg-type]

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
        if batch.done_at - self.now > self.style.stay or not self._has_room(batch):
            return None
        return batch

    def _wait(self, index: int, batch: Batch, blocked: dict[str, int]) -> int:
        """How long a trip for this batch would stand waiting; FAR if there is none."""
        if batch.done_at is not None:
            if batch.taker != NOBODY or not self._has_room(batch):
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

    def _has_room(self, batch: Batch) -> bool:
        """The product of this batch can go where it is needed."""
        parent = batch.parent
        if parent is None or parent.tool != NOWHERE:
            return True
        return self._tool_wait(parent.recipe.tool, 0) != FAR

    def _reserve(self, batch: Batch, near: int) -> bool:
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

    def _trip_for(self, index: int, batch: Batch) -> Trip:
        if batch.done_at is not None:
            return self._trip_from(index, batch)
        if batch.due == 0:
            batch.taker = index
            return Trip(ACTIVATE, "", batch, None, NOWHERE)
        if batch.tool == NOWHERE:
            self._reserve(batch, self.at[index])
        return Trip(FETCH, batch.need.pop(0), None, batch, NOWHERE)

    def _trip_from(self, index: int, batch: Batch) -> Trip:
        """Take the product of this batch where it belongs."""
        batch.taker = index
        parent = batch.parent
        if parent is not None and parent.tool == NOWHERE:
            self._reserve(parent, NOWHERE)
        return Trip(FETCH, batch.recipe.product, batch, parent, self.book.table)

    def _clear(self, blocked: dict[str, int]) -> Trip | None:
        """Throw away a product that nobody wants from a tool that somebody needs."""
        for batch in self.work.junk:
            if batch.done_at is not None and batch.taker == NOBODY and blocked.get(batch.recipe.tool):
                batch.taker = 0
                return Trip(FETCH, batch.recipe.product, batch, None, self.book.storage)
        return None
