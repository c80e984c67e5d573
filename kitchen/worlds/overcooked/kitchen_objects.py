"""Model hands, counters and pots, and the effect of an interact command on them.

The rules are in the package docstring, under Interact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, NamedTuple

from kitchen.contract.world import Event, Json
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DISPENSERS,
    INGREDIENTS,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    Soup,
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
    """The effect of an interact and its object. `points` is the worth of a served soup."""

    did: str
    thing: Item | None
    points: int = 0


class KitchenObjects:
    """All things that are held, lie on counters or cook in one episode."""

    def __init__(self, layout: Layout, starts_itself: bool) -> None:
        self.layout, self.starts_itself = layout, starts_itself
        self.hands: tuple[Item | None, Item | None] = (None, None)
        self.counters: dict[Cell, Item] = {}
        self.pots: dict[Cell, Pot] = {}

    def copy(self) -> KitchenObjects:
        """Return an independent copy, to try something out."""
        other = KitchenObjects(self.layout, self.starts_itself)
        other.hands, other.counters, other.pots = self.hands, dict(self.counters), dict(self.pots)
        return other

    def why_not(self, seat: int, ahead: Cell, clock: int) -> str:
        """Return the refusal code of an interact with this cell; empty if it would have an effect."""
        letter = self.layout.furniture.get(ahead)
        return self._WHY_NOT[letter](self, self.hands[seat], ahead, clock) if letter else "nothing_there"

    def act(self, seat: int, ahead: Cell, clock: int) -> InteractEffect | str:
        """Carry out an interact. Return its effect, or the refusal code."""
        why_not = self.why_not(seat, ahead, clock)
        return why_not or self._ACT[self.layout.furniture[ahead]](self, seat, ahead, clock)

    def _not_counter(self, held: Item | None, ahead: Cell, clock: int) -> str:
        if ahead in self.counters:
            return "place_taken" if held else ""
        return "" if held else "nothing_there"

    def _not_dispenser(self, held: Item | None, ahead: Cell, clock: int) -> str:
        return "hands_full" if held else ""

    def _not_serving(self, held: Item | None, ahead: Cell, clock: int) -> str:
        if held is None:
            return "hands_empty"
        return "not_a_soup" if isinstance(held, str) else ""

    def _not_pot(self, held: Item | None, ahead: Cell, clock: int) -> str:
        pot = self.pots.get(ahead)
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

    def _use_counter(self, seat: int, ahead: Cell, clock: int) -> InteractEffect:
        held = self.hands[seat]
        if held is None:
            taken = self.counters.pop(ahead)
            self._hold(seat, taken)
            return InteractEffect(TOOK, taken)
        self.counters[ahead] = held
        self._hold(seat, None)
        return InteractEffect(LAID, held)

    def _use_dispenser(self, seat: int, ahead: Cell, clock: int) -> InteractEffect:
        taken = DISPENSERS[self.layout.furniture[ahead]]
        self._hold(seat, taken)
        return InteractEffect(TOOK, taken)

    def _use_serving(self, seat: int, ahead: Cell, clock: int) -> InteractEffect:
        soup = self.hands[seat]
        self._hold(seat, None)
        assert isinstance(soup, tuple)  # noqa: S101 - `why_not` says so
        return InteractEffect(SERVED, soup, self.layout.points(soup))

    def _use_pot(self, seat: int, ahead: Cell, clock: int) -> InteractEffect:
        pot, held = self.pots.get(ahead, Pot(())), self.hands[seat]
        if held is None:
            self.pots[ahead] = Pot(pot.contents, clock)
            return InteractEffect(STARTED, pot.contents)
        if held == DISH:
            self._hold(seat, self.pots.pop(ahead).contents)
            return InteractEffect(FILLED, pot.contents)
        assert isinstance(held, str)  # noqa: S101 - `why_not` says so
        self.pots[ahead] = Pot(tuple(sorted((*pot.contents, held))))
        self._hold(seat, None)
        return InteractEffect(POTTED, held)

    _ACT: ClassVar[Mapping[str, Callable[[KitchenObjects, int, Cell, int], InteractEffect]]] = {
        COUNTER: _use_counter,
        POT: _use_pot,
        SERVING: _use_serving,
        **dict.fromkeys(DISPENSERS, _use_dispenser),
    }

    def cook(self, clock: int) -> Iterator[Event]:
        """End the step that has brought the clock here: start pots, and yield `started` and `ready`."""
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
        """Return the clock at which the next pot becomes ready; None if no pot cooks."""
        ends = (
            pot.started + self.layout.ticks(pot.contents)
            for pot in self.pots.values()
            if pot.started is not None
        )
        return min((end for end in ends if end > clock), default=None)

    def left(self, pot: Pot, clock: int) -> int | None:
        """Return the ticks until the pot is ready: 0 if it is, None if it is not started."""
        if pot.started is None:
            return None
        return max(0, self.layout.ticks(pot.contents) - (clock - pot.started))


def item_json(item: Item | None) -> Json:
    """Return the JSON form for pages, logs and stored states: null, a word, or `["soup", [ingredients]]`."""
    return ["soup", list(item)] if isinstance(item, tuple) else item
