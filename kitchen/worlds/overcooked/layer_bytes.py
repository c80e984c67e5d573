"""Compute the 26 layers of Overcooked-AI, and masks, from a world's state.

This is much faster than from the observation, so environments use it. The numbers equal those of
`kitchen.worlds.overcooked.lossless_encoding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from kitchen.worlds.overcooked.game_rules import INTERACT, Item, KitchenObjects, Pose
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
from kitchen.worlds.overcooked.layout import Layout
from kitchen.worlds.overcooked.world import Overcooked

OWN_FACE = {face: FACING[0] + number for number, face in enumerate(FACES)}
OTHER_FACE = {face: FACING[1] + number for number, face in enumerate(FACES)}


def layers_of_state(world: Overcooked, seats: Iterable[int]) -> Iterator[bytearray]:
    """Yield the layers that each of these seats sees now, as the bytes of an array (width, height, 26)."""
    stands, things = world.parts()
    layout, clock = world.layout, world.clock
    height = len(layout.rows)
    shared = bytearray(_template(layout, world.length - clock < URGENT_TICKS))
    _write_things(shared, things, layout, clock)
    starts = [(stand.at[0] * height + stand.at[1]) * LAYERS for stand in stands]
    for start, held in zip(starts, things.hands, strict=True):
        if held is not None:
            _write_loose(shared, start, held)
    for seat in seats:
        yield _with_cooks(bytearray(shared), starts, stands, seat)


def _with_cooks(layers: bytearray, starts: list[int], stands: tuple[Pose, Pose], seat: int) -> bytearray:
    own, other = starts[seat], starts[1 - seat]
    layers[own + HERE[0]] = 1
    layers[own + OWN_FACE[stands[seat].face]] = 1
    layers[other + HERE[1]] = 1
    layers[other + OTHER_FACE[stands[1 - seat].face]] = 1
    return layers


@lru_cache(maxsize=256)
def _template(layout: Layout, urgent: bool) -> bytes:
    """Return the bytes of all layers that this layout alone decides."""
    array = fixed_layers(layout.rows).copy()
    array[..., URGENT] = urgent
    return array.tobytes()


def _write_loose(layers: bytearray, start: int, thing: Item) -> None:
    """Write a thing that is held or lies on a counter. `start` is the place of its cell."""
    if isinstance(thing, str):
        layers[start + LOOSE[thing]] = 1
        return
    for name, layer in IN_SOUP.items():
        layers[start + layer] = thing.count(name)
    layers[start + SOUP_DONE] = 1


def _write_things(layers: bytearray, things: KitchenObjects, layout: Layout, clock: int) -> None:
    height = len(layout.rows)
    for (x, y), item in things.counters.items():
        _write_loose(layers, (x * height + y) * LAYERS, item)
    for (x, y), pot in things.pots.items():
        start = (x * height + y) * LAYERS
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
