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
from hypothesis import given
from hypothesis import strategies as st

from kitchen.play.models import Episode, Seat, SeatCommand
from study.design.models import Study
from study.exports.csv_encoding import cells, harmless, lines
from study.exports.export_files import csv_pieces, write_study
from study.exports.export_registry import DOCUMENTS, TABLES, get_table, tables
from study.exports.export_table import PARTICIPANT_COLUMNS, PERSON_MARKS
from study.exports.row_groups import RowBatch, RowGroup
from study.participants.models import PageVisit
from study.participants.participant_counts import StudyCounts, studies_with_counts, study_counts
from study.participation.page_progress import finish_page
from tests.conftest import Once
from tests.study.exports.rows import csv_rows, rows_of
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


UNMARKED = {
    "prompts": "a text is sent to many: columns say how many of which kind",
    "outages": "about our own presence, not about participants",
    "codebook": "about columns, not about participants",
    "dictionary": "the same",
}
"""Files whose rows are no participant's, and why; every other one marks each row."""
MARKED = [name for name in TABLES if name not in UNMARKED]
WITHOUT_ROWS = {
    "decisions": "nobody has co-players in small studies; see test_calls.py",
    "prompts": "the same",
    "staff_actions": "staff did nothing; see test_staffing.py",
    "payments": "the study pays no bonus; see tests/study/monitor/test_payments.py",
    "annotations": "nobody rates; see tests/study/monitor/test_annotation.py",
    "sound": "nothing is recorded; see tests/study/participation/test_sound_uploads.py",
    "outages": "nothing was away; see test_outages.py",
    "messages": "nobody can write to anybody; see test_messages.py",
    "predictions": "nobody foresees anything; see test_predictions.py",
    "jobs": "nobody can command anybody; see test_jobs.py",
    "scored_events": "nobody can write to anybody; see test_scored_events.py",
    "probes": "no condition asks anything; see test_probes_table.py",
    "failed_checks": "no world here lists them; see test_scored_events.py",
    "plannings": "nobody has an organisation; see test_organisation_tables.py",
    "team_measures": "the same",
}
"""Files that have no rows here, and why."""


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study in which one person and one program went the whole way; its pk."""
    with once():
        found = make_study()
        complete(found, "entry-of-a-person", value=4)
        complete(found, "entry-of-a-program", synthetic=True, value=2)
        enter(found, "entry-of-a-drop-out")
    return found.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


@pytest.fixture(scope="module")
def exported(played: int, once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with every file of this study."""
    folder = tmp_path_factory.mktemp("exported")
    with once():
        write_study(Study.objects.get(pk=played), folder)
    return folder


def test_there_is_a_row_for_everything(study: Study, exported: Path) -> None:
    assert {path.name for path in exported.iterdir()} == {*(f"{name}.csv" for name in TABLES), *DOCUMENTS}
    lengths = {name: len(read(exported, name)) for name in TABLES}
    assert lengths == {
        "participants": 3,
        "episodes": 4,
        "steps": 12,
        "commands": 12,
        "answers": 8,
        "asked": 12,
        "staff_actions": 0,
        "payments": 0,
        "annotations": 0,
        "sound": 0,
        "page_times": PageVisit.objects.count(),
        "decisions": 0,
        "prompts": 0,
        "outages": 0,
        "messages": 0,
        "jobs": 0,
        "predictions": 0,
        "scored_events": 0,
        "probes": 0,
        "failed_checks": 0,
        "plannings": 0,
        "team_measures": 0,
        "measures": 28,  # 4 ratings, and of play 3 measures, of 4 episodes
        "codebook": sum(len(table.columns_of(study)) for table in tables()),
        "dictionary": sum(len(table.columns_of(study)) for table in tables()),
    }


def test_synthetic_participants_are_marked_in_every_file(exported: Path) -> None:
    synthetic = {row["participant"] for row in read(exported, "participants") if row["synthetic"] == "1"}
    assert len(synthetic) == 1
    for name in MARKED:
        rows = read(exported, name)
        assert rows or name in WITHOUT_ROWS
        for row in rows:
            assert (row["synthetic"] == "1") == (row["participant"] in synthetic), name


@pytest.mark.parametrize("name", MARKED)
def test_every_file_about_participants_marks_who_they_are(name: str) -> None:
    columns = {column.name for column in get_table(name).columns}
    assert columns >= {"participant", *(column.name for column in (PARTICIPANT_COLUMNS[1], *PERSON_MARKS))}


def test_drop_outs_are_there_with_their_exit_status(exported: Path) -> None:
    assert [row["exit_status"] for row in read(exported, "participants")] == [
        "complete",
        "complete",
        "active",
    ]


