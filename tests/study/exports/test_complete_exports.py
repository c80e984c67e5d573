"""The whole export: wide participants, practice, ZIP, Parquet, whose data, nobody who withdrew."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from kitchen.play.models import Episode, Seat
from study.design.models import Study, StudyPart, SurveyItem, Version
from study.design.recruitment_platforms import Referral
from study.exports.export_files import parquet_pieces, write_study, zip_pieces
from study.exports.export_registry import DOCUMENTS, TABLES, get_document, get_table, tables
from study.exports.export_table import EVERYBODY, Column, ExportSelection, ExportTable
from study.exports.row_groups import RowGroup
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant, Round
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import answers_submit, check_submit, finish_page
from tests.conftest import Once
from tests.study.exports.rows import csv_rows, rows_of
from tests.study.exports.test_exports import MARKED, WITHOUT_ROWS
from tests.study.factories import SETTINGS, complete, make_study, play_out

pytestmark = pytest.mark.django_db

WITH_ROWS = [name for name in MARKED if name not in WITHOUT_ROWS]
PRACTICE = {"kitchen": {"settings": SETTINGS}, "hints": True}


def item(study: Study, key: str, **more: Any) -> SurveyItem:
    return SurveyItem.objects.create(study=study, key=key, measure=key.title(), text=f"{key}?", **more)


@pytest.fixture(scope="module")
def walked(once: Once) -> int:
    """A study that one person from MTurk has walked through, who failed the attention checks; its pk."""
    with once():
        found = whole_study()
        sent = Referral("mturk", "worker-1", {"assignmentId": "a-1", "hitId": "hit-of-one"})
        walk(found, "one", attention=5, referral=sent)
    return found.pk


@pytest.fixture
def study(walked: int) -> Study:
    return Study.objects.get(pk=walked)


def whole_study(conditions: int = 2) -> Study:
    """One with questions of every kind, and practice."""
    found = make_study(conditions=conditions, items=0)
    for kind in ("about", "check", "final"):
        StudyPart.objects.create(study=found, kind=kind, enabled=True)
    StudyPart.objects.create(study=found, kind="practice", enabled=True, settings=PRACTICE)
    item(found, "ease", scale="Work load", position=1)
    item(found, "strain", scale="Work load", reversed=True, position=2)
    item(found, "attention", correct=2, position=3)
    item(found, "age", place="about", kind="number", minimum=18, maximum=99)
    item(found, "goal", place="check", kind="single", options=["cook", "sleep"], correct="cook")
    item(found, "best", place="final", kind="team")
    item(found, "liked", place="final", kind="multiple", options=["a", "b"])
    return found


def walk(study: Study, entry: str, *, attention: int = 2, **more: Any) -> Participant:
    """Someone who goes the whole way, with a wrong first answer at the check of understanding."""
    person = participant_enter(study_id=study.pk, entry=entry, **more)
    consent_given(participant_id=person.pk)
    answer = answers_submit
    answer(participant_id=person.pk, page="about", values={"age": 33})
    finish_page(participant_id=person.pk, page="guide")
    person.refresh_from_db()
    assert person.practice
    play_out(person.practice)
    finish_page(participant_id=person.pk, page="practice")
    check_submit(participant_id=person.pk, values={"goal": "sleep"}, attempt=1)
    check_submit(participant_id=person.pk, values={"goal": "cook"}, attempt=2)
    for one in person.rounds.all():
        one.refresh_from_db()
        assert one.episode
        play_out(one.episode)
        values = {"ease": 4, "strain": 1, "attention": attention}
        answer(participant_id=person.pk, page="survey", position=one.position, values=values)
    answer(participant_id=person.pk, page="final", values={"best": "c1", "liked": ["b"]})
    person.refresh_from_db()
    assert person.status == "complete"
    return person


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_participant_is_one_wide_row(study: Study) -> None:
    (row,) = csv_rows(study, "participants")
    assert (row["about.age"], row["check.goal"], row["final.best"], row["final.liked"]) == (
        "33",
        "cook",
        "c1",
        '["b"]',
    )
    assert (row["c0.ease"], row["c1.strain"], row["c0.work_load_score"]) == ("4", "1", "4.5")
    assert (row["check_attempts"], row["check_passed"]) == ("2", "1")
    assert (row["attention_checks"], row["attention_checks_failed"]) == ("2", "2")
    assert (row["label"], row["referral.hitId"]) == ("worker-1", "hit-of-one")
    assert {row["c0.steps"], row["c1.steps"]} == {"3"}


def test_participants_have_no_column_that_is_blank_for_everybody(study: Study) -> None:
    blank = {"excluded_at", "excluded_reason", "end_reason", "known_effects", "referral.STUDY_ID"}
    (row,) = csv_rows(study, "participants")
    assert not blank & row.keys()
    Participant.objects.update(excluded_at=timezone.now(), excluded_reason="asleep")
    (row,) = csv_rows(study, "participants")
    assert row["excluded_reason"] == "asleep" and row["c1.strain"] == "1"
    assert list(row) == [column.name for column in get_table("participants").columns_of(study)]


def test_practice_is_there_and_marked(study: Study) -> None:
    assert [row["part"] for row in csv_rows(study, "episodes")] == ["practice", "main", "main"]
    practice = next(row for row in csv_rows(study, "steps") if row["part"] == "practice")
    assert (practice["condition"], practice["order_position"]) == ("", "0")
    answers = csv_rows(study, "answers")
    assert {row["place"] for row in answers} == {"about", "check", "survey", "final"}
    rights = [row["right"] for row in answers if row["item"] == "goal"]
    assert rights == ["0", "1"]


def test_columns_keep_their_places_when_the_design_changes(study: Study) -> None:
    before = [column.name for column in get_table("participants").columns_of(study)]
    item(study, "joy", position=0)
    study.conditions.filter(key="c0").update(position=9)
    walk_values = participant_enter(study_id=study.pk, entry="two")
    assert walk_values.version.number == 2
    after = [column.name for column in get_table("participants").columns_of(study)]
    assert after[: len(before)] == before
    assert after[len(before) :] == ["c1.joy", "c0.joy"]


def test_changes_after_the_freeze_are_flagged(study: Study) -> None:
    Version.objects.update(frozen_at=timezone.now())
    Study.objects.update(title="Another title")
    walk(study, "two")
    tables = {name: csv_rows(study, name) for name in WITH_ROWS}
    for name, rows in tables.items():
        found = {(row["version"], row["changed_since_freeze"]) for row in rows}
        assert found == {("1", "0"), ("2", "1")}, name
    assert [row["version_frozen"] for row in tables["participants"]] == ["1", "0"]
    design = json.loads(get_document("design.json").text(study, EVERYBODY))
    assert [one["changed_since_freeze"] for one in design["versions"]] == [False, True]


@pytest.mark.servers
def test_everybody_is_there_unless_left_out(study: Study) -> None:
    gone, stays = Participant.objects.get(), walk(study, "two", synthetic=True)
    kinds: dict[str, dict[str, Any]] = {
        "people": {},
        "synthetic": {"synthetic": True},
        "preview": {"preview": True},
        "excluded": {"excluded_at": timezone.now(), "excluded_reason": "asleep"},
    }
    nothing = {"synthetic": False, "preview": False, "excluded_at": None, "excluded_reason": ""}
    for kind, marks in kinds.items():
        Participant.objects.filter(pk=gone.pk).update(**{**nothing, **marks})
        other = kinds["synthetic" if kind != "synthetic" else "preview"]
        Participant.objects.filter(pk=stays.pk).update(**{**nothing, **other})
        assert len(list(rows_of(get_table("participants"), study))) == 2
        for name in WITH_ROWS:
            codes = {row[0] for row in rows_of(get_table(name), study, ExportSelection.without([kind]))}
            assert codes == {stays.code}, (name, kind)


@pytest.mark.servers
def test_no_file_of_any_form_knows_who_withdrew(study: Study, tmp_path: Path) -> None:
    gone = Participant.objects.get()
    walk(study, "stays")
    theirs = Episode.objects.filter(rounds__participant=gone) | Episode.objects.filter(practised_by=gone)
    names = [gone.code, gone.key, gone.label, gone.completion_code, "hit-of-one"]
    names += [str(key) for key in theirs.distinct().values_list("key", flat=True)]
    names += Seat.objects.filter(episode__in=theirs).values_list("key", flat=True)
    participant_withdraw(participant_id=gone.pk)
    with zipfile.ZipFile(io.BytesIO(b"".join(zip_pieces(study)))) as archive:  # files as they are alone
        texts = [part for name in archive.namelist() for part in (name, archive.read(name).decode())]
    write_study(study, tmp_path, "parquet")
    texts += [str(pq.read_table(path).to_pylist()) for path in tmp_path.glob("*.parquet")]
    for name in names:
        assert not any(name in text for text in texts), name
    assert [row["number"] for row in csv_rows(study, "participants")] == ["2"]


@pytest.mark.servers
def test_an_episode_that_two_share_has_its_steps_once() -> None:
    study = make_study("shared", conditions=1)
    first, second = complete(study, "first"), complete(study, "second")
    shared = Round.objects.get(participant=first).episode
    Round.objects.filter(participant=second).update(episode=shared, seat=1)
    assert [row["seat"] for row in csv_rows(study, "episodes")] == ["0", "1"]
    steps = csv_rows(study, "steps")
    assert len(steps) == len(csv_rows(study, "commands")) == 3
    assert {row["participant"] for row in steps} == {first.code}
    only = ExportSelection.without(["excluded"])
    Participant.objects.filter(pk=first.pk).update(excluded_at=timezone.now())
    assert {row[0] for row in rows_of(get_table("steps"), study, only)} == {second.code}


def test_the_zip_holds_every_file_as_it_is_alone(study: Study, tmp_path: Path) -> None:
    write_study(study, tmp_path)
    with zipfile.ZipFile(io.BytesIO(b"".join(zip_pieces(study)))) as archive:
        assert archive.testzip() is None
        found = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert found == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(found) == {*(f"{name}.csv" for name in TABLES), *DOCUMENTS}


@pytest.mark.servers
def test_parquet_has_the_same_rows_in_their_own_types(study: Study, tmp_path: Path) -> None:
    Participant.objects.update(label="=1+1")
    write_study(study, tmp_path)
    write_study(study, tmp_path, "parquet")
    named = set(pq.read_table(tmp_path / "codebook.parquet").column("file").to_pylist())
    assert ".csv" not in "".join(pq.read_table(tmp_path / "codebook.parquet").column("meaning").to_pylist())
    for table in tables():
        found, rows = pq.read_table(tmp_path / f"{table.name}.parquet"), read(tmp_path, table.name)
        assert found.num_rows == len(rows)
        assert found.column_names == [column.name for column in table.columns_of(study)]
        assert f"{table.name}.parquet" in named
    people = pq.read_table(tmp_path / "participants.parquet")
    assert people.schema.field("entered_at").type == pa.timestamp("us", tz="UTC")
    assert people.schema.field("synthetic").type == pa.bool_()
    assert people.schema.field("number").type == pa.int64()
    assert people.schema.field("c0.work_load_score").type == pa.float64()
    assert people.to_pylist()[0]["label"] == "=1+1"
    assert read(tmp_path, "participants")[0]["label"] == "'=1+1"


@pytest.mark.parametrize(("longest", "groups"), [(3, 1), (3_000, 10)])
def test_rows_with_long_texts_are_written_sooner(
    longest: int, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.exports.export_files.ROW_GROUP", 60_000)
    monkeypatch.setattr("study.exports.export_table.AT_ONCE", 10)
    table = ExportTable(
        "one",
        "One cell.",
        (Column("cell", "text", "It."),),
        lambda *_: [RowGroup((), [["x" * longest]] * 200)],
    )
    pieces = list(parquet_pieces(table, Study()))
    found = pq.ParquetFile(io.BytesIO(b"".join(pieces))).metadata
    assert (found.num_rows, found.num_row_groups) == (200, groups)


@pytest.mark.servers
def test_the_command_writes_every_format_and_leaves_out_the_given_kinds(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [get_table("participants"), get_table("steps")]
    monkeypatch.setattr("study.exports.export_files.tables", lambda: some)
    Participant.objects.update(synthetic=True)
    out = io.StringIO()
    call_command("export_study", "small", "--out", str(tmp_path), "--format", "zip", stdout=out)
    assert zipfile.is_zipfile(tmp_path / "small.zip")
    call_command("export_study", "small", "--out", str(tmp_path), "--format", "parquet", stdout=out)
    assert (tmp_path / "steps.parquet").exists()
    call_command("export_study", "small", "--out", str(tmp_path), "--without", "synthetic", stdout=out)
    assert read(tmp_path, "participants") == []
    with pytest.raises(CommandError):
        call_command("export_study", "small", "--out", str(tmp_path), "--format", "xml")


def test_answers_state_what_the_participant_read_and_not_what_is_there_now(study: Study) -> None:
    now: dict[str, Any] = {"text": "Changed?", "points": 11, "low": "Other", "reversed": True, "scale": "x"}
    study.items.filter(key="ease").update(**now)  # past the guard, as older programs let it
    study.items.filter(key="attention").update(correct=5)
    rows = csv_rows(study, "answers")
    for row in rows:
        if row["item"] == "ease":
            assert row["text"] != "Changed?"
            assert (row["points"], row["low_label"], row["reversed"], row["scale"]) != (
                "11",
                "Other",
                "1",
                "x",
            )
            assert row["points"] == "5"
    assert {row["right"] for row in rows if row["item"] == "attention"} == {"0"}
    assert {row["correct"] for row in rows if row["item"] == "attention"} != {"5"}
