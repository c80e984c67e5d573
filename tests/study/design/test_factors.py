"""Factors of a study: what their levels set, the cells they make, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.data_files import DataError
from study.design.factors import (
    FIELDS,
    MOST_CELLS,
    Factor,
    all_cells,
    cell_fields,
    cell_key,
    cell_name,
    factors_problem,
    group_of_cell,
    groups_of,
    level_of_cell,
    levels_from,
    parse_factors,
    unplanned_differences,
)


def level(key: str, **sets: Any) -> dict[str, Any]:
    return {"key": key, "name": key.title(), "sets": {path.replace("__", "."): v for path, v in sets.items()}}


PARTNER = {
    "key": "partner",
    "name": "Partner",
    "levels": [level("planner", coplayer="planner"), level("random", coplayer="random")],
}
LAYOUT = {
    "key": "layout",
    "name": "Layout",
    "levels": [level(name, settings__level=name) for name in ("ring", "room", "hall")],
}
SPEED = {
    "key": "speed",
    "name": "Speed",
    "between": True,
    "levels": [level("slow", step_seconds=6.0), level("fast", step_seconds=3.0)],
}
BASE: dict[str, Any] = {
    **dict.fromkeys(FIELDS),
    "world": "cuisine",
    "coplayer": "planner",
    "teammates": 1,
    "settings": {"level": "ring", "steps": 60},
    "coplayer_settings": {},
    "organisation": {},
    "goal": {},
    "star_targets": {},
}


def factors(*documents: dict[str, Any]) -> tuple[Factor, ...]:
    return parse_factors(list(documents))


def test_cells_are_all_combinations_and_named_by_their_levels() -> None:
    design = factors(PARTNER, LAYOUT)
    cells = all_cells(design)
    assert [cell_key(design, cell) for cell in cells][:4] == [
        "planner_ring",
        "planner_room",
        "planner_hall",
        "random_ring",
    ]
    assert cell_name(design, cells[0]) == "Planner, Ring"
    assert all_cells(()) == []


def test_factors_between_people_make_groups() -> None:
    design = factors(PARTNER, SPEED)
    cell = {"partner": "random", "speed": "fast"}
    assert groups_of(design) == ("slow", "fast")
    assert (group_of_cell(design, cell), level_of_cell(design, cell)) == ("fast", "random")
    assert (groups_of(factors(PARTNER)), group_of_cell(factors(PARTNER), cell)) == ((), "")


def test_a_cell_differs_from_the_base_condition_only_in_what_its_levels_set() -> None:
    design = factors(PARTNER, LAYOUT)
    cell = {"partner": "random", "layout": "hall"}
    made = cell_fields(BASE, design, cell)
    assert made == {**BASE, "coplayer": "random", "settings": {"level": "hall", "steps": 60}}
    assert BASE["settings"]["level"] == "ring"
    assert unplanned_differences(BASE, design, cell, made) == []
    touched = {**made, "teammates": 2, "settings": {"level": "hall"}}
    assert unplanned_differences(BASE, design, cell, touched) == ["teammates", "settings.steps"]


def test_a_level_can_take_a_name_out_of_a_dictionary() -> None:
    factor = {**PARTNER, "levels": [level("on", settings__steps=9), level("off", settings__steps=None)]}
    assert cell_fields(BASE, factors(factor), {"partner": "off"})["settings"] == {"level": "ring"}


def test_levels_can_be_taken_from_conditions() -> None:
    other = {
        **BASE,
        "coplayer": "hourglass",
        "coplayer_settings": {"model": "m"},
        "settings": {"level": "room"},
    }
    assert levels_from([BASE, other]) == [
        {"coplayer": "planner", "settings.level": "ring", "settings.steps": 60, "coplayer_settings": {}},
        {
            "coplayer": "hourglass",
            "settings.level": "room",
            "settings.steps": None,
            "coplayer_settings": {"model": "m"},
        },
    ]
    away = {**BASE, "world": "blocks_kitchen", "settings": {"size": 3}}
    sets = levels_from([BASE, away])
    assert [one["settings"] for one in sets] == [BASE["settings"], {"size": 3}]
    for base in (BASE, other, away):  # whatever the base is, a level makes its own condition
        for number, meant in enumerate((BASE, away)):
            design = factors(
                {**LAYOUT, "levels": [{**level(f"l{n}"), "sets": one} for n, one in enumerate(sets)]}
            )
            made = cell_fields(base, design, {"layout": f"l{number}"})
            assert (made["world"], made["settings"]) == (meant["world"], meant["settings"])


@pytest.mark.parametrize(
    ("documents", "problem"),
    [
        ([{**PARTNER, "levels": PARTNER["levels"][:1]}], "needs two levels"),
        ([{**PARTNER, "key": "a b"}], "a key has up to 24 letters"),
        ([{**PARTNER, "key": "k" * 25}], "a key has up to 24 letters"),
        ([{**PARTNER, "name": " "}], "give it a name"),
        ([PARTNER, PARTNER], "Two factors are called partner"),
        ([PARTNER, {**LAYOUT, "name": "Partner"}], "Two factors are called Partner"),
        ([{**PARTNER, "levels": [level("a", coplayer="x")] * 2}], "Two levels of Partner are called a"),
        ([{**PARTNER, "levels": [level("a", seed=1), level("b", seed=2)]}], "sets seed, which is no field"),
        (
            [{**PARTNER, "levels": [level("a", shown__x=1), level("b", shown__x=2)]}],
            "sets shown.x, which is no field",
        ),
        ([{**PARTNER, "levels": [level("a", coplayer="x"), level("b")]}], "but its level B does not"),
        (
            [LAYOUT, {**PARTNER, "levels": [level("a", settings={}), level("b", settings={"x": 1})]}],
            "both set settings",
        ),
        (
            [
                {
                    **SPEED,
                    "key": k,
                    "name": k,
                    "levels": [level(f"{k}{n}", **{f"goal__{k}": n}) for n in range(4)],
                }
                for k in ("a", "b")
            ],
            "make 16 groups",
        ),
        (
            [
                {
                    **LAYOUT,
                    "key": k,
                    "name": k,
                    "levels": [level(f"{n}", **{f"goal__{k}": n}) for n in range(4)],
                }
                for k in ("a", "b", "c")
            ],
            f"64 cells; a study has at most {MOST_CELLS}",
        ),
    ],
)
def test_factors_that_cannot_be_used_are_refused_with_a_reason(documents: list[Any], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        parse_factors(documents)


def test_five_factors_are_too_many() -> None:
    five = [
        {**LAYOUT, "key": k, "name": k, "levels": [level(f"{n}", **{f"goal__{k}": n}) for n in range(2)]}
        for k in "abcde"
    ]
    with pytest.raises(DataError, match="at most 4 factors"):
        parse_factors(five)


@pytest.mark.parametrize("document", [None, {}, [1], [{"key": "a"}], [{**PARTNER, "more": 1}]])
def test_what_is_no_list_of_factors_is_refused(document: Any) -> None:
    with pytest.raises(DataError, match="factors"):
        parse_factors(document)


def test_no_factors_are_no_problem() -> None:
    assert factors_problem(()) == ""