def test_the_files_join_on_their_keys(exported: Path) -> None:
    episodes = {row["episode"]: row for row in read(exported, "episodes")}
    for name in ("steps", "commands", "answers"):
        for row in read(exported, name):
            home = episodes[row["episode"]]
            assert all(home[key] == row[key] for key in ("participant", "condition", "order_position"))
    last = {row["episode"]: row["state_hash"] for row in read(exported, "steps")}
    assert last == {key: row["state_hash"] for key, row in episodes.items()}


def test_a_column_has_one_type_in_all_files(study: Study) -> None:
    kinds: dict[str, set[str]] = {}
    for table in tables():
        for column in table.columns_of(study):
            kinds.setdefault(column.name, set()).add(column.kind)
    assert not {name: found for name, found in kinds.items() if len(found) > 1}


def test_the_codebook_has_the_values_of_every_coded_column(exported: Path) -> None:
    book = {(row["file"], row["column"]): row["levels"] for row in read(exported, "codebook")}
    booleans = [row for row in read(exported, "codebook") if row["type"] == "boolean"]
    assert all(row["levels"] for row in booleans)
    assert book["episodes.csv", "condition"] == "c0 = Condition 0; c1 = Condition 1"
    assert book["participants.csv", "c0.i0"] == "1 = Strongly disagree; 5 = Strongly agree"
    assert book["participants.csv", "c0.success_rate"] == "from 0 to 1"


def test_every_column_is_explained(study: Study) -> None:
    for table in tables():
        names = [column.name for column in table.columns_of(study)]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in table.columns_of(study))


def test_no_file_holds_what_opens_a_page_or_a_seat(study: Study, exported: Path) -> None:
    everything = "".join(path.read_text() for path in exported.iterdir())
    secrets = [*study.participants.values_list("key", "entry")]
    for secret in [*sum(secrets, ()), *Seat.objects.values_list("key", flat=True)]:
        assert secret not in everything


def test_completion_codes_can_be_checked_once_somebody_is_through(study: Study, exported: Path) -> None:
    found = {row["participant"]: row["completion_code"] for row in read(exported, "participants")}
    codes = {one.code: one.given_code for one in study.participants.filter(status="complete")}
    assert all(codes.values())
    assert {code for code, completion in found.items() if completion} == set(codes)
    assert all(found[code] == completion for code, completion in codes.items())


def test_an_episode_keeps_the_teammates_it_was_played_with() -> None:
    study = make_study("renamed", conditions=1)
    study.conditions.update(coplayer="random", teammates=2)
    finish_page(participant_id=enter(study).pk, page="guide")
    study.conditions.update(coplayer="planner", teammates=1, name="Renamed")
    (row,) = csv_rows(study, "episodes")
    assert (row["coplayer"], row["teammates"], row["condition_name"]) == ("random", "2", "Renamed")


def test_an_episode_alone_has_no_co_player(exported: Path) -> None:
    rows = read(exported, "episodes")
    assert {(row["coplayer"], row["teammates"], row["played_by"]) for row in rows} == {("none", "0", "")}


def test_episodes_name_the_agents_that_really_played(study: Study) -> None:
    first = Episode.objects.order_by("id")[0]
    for seat, kind in ((1, "planner"), (2, "planner"), (3, "fallback")):
        SeatCommand.objects.create(episode=first, step=1, seat=seat, command=["noop"], chosen_by=kind)
    found = {row["episode"]: row["played_by"] for row in csv_rows(study, "episodes")}
    assert found.pop(str(first.key)) == "fallback planner"
    assert set(found.values()) == {""}


def test_a_seed_is_text_that_programs_which_compute_with_doubles_do_not_round(study: Study) -> None:
    Episode.objects.update(seed=2**63 - 1)
    assert {row["seed"] for row in csv_rows(study, "episodes")} == {"'9223372036854775807"}
    assert [harmless(str(2**53 + more)) for more in (0, 1)] == ["9007199254740992", "'9007199254740993"]
    kinds = {column.name: column.kind for column in get_table("episodes").columns}
    assert kinds["seed"] == "text"


@pytest.mark.parametrize("name", [name for name in TABLES if name not in {"codebook", "dictionary"}])
def test_a_file_asks_the_database_as_often_for_many_rows_as_for_few(
    study: Study, name: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries({"participants": 20, "episodes": 15, "measures": 24}.get(name, 10)):
        found = list(rows_of(get_table(name), study))
    assert found or name in WITHOUT_ROWS


def test_chunks_change_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {name: list(rows_of(get_table(name), study)) for name in ("episodes", "steps", "commands")}
    monkeypatch.setattr("study.exports.tables.played_episodes.PEOPLE", 1)
    monkeypatch.setattr("study.exports.tables.played_episodes.STEPS", 3)
    assert {name: list(rows_of(get_table(name), study)) for name in whole} == whole


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
        ({"b": 1, "a": None}, "json", '"{""a"":null,""b"":1}"'),
        ("two\r\nlines", "text", '"two\r\nlines"'),
        ("=1+1", "integer", "'=1+1"),
    ],
)
def test_values_are_written_in_one_way_only(value: Any, kind: str, expected: str) -> None:
    assert list(cells(kind, [value, value])) == [expected, expected]


