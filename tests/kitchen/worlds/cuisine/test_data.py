"""Data files: what they hold, and how a wrong one is refused."""

from __future__ import annotations

import dataclasses
import shutil
import warnings
from pathlib import Path

import pytest

from kitchen.contract.data_files import DataError
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.cuisine.level import DATA_FOLDER, UncookableDishWarning, load_catalogue, shipped_catalogue
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import LEVELS, fetch, play


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the shipped data, to be spoilt."""
    return Path(shutil.copytree(DATA_FOLDER, tmp_path / "data"))


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_shipped_levels_are_the_documented_ones() -> None:
    assert tuple(shipped_catalogue().levels) == LEVELS


def test_the_levels_have_the_classes_of_the_paper() -> None:
    found: dict[str | None, list[str]] = {}
    for level in shipped_catalogue().levels.values():
        found.setdefault(level.difficulty, []).append(level.code.removeprefix("level_"))
    assert found == {
        "very_simple": ["0", "1", "7"],
        "simple": ["2", "4", "8"],
        "intermediate": ["3", "9", "10"],
        "advanced": ["5", "11", "12", "12_fryer"],
        None: ["6"],
    }


def test_there_are_33_dishes_that_can_be_ordered() -> None:
    assert len({dish for level in shipped_catalogue().levels.values() for dish in level.dishes}) == 33


def test_loaded_data_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        shipped_catalogue().level("level_0").title = "Other"  # type: ignore[misc]


SPOILT = [
    ("recipes.toml", '["rice"]', '["rise"]', "cookedRice.ingredients", "unknown ingredient 'rise'"),
    ("recipes.toml", 'tool = "oven"', 'tool = "ofen"', "pepperoniPizza.tool", "unknown tool 'ofen'"),
    ("recipes.toml", 'tool = "oven"', 'tool = "storage"', "pepperoniPizza.tool", "unknown tool 'storage'"),
    ("recipes.toml", 'tool = "oven"', 'tol = "oven"', "pepperoniPizza.tol", "unknown key"),
    ("recipes.toml", 'tool = "oven"', "", "pepperoniPizza.tool", "is missing"),
    ("recipes.toml", 'tool = "oven"', "tool = 7", "pepperoniPizza.tool", "must be a text"),
    ("recipes.toml", '["rice"]', '"rice"', "cookedRice.ingredients", "must be a list"),
    ("recipes.toml", '["rice"]', "[]", "cookedRice.ingredients", "must not be empty"),
    ("recipes.toml", '["rice"]', '["rice", "rice"]', "cookedRice.ingredients", "'rice' is named twice"),
    (
        "recipes.toml",
        '["potato"]',
        '["potato", "egg"]',
        "potatoSlice.ingredients",
        "do not fit into chopboard",
    ),
    (
        "recipes.toml",
        'blender"\ningredients = ["potatoSlice"]',
        'blender"\ningredients = ["smashedPotato"]',
        "",
        "is made of itself",
    ),
    ("recipes.toml", '["rice"]', '["cookedRice"]', "cookedRice", "cookedRice <- cookedRice"),
    ("recipes.toml", "[cookedPasta]", "[cookedRice]", "", "not TOML"),
    ("recipes.toml", "[cookedRice]", "[rice]", "rice", "this code is used twice"),
    ("recipes.toml", '"Cooked rice"', '"Rice"', "cookedRice", "the name 'Rice' is used twice"),
    ("recipes.toml", '["pasta"]', '["rice"]', "cookedPasta.ingredients", "cookedRice is made of the same"),
    ("ingredients.toml", "carrot = ", "beef = ", "vegetables.beef", "this code is used twice"),
    ("ingredients.toml", 'carrot = "Carrot"', "carrot = 3", "vegetables.carrot", "must be a text"),
    ("ingredients.toml", "[vegetables]", "[vegetables", "", "not TOML"),
    (
        "ingredients.toml",
        'carrot = "Carrot"',
        '"big carrot" = "Carrot"',
        "vegetables.big carrot",
        "a code is made",
    ),
    ("tools.toml", "busy = 2", 'busy = "two"', "blender.busy", "must be a whole number"),
    ("tools.toml", "busy = 2", "busy = -1", "blender.busy", "must be a whole number from 0"),
    ("tools.toml", "capacity = 5", "capacity = true", "blender.capacity", "must be a whole number"),
    ("tools.toml", "attended = true", 'attended = "yes"', "chopboard.attended", "must be true or false"),
    ("tools.toml", 'role = "serving"', 'role = "table"', "servingtable.role", "is not one of"),
    ("tools.toml", 'role = "serving"', 'role = "storage"', "", "no place has the role 'serving'"),
    ("tools.toml", 'role = "storage"', 'role = "storage"\nbusy = 2', "storage.busy", "unknown key"),
    ("levels/level_3.toml", '"salmonSushi"', '"salmonSuchi"', "dishes", "no recipe for 'salmonSuchi'"),
    ("levels/level_3.toml", '"salmonSushi"', '"tunaSushi"', "dishes", "'tunaSushi' is named twice"),
    ("levels/level_3.toml", '"salmonSushi"', '"rice"', "dishes", "no recipe for 'rice'"),
    ("levels/level_3.toml", '"chopboard", "chopboard", ', "", "dishes", "'salmonSushi' needs chopboard"),
    ("levels/level_3.toml", '"chopboard"', '"board"', "kitchen", "unknown tool 'board'"),
    (
        "levels/level_3.toml",
        '"servingtable", ',
        "",
        "kitchen",
        "exactly one place of the role serving, has 0",
    ),
    ("levels/level_3.toml", '["storage"', '["storage", "storage"', "kitchen", "has 2"),
    ("levels/level_3.toml", '"intermediate"', '"hard"', "difficulty", "'hard' is not one of"),
    ("levels/level_3.toml", "title", "titel", "titel", "unknown key"),
    ("levels/level_3.toml", 'title = "Sushi"', "", "title", "is missing"),
    ("levels/level_12.toml", "known_uncookable", "# ", "dishes", "'frenchFries' needs fryer"),
    (
        "levels/level_12_fryer.toml",
        "dishes",
        'known_uncookable = ["frenchFries"]\ndishes',
        "known_uncookable",
        "lacks",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "key", "reason"), SPOILT)
def test_a_wrong_file_is_refused_with_file_key_and_reason(
    data: Path, file: str, old: str, new: str, key: str, reason: str
) -> None:
    change(data / file, old, new)
    with pytest.raises(DataError) as caught:
        load_catalogue(data)
    message = str(caught.value)
    assert message.startswith(f"{Path(file).name}: {key}")
    assert reason in message
    assert "\n" not in message


@pytest.mark.parametrize("file", ["recipes.toml", "tools.toml", "ingredients.toml"])
def test_a_missing_file_is_refused(data: Path, file: str) -> None:
    (data / file).unlink()
    with pytest.raises(DataError, match=f"{file}: cannot be read"):
        load_catalogue(data)


def test_a_file_that_is_no_text_is_refused(data: Path) -> None:
    (data / "recipes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"recipes\.toml: cannot be read"):
        load_catalogue(data)


def test_a_directory_without_levels_is_refused(data: Path) -> None:
    shutil.rmtree(data / "levels")
    with pytest.raises(DataError, match="holds no level"):
        load_catalogue(data)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(DataError, match="level_99"):
        shipped_catalogue().level("level_99")
    with pytest.raises(SettingsError, match="level_99"):
        CuisineWorld.create(seats=1, settings={"level": "level_99"})


def test_level_12_warns_and_its_twin_with_a_fryer_does_not() -> None:
    with pytest.warns(UncookableDishWarning, match="frenchFries"):
        world = CuisineWorld.create(seats=1, settings={"level": "level_12"})
    assert world.brief(0)["uncookable"] == ["frenchFries"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = CuisineWorld.create(seats=1, settings={"level": "level_12_fryer"})
    assert world.brief(0)["uncookable"] == []


def test_a_researcher_can_play_levels_and_recipes_of_another_directory(data: Path) -> None:
    (data / "levels" / "toast.toml").write_text(
        'title = "Toast"\nkitchen = ["servingtable", "oven", "storage"]\ndishes = ["toast"]\n',
        encoding="utf-8",
    )
    with (data / "recipes.toml").open("a", encoding="utf-8") as file:
        file.write('\n[toast]\nname = "Toast"\ntool = "oven"\ningredients = ["bread"]\n')
    catalogue = load_catalogue(data)
    world = CuisineWorld.create(seats=1, settings={"level": "toast"}, catalogue=catalogue)
    world.reset(0)
    fetch(world, "bread", "oven0")
    world = CuisineWorld.from_dict(world.to_dict(), catalogue=catalogue)
    play(world, "activate oven0", "noop", "noop", "get oven0", "goto servingtable0", "put servingtable0")
    assert world.score()["completed"] == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.filterwarnings("ignore::kitchen.worlds.cuisine.level.UncookableDishWarning")
def test_the_brief_names_everything_that_a_page_shows(level: str) -> None:
    world = CuisineWorld.create(seats=2, settings={"level": level})
    brief, seen = world.brief(1), world.observe(1)
    shown = {*brief["recipes"], *brief["base"], *brief["tools"], *brief["locations"], *seen["locations"]}
    shown |= {recipe["tool"] for recipe in brief["recipes"].values()}
    shown |= {"goto", "get", "put", "activate", "noop"} | set(shipped_catalogue().stock.ingredients)
    assert shown <= set(brief["names"])
    assert set(brief["recipes"]) >= set(brief["dishes"]) == set(brief["lifetimes"])
    assert set(brief["locations"].values()) == set(brief["tools"])


def test_the_brief_holds_only_recipes_that_lead_to_a_dish() -> None:
    brief = CuisineWorld.create(seats=1, settings={"level": "level_3"}).brief(0)
    assert list(brief["recipes"]) == [
        "salmonSashimi",
        "tunaSashimi",
        "cookedRice",
        "salmonSushi",
        "tunaSushi",
    ]
    assert sorted(brief["base"]) == ["rice", "salmon", "tuna"]
    assert brief["tools"]["chopboard"] == {"capacity": 1, "busy": 1, "attended": True}
    assert brief["names"]["pot0"] == "Pot 1" and brief["names"]["storage0"] == "Storage"


def test_brief_and_observation_have_exactly_the_documented_keys() -> None:
    world = CuisineWorld.create(seats=2, settings={})
    assert set(world.brief(0)) == {
        "level",
        "title",
        "alpha",
        "beta",
        "interval",
        "max_orders",
        "max_steps",
        "agents",
        "dishes",
        "lifetimes",
        "recipes",
        "base",
        "tools",
        "locations",
        "names",
        "uncookable",
    }
    assert set(world.observe(0)) == {
        "seat",
        "step",
        "max_steps",
        "agents",
        "locations",
        "orders",
        "completed",
        "failed",
        "delivered",
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0},
        {"alpha": -1},
        {"alpha": "fast"},
        {"alpha": float("nan")},
        {"alpha": float("inf")},
        {"alpha": 10**400},
        {"beta": 0},
        {"max_steps": 0},
        {"max_steps": 1001},
        {"max_steps": 1.5},
        {"max_steps": float("inf")},
        {"difficulty": "hard"},
        {"level_seed": -1},
        {"level": 3},
        {"seats": 2},
    ],
)
def test_settings_that_cannot_be_played_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        CuisineWorld.create(seats=1, settings=settings)


@pytest.mark.parametrize("seats", [0, 9, True, "2", 1.0, None])
def test_wrong_numbers_of_seats_are_refused(seats: object) -> None:
    with pytest.raises(SettingsError):
        CuisineWorld.create(seats=seats, settings={})  # type: ignore[arg-type]
