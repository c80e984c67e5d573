"""The data as files: tidy, explained, without secrets."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.test import Client

from kitchen.models import Seat
from study.exports.base import cell, harmless
from study.exports.registry import TABLES, tables
from study.exports.writing import csv_pieces, write_study
from study.models import Study
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def study() -> Study:
    found = make_study()
    complete(found, "entry-of-a-person", value=4)
    complete(found, "entry-of-a-program", synthetic=True, value=2)
    enter(found, "entry-of-a-drop-out")
    return found


def test_there_is_a_row_for_everything(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.csv" for name in TABLES)
    lengths = {name: len(read(tmp_path, name)) for name in TABLES}
    assert lengths == {
        "participants": 3,
        "episodes": 4,
        "steps": 12,
        "commands": 12,
        "answers": 8,
        "decisions": 0,
        "prompts": 0,
        "dictionary": sum(len(table.columns) for table in tables()),
    }


def test_synthetic_participants_are_marked_in_every_file(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    synthetic = {row["participant"] for row in read(tmp_path, "participants") if row["synthetic"] == "1"}
    assert len(synthetic) == 1
    for name in ("episodes", "steps", "commands", "answers"):
        for row in read(tmp_path, name):
            assert (row["synthetic"] == "1") == (row["participant"] in synthetic)


def test_drop_outs_are_there_with_their_exit_status(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    assert [row["exit_status"] for row in read(tmp_path, "participants")] == [
        "complete",
        "complete",
        "active",
    ]


def test_the_files_join_on_their_keys(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    episodes = {row["episode"]: row for row in read(tmp_path, "episodes")}
    for name in ("steps", "commands", "answers"):
        for row in read(tmp_path, name):
            home = episodes[row["episode"]]
            assert all(home[key] == row[key] for key in ("participant", "condition", "order_position"))
    last = {row["episode"]: row["state_hash"] for row in read(tmp_path, "steps")}
    assert last == {key: row["state_hash"] for key, row in episodes.items()}


def test_every_column_is_explained(study: Study) -> None:
    for table in tables():
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in table.columns)


def test_no_file_holds_a_secret(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    everything = "".join(path.read_text() for path in tmp_path.iterdir())
    secrets = [*study.participants.values_list("key", "entry", "completion_code")]
    for secret in [*sum(secrets, ()), *Seat.objects.values_list("key", flat=True)]:
        assert secret not in everything


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(text: str) -> None:
    assert harmless(text).startswith("'")


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (None, "text", ""),
        (True, "boolean", "1"),
        (False, "boolean", "0"),
        (-3, "integer", "-3"),
        (0.1, "number", "0.1"),
        ({"b": 1, "a": None}, "json", '{"a":null,"b":1}'),
        ("two\r\nlines", "text", "two lines"),
    ],
)
def test_values_are_written_in_one_way_only(value: Any, kind: str, expected: str) -> None:
    assert cell(value, kind) == expected


def test_a_download_comes_in_pieces_and_is_the_same_file(
    study: Study, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("study.exports.writing.PIECE", 100)
    write_study(study, tmp_path)
    for table in tables():
        pieces = list(csv_pieces(table, study))
        assert "".join(pieces) == (tmp_path / f"{table.name}.csv").read_bytes().decode()
        assert max(map(len, pieces)) < 2000


def test_the_command_says_what_it_wrote(study: Study, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("export_study", "small", "--out", str(tmp_path / "new" / "folder"), stdout=out)
    assert out.getvalue().splitlines()[-1].startswith("8 files, ")


@pytest.mark.parametrize("command", ["export_study", "analyse_study"])
def test_an_unknown_study_or_a_folder_that_cannot_be_is_one_line_and_code_2(
    study: Study, tmp_path: Path, command: str
) -> None:
    with pytest.raises(CommandError, match="there is no study 'nothing'") as caught:
        call_command(command, "nothing", "--out", str(tmp_path))
    assert caught.value.returncode == 2
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CommandError, match="cannot write") as caught:
        call_command(command, "small", "--out", str(tmp_path / "file"))
    assert caught.value.returncode == 2


def test_only_staff_reach_the_data(study: Study, client: Client, django_user_model: Any) -> None:
    paths = ["/staff/", "/staff/small/", "/staff/small/data/", "/staff/small/data/steps.csv"]
    paths += ["/staff/small/analysis/", "/staff/small/analysis/success_rate.svg"]
    client.force_login(django_user_model.objects.create_user("somebody"))
    for path in paths:
        assert Client().get(path)["Location"].startswith("/admin/login/")
        assert client.get(path).status_code == 302
    client.force_login(django_user_model.objects.create_user("researcher", is_staff=True))
    for path in paths:
        expected = 503 if path.endswith(".svg") else 200  # no worker has drawn the figure here
        assert client.get(path).status_code == expected, path


def downloaded(response: Any) -> bytes:
    async def collect() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(collect)()


def test_a_downloaded_file_is_the_exported_one(study: Study, admin_client: Client, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    response = admin_client.get("/staff/small/data/commands.csv")
    assert response["Content-Disposition"] == 'attachment; filename="small_commands.csv"'
    assert downloaded(response) == (tmp_path / "commands.csv").read_bytes()
    assert admin_client.get("/staff/small/data/secrets.csv").status_code == 404
