"""Every order can be cooked in every room, and the benchmark's rooms are the default."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kitchen.worlds.collab_overcooked import page
from kitchen.worlds.collab_overcooked.order_tasks import LEVELS, tasks
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner
from kitchen.worlds.collab_overcooked.reference_trajectories import ReferencePair, references
from kitchen.worlds.collab_overcooked.room_layout import (
    LAYOUTS,
    OWN_PLACES,
    PLACE_LETTERS,
    RELEASED,
    ROOM_COLUMNS,
    SEATS,
    SERVING,
    layout_of,
)
from kitchen.worlds.collab_overcooked.settings import LAYOUT_LABELS
from tests.films.__main__ import covers_of
from tests.kitchen.worlds.collab_overcooked.games import agents_loop, game, play_on

LARGEST_PICTURE = 20_000
OURS = [name for name in LAYOUTS if name != RELEASED]
FIRST_OF_LEVEL = {task.level: name for name, task in reversed(list(tasks().items()))}


def test_the_rooms_of_the_benchmark_are_the_default() -> None:
    assert game("boiled_egg").layout is LAYOUTS[RELEASED]
    assert [name for name, _ in LAYOUT_LABELS] == list(LAYOUTS)


def test_the_pictures_of_all_rooms_can_be_taken_again() -> None:
    static, taken = Path(page.__file__).with_name("static"), list(covers_of("collab"))
    for (_, study, out), name in zip(taken, LAYOUTS, strict=True):
        assert tomllib.loads(study)["world"]["settings"]["layout"] == name
        assert out == static / PAGE.cover_of({"layout": name})
    assert {tomllib.loads(study)["slug"] for _, study, _ in taken} == {slug for slug, _, _ in taken}


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_cook_reaches_its_own_places(name: str) -> None:
    layout = layout_of(game("boiled_egg", layout=name).brief(1))
    assert layout == LAYOUTS[name] and layout.places.keys() == set(PLACE_LETTERS.values())
    for seat, x in enumerate(ROOM_COLUMNS):
        own = {place for place, cell in layout.places.items() if abs(cell[0] - x) <= 1}
        assert own == OWN_PLACES[seat] - {"counter"} | ({SERVING} if seat == 0 else set())
        assert layout.shared and len(layout.own[seat]) >= 1
    assert sorted(layout.counters) == sorted({*layout.shared, *layout.own[0], *layout.own[1]})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_pair_of_rooms_has_a_picture_of_its_own(layout: str) -> None:
    picture = Path(page.__file__).with_name("static") / PAGE.cover_of({"layout": layout})
    assert picture.stat().st_size < LARGEST_PICTURE
    assert (PAGE.cover_of({"layout": layout}) == PAGE.cover_of({})) == (layout == RELEASED)


@pytest.mark.parametrize("layout", OURS)
@pytest.mark.parametrize("task", tasks())
def test_every_dish_can_be_delivered_in_time_in_every_room(task: str, layout: str) -> None:
    """By one of the known good sequences: with two shared counters, another order of the things may block."""
    assert any(is_delivered(task, layout, pair) for pair in references(task))


def is_delivered(task: str, layout: str, pair: ReferencePair) -> bool:
    world, left = game(task, layout=layout), [list(pair.of_seat(seat)) for seat in SEATS]
    while not world.has_ended:
        able = [seat for seat in SEATS if world.doing[seat] is None and left[seat]]
        world.step({seat: left[seat].pop(0) for seat in able if world.allows(seat, left[seat][0])})
    return world.delivered


@pytest.mark.parametrize("layout", OURS)
@pytest.mark.parametrize("level", LEVELS[-3:])
def test_the_stand_ins_cook_in_every_room(level: int, layout: str) -> None:
    agent = RecipePartner({})
    assert play_on(agents_loop(FIRST_OF_LEVEL[level], agent, layout=layout), agent).delivered
