"""Tasks and rows are files; a wrong one is refused with file, key and reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kitchen.contract.data_files import DataError
from kitchen.worlds.collab_overcooked.food_rules import food_rules, read_food_rules
from kitchen.worlds.collab_overcooked.order_tasks import LEVELS, read_task, tasks


def test_there_are_30_tasks_in_6_levels_and_65_rows() -> None:
    assert Counter(task.level for task in tasks().values()) == dict.fromkeys(LEVELS, 5)
    rules = food_rules()
    assert len(rules.rows) == 65 and len(rules.raw) == 29
    assert all(task.needs_dish == (task.name in rules.served_in_dish) for task in tasks().values())


def test_a_new_task_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "boiled_carrot_slices.toml"
    file.write_text('level = 2\ningredients = ["carrot"]\n')
    task = read_task(file, food_rules())
    assert [job.makes for job in task.jobs] == ["carrot_slices", "boiled_carrot_slices"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("level = 7\ningredients = []", "x.toml: level: must be a level from 1 to 6, not 7"),
        ('level = "2"\ningredients = ["egg"]', "x.toml: level: must be a level from 1 to 6, not '2'"),
        ("level = 1", "x.toml: ingredients: is missing"),
        ('level = 4\ningredients = ["egg"]', "x.toml: ingredients: level 4 has 2, not 1"),
        ('level = 1\ningredients = ["egg", "egg"]', "x.toml: ingredients: 'egg' is named twice"),
        ('level = 1\ningredients = ["stone"]', "x.toml: ingredients: 'stone' is no raw ingredient"),
        ('level = 1\ningredients = ["corn"]', "x.toml: ingredients: pot0 makes nothing of corn"),
        ('level = 1\ningredients = ["egg"]', "x.toml: ingredients: level 1 makes boiled_egg of them, not x"),
        (
            'level = 1\ningredients = ["egg"]\nfire = 1',
            "x.toml: fire: unknown key; there are",
        ),
        ("level =", "x.toml: not TOML"),
    ],
)
def test_a_wrong_task_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        read_task(file, food_rules())
    assert str(caught.value).startswith(said)


FAMILY = """
[[rows]]
utensil = "pot0"
inside = ["{0}"]
makes = "boiled_{0}"
each = ["egg"]
"""
ROWS = f'raw = ["egg", "pea"]{FAMILY}'
TWICE = FAMILY.replace("boiled", "baked")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"pot0"', '"fire"', "rows[1].utensil: 'fire' is not one of pot0, oven0, chopping_board0, blender0"),
        ('"boiled_{0}"', '"boiled_{1}"', "rows[1].each: does not fill the patterns of inside and makes"),
        ('["{0}"]', '["a", "b", "c", "d"]', "rows[1].inside: is more than 3 ingredients"),
        ('["egg"]\n', f'["egg"]\n{TWICE}', "rows[2].each: pot0 already makes"),
        ("makes", "gives", "rows[1].gives: unknown key"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "rows.toml"
    assert old in ROWS
    file.write_text(new.join(ROWS.rsplit(old, 1)))
    with pytest.raises(DataError) as caught:
        read_food_rules(file)
    assert str(caught.value).startswith(f"rows.toml: {said}")
