"""Blocks in cells: the nearest of a kind, walks, and large states."""

from __future__ import annotations

from random import Random
from time import perf_counter

from kitchen.worlds.blocks.block_grid import BlockGrid, BlockMap, Bounds, Cell, nearest_cell, walked
from kitchen.worlds.blocks.gather_world import Gather
from tests.kitchen.worlds.blocks.games import game

AREA = Bounds((-64, 0, -64), (64, 3, 64))


def test_a_walk_takes_the_largest_difference_first_ties_x_then_z_then_y() -> None:
    assert walked((0, 0, 0), (3, 3, 3), 0, 1) == ((1, 0, 0), 1)
    assert walked((1, 0, 0), (3, 3, 3), 0, 1) == ((1, 0, 1), 1)
    assert walked((0, 0, 0), (-14, 0, -17), 4.5) == ((-1, 0, -3), 4)
    assert walked((0, 0, 0), (5, 0, 0), 4.5) == ((1, 0, 0), 1), "it stops within reach"


def test_the_index_finds_and_counts_what_a_search_of_all_cells_does() -> None:
    chance = Random(1)
    cells = [(chance.randint(-20, 20), chance.randint(0, 3), chance.randint(-20, 20)) for _ in range(300)]
    grid = BlockGrid(BlockMap.of(dict.fromkeys(cells[:200], "stone"), AREA))
    present = set(cells[:200])
    for number, cell in enumerate(cells):
        grid.put(cell, "air" if number % 3 else "stone")
        (present.discard if number % 3 else present.add)(cell)
        origin: Cell = cells[-number]
        for reach in (3, 9.5, 64):
            assert grid.nearest("stone", origin, reach) == nearest_cell(present, origin, reach)
        for reach in (9.5, 64):
            near = [each for each in present if nearest_cell([each], origin, reach)]
            assert grid.count("stone", origin, reach) == len(near)


def test_only_what_differs_from_the_map_is_stored_and_a_stored_grid_is_the_same() -> None:
    world = game("gather")
    assert world.to_dict()["changed"] == {}
    world.put_block((20, 0, 0), "air")
    world.put_block((20, 9, 0), "dirt")
    again = Gather.from_dict(world.to_dict())
    assert again.grid.changed == {"20,0,0": "air", "20,9,0": "dirt"}
    assert again.nearest_block(0, "dirt") == (20, 9, 0) and again.grid.block((20, 0, 0)) == "air"
    again.put_block((20, 0, 0), "stone")
    again.put_block((20, 9, 0), "air")
    assert again.grid.changed == {} and again.state_hash() == game("gather").state_hash()


def test_a_step_and_its_stored_changes_cost_no_more_with_20_000_blocks() -> None:
    small, large = (milliseconds_of_a_step(blocks) for blocks in (200, 20_000))
    assert large < 5 * small + 1, f"{small:.2f} ms and {large:.2f} ms"


def milliseconds_of_a_step(blocks: int) -> float:
    """The least time of a step that takes a block, with what is seen, and with the changes of the state."""
    world = game("gather", {"stone_pickaxe": 1}, seats=1)
    for number in range(blocks):
        world.put_block((20 + number % 40, number // 1600, -20 + number // 40 % 40), "stone")
    world.at = [(19, 0, 0)]
    before, times = world.frozen_state(), []
    world.step({0: ("collect", "stone", "9")})
    for _ in range(8):
        start = perf_counter()
        world.step({})
        world.observe(0)
        after = world.frozen_state()
        changes = after.parts["changed"].changes_since(before.parts["changed"])
        times.append(1000 * (perf_counter() - start))
        assert changes is not None and changes.length < 60
        before = after
    return min(times)
