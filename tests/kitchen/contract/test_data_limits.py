"""Files from outside that are too large, too wide or too deep are refused, wherever they are read."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from kitchen.contract import data_limits
from kitchen.contract.data_files import DataError, parse_toml
from kitchen.contract.data_limits import (
    MAX_FILE_BYTES,
    MAX_TOML_CHARACTERS,
    MAX_VALUES,
    PIECE_BYTES,
    DataLimitError,
    JsonValueCounter,
    more_json_values_than,
    read_json_file,
    read_text,
)
from kitchen.contract.reference_recordings import TraceFileError, read_recording_file
from kitchen.experiments import log_files
from kitchen.experiments.experiment_folder import FolderError, read_setup_file
from kitchen.experiments.log_files import LogError, read_log
from study.editor.form_fields import AnyValueField

WIDE = "[" + "1," * MAX_VALUES + "1]"
LARGE = MAX_FILE_BYTES + 1
TOO_WIDE, TOO_LARGE = "has more than 1,000,000 values", "has more than 32 MiB"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", 1),
        ("[1, 2]", 3),
        ('{"a": 1, "b": [2, {"c": 3}]}', 6),
        ('["a,b,c", "\\"[[[", "\\\\", "\\\\\\","]', 5),
        ('["never closed, , ,', 2),
    ],
)
def test_values_are_counted_before_a_text_is_parsed_and_commas_in_texts_do_not_count(
    text: str, values: int
) -> None:
    assert not more_json_values_than(values, text) and more_json_values_than(values - 1, text)
    for size in (1, 2, 3):
        counter, data = JsonValueCounter(), text.encode()
        for begin in range(0, len(data), size):
            counter.add(data[begin : begin + size])
        assert counter.values == values


def sparse(path: Path, size: int = LARGE) -> Path:
    """Make a file of this size that takes no room."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_a_file_is_read_up_to_a_number_of_bytes(tmp_path: Path) -> None:
    with pytest.raises(DataLimitError, match=TOO_LARGE):
        read_text(sparse(tmp_path / "file"))


def test_a_file_is_unpacked_until_a_limit_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_json_file(b"[1]") == (b"[1]", [1]) == read_json_file(gzip.compress(b"[1]"))
    unpacked: list[bytes] = []
    pieces = data_limits.unpacked_pieces

    def noted(data: bytes) -> Iterator[bytes]:
        for piece in pieces(data):
            unpacked.append(piece)
            yield piece

    monkeypatch.setattr(data_limits, "unpacked_pieces", noted)
    with pytest.raises(DataLimitError, match=TOO_WIDE):
        read_json_file(gzip.compress(b"[" + b"1," * 5_000_000 + b"1]"))
    assert [len(piece) for piece in unpacked] == [PIECE_BYTES] * 2  # a million values have two bytes each
    with pytest.raises(DataLimitError, match=TOO_LARGE):
        read_json_file(gzip.compress(b" " * LARGE, 1))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "text", "why"),
    [
        ("load_study", "a = 1\n" + "#" * MAX_TOML_CHARACTERS, "has more than 500,000 characters"),
        ("load_study", "", TOO_LARGE),
        ("verify_preregistration", WIDE, TOO_WIDE),
        ("verify_preregistration", "", TOO_LARGE),
    ],
)
def test_a_command_refuses_a_hostile_file_with_code_2(
    tmp_path: Path, command: str, text: str, why: str
) -> None:
    file = tmp_path / "hostile"
    file.write_text(text) if text else sparse(file)
    with pytest.raises(CommandError) as refused:
        call_command(command, file)
    assert refused.value.returncode == 2
    assert str(refused.value).endswith(f"hostile: {why}")


def test_the_folder_of_an_experiment_may_be_foreign(tmp_path: Path) -> None:
    for write, why in ((lambda file: file.write_text(WIDE), TOO_WIDE), (sparse, TOO_LARGE)):
        write(tmp_path / "experiment.json")
        with pytest.raises(FolderError, match=f"experiment.json: {why}"):
            read_setup_file(tmp_path)


def test_a_log_is_unpacked_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "MAX_LOG_BYTES", 2**20)
    line = gzip.compress(b" " * 600_000)
    for data in (gzip.compress(b" " * (2**20 + 1)), line + line):
        with pytest.raises(LogError, match="has more than 1 MiB"):
            read_log(data)
    monkeypatch.setattr(log_files, "MAX_VALUES_IN_LINES", 100)
    with pytest.raises(LogError, match="has more than 100 values"):
        read_log(gzip.compress(b"[" + b"1," * 100 + b"1]"))


@pytest.mark.parametrize(
    ("name", "write", "why"),
    [
        ("a.jsonl", lambda file: file.write_text(f"{{}}\n{WIDE}\n"), f"line 2: {TOO_WIDE}"),
        ("b.jsonl", sparse, TOO_LARGE),
        ("many.jsonl", lambda file: file.write_text(f"[{'1,' * 999_990}1]\n" * 6), "has more than 5,000,000"),
        ("c.jsonl.gz", lambda file: file.write_bytes(gzip.compress(bytes(LARGE), 1)), TOO_LARGE),
        (
            "d.jsonl",
            lambda file: file.write_text("[" * 60 + "]" * 60),
            "line 1: is nested deeper than 50 levels",
        ),
    ],
)
def test_a_file_of_recordings_is_refused(
    tmp_path: Path, name: str, write: Callable[[Path], object], why: str
) -> None:
    write(tmp_path / name)
    with pytest.raises(TraceFileError, match=f"{name}: {why}"):
        read_recording_file(tmp_path / name)


def test_a_string_that_is_never_closed_takes_no_time() -> None:
    began = time.process_time()
    with pytest.raises(DataError, match=r"study\.toml: not TOML"):
        parse_toml('a = "' + '\\"' * 200_000, "study.toml")
    assert time.process_time() - began < 5


def test_a_setting_of_an_experiment_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--set: x: has more than 250,000 characters"):
        call_command("experiment", "--local", "--out", str(tmp_path), "--set", f"x=[{'1,' * 125_000}1]")


def test_a_value_in_a_form_has_a_limit() -> None:
    with pytest.raises(ValidationError, match="This has more than 20,000 characters"):
        AnyValueField(max_length=None).clean("[" + "1," * 10_000 + "1]")
