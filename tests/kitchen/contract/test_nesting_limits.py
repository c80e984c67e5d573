"""What is nested without end is refused in one line, wherever a stranger may hand it in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from kitchen.contract.data_files import DataError, parse_toml
from kitchen.contract.data_limits import MAX_DEPTH, TooDeepError, check_depth, read_json
from study.editor.form_fields import AnyValueField

DEEP = "[" * 100_000 + "]" * 100_000
READABLE = "[" * 400 + "]" * 400
"""Deep, and still read by Python."""


@pytest.mark.parametrize("text", [DEEP, READABLE, '{"a":' * 400 + "1" + "}" * 400])
def test_deep_json_is_refused(text: str) -> None:
    with pytest.raises(TooDeepError, match="nested deeper than 50 levels"):
        read_json(text)


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", '{"a": 1e999}'])
def test_numbers_that_json_does_not_have_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of JSON"):
        read_json(text)
    assert read_json("[1.5, -2e3, 10000000000000000000000]") == [1.5, -2000.0, 10**22]


def test_values_within_the_depth_limit_are_unchanged() -> None:
    deepest = json.loads("[" * (MAX_DEPTH - 1) + '{"a": 1}' + "]" * (MAX_DEPTH - 1))
    for value in (1, "text", None, [], {"a": [1, {"b": 2}]}, ["[" * 100]):
        assert check_depth(value) is value
    with pytest.raises(TooDeepError):
        check_depth([deepest])


@pytest.mark.parametrize(
    "toml",
    [
        f"a = {DEEP}",
        f"a = {READABLE}",
        "a." * 2_000 + "a = 1",
        f"[{'a.' * 2_000}a]",
        f"a = {'{a=' * 300}1{'}' * 300}",
    ],
)
def test_a_deep_file_is_refused_by_its_name(toml: str) -> None:
    with pytest.raises(DataError, match=r"^study\.toml: is nested deeper than 50 levels$"):
        parse_toml(toml, "study.toml")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("load_study", f"a = {DEEP}"),
        ("load_study", "a." * 2_000 + "a = 1"),
        ("verify_preregistration", DEEP),
    ],
)
def test_a_command_refuses_deep_files_with_code_2(tmp_path: Path, command: str, text: str) -> None:
    file = tmp_path / "deep"
    file.write_text(text)
    with pytest.raises(CommandError) as refused:
        call_command(command, file)
    assert refused.value.returncode == 2
    assert str(refused.value).endswith("deep: is nested deeper than 50 levels")


def test_on_the_command_line_too(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("experiment", "--local", "--out", str(tmp_path), "--set", f"x={DEEP}")
    assert refused.value.returncode == 2
    assert "--set: x: is nested deeper than 50 levels" in str(refused.value)


def test_in_a_form_it_is_an_error_of_its_field() -> None:
    with pytest.raises(ValidationError, match="nested deeper"):
        AnyValueField(max_length=None).clean(READABLE)
