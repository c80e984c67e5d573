"""Compute the facts that decide which skills (actions of several steps) an Overcooked cook can begin.

These are the places that the cook can reach, and the things that lie around, cook or are missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kitchen.contract.agent_skills import SeatObservation
from kitchen.worlds.overcooked.game_rules import Item
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DISPENSERS,
    POT,
    POT_CAPACITY,
    SERVING,
    Cell,
    Layout,
    cells_in_reach,
)
from kitchen.worlds.overcooked.partners.grid_snapshot import GridScene, TaskBoard, scene_from_observation
from kitchen.worlds.overcooked.partners.path_finding import pose_graph_of
from kitchen.worlds.overcooked.skill_names import SOUP

NEEDED_FURNITURE = (*DISPENSERS, POT, SERVING)
"""Letters of furniture that is needed to serve a soup. Only those that the layout has are used."""


@dataclass(frozen=True, slots=True)
class SkillMoment:
    """The current state of the grid from the point of view of one seat."""

    scene: GridScene
    seat: int

    @classmethod
    def of(cls, sight: SeatObservation, seat: int | None = None) -> SkillMoment:
        """Return the state that `sight` shows, as seen from `seat`. None means the seat of `sight`."""
        return cls(scene_from_observation(sight.brief, sight.seen), sight.seat if seat is None else seat)

    @property
    def layout(self) -> Layout:
        """Return the layout of the episode."""
        return self.scene.layout

    @property
    def held(self) -> Item | None:
        """Return the thing that the seat holds; None if its hands are empty."""
        return self.scene.hands[self.seat]

    def reached(self, cells: Iterable[Cell], seat: int | None = None) -> list[Cell]:
        """Return the cells of `cells` that a seat can get to and face. The other seat is ignored as an
        obstacle.

        `seat` None means this object's seat.
        """
        at = self.scene.at[self.seat if seat is None else seat]
        near = cells_in_reach(self.layout, at)
        return [cell for cell in cells if cell in near]

    def shared(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells of `cells` that both seats can get to and face."""
        return self.reached(self.reached(cells), 1 - self.seat)

    def sources(self, thing: str) -> list[Cell]:
        """Return the cells where the seat can take this item: dispensers and counters.

        `SOUP` means a soup of any kind on a counter.
        """
        if thing == SOUP:
            return self.reached(cell for cell, what in self.scene.counters.items() if isinstance(what, tuple))
        return self.reached(self.scene.sources(thing))

    def counters(self) -> list[Cell]:
        """Return all counters that the seat can reach."""
        return self.reached(self.layout.places(COUNTER))

    def free_counters(self) -> list[Cell]:
        """Return the reachable counters that are empty."""
        return [cell for cell in self.counters() if cell not in self.scene.counters]

    def pots(self) -> list[Cell]:
        """Return all pots that the seat can reach."""
        return self.reached(self.layout.places(POT))

    def open_pots(self) -> list[Cell]:
        """Return the reachable pots that are neither full nor started."""
        held = {cell: len(pot.contents) for cell, pot in self.scene.pots.items()}
        return [cell for cell in self.pots() if self._left(cell) is None and held.get(cell, 0) < POT_CAPACITY]

    def started_pots(self) -> list[Cell]:
        """Return the reachable pots that cook or are ready."""
        return [cell for cell in self.pots() if self._left(cell) is not None]

    def startable_pots(self) -> list[Cell]:
        """Return the reachable pots that hold an ordered soup and need a command to start."""
        if self.scene.starts_itself:
            return []
        held = {cell: pot.contents for cell, pot in self.scene.pots.items() if pot.left is None}
        return [cell for cell in self.pots() if held.get(cell) in self.layout.orders]

    def serving(self) -> list[Cell]:
        """Return the serving places that the seat can reach."""
        return self.reached(self.layout.places(SERVING))

    @property
    def is_parted(self) -> bool:
        """Return whether the seats can work together only over counters. This is so if one of them cannot
        reach everything that a soup needs."""
        places = [self.layout.places(letter) for letter in NEEDED_FURNITURE]
        return any(not self.reached(cells, seat) for cells in places if cells for seat in (0, 1))

    def missing(self) -> list[str]:
        """Return the ingredients that pots still need before they are started. Ingredients that the seats
        already hold are left out."""
        ground = pose_graph_of(self.layout)
        poses = [ground.pose(*pose) for pose in zip(self.scene.at, self.scene.face, strict=True)]
        board = TaskBoard(self.scene, (ground, ground), (poses[0], poses[1]))
        lacking = board.all_missing()
        for held in self.scene.hands:
            if held in lacking:
                lacking.remove(held)
        return lacking

    def _left(self, cell: Cell) -> int | None:
        return self.scene.pots[cell].left if cell in self.scene.pots else None