@given(st.lists(st.tuples(*[st.text() | st.integers() | st.floats() | st.none()] * 3), min_size=1))
def test_lines_are_those_of_the_csv_module(rows: list[tuple[Any, ...]]) -> None:
    written = io.StringIO()
    clean = [[harmless(value) if isinstance(value, str) else value for value in row] for row in rows]
    csv.writer(written).writerows(clean)
    batch = RowBatch([RowGroup((), rows)])
    assert "".join(f"{line}\r\n" for line in lines(["number"] * 3, batch)) == written.getvalue()


def test_a_download_comes_in_pieces_and_is_the_same_file(
    study: Study, exported: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("study.exports.export_files.PIECE", 100)
    monkeypatch.setattr("study.exports.export_table.AT_ONCE", 1)
    for table in tables():
        pieces = list(csv_pieces(table, study))
        assert b"".join(pieces) == (exported / f"{table.name}.csv").read_bytes()
        assert max(map(len, pieces)) < 4000


def test_the_command_says_what_it_wrote(study: Study, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("export_study", "small", "--out", str(tmp_path / "new" / "folder"), stdout=out)
    assert out.getvalue().splitlines()[-1].startswith("25 files, ")


@pytest.mark.parametrize("command", ["export_study", "analyse_study"])
@pytest.mark.usefixtures("without_drawings")
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


PAGES = ["/staff/", "/staff/small/", "/staff/small/analysis/", "/staff/small/analysis/success_rate.svg"]
DATA_PAGES = ["/staff/small/data/", "/staff/small/data/steps.csv"]


def test_only_staff_reach_the_data(study: Study, client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("somebody"))
    for path in PAGES + DATA_PAGES:
        assert Client().get(path)["Location"].startswith("/admin/login/")
        assert client.get(path).status_code == 302


def test_the_study_page_shows_completion_codes_of_those_who_are_through(
    study: Study, admin_client: Client
) -> None:
    page = admin_client.get("/staff/small/").content.decode()
    shown = {one.completion_code for one in study.participants.all() if one.completion_code in page}
    assert shown == {one.completion_code for one in study.participants.filter(status="complete")}


def test_the_list_of_studies_counts_in_one_query(study: Study, django_assert_num_queries: Any) -> None:
    make_study("empty")
    with django_assert_num_queries(1):
        found = {one.slug: counts for one, counts in studies_with_counts(Study.objects.all())}
    assert found["small"] == StudyCounts(2, 1, 1, 0, 1, 1)
    assert found["small"] == study_counts(study)
    assert found["empty"] == StudyCounts(0, 0, 0, 0, 0, 0)


def downloaded(response: Any) -> bytes:
    async def collect() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(collect)()


def test_a_downloaded_file_is_the_exported_one(admin_client: Client, exported: Path) -> None:
    response = admin_client.get("/staff/small/data/commands.csv")
    assert response["Content-Disposition"] == 'attachment; filename="small_commands.csv"'
    assert downloaded(response) == (exported / "commands.csv").read_bytes()
    assert admin_client.get("/staff/small/data/secrets.csv").status_code == 404


def test_the_dictionary_names_every_code_of_a_fallback() -> None:
    levels = {
        (table.name, column.name): column.levels
        for table in tables()
        for column in table.columns
        if column.name in {"fallback", "model_error"}
    }
    assert set(levels) == {
        ("commands", "fallback"),
        ("decisions", "fallback"),
        ("decisions", "model_error"),
        ("plannings", "fallback"),
    }
    codes = ("timeout", "error", "connection", "429", "529", "5xx", "4xx", "not_asked", "budget", "unpriced")
    for code in codes:
        assert all(f"{code} (" in words for words in levels.values()), code


def test_every_column_of_every_file_is_in_the_codebook_and_no_other(exported: Path) -> None:
    explained = {(row["file"], row["column"]) for row in read(exported, "codebook")}
    there = set()
    for path in exported.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as stream:
            there |= {(path.name, column) for column in next(csv.reader(stream))}
    assert explained == there
    assert (exported / "codebook.csv").read_bytes() == (exported / "dictionary.csv").read_bytes()
