"""Each data file of blocks is refused with file, key and reason if something in it cannot be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kitchen.contract.data_files import DataError
from kitchen.worlds.blocks import (
    block_benchmarks,
    block_maps,
    cooking_tasks,
    furnace_rules,
    gather_world,
    item_recipes,
    kitchen_world,
)
from kitchen.worlds.blocks.item_recipes import DATA

Load = Callable[[Path], Any]


def loader(module: ModuleType, name: str, *given: str) -> Load:
    """Read a file of a copied folder by a cached function, without its cache."""

    def load(folder: Path) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "DATA", folder)
            return getattr(module, name).__wrapped__(*given)

    return load


FARM = loader(block_maps, "place_map", "farm")
HOUSE = loader(kitchen_world, "house_map")
SMELTING = loader(furnace_rules, "smelting_rules")
COOKING = loader(cooking_tasks, "cooking_file")
GATHER = loader(gather_world, "gather_file")
RECIPES = loader(item_recipes, "recipe_book")
TABLES = loader(block_benchmarks, "published_tables_by_family")
FIGURES = loader(block_benchmarks, "published")
WRONG = [
    (
        RECIPES,
        "recipes.toml",
        'makes = "4 stick"',
        'makes = "4 sticc"',
        ".makes: 'sticc' is not a known item",
    ),
    (RECIPES, "recipes.toml", '"#planks"', '"#plancs"', ".needs: 'plancs' is not one of "),
    (SMELTING, "smelting.toml", '"cooked_mutton"', '"muton"', "products.mutton: 'muton' is not a known item"),
    (SMELTING, "smelting.toml", '"#logs"', '"#trees"', "fuels[3].items: 'trees' is not one of "),
    (SMELTING, "smelting.toml", '["coal"]', '["cole"]', "fuels[1].items: 'cole' is not a known item"),
    (FARM, "maps/farm.toml", '"wheat"', '"weat"', "fields[1].block: 'weat' is not a known item"),
    (FARM, "maps/farm.toml", "brown_mush", "brow_mush", "fields[6].other: 'brow_mushroom' is not a known"),
    (FARM, "maps/farm.toml", "[-17, 0, -17]", "[-17, 1, -17]", "fields[1]: is not within the area"),
    (FARM, "maps/farm.toml", "furnace =", "oven =", "cells.oven: 'oven' is not a known item"),
    (FARM, "maps/farm.toml", "[[4, 0, -8]]", "[[4, 0, -99]]", "cells.furnace: [4, 0, -99] is not within"),
    (FARM, "maps/farm.toml", '"llama"', '"lama"', "animals.kinds: 'lama' is not a known item"),
    (FARM, "maps/farm.toml", "each = 8", "each = 400", "animals: there is no place for so many"),
    (HOUSE, "maps/house.toml", "oak_log =", "oak_logs =", "things: 'oak_log' is missing"),
    (HOUSE, "maps/house.toml", "cow =", "goat = [[-1, 32, 0]]\ncow =", "things: 'goat' is not a known item"),
    (HOUSE, "maps/house.toml", ", [-217, 32, -53]]", "]", "starts: must have a cell for each of 3 seats"),
    (COOKING, "tasks/cooking.toml", "bread+cake", "bread+cak", "pairs: 'bread+cak' is not two items"),
    (COOKING, "tasks/cooking.toml", "egg = 1", "egk = 1", "items.cake: 'egk' is not a known item"),
    (COOKING, "tasks/cooking.toml", '"beef"', '"beaf"', "meat.cow: 'beaf' is not a known item"),
    (GATHER, "tasks/gather.toml", ", amount = 50 }", "}", "tasks.50_logs: needs an item with an amount"),
    (GATHER, "tasks/gather.toml", '"shelter"', '"tower"', "tasks.shelter.blueprint: 'tower' is not one of "),
    (
        GATHER,
        "tasks/gather.toml",
        "wooden_pickaxe",
        "wood_axe",
        "collects[2]: 'wood_axe' is not a known item",
    ),
    (GATHER, "tasks/gather.toml", "[{ oak_planks = 46,", "[{ planks = 46,", "holders[1].items: 'planks' is"),
    (TABLES, "published_tables.toml", "[0.17, 0.47,", "[0.47,", "crafting[1].rows[1].values: 4 values for 5"),
    (TABLES, "published_tables.toml", "[[kitchen]]", "[[kitchens]]", "kitchens: is not one of construction,"),
    (FIGURES, "published_figures.toml", "gather =", "gathers =", "gathers: is not one of construction, "),
]


@pytest.mark.parametrize(("load", "name", "right", "wrong", "said"), WRONG)
def test_what_cannot_be_is_refused_with_file_key_and_reason(
    load: Load, name: str, right: str, wrong: str, said: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    load(folder)
    file = folder / name
    text = file.read_text()
    assert right in text
    file.write_text(text.replace(right, wrong, 1))
    with pytest.raises(DataError) as refused:
        load(folder)
    message = str(refused.value)
    assert message.startswith(f"{file.name}: ") and said in message and "\n" not in message


@pytest.mark.parametrize(("load", "name"), dict.fromkeys((one[0], one[1]) for one in WRONG))
def test_an_unknown_key_and_a_text_that_is_no_toml_are_refused(load: Load, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    for more in ("\n[surprise]\nx = [1]\n", "\n= 3"):
        (folder / name).write_text((DATA / name).read_text() + more)
        with pytest.raises(DataError, match=rf"^{Path(name).name}: "):
            load(folder)


BIG_MAP = """low = [{low}, 0, {low}]
high = [{high}, {top}, {high}]
[[fields]]
block = "stone"
low = [{low}, {floor}, {low}]
high = [{high}, {top}, {high}]
[cells]
chest = []
[animals]
each = {each}
kinds = ["pig"]
clear = {clear}
"""


@pytest.mark.parametrize(
    ("low", "high", "floor", "top", "clear", "places"),
    [
        (100, 119, 2, 2, 12, 400),
        (0, 9, 1, 3, 4, 75),
        (-3, 3, 1, 1, 2, 24),
        (-3, 3, 0, 0, 2, 0),
    ],
    ids=["far from the origin", "partly within the cleared square", "around the origin", "no free ground"],
)
def test_a_map_may_have_as_many_animals_as_free_cells_on_its_ground(
    low: int, high: int, floor: int, top: int, clear: int, places: int, tmp_path: Path
) -> None:
    (tmp_path / "maps").mkdir()

    def load(each: int) -> block_maps.PlaceMap:
        text = BIG_MAP.format(low=low, high=high, floor=floor, top=top, clear=clear, each=each)
        (tmp_path / "maps" / "farm.toml").write_text(text)
        place: block_maps.PlaceMap = FARM(tmp_path)
        return place

    place = load(places)
    assert place.herd and place.herd.each == places
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_maps, "place_map", lambda _: place)
        herd = block_maps.draw_herd.__wrapped__("farm", 1)
    assert len({cell for _, cell in herd}) == places
    with pytest.raises(DataError, match="animals: there is no place for so many"):
        load(places + 1)
