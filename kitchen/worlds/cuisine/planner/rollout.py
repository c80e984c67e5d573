"""Simulate a plan (an ordered list of dishes) in a simplified kitchen, up to a given number of steps.

Commands are the same as in the real kitchen (goto, get, put, activate), but they are not checked. A robot
without work brings the next item or starts a tool, if no long wait is needed. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kitchen.worlds.cuisine.planner.planner_state import KitchenBook, KitchenScene
from kitchen.worlds.cuisine.planner.trip_choice import TripChoice
from kitchen.worlds.cuisine.planner.work_batches import (
    CARRY,
    FAR_STEPS,
    FETCH,
    NOBODY,
    NOWHERE,
    Batch,
    Errand,
    PlanDraft,
    Trip,
    WorkBatches,
)


def resume_trips(floor: TripChoice, scene: KitchenScene, under_way: Mapping[int, Errand]) -> None:
    """Give robots the trips that they have already begun. A trip carries one item, or starts one tool.

    A robot that holds an item delivers it. A robot of the planner with empty hands continues its trip in
    `under_way`. Any other robot with empty hands continues to work at its tool.
    """
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


def _helped(floor: TripChoice, index: int, where: str) -> Trip | None:
    """Return the trip to start the tool at `where` again, which another agent is filling. Return None if
    another agent starts it, or if some of its items are not on their way."""
    batch = floor.inside[floor.book.number[where]]
    if batch is None or not batch.due or batch.taker != NOBODY or floor.filled_at(batch) == FAR_STEPS:
        return None
    return floor.trip_to_start(index, batch)


def _delivery(floor: TripChoice, index: int, thing: str) -> Trip | None:
    """Return the trip that delivers a held item: to the tool where it is needed, to the serving table, or
    into the waste. Return None if there is none."""
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


def _keep_room(floor: TripChoice, index: int, thing: str) -> None:
    """Reserve an empty tool for an agent that holds an item which the planner does not need. If possible, it
    is the tool at which the agent is."""
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


def _stands_at(floor: TripChoice, index: int) -> Trip | None:
    """Return the trip of an agent with empty hands that the planner does not command. The agent is assumed to
    continue the work of the tool at its place."""
    if index in floor.absent:
        return None
    return _go_on(floor, index, floor.inside[floor.at[index]])


def _go_on(floor: TripChoice, index: int, batch: Batch | None) -> Trip | None:
    if batch is None or batch.taker != NOBODY or batch.is_junk:
        return None
    if batch.done_at is not None:
        return floor.trip_from(index, batch) if floor.has_room(batch) else None
    return floor.trip_to_start(index, batch) if batch.due == 0 else None


def _resumed(floor: TripChoice, index: int, errand: Errand) -> Trip | None:
    """Return the trip that continues the agent's work of the last step (`errand`). Return None if this is no
    longer useful."""
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


def trips_as_errands(floor: TripChoice) -> dict[int, Errand]:
    """Return what each seat still has to carry or start after the first simulated step. The next decision
    continues from there."""
    ours = ((index, trip) for index, trip in enumerate(floor.trips) if trip and index not in floor.idle)
    return {index: errand for index, trip in ours if (errand := _errand(floor, trip))}


def _errand(floor: TripChoice, trip: Trip) -> Errand | None:
    places, target = floor.book.places, trip.target
    if trip.in_hand(0):
        place = trip.to if target is None else target.tool
        return None if place in (NOWHERE, floor.book.table) else ("bring", places[place])
    if trip.source is not None:
        return ("take" if trip.stage == FETCH else "start", places[trip.source.tool])
    return (trip.item, target.recipe.product) if target is not None else None


class Rollout(TripChoice):
    """Simulates a plan from one state of the kitchen.

    Results after `run`: `first` has the (agent, command) pairs of the first step, in order. `served` has
    (dish, step from now) for each dish put on the serving table. `goals` has each agent's trip in the first
    step, and `ahead` its trip after that. `after_first` has the errands (unfinished trips) that continue
    after the first step.

    The plan lists agents that shall skip a trip (`passing`) or help (`helping`). `still_passing` and
    `still_helping` are the agents on these lists that have not done so in the first step.
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
        super().__init__(book, scene, work, draft, idle, absent)
        self.walks_until = [0] * len(self.at)
        self.served: list[tuple[str, int]] = []
        self.first: list[tuple[int, tuple[str, ...]]] = []
        self.goals: list[Trip | None] = [None] * len(self.at)
        self.ahead: list[Trip | None] = []
        self.after_first: dict[int, Errand] = {}
        self.still_passing: list[int] = []
        self.still_helping: list[int] = []
        resume_trips(self, scene, dict(draft.errands))
        for index in self.idle:
            if self.trips[index] is None:  # another agent without a trip does nothing
                self.ready_at[index] = FAR_STEPS

    def run(self, horizon: int) -> None:
        """Simulate the plan for `horizon` steps, at least one. The results are attributes of this object (see
        the class)."""
        self._step()
        self.ahead = list(self.trips)
        self.after_first = trips_as_errands(self)
        self.still_passing = sorted(self.passing)
        self.still_helping = sorted(self.helping)
        while (now := min(self.ready_at)) < horizon:
            self.now = now
            self._step()
        self.now = now

    def _step(self) -> None:
        """Simulate one step: let all agents act that are not busy, those on a trip first. Resolve a deadlock
        if there is one."""
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
        """Let all waiting agents act. When one has acted, ask the others again, because the way may now be
        free. Return the agents that still wait."""
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
        """Return whether there is a deadlock: all agents of the planner wait, nobody is moving, and nothing
        is cooking."""
        ours = sum(index not in self.idle for index in waiting)
        return (
            ours == len(self.at) - len(self.idle)
            and not self._somebody_walks()
            and not any(b is not None and b.done_at is not None and b.done_at > self.now for b in self.inside)
        )

    def _wait_a_step(self, waiting: list[int]) -> None:
        """Let the waiting agents wait for one step. An agent without work walks to the storage, where most
        trips begin."""
        after = self.now + 1
        for index in waiting:
            if self.trips[index] is None and index not in self.idle and self.at[index] != self.book.storage:
                self._go(index, self.book.storage)
            if self.ready_at[index] < after:
                self.ready_at[index] = after

    def _give_up(self, waiting: list[int]) -> list[int]:
        """Resolve a deadlock: the agent whose item is needed last throws it away. Return the agents that
        still wait."""
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
        """Carry out this agent's next command, and further ones as far as no other agent can prevent them.
        Store in `ready_at` when the agent can act again. Return False if it has to wait."""
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
        """Let the agent fetch a base ingredient from the storage. No other agent can prevent this."""
        trip.since = self.now
        if self.at[index] != self.book.storage:
            self._go(index, self.book.storage)
            trip.since += 1
        elif self.now == 0:
            self._say(index, "get", trip.item)
        self._set_out(index, trip)
        return True

    def _take(self, index: int, trip: Trip, source: Batch) -> bool:
        """Let the agent go to a tool, or take the product out of it when it is done. Return False if the
        agent is there and has to wait."""
        done_at = FAR_STEPS if source.done_at is None else source.done_at
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
        """Let the agent carry its item, from the step after `trip.since` on. If the destination is known, it
        goes there directly."""
        trip.stage = CARRY
        target = trip.target
        place = trip.to if target is None else target.tool
        arrives = trip.since + 1
        if place != NOWHERE and place != self.at[index]:
            self.at[index] = place
            arrives += 1
        self.ready_at[index] = self.walks_until[index] = arrives

    def _empty(self, batch: Batch) -> None:
        """Record that a product was taken out of its tool. The tool is then free for the next batch (filling
        of a tool) that has reserved it."""
        self.inside[batch.tool] = self.reserved[batch.tool]
        self.reserved[batch.tool] = None
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
        """Send the agent to the tool of this kind that becomes free first. Return False if the agent is
        already at such a tool."""
        places = self.book.tools[kind]
        if self.at[index] in places:
            return False
        ends = [FAR_STEPS if not batch or batch.done_at is None else batch.done_at for batch in self.inside]
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
                self.trips[index] = self.trip_to_start(index, target)
        if index in self.idle and self.trips[index] is None:
            self.ready_at[index] = FAR_STEPS

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
            self.ready_at[index] = FAR_STEPS
        elif recipe.lag - 1 <= self.stay and self.has_room(batch):
            self.trips[index] = self.trip_from(index, batch)
            self.ready_at[index] = max(self.ready_at[index], batch.done_at)
        return True
