"""Define `BlockScene`, the state of a world of blocks: its players, blocks and animals.

The class finds things, and lists what is near a player. It is the base class of the four worlds in which
commands last several steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import (
    AIR,
    EMPTY_BOUNDS,
    BlockGrid,
    BlockMap,
    Bounds,
    Cell,
    is_within,
    nearest_cell,
    picture_around,
    squared_distance,
    walked,
)
from kitchen.worlds.blocks.block_maps import Herd
from kitchen.worlds.blocks.blueprints import Blueprint, Comparison
from kitchen.worlds.blocks.furnace_rules import SMELTING_STEPS
from kitchen.worlds.blocks.item_recipes import (
    TABLE,
    Inventory,
    add_items,
    remove_items,
)

FURNACE, SMOKER, CHEST = "furnace", "smoker", "chest"
STATIONS = (TABLE, FURNACE, SMOKER, CHEST)
STATION_RANGE, SIGHT_RANGE = 32, 64
"""Distances within which a station, and everything else, is near."""
BLOCK_REACH, SEAT_REACH = 4.5, 3.0
SEAT_SPACING = 2
"""Distance between the starting cells of two seats."""


class BlockScene(SimpleWorld):
    """The state of a world of blocks: seats, their inventories, blocks, animals, a furnace and a chest."""

    steps_setting: ClassVar[str] = ""
    passes_by: ClassVar[bool] = True
    max_seats: ClassVar[int] = 5
    large: ClassVar[tuple[str, ...]] = ("changed",)
    state: ClassVar[tuple[str, ...]] = (
        *("at", "inventories", "macros", "digging", "changed", "hunted", "furnace", "chest"),
        *("gives", "items_given", "since"),
    )
    start: BlockMap
    """The blocks at the start; set by `set_up`."""
    blueprint: Blueprint | None = None
    collects: Mapping[str, tuple[str, Mapping[str, int]]] = {}
    """By kind of block: the item that it gives, and the steps with each tool (`hand`: without one)."""
    meat: Mapping[str, str] = {}
    """The meat of each kind of animal; empty if it gives none."""
    placeable: frozenset[str] = frozenset()
    """The items that `place` can put into the blueprint's box."""
    time_limit: int

    def set_up(self) -> list[Inventory]:
        """Read the task that the settings name, and set the map, the blueprint and the other attributes
        that depend on it. Return what each seat holds at the start."""
        raise NotImplementedError

    def begin(self) -> None:
        """Put every seat on its starting cell with its items. Empty the furnace and the chest."""
        self.inventories = [dict(items) for items in self.set_up()]
        self.at = [(SEAT_SPACING * seat, 0, 0) for seat in range(self.seats)]
        self.macros: list[dict[str, Json] | None] = [None] * self.seats
        """The macro in progress of each seat: `words`, how many blocks it took or placed, steps left."""
        self.digging: list[list[Json] | None] = [None] * self.seats
        """The block that each seat works on, and the steps that it has worked: [cell, steps]."""
        self.grid = BlockGrid(self.start)
        self.comparison = Comparison(self.blueprint, self.grid) if self.blueprint else None
        self.hunted: list[int] = []
        """The animals of the herd that are gone, by their place in it."""
        self.furnace: dict[str, Json] = {"fuel": 0, "job": None}
        """Smeltings in store, and the job: seat, product, n, left (steps)."""
        self.chest: Inventory = {}
        self.gives = 0
        """Number of macros that gave something."""
        self.items_given = 0
        self.since: list[dict[str, Json]] = [self._as_of_now(seat, None) for seat in range(self.seats)]
        """The last command of each seat, and what it held and had walked then."""
        self.sought: set[Cell] = set()
        """Cells that a seat's `build` or `place` is after in this step."""
        self.changes: list[tuple[Cell, str]] = []
        """Cells that changed in this step."""
        self.kills: list[tuple[str, Cell]] = []
        """Animals that were taken in this step."""

    @property
    def at(self) -> list[Cell]:
        """Return the cell of each seat."""
        return self._at

    @at.setter
    def at(self, value: Iterable[Iterable[int]]) -> None:
        self._at = [(x, y, z) for x, y, z in value]

    @property
    def changed(self) -> Mapping[str, Json]:
        """Return the cells that differ from the start map, by key, with their present blocks."""
        return self.grid.changed

    @changed.setter
    def changed(self, value: Mapping[str, Json]) -> None:
        self.grid = BlockGrid(self.start, value)
        self.comparison = Comparison(self.blueprint, self.grid) if self.blueprint else None

    def _as_of_now(self, seat: int, command: Command | None) -> dict[str, Json]:
        words = None if command is None else list(command)
        return {"command": words, "step": self.clock, "walked": 0, "held": dict(self.inventories[seat])}

    # What is where

    @property
    def herd(self) -> Herd:
        """Return the animals at the start of the episode, as (kind, cell)."""
        return ()

    @property
    def animals(self) -> list[tuple[str, Cell]]:
        """Return the animals that no seat has taken yet, as (kind, cell)."""
        return [each for number, each in enumerate(self.herd) if number not in self.hunted]

    @property
    def box(self) -> Bounds:
        """Return the box that contains the blueprint; empty if there is no blueprint."""
        return self.blueprint.box if self.blueprint else EMPTY_BOUNDS

    def is_blocked(self, seat: int, verb: str) -> bool:
        """Return whether the settings forbid this seat to use the macro with this verb."""
        return False

    def knows_blueprint(self, seat: int) -> bool:
        """Return whether this seat may see the blueprint."""
        return True

    def level_offered(self, seat: int) -> int | None:
        """Return the level of the blueprint of which the menu offers blocks to this seat: the lowest
        unfinished one. None if there is none."""
        return self.comparison.level if self.comparison else None

    def nearest_block(self, seat: int, kind: str) -> Cell | None:
        """Return the cell of the nearest block of this kind; None if none is near the seat.

        Near means within 32 cells for stations such as a chest, else within 64.
        """
        reach = STATION_RANGE if kind in STATIONS else SIGHT_RANGE
        return self.grid.nearest(kind, self.at[seat], reach)

    def nearest_animal(self, seat: int, kind: str) -> Cell | None:
        """Return the cell of the nearest animal of this kind; None if there is none within 64 cells of the
        seat."""
        cells = (cell for each, cell in self.animals if each == kind)
        return nearest_cell(cells, self.at[seat], SIGHT_RANGE)

    def is_seat(self, seat: int, other: int) -> bool:
        """Return whether `other` is the number of another seat in this game."""
        return 0 <= other < self.seats and other != seat

    def has_table(self, seat: int) -> bool:
        """Return whether the seat holds a workbench (`crafting_table`), or one is within 32 cells."""
        return TABLE in self.inventories[seat] or self.nearest_block(seat, TABLE) is not None

    def missing_blocks(self, seat: int, level: int) -> Iterator[Cell]:
        """Yield the cells of a blueprint level that are still empty and whose material the seat holds, in
        order of z, then x."""
        if self.blueprint:
            held, block_at = self.inventories[seat], self.grid.block
            for cell, block in self.blueprint.levels[level].items():
                if block in held and block_at(cell) == AIR:
                    yield cell

    # Changes

    def step_towards(self, seat: int, goal: Cell, reach: float) -> bool:
        """Move a seat towards `goal` for one step. Return whether the goal is then within `reach`."""
        self.at[seat], moves = walked(self.at[seat], goal, reach)
        self.since[seat]["walked"] += moves
        return is_within(self.at[seat], goal, reach)

    def put_block(self, cell: Cell, block: str) -> None:
        """Put a block into a cell, or empty the cell (`air`), and update the comparison with the
        blueprint."""
        self.grid.put(cell, block)
        self.changes.append((cell, block))
        if self.comparison:
            self.comparison.update(cell, block)

    def take_animal(self, kind: str, cell: Cell) -> None:
        """Remove the animal of this kind from this cell."""
        self.hunted.append(self.herd.index((kind, cell)))
        self.kills.append((kind, cell))

    def hand_over(self, seat: int, other: int, item: str, amount: int) -> None:
        """Move items from the inventory of `seat` to the inventory of `other`, and count the gift."""
        remove_items(self.inventories[seat], {item: amount})
        add_items(self.inventories[other], {item: amount})
        self.gives += 1
        self.items_given += amount

    def start_furnace(self, seat: int, product: str, amount: int, store: float) -> None:
        """Start the furnace. When it is ready, this seat gets `amount` of `product`. `store` is the fuel
        that remains in the furnace, as a number of smeltings."""
        steps = amount * SMELTING_STEPS
        job = {"seat": seat, "product": product, "n": amount, "left": steps}
        self.furnace = {"fuel": store, "job": job}

    # What a seat sees

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the observation of this seat: its own state, the positions of all seats, what is near,
        and the effect of the seat's last command."""
        macro = self.macros[seat]
        return {
            "step": self.clock,
            "steps_left": max(0, self.time_limit - self.clock),
            "at": list(self.at[seat]),
            "inventory": dict(sorted(self.inventories[seat].items())),
            "doing": None if macro is None else list(macro["words"]),
            "steps_of_doing": self._steps_of(seat, macro),
            "seats": [{"seat": each, "at": list(cell)} for each, cell in enumerate(self.at)],
            "stations": self._stations(seat),
            "near": self._near(seat),
            "since": self._since(seat),
        }

    def picture(self, seat: int) -> dict[str, Json]:
        """Return the blocks and animals around this seat, and where it can build with what it holds."""
        picture = picture_around(self.grid, self.animals, self.at[seat])
        if self.blueprint:
            picture["box"] = [list(corner) for corner in self.box]
            picture["placeable"] = sorted(self.placeable & self.inventories[seat].keys())
        return picture

    def _steps_of(self, seat: int, macro: Mapping[str, Json] | None) -> int | None:
        """Return the number of steps that the seat's macro will still take. Return None if the number is
        unknown."""
        job = self.furnace["job"]
        if macro is None:
            return None
        if macro["smelts"] and job:
            return int(job["left"])
        left: int | None = macro["left"]
        return left

    def _stations(self, seat: int) -> list[dict[str, Json]]:
        job = self.furnace["job"]
        return [
            {"kind": kind, "at": list(cell), "used_by": job["seat"] if job and kind == FURNACE else None}
            for kind in STATIONS
            if (cell := self.grid.nearest(kind, self.at[seat], SIGHT_RANGE))
        ]

    def _near(self, seat: int) -> list[dict[str, Json]]:
        """Return the kinds of block and animal within sight of the seat. Each entry has the kind, its
        nearest cell, and how many there are."""
        here = self.at[seat]
        found = [
            (kind, cell, self.grid.count(kind, here, SIGHT_RANGE))
            for kind in self.grid.kinds()
            if kind not in STATIONS and (cell := self.grid.nearest(kind, here, SIGHT_RANGE))
        ]
        for kind in sorted(self.meat):
            if cell := self.nearest_animal(seat, kind):
                near = sum(one == kind and is_within(at, here, SIGHT_RANGE) for one, at in self.animals)
                found.append((kind, cell, near))
        found.sort(key=lambda each: squared_distance(each[1], here))
        return [{"kind": kind, "at": list(cell), "count": count} for kind, cell, count in found]

    def _since(self, seat: int) -> dict[str, Json]:
        """Return the effect of the seat's last command: the steps taken, the cells walked, and the items
        gained and lost."""
        since, now = self.since[seat], self.inventories[seat]
        items = sorted({*since["held"], *now})
        changes = {item: now.get(item, 0) - since["held"].get(item, 0) for item in items}
        return {
            "command": since["command"],
            "steps": self.clock - since["step"],
            "walked": since["walked"],
            "gained": {item: amount for item, amount in changes.items() if amount > 0},
            "lost": {item: -amount for item, amount in changes.items() if amount < 0},
        }
