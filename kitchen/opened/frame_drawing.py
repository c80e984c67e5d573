"""Draw the frames (images) of worlds in a child process, which keeps the environments that it has drawn.

Drawing libraries such as pygame cannot be used by several threads, and drawing takes milliseconds. So a
process that serves pages or runs a clock asks its one child. The child plays each step again, and keeps
the last `MOST_KEPT` environments from frame to frame. It imports an environment's libraries, which takes
seconds, as soon as a game of its world is played anywhere (`warm_up`): if a clock process fails, the child of
another one can draw at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from concurrent.futures import Future

from kitchen.contract.world import Json, World
from kitchen.infra.process_pool import ChildLimits, ProcessPool
from kitchen.registry.world_registry import get_world

MOST_KEPT = 64
"""Number of environments that the child keeps."""
WAITING_FRAMES = 40
"""Number of frames that may wait. Further ones are refused, and their pages keep the frame before."""
LIMITS = ChildLimits(seconds=30.0)
"""A frame may take seconds after a restart, when its whole episode is played again. The child has the same
claim to the processor as a clock: with less, a busy machine would leave it behind the steps, which it has to
play again as well, and people would not see what they play."""

_pool = ProcessPool(lambda: 1, waiting=WAITING_FRAMES, limits=LIMITS)
_warmed: set[str] = set()
"""Kinds of worlds that the child has been asked to load."""
os.register_at_fork(after_in_child=_pool.forget)
os.register_at_fork(after_in_child=_warmed.clear)
_kept: list[World] = []
"""In the child: the worlds drawn last that have an environment, the newest at the end."""


def submit_frame(kind: str, state: Mapping[str, Json]) -> Future[bytes]:
    """Draw the frame of a world's state (`World.to_dict`) in the child process. Return a future of the image
    file. Raises BusyError if too many frames wait."""
    return _pool.submit(draw_frame, kind, state)


def warm_up(kind: str) -> None:
    """Let the child process load what the frames of this world need, in the background. Do nothing if it was
    asked before, or if the world draws none."""
    if kind in _warmed:
        return
    _warmed.add(kind)
    with contextlib.suppress(Exception):  # of a broken world: its own games report it
        if get_world(kind).draws_frames:
            _pool.submit(load_world, kind)


def load_world(kind: str) -> None:
    """Draw a first frame of this world in this process, which imports all that frames need."""
    made = get_world(kind)
    made.create(seats=made.min_seats, settings={}).frame()


def draw_frame(kind: str, state: Mapping[str, Json]) -> bytes:
    """Return the frame of this state as a file, in this process. Raises StateError if the state cannot be
    read."""
    world = get_world(kind).from_dict(state)
    for place in reversed(range(len(_kept))):
        if world.take_over(_kept[place]):
            del _kept[place]  # it has no environment now
            break
    drawn = world.frame()
    _kept.append(world)
    del _kept[:-MOST_KEPT]
    return drawn
