"""Data files and documents: each complaint is one line with file, key and reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from kitchen.contract.data_files import (
    DataError,
    DataSource,
    Names,
    Number,
    Record,
    Text,
    one_of,
    parse_toml,
    read_toml,
)


class Plate(Record):
    colour: Annotated[Text, one_of(("red", "blue"))]
    sizes: Names = ()
    price: Number | None = None
    whole: bool = True
    pieces: int = 1


class Shelf(Record):
    plates: list[Plate]
    notes: dict[str, str] = {}


SHELF = TypeAdapter(Shelf)
PLATE = "[[plates]]\ncolour = 'red'\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("plates = ", "f: not TOML: "),
        ("", "f: plates: is missing"),
        ("plates = 3", "f: plates: must be a list, not 3"),
        ("plates = [3]", "f: plates[1]: must be a table, not 3"),
        ('plates = []\nnotes = "x"', "f: notes: must be a table, not 'x'"),
        ("plates = []\nnotes = {a = 1}", "f: notes.a: must be a text, not 1"),
        ('plates = []\n"a b" = 1', "f: a b: unknown key; there are plates, notes"),
        ('plates = []\n"a\\nb" = 1', "f: 'a\\nb': unknown key; there are plates, notes"),
        ("[[plates]]", "f: plates[1].colour: is missing"),
        ("[[plates]]\ncolour = ' '", "f: plates[1].colour: must be a text that is not empty, not ' '"),
        ("[[plates]]\ncolour = 'grey'", "f: plates[1].colour: 'grey' is not one of red, blue"),
        (PLATE + "color = 1", "f: plates[1].color: unknown key; there are colour, "),
        (
            PLATE + "sizes = 'a'",
            "f: plates[1].sizes: must be a list of texts, not 'a'",
        ),
        (
            PLATE + "sizes = [1]",
            "f: plates[1].sizes: must be a list of texts, not [1]",
        ),
        (PLATE + "sizes = []", "f: plates[1].sizes: must not be empty"),
        (PLATE + "sizes = ['a', 'a']", "f: plates[1].sizes: 'a' is named twice"),
        (PLATE + "price = '1'", "f: plates[1].price: must be a number, not '1'"),
        (PLATE + "price = true", "f: plates[1].price: must be a number, not True"),
        (PLATE + "price = nan", "f: plates[1].price: must be a number, not nan"),
        (PLATE + "whole = 1", "f: plates[1].whole: must be true or false, not 1"),
        (
            PLATE + "pieces = 2.0",
            "f: plates[1].pieces: must be a whole number, not 2.0",
        ),
        ('[[plates]]\ncolour = "{words} {0}\\n"', "f: plates[1].colour: '{words} {0}\\n' is not one of"),
    ],
)
def test_a_wrong_file_gives_a_one_line_error(text: str, complaint: str) -> None:
    with pytest.raises(DataError) as caught:
        source, values = parse_toml(text, "f")
        source.read(SHELF, values)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_read_values_have_their_types_and_cannot_change() -> None:
    source, values = parse_toml(PLATE + "price = 2\n[[plates]]\ncolour = 'blue'\nprice = 2.0", "f")
    first, second = source.read(SHELF, values).plates
    assert (type(first.price), type(second.price)) == (int, float)
    with pytest.raises(ValidationError):
        first.price = 3


def test_a_long_wrong_value_is_not_repeated() -> None:
    with pytest.raises(DataError) as caught:
        DataSource("f").read(SHELF, {"plates": "x" * 100})
    assert str(caught.value) == "f: plates: must be a list"


def test_a_document_of_a_later_program_may_say_more() -> None:
    document: dict[str, Any] = {"plates": [{"colour": "red", "later": 1}], "later": 2}
    with pytest.raises(DataError, match="f: later: unknown key"):
        DataSource("f").read(SHELF, document)
    assert DataSource("f").read(SHELF, document, more=True) == Shelf(plates=[Plate(colour="red")])


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 19_900) + " = 1",
        "[" + " . ".join(["a-1"] * 51) + "]",
        "x = { " + ".".join(["'a b'"] * 51) + " = 1 }",
        ".".join([r'"a\""'] * 51) + " = 1",
        ".".join(["a"] * 49 + ['"' + "x" * 201 + '"', "a"]) + " = 1",
        (" " * 200 + "." + "\t" * 200).join(["a"] * 51) + " = 1",
        "# " + "x" * 500_000,
    ],
)
def test_a_deep_or_huge_toml_text_is_refused_before_it_is_parsed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def loads(text: str) -> dict[str, Any]:
        parsed.append(text)
        return {}

    monkeypatch.setattr(tomllib, "loads", loads)
    with pytest.raises(DataError, match=r"f: (is nested deeper than 50 levels|has more than 500,000 char)"):
        parse_toml(text, "f")
    assert not parsed
    parse_toml(".".join("a" * 50) + " = 1\nb = '" + "Go on. " * 99 + "…'", "f")
    assert len(parsed) == 1


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_bytes(b"\xff")
    for name in ("odd.toml", "none.toml"):
        with pytest.raises(DataError, match=f"^{name}: cannot be read: "):
            read_toml(tmp_path / name)
