"""Layouts as they are drawn: text and drawing are one, and what is told of a grid."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from kitchen.contract.data_files import DataError, parse_toml
from kitchen.contract.drawable_setting import REMARK_CAUTION, REMARK_FACT, REMARK_REFUSED, GridDrawing
from kitchen.worlds.overcooked.layout import parse_own_layout, shipped_layouts
from kitchen.worlds.overcooked.layout_editor import EMPTY_DRAWING, LAYOUT_EDITOR, DrawnLayout, layout_faults

WORDS = {"title": "Ours", "orders": "OOO", "bonus": "", "value": "20", "time": "20"}


def text_of(*rows: str, **lines: str) -> str:
    return LAYOUT_EDITOR.text(GridDrawing(rows, {**WORDS, **lines}))


def told(text: str, **settings: str) -> list[tuple[str, str]]:
    return [(kind, words) for kind, words in LAYOUT_EDITOR.remarks(text, settings)]


@pytest.mark.parametrize("code", shipped_layouts())
def test_every_layout_that_comes_along_can_be_drawn_on_from(code: str) -> None:
    text, own = LAYOUT_EDITOR.starting_drawings()[code].text, shipped_layouts()[code]
    drawn = parse_own_layout(text)
    assert LAYOUT_EDITOR.text(LAYOUT_EDITOR.sheet(text)) == text
    for name in ("title", "rows", "orders", "bonus", "value", "time", "starts"):
        assert getattr(drawn, name) == getattr(own, name), name


def test_an_empty_grid_comes_first_and_says_what_it_lacks() -> None:
    first = next(iter(LAYOUT_EDITOR.starting_drawings().values()))
    assert LAYOUT_EDITOR.sheet(first.text) == EMPTY_DRAWING
    assert told(first.text) == [
        (REMARK_REFUSED, "There are no dishes (D)."),
        (REMARK_REFUSED, "There is no serving place (S)."),
        (REMARK_REFUSED, "There is no pot (P)."),
        (REMARK_REFUSED, "There are neither onions (O) nor tomatoes (T)."),
        (REMARK_REFUSED, "“OOO” needs onions (O), which the grid lacks."),
    ]
    assert LAYOUT_EDITOR.sheet("").is_empty and LAYOUT_EDITOR.text(GridDrawing()) == "" and told("") == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"title": 'He said "no"\x7f'}, None),
        ({"title": ""}, "It has no title."),
        ({"orders": "ooo,to  t"}, "“TO” needs tomatoes (T), which the grid lacks."),
        ({"orders": ""}, "No soup is ordered."),
        ({"bonus": "OO"}, "“OO” is to count twice, and is not ordered."),
        ({"value": "o=7"}, None),
        ({"value": "many"}, "Points of a soup: a whole number from 1 to 1000000"),
        ({"time": "-1"}, "Ticks that it cooks: a whole number from 1 to 1000000"),
        ({"time": "T = 3"}, "Ticks that it cooks: what onions (O) add is missing."),
    ],
)
def test_what_is_typed_wrong_stays_and_is_refused_as_in_a_file(
    lines: dict[str, str], said: str | None
) -> None:
    text = text_of(*shipped_layouts()["cramped_room"].rows, **lines)
    assert LAYOUT_EDITOR.text(LAYOUT_EDITOR.sheet(text)) == text
    kind, words = told(text)[0]
    assert (kind == REMARK_REFUSED) == bool(said) and words.startswith(said or "")


def test_every_fault_is_told_at_once() -> None:
    wrong = text_of("XXPXX", "O  2 ", "Q1 ", "XDX1X", orders="OOO, OOO, AB", value="0")
    assert [words for _, words in told(wrong)] == [
        "Row 3 has 3 cells, the first row 5.",
        "“Q” means nothing in a grid: row 3, column 1.",
        "The border must be closed, and there is floor in it: row 2, column 5; row 3, column 3; "
        "row 4, column 4.",
        "Start 1 (seat 0) stands in 2 cells, not in one.",
        "There is no serving place (S).",
        "“OOO” stands there twice.",
        "“AB” is no soup: that is 1 to 3 letters O and T.",
        "Points of a soup: a whole number from 1 to 1000000, or one for each ingredient, as O = 15, T = 10.",
    ]


@pytest.mark.parametrize("code", shipped_layouts())
def test_what_can_be_played_has_no_fault(code: str) -> None:
    source, values = parse_toml(LAYOUT_EDITOR.starting_drawings()[code].text, "own_layout")
    assert not list(layout_faults(source.read(TypeAdapter(DrawnLayout), values)))


@pytest.mark.parametrize("text", ["grid = 4", 'colour = "red"', "not = toml =", 'grid = ["X", 3]'])
def test_what_a_drawing_would_lose_is_not_drawn(text: str) -> None:
    with pytest.raises(DataError, match="own_layout: "):
        LAYOUT_EDITOR.sheet(text)


def test_seats_that_are_cut_off_may_be_and_are_told() -> None:
    assert told(LAYOUT_EDITOR.starting_drawings()["forced_coordination"].text) == [
        (REMARK_FACT, "The seats are cut off from each other. They can hand things over across 3 counters."),
        (REMARK_FACT, "Seat 0 reaches a pot and a serving place; not onions and dishes."),
        (REMARK_FACT, "Seat 1 reaches onions and dishes; not a pot and a serving place."),
    ]
    assert told(LAYOUT_EDITOR.starting_drawings()["asymmetric_advantages"].text)[-1] == (
        REMARK_FACT,
        "Seat 1 reaches onions, dishes, a pot and a serving place.",
    )


def test_what_no_seat_can_reach_is_told_with_where_it_stands() -> None:
    walled = text_of("XXPXXXX", "O  2XSX", "X1  XXX", "XDXSX X", "XXXXXXX")
    assert told(walled)[:2] == [
        (REMARK_CAUTION, "No seat can reach: serving place (row 2, column 6)."),
        (REMARK_CAUTION, "1 cell of floor no seat can reach: row 4, column 6."),
    ]


NO_COUNTER = ("XXXPXXX", "O1DX 2S", "XXXXXXX")
BY_THE_POT = ("XXXXXXX", "O1 P2DX", "XXXXSXX")


def test_what_can_never_be_served_is_told() -> None:
    said = told(text_of(*NO_COUNTER))
    assert said[0] == (
        REMARK_CAUTION,
        "No soup can ever be served here: the seats cannot bring together what it needs.",
    )
    assert (REMARK_CAUTION, "The seats are cut off from each other, and no counter is between them.") in said
    assert "No soup" not in str(told(text_of(*BY_THE_POT)))
    both = text_of("XXPXXXX", "O  2XTX", "X1  XXX", "XDXSXXX", orders="OOO, OT")
    assert told(both, cooking="interact")[0] == (
        REMARK_CAUTION,
        "Never served here can be OT: what it needs cannot be brought together.",
    )


def test_it_is_told_beside_the_other_settings() -> None:
    tomato = LAYOUT_EDITOR.starting_drawings()["cramped_room_tomato"].text
    assert "with them a pot is started with empty hands" in told(tomato, cooking="auto")[0][1]
    unused = told(tomato, cooking="interact", layout="counter_circuit")
    assert unused[0] == (REMARK_CAUTION, "It is not played: the layout chosen above is “Counter circuit”.")
    assert told(tomato, cooking="interact", layout="own")[0][0] == REMARK_FACT
