"""Compute the 26 layers of Overcooked-AI, and masks, from a world's state.

This is much faster than from the observation, so environments use it. The numbers equal those of
`kitchen.worlds.overcooked.lossless_encoding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kitchen.worlds.overcooked.game_rules import INTERACT, Item, KitchenObjects
from kitchen.worlds.overcooked.layer_numbers import (
    FACES,
    FACING,
    HERE,
    IN_POT,
    IN_SOUP,
    LARGEST,
    LAYERS,
    LOOSE,
    SOUP_DONE,
    TIME_LEFT,
    URGENT,
    URGENT_TICKS,
    fixed_layers,
)
from kitchen.worlds.overcooked.layout import Cell, Layout
from kitchen.worlds.overcooked.world import Overcooked

OWN_FACE = {face: FACING[0] + number for number, face in enumerate(FACES)}
OTHER_FACE = {face: FACING[1] + number for number, face in enumerate(FACES)}


class LayerPlan:
    """What a layout alone decides: the bytes of the layers without and with urgency, and the place of each
    cell in them."""

    __slots__ = ("plain", "size", "start", "urgent")

    def __init__(self, layout: Layout) -> None:
        array = fixed_layers(layout.rows).copy()
        self.plain = array.tobytes()
        array[..., URGENT] = 1
        self.urgent = array.tobytes()
        self.size, height = array.size, len(layout.rows)
        self.start: Mapping[Cell, int] = {
            (x, y): (x * height + y) * LAYERS for y, row in enumerate(layout.rows) for x in range(len(row))
        }


plan_of = lru_cache(maxsize=256)(LayerPlan)


def write_layers(world: Overcooked, seats: Iterable[int], flat: memoryview) -> None:
    """Write the layers that each of these seats sees now into `flat`, as the bytes of arrays (width, height,
    26)."""
    poses, things = world.parts()
    plan, clock = plan_of(world.layout), world.clock
    shared = bytearray(plan.urgent if world.length - clock < URGENT_TICKS else plan.plain)
    starts = plan.start[poses[0].at], plan.start[poses[1].at]
    _write_things(shared, plan.start, things, world.layout, clock)
    for start, held in zip(starts, things.hands, strict=True):
        if held is not None:
            _write_loose(shared, start, held)
    first = 0
    for seat in seats:
        own, other = first + starts[seat], first + starts[1 - seat]
        flat[first : first + plan.size] = shared
        flat[own + HERE[0]] = flat[own + OWN_FACE[poses[seat].face]] = 1
        flat[other + HERE[1]] = flat[other + OTHER_FACE[poses[1 - seat].face]] = 1
        first += plan.size


def _write_loose(layers: bytearray, start: int, thing: Item) -> None:
    """Write a thing that is held or lies on a counter. `start` is the place of its cell."""
    if isinstance(thing, str):
        layers[start + LOOSE[thing]] = 1
        return
    for name, layer in IN_SOUP.items():
        layers[start + layer] = thing.count(name)
    layers[start + SOUP_DONE] = 1


def _write_things(
    layers: bytearray, starts: Mapping[Cell, int], things: KitchenObjects, layout: Layout, clock: int
) -> None:
    for cell, item in things.counters.items():
        _write_loose(layers, starts[cell], item)
    for cell, pot in things.pots.items():
        start = starts[cell]
        for name, layer in (IN_POT if pot.started is None else IN_SOUP).items():
            layers[start + layer] = pot.contents.count(name)
        if pot.started is not None:
            left = max(0, pot.started + layout.ticks(pot.contents) - clock)
            layers[start + TIME_LEFT] = min(left, LARGEST)
            layers[start + SOUP_DONE] = not left


def may_interact(world: Overcooked, seat: int) -> bool:
    """Return whether `interact` is legal for this seat now, or becomes legal if the other seat acts first.
    The episode must not be over."""
    stands, things = world.parts()
    ahead = stands[seat].ahead
    if not things.why_not(seat, ahead, world.clock):
        return True
    return seat == 1 and ahead == stands[0].ahead and INTERACT in world.anticipated_actions(1)
