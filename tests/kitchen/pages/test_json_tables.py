"""JSON as facts and tables."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world import Json
from kitchen.pages.json_tables import facts_and_tables, value_text
from kitchen.words.english_text import code_to_words


def table(value: Json) -> Any:
    (made,) = facts_and_tables({"redLamps": value}, code_to_words).tables
    return made


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        ([], "none"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (2.5, "2.5"),
        ("red_lamp2", "red lamp 2"),
        ("Anna", "Anna"),
        ("NASA", "NASA"),
        ("Two words, as they are", "Two words, as they are"),
        ([1, "redLamp"], "1, red lamp"),
        ({"at": [1, 2]}, "at: 1, 2"),
    ],
)
def test_a_value_is_a_text(value: Json, text: str) -> None:
    assert value_text(value, code_to_words) == text


def test_single_values_are_facts_and_others_are_tables() -> None:
    made = facts_and_tables({"heap": 3, "carts": {"left": 1}, "at": [0, 4]}, code_to_words)
    assert [(fact.label, fact.text) for fact in made.facts] == [("Heap", "3"), ("At", "0, 4")]
    assert [(one.title, one.rows) for one in made.tables] == [("Carts", (("left", "1"),))]


def test_objects_in_a_row_have_a_column_for_each_key_and_gaps_where_one_has_none() -> None:
    made = table([{"at": [0, 1], "isLit": True}, {"at": [2, 1], "colour": "dark_red"}])
    assert (made.title, made.head) == ("Red lamps", ("", "At", "Is lit", "Colour"))
    assert made.rows == (("1", "0, 1", "yes", ""), ("2", "2, 1", "", "dark red"))


def test_objects_by_name_have_their_names_first() -> None:
    made = table({"left": {"lit": False}, "right": {"lit": True, "at": 4}})
    assert made.head == ("", "Lit", "At")
    assert made.rows == (("left", "no", ""), ("right", "yes", "4"))


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ([{"b": 1}, 5], ["b: 1", "5"]),
        ([{"b": 1}, None], ["b: 1", "none"]),
        ([["a", "b"], 5], ["a, b", "5"]),
        ([["a", "b"], ["c"]], ["a, b", "c"]),
        ([["a"], []], ["a", "none"]),
        ([{}, {}], ["none", "none"]),
        ([[], []], ["none", "none"]),
    ],
)
def test_entries_of_different_forms_are_texts_in_one_column(value: Json, texts: list[str]) -> None:
    made = table(value)
    assert made.head == ()
    assert made.rows == tuple((str(number), text) for number, text in enumerate(texts, start=1))


def test_lists_in_a_row_have_a_cell_for_each_value() -> None:
    assert table([["a", "b"], [1, 2]]).rows == (("1", "a", "b"), ("2", "1", "2"))
