"""The others in the kitchen, people above all: what they mean to do, and for how long to believe it.

What somebody holds or stands at is taken as their goal. Who does not stir for some steps is no longer
waited for; the next movement restores the belief.
"""

from __future__ import annotations

from collections.abc import Collection

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.planner.book import Book
from kitchen.worlds.cuisine.planner.scene import Scene

BELIEF = 4
"""Steps without a movement after which somebody is no longer waited for."""

Seen = list[list[Json]]
"""One [seat, place, thing held, steps unchanged] for each of the others, as kept in the memory."""


def watch(book: Book, scene: Scene, ours: Collection[int], before: Seen) -> Seen:
    """How long each of the others has stood as they stand now; commands of this step are in the scene."""
    last = {seat: (place, thing, steps) for seat, place, thing, steps in before}
    seen: Seen = []
    for seat, agent in enumerate(scene.agents):
        if seat in ours:
            continue
        place = book.places[agent.at]
        was = last.get(seat)
        same = was is not None and was[:2] == (place, agent.holds)
        seen.append([seat, place, agent.holds, was[2] + 1 if was is not None and same else 0])
    return seen


def forget_the_idle(scene: Scene, seen: Seen) -> set[int]:
    """Take what the long unmoved hold out of the scene, so that nothing waits for it; who they are."""
    absent = {seat for seat, _, _, steps in seen if steps >= BELIEF}
    for seat in absent:
        scene.agents[seat].holds = None
    return absent
