"""Files with games are read within limits: hostile ones are refused in words, and one bad game alone."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from kitchen.contract.recorded_trial import TrialOptions
from kitchen.contract.world_errors import SettingsError
from kitchen.opened.trial_files import MAX_FILE_BYTES, TrialFileError, read_trial_file
from kitchen.worlds.overcooked.released_trials import RELEASED_TRIALS
from tests.kitchen.worlds.overcooked.test_released_trials import played, table

COLUMNS = list(RELEASED_TRIALS.columns)


def written(path: Path, rows: list[dict[str, str]], **more: str) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, **more} for row in rows)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(TrialFileError) as caught:
        list(read_trial_file(path, TrialOptions()))
    return str(caught.value)


def test_one_bad_game_of_a_table_is_refused_alone(tmp_path: Path) -> None:
    good = table(played())
    bad = [{**row, "trial_id": "=HYPERLINK(1)", "reward": "7"} for row in good]
    again = [{**row, "trial_id": "t1"} for row in good]
    found = list(read_trial_file(written(tmp_path / "a.csv", [*good, *bad, *again]), TrialOptions()))
    assert [(each.name, each.found is not None) for each in found] == [
        ("t1", True),
        ("=HYPERLINK(1)", False),
        ("t1", False),
    ]
    assert found[1].refusal.startswith("row 0: the reward is 7 in the file")
    assert found[2].refusal == "its rows are not together in the file"


def test_packed_tables_and_objects_are_read(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.csv", table(played()))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert [each.found is not None for each in read_trial_file(tmp_path / "a.csv.gz", TrialOptions())] == [
        True
    ]
    entry = {"ep_states": [1], "ep_actions": [2], "ep_rewards": [3], "mdp_params": [{}]}
    (tmp_path / "a.json").write_text(json.dumps(entry))
    (found,) = read_trial_file(tmp_path / "a.json", TrialOptions())
    assert found.refusal.startswith("episode 0 cannot be read")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**30)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a gigabyte": (_huge, f"it has 1024 MiB, and {MAX_FILE_BYTES // 2**20} are read"),
    "columns": (
        lambda path: path.write_text(",".join(f"c{n}" for n in range(10_000)) + "\n"),
        "it has 10,000 columns, and 100 are read",
    ),
    "a packed bomb": (
        lambda path: path.write_bytes(gzip.compress(b"x" * (4 * 2**20))),
        "line 1 has more than 1 MiB",
    ),
    "a damaged file": (
        lambda path: path.write_bytes(gzip.compress(f"{','.join(COLUMNS)}\n".encode())[:-9]),
        "it is damaged",
    ),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps([1], 4)), "it is a pickle"),
    "a long cell": (
        lambda path: path.write_text(f"{','.join(COLUMNS)}\n{'9' * 120_000}{',' * (len(COLUMNS) - 1)}\n"),
        "row 0 has a cell of more than 100,000 characters",
    ),
    "a missing column": (lambda path: path.write_text("a,b\n1,2\n"), "it has no column state"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfea,b\n"), "line 1 is not UTF-8"),
    "another object": (lambda path: path.write_text("{}"), "it is no object with lists"),
    "deep JSON": (lambda path: path.write_text('{"a":' * 90 + "1" + "}" * 90), "it is nested deeper"),
    "no rows": (lambda path: written(path, []), "it has no game"),
    "nothing": (lambda path: path.write_text(""), "it has no column state"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_words(what: str, tmp_path: Path) -> None:
    make, words = HOSTILE[what]
    make(tmp_path / "file")
    assert refusal(tmp_path / "file").startswith(words)


def test_an_unknown_preset_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", table(played()))
    with pytest.raises(SettingsError, match="preset: '2018' is not one of 2019, 2020"):
        list(read_trial_file(path, TrialOptions("2018")))
    with pytest.raises(SettingsError, match="value: 'much' is neither a number"):
        list(read_trial_file(path, TrialOptions("", {"value": "much"})))
