"""Apply the rules of Overcooked: how cooks move, and what `interact` commands change.

The docstring of `kitchen.worlds.overcooked` has the rules. Cells, neighbours and moves are computed once for
each layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import ClassVar, NamedTuple

from kitchen.contract.world import Command, Event, Json
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DIRECTIONS,
    DISPENSERS,
    INGREDIENTS,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    Soup,
    cell_ahead,
)

DISH = "dish"
FOOD = frozenset(INGREDIENTS.values())

Item = str | Soup
"""The content of a hand or counter: an onion, a tomato, a dish, or a soup in its dish."""

TOOK, LAID, POTTED, STARTED, FILLED, SERVED = "took", "laid", "potted", "started", "filled", "served"
"""Effects of an interact: took from a dispenser or counter, laid on a counter, put into a pot, started a pot,
filled a dish from a pot, served a soup.
"""


class Pot(NamedTuple):
    """A pot with at least one ingredient."""

    contents: Soup
    started: int | None = None
    """The clock before the step in which it was started; None if it is not started."""


class InteractEffect(NamedTuple):
    """The effect of an `interact` command (TOOK to SERVED) and the item that it affected. `points` are the
    points for a served soup."""

    did: str
    thing: Item | None
    points: int = 0


class KitchenObjects:
    """All things in one episode that are held, lie on counters or are in pots."""

    def __init__(self, layout: Layout, starts_itself: bool) -> None:
        self.layout, self.starts_itself = layout, starts_itself
        self.hands: tuple[Item | None, Item | None] = (None, None)
        self.counters: dict[Cell, Item] = {}
        self.pots: dict[Cell, Pot] = {}

    def copy(self) -> KitchenObjects:
        """Return an independent copy, for example to simulate a command."""
        other = KitchenObjects(self.layout, self.starts_itself)
        other.hands, other.counters, other.pots = self.hands, dict(self.counters), dict(self.pots)
        return other

    def why_not(self, seat: int, faced: Cell, clock: int) -> str:
        """Return why an `interact` command of this seat with the cell `faced` would be refused, as a code.
        Empty if the command would have an effect.

        `clock` is the current tick.
        """
        letter = self.layout.furniture.get(faced)
        return self._WHY_NOT[letter](self, self.hands[seat], faced, clock) if letter else "nothing_there"

    def act(self, seat: int, faced: Cell, clock: int) -> InteractEffect | str:
        """Carry out an `interact` command of this seat with the cell `faced`. Return its effect, or the
        refusal code if the command changes nothing."""
        why_not = self.why_not(seat, faced, clock)
        return why_not or self._ACT[self.layout.furniture[faced]](self, seat, faced, clock)

    def _not_counter(self, held: Item | None, faced: Cell, clock: int) -> str:
        if faced in self.counters:
            return "place_taken" if held else ""
        return "" if held else "nothing_there"

    def _not_dispenser(self, held: Item | None, faced: Cell, clock: int) -> str:
        return "hands_full" if held else ""

    def _not_serving(self, held: Item | None, faced: Cell, clock: int) -> str:
        if held is None:
            return "hands_empty"
        return "not_a_soup" if isinstance(held, str) else ""

    def _not_pot(self, held: Item | None, faced: Cell, clock: int) -> str:
        pot = self.pots.get(faced)
        if held is None:
            return self._not_started(pot)
        if held in FOOD:
            return self._not_potted(pot)
        if held != DISH or pot is None or pot.started is None:
            return "wrong_item"
        return "not_ready" if self.left(pot, clock) else ""

    def _not_started(self, pot: Pot | None) -> str:
        if self.starts_itself:
            return "hands_empty"
        if pot is None:
            return "nothing_there"
        return "" if pot.started is None else "pot_cooking"

    def _not_potted(self, pot: Pot | None) -> str:
        if pot is None:
            return ""
        if pot.started is not None:
            return "pot_cooking"
        return "pot_full" if len(pot.contents) >= POT_CAPACITY else ""

    _WHY_NOT: ClassVar[Mapping[str, Callable[[KitchenObjects, Item | None, Cell, int], str]]] = {
        COUNTER: _not_counter,
        POT: _not_pot,
        SERVING: _not_serving,
        **dict.fromkeys(DISPENSERS, _not_dispenser),
    }

    def _hold(self, seat: int, item: Item | None) -> None:
        first, second = self.hands
        self.hands = (first, item) if seat else (item, second)

    def _use_counter(self, seat: int, faced: Cell, clock: int) -> InteractEffect:
        held = self.hands[seat]
        if held is None:
            taken = self.counters.pop(faced)
            self._hold(seat, taken)
            return InteractEffect(TOOK, taken)
        self.counters[faced] = held
        self._hold(seat, None)
        return InteractEffect(LAID, held)

    def _use_dispenser(self, seat: int, faced: Cell, clock: int) -> InteractEffect:
        taken = DISPENSERS[self.layout.furniture[faced]]
        self._hold(seat, taken)
        return InteractEffect(TOOK, taken)

    def _use_serving(self, seat: int, faced: Cell, clock: int) -> InteractEffect:
        soup = self.hands[seat]
        self._hold(seat, None)
        assert isinstance(soup, tuple)  # noqa: S101 - `why_not` says so
        return InteractEffect(SERVED, soup, self.layout.points(soup))

    def _use_pot(self, seat: int, faced: Cell, clock: int) -> InteractEffect:
        pot, held = self.pots.get(faced, Pot(())), self.hands[seat]
        if held is None:
            self.pots[faced] = Pot(pot.contents, clock)
            return InteractEffect(STARTED, pot.contents)
        if held == DISH:
            self._hold(seat, self.pots.pop(faced).contents)
            return InteractEffect(FILLED, pot.contents)
        assert isinstance(held, str)  # noqa: S101 - `why_not` says so
        self.pots[faced] = Pot(tuple(sorted((*pot.contents, held))))
        self._hold(seat, None)
        return InteractEffect(POTTED, held)

    _ACT: ClassVar[Mapping[str, Callable[[KitchenObjects, int, Cell, int], InteractEffect]]] = {
        COUNTER: _use_counter,
        POT: _use_pot,
        SERVING: _use_serving,
        **dict.fromkeys(DISPENSERS, _use_dispenser),
    }

    def cook(self, clock: int) -> Iterator[Event]:
        """Update the pots at the end of a tick. Yield an event for each pot that was `started` or became
        `ready`.

        `clock` is the number of ticks played, including this one.
        """
        for cell in self.layout.places(POT):
            pot = self.pots.get(cell)
            if pot and pot.started is None and self.starts_itself and len(pot.contents) == POT_CAPACITY:
                pot = self.pots[cell] = Pot(pot.contents, clock - 1)
            if pot and pot.started is not None:
                if pot.started == clock - 1:
                    yield Event("started", None, {"pot": list(cell)})
                if pot.started + self.layout.ticks(pot.contents) == clock:
                    yield Event("ready", None, {"pot": list(cell)})

    def next_ready(self, clock: int) -> int | None:
        """Return the tick at which the next soup becomes ready; None if no pot is cooking."""
        ends = (
            pot.started + self.layout.ticks(pot.contents)
            for pot in self.pots.values()
            if pot.started is not None
        )
        return min((end for end in ends if end > clock), default=None)

    def left(self, pot: Pot, clock: int) -> int | None:
        """Return the number of ticks until the soup in the pot is ready; 0 if it is ready. None if the pot
        is not started."""
        if pot.started is None:
            return None
        return max(0, self.layout.ticks(pot.contents) - (clock - pot.started))


def item_json(item: Item | None) -> Json:
    """Return a thing in the JSON form of pages, logs and stored states: null, a word, or `["soup",
    [ingredients]]`."""
    return ["soup", list(item)] if isinstance(item, tuple) else item


SEATS = (0, 1)
STAY: Command = ("stay",)
INTERACT: Command = ("interact",)
MOVE_COMMANDS: tuple[Command, ...] = tuple((face,) for face in DIRECTIONS)
COMMANDS = (*MOVE_COMMANDS, INTERACT, STAY)

BLOCKED_BY_COUNTER, BLOCKED_BY_SEAT = "counter", "seat"
"""Obstacles on the cell ahead of a seat: furniture, or the other seat."""


class Pose:
    """The cell and the facing direction of one seat. It never changes after creation."""

    __slots__ = ("after", "ahead", "at", "face")

    def __init__(self, at: Cell, face: str) -> None:
        self.at, self.face = at, face
        self.ahead = cell_ahead(at, face)
        self.after: Mapping[Command, MoveAttempt] = {}
        """The attempt for each command."""


class MoveAttempt(NamedTuple):
    """The move that a seat attempts with a command, and its possible results."""

    target: Cell
    pose_if_free: Pose
    """The pose if the other seat does not block the move."""
    pose_if_blocked: Pose
    """The pose if the other seat blocks the move."""
    event: Event
    """The event if the move is not blocked; unused for an interact."""
    event_if_blocked: Event
    wants: bool
    """True if the command moves to another cell."""
    idle: bool
    acts: bool


class FloorPoses:
    """All possible poses (cell and direction) of both seats in one layout."""

    def __init__(self, layout: Layout) -> None:
        self._cells = frozenset(layout.floor)
        self._stands = [
            {(cell, face): Pose(cell, face) for cell in layout.floor for face in DIRECTIONS} for _ in SEATS
        ]
        for seat, stands in enumerate(self._stands):
            for stand in stands.values():
                stand.after = {command: self._attempt(seat, stand, command) for command in COMMANDS}

    def stand(self, seat: int, at: Cell, face: str) -> Pose:
        """Return the pose (cell and facing direction) of this seat. Equal values give the same object."""
        return self._stands[seat][at, face]

    def _attempt(self, seat: int, stand: Pose, command: Command) -> MoveAttempt:
        data: dict[str, object] = {"command": list(command)}
        if command[0] not in DIRECTIONS:
            event = Event("performed", seat, data)
            idle = command == STAY
            return MoveAttempt(stand.at, stand, stand, event, event, wants=False, idle=idle, acts=not idle)
        ahead = cell_ahead(stand.at, command[0])
        wants = ahead in self._cells
        free = {"moved": wants, "blocked_by": None if wants else BLOCKED_BY_COUNTER}
        kept = {"moved": False, "blocked_by": BLOCKED_BY_SEAT if wants else BLOCKED_BY_COUNTER}
        target = ahead if wants else stand.at
        return MoveAttempt(
            target,
            self.stand(seat, target, command[0]),
            self.stand(seat, stand.at, command[0]),
            Event("performed", seat, {**data, **free}),
            Event("performed", seat, {**data, **kept}),
            wants=wants,
            idle=False,
            acts=False,
        )


@lru_cache(maxsize=64)
def floor_poses_of(layout: Layout) -> FloorPoses:
    """Return all poses (cell and facing direction) in this layout. All its episodes share one object."""
    return FloorPoses(layout)
