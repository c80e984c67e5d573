"""Generate a building's blueprint (building plan) from its name, which has five numbers.

The buildings have rooms, windows, carpets and doors. The name is
`materials_M_rooms_R_window_W_carpet_C_variant_V`, with M, R, W and C from 0 to 2, and V from 0 to
9999. The parameters are those of MINDcraft's construction tasks. The buildings are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random

from kitchen.worlds.blocks.block_grid import AIR, Cell

NAME_PATTERN = re.compile(
    r"materials_([0-2])_rooms_([0-2])_window_([0-2])_carpet_([0-2])_variant_(0|[1-9][0-9]{0,3})"
)
ROOM_COUNTS = (4, 6, 8)
MATERIALS = ("stone", "terracotta", "quartz_block", "copper_block", "purpur_block")
CARPET_COLOURS = ("blue", "cyan", "light_blue", "lime")
CARPET_SHARES = (0.0, 0.3, 0.7)
WINDOW_SHARE = 0.8
TRIES = 150
DOOR, GLASS, STONE = "dark_oak_door", "glass", "stone"
Levels = list[list[list[str]]]


@dataclass(frozen=True, slots=True)
class Room:
    """A box-shaped room: its low corner, size and material. `side` is the side of the previous room to
    which this room is attached; empty for the first room."""

    x: int
    y: int
    z: int
    length: int
    width: int
    height: int
    material: str
    side: str = ""

    @property
    def far(self) -> Cell:
        """Return the corner with the highest x, y and z."""
        return self.x + self.length - 1, self.y + self.height - 1, self.z + self.width - 1

    def cells(self) -> Iterator[Cell]:
        """Yield all cells of the room, ordered by y, then z, then x."""
        far_x, far_y, far_z = self.far
        for y, z, x in product(range(self.y, far_y + 1), range(self.z, far_z + 1), range(self.x, far_x + 1)):
            yield x, y, z

    def is_on_face(self, cell: Cell) -> bool:
        """Return whether a cell of the room belongs to one of its six outer faces."""
        return any(
            each in ends
            for each, ends in zip(cell, zip((self.x, self.y, self.z), self.far, strict=True), strict=True)
        )


@dataclass(slots=True)
class Building:
    """A cube of cells that the generator fills with rooms. `side` is its length in cells; `window` and
    `carpet` are styles. `rooms` are those built so far."""

    chance: Random
    side: int
    window: int
    carpet: int
    levels: Levels = field(default_factory=list)
    rooms: list[Room] = field(default_factory=list)

    def __post_init__(self) -> None:
        for y in range(self.side):
            block = AIR if y else STONE
            self.levels.append([[block] * self.side for _ in range(self.side)])

    def pick(self, count: int) -> int:
        """Return a random whole number from 0 to `count` - 1."""
        return int(self.chance.random() * count)

    def get(self, cell: Cell) -> str:
        """Return the block in a cell."""
        x, y, z = cell
        return self.levels[y][z][x]

    def put(self, cell: Cell, block: str) -> None:
        """Put a block into a cell."""
        x, y, z = cell
        self.levels[y][z][x] = block

    def draw_room(self, materials: tuple[str, ...]) -> Room | None:
        """Return a random room that fits next to the room built last, or anywhere if there is none. Return
        None if no attempt succeeds."""
        last = self.rooms[-1] if self.rooms else None
        for _ in range(TRIES):
            material = materials[self.pick(len(materials))]
            size = 5 + self.pick(5), 5 + self.pick(5), 4 + self.pick(2)
            room = self._beside(last, size, material) if last else self._first(size, material)
            if self._fits(room):
                return room
        return None

    def _first(self, size: tuple[int, int, int], material: str) -> Room:
        length, width, height = size
        x = 1 + self.pick(self.side - length - 1)
        return Room(x, 0, 1 + self.pick(self.side - width - 1), length, width, height, material)

    def _beside(self, last: Room, size: tuple[int, int, int], material: str) -> Room:
        length, width, _ = size
        draw = self.chance.random()
        far_x, far_y, far_z = last.far
        places = (
            (0.15, "above", (last.x, far_y, last.z)),
            (0.3, "left", (last.x - length + 1, last.y, last.z)),
            (0.45, "right", (far_x, last.y, last.z)),
            (0.6, "forward", (last.x, last.y, far_z)),
            (0.75, "backward", (last.x, last.y, last.z - width + 1)),
            (1.0, "left", (last.x - length + 1, last.y, last.z)),
        )
        _, side, corner = next(place for place in places if draw <= place[0])
        return Room(*corner, *size, material, side)

    def _fits(self, room: Room) -> bool:
        inside = min(room.x, room.y, room.z) >= 0 and max(room.far) < self.side
        return inside and all(room.is_on_face(cell) or self.get(cell) == AIR for cell in room.cells())

    def build(self, room: Room) -> None:
        """Put the walls, windows, carpet and doors of a room into the cube, and add the room to `rooms`. The
        first room gets no carpet."""
        last = self.rooms[-1] if self.rooms else None
        for cell in room.cells():
            x, y, z = cell
            if y == 0:
                continue
            is_covered_floor = y == room.y and self.get((x, y - 1, z)) != AIR
            self.put(cell, room.material if room.is_on_face(cell) and not is_covered_floor else AIR)
        self._windows(room)
        if last:
            self._lay_carpet(room)
        for bottom in _doors(room, last):
            self._door(room, bottom)
        self.rooms.append(room)

    def _windows(self, room: Room) -> None:
        if not self.window:
            return
        far_x, far_y, far_z = room.far
        heights = (room.y + 1, room.y + 2) if self.window == 1 else range(room.y + 1, far_y)
        for length, start, walls in (
            (room.width, room.z, [(room.x, None), (far_x, None)]),
            (room.length, room.x, [(None, room.z), (None, far_z)]),
        ):
            if self.chance.random() >= WINDOW_SHARE:
                continue
            first = start + length // 2 - 1
            columns = range(first, first + 3) if self.window == 1 else range(start + 1, start + length - 1)
            for (x, z), y, column in product(walls, heights, columns):
                cell = (column if x is None else x, y, column if z is None else z)
                if self.get(cell) == room.material:
                    self.put(cell, GLASS)

    def _lay_carpet(self, room: Room) -> None:
        if not self.carpet:
            return
        far_x, _, far_z = room.far
        for z, x in product(range(room.z + 1, far_z), range(room.x + 1, far_x)):
            floor = room.y if self.get((x, room.y, z)) != AIR else room.y - 1
            if floor < 0 or self.get((x, floor, z)) == AIR or self.get((x, floor + 1, z)) != AIR:
                continue
            if self.chance.random() < CARPET_SHARES[self.carpet]:
                colour = CARPET_COLOURS[self.pick(len(CARPET_COLOURS))]
                self.put((x, floor + 1, z), f"{colour}_carpet")

    def _door(self, room: Room, bottom: Cell) -> None:
        x, y, z = bottom
        if y:
            self.put(bottom, room.material)
        for above in (1, 2):
            self.put((x, y + above, z), DOOR)


def _doors(room: Room, last: Room | None) -> list[Cell]:
    """Return the cells in which the lower halves of a room's doors are. `last` is the previous room of the
    building, or None for the first room. The first room has four doors. A later room has one, in the wall
    that it shares with the previous room."""
    wall = last or room
    far_x, _, far_z = wall.far
    x, z = wall.x + wall.length // 2, wall.z + wall.width // 2
    doors = {
        "left": (wall.x, wall.y, z),
        "right": (far_x, wall.y, z),
        "forward": (x, wall.y, far_z),
        "backward": (x, wall.y, wall.z),
    }
    if last is None:
        return [doors[side] for side in ("left", "right", "backward", "forward")]
    return [doors[room.side]] if room.side in doors else []


def generate_building(name: str) -> Building:
    """Return the building with this name. Raises LookupError if the name does not match `NAME_PATTERN`.

    Where no attempt to place a room succeeds, the building has fewer rooms than its name asks for.
    """
    match = NAME_PATTERN.fullmatch(name)
    if not match:
        raise LookupError(name)
    materials, rooms, window, carpet, variant = map(int, match.groups())
    seed = f"blocks:{materials}:{rooms}:{window}:{carpet}:{variant}"
    side = 10 + 5 * (ROOM_COUNTS[rooms] // 4)
    building = Building(Random(seed), side, window, carpet)  # noqa: S311 - not for secrets
    for _ in range(ROOM_COUNTS[rooms]):
        room = building.draw_room(MATERIALS[: materials + 2])
        if not room:
            break
        building.build(room)
    return building


def generate_levels(name: str) -> Levels:
    """Return the blueprint with this name as levels[y][z][x] of block names, from the ground up. Raises
    LookupError as `generate_building`."""
    return generate_building(name).levels
