"""participants, wide: a column for everything that was asked, each with a name and a kind that fit."""

from __future__ import annotations

import csv
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from kitchen.infra.append_only import erasure_allowed
from study.analysis.analysis_results import analyse_present_data
from study.design.models import Condition, Study, SurveyItem, Version
from study.design.study_versions import current_version
from study.exports.export_files import csv_pieces, parquet_pieces
from study.exports.export_registry import get_table
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import answers_submit, finish_page
from study.pilot.previews import previews_erase
from tests.nightly import nightly
from tests.study.exports.rows import csv_rows
from tests.study.factories import make_study, play_out

pytestmark = pytest.mark.django_db


def answered(study: Study, entry: str, values: dict[str, Any], **more: Any) -> Participant:
    """Someone who plays every condition and answers so each time."""
    person = participant_enter(study_id=study.pk, entry=entry, **more)
    consent_given(participant_id=person.pk)
    finish_page(participant_id=person.pk, page="guide")
    for one in person.rounds.all():
        one.refresh_from_db()
        assert one.episode
        play_out(one.episode)
        assert answers_submit(participant_id=person.pk, page="survey", position=one.position, values=values)
    person.refresh_from_db()
    return person


def both(study: Study) -> tuple[list[dict[str, str]], pa.Table]:
    """participants as CSV and as Parquet."""
    written = b"".join(parquet_pieces(get_table("participants"), study))
    return csv_rows(study, "participants"), pq.read_table(io.BytesIO(written))


def names(study: Study) -> list[str]:
    return [column.name for column in get_table("participants").columns_of(study)]


def test_a_measure_has_one_name_in_the_data_and_in_the_analysis() -> None:
    study = make_study(conditions=1, items=1)
    SurveyItem.objects.update(key="work_load_score", scale="Work load")
    answered(study, "one", {"work_load_score": 4})
    keys = {f"c0.{one.measure.key}" for one in analyse_present_data(study, "people").measures}
    assert {"c0.work_load_score", "c0.work_load_score_2"} < keys < set(names(study))


def test_a_design_that_only_erased_previews_met_leaves_no_column() -> None:
    study = make_study(conditions=1, items=1)
    answered(study, "staff", {"i0": 3}, preview=True)
    assert previews_erase(study_id=study.pk) == 1
    SurveyItem.objects.update(kind="text")
    answered(study, "person", {"i0": "=1+1"})
    rows, table = both(study)
    assert rows[0]["c0.i0"] == "'=1+1"
    assert table.column("c0.i0").to_pylist() == ["=1+1"]


@pytest.mark.parametrize(
    ("later", "value", "cells", "values"),
    [
        ("text", "=1+1", ["3", "'=1+1"], ["3", "=1+1"]),
        *nightly(
            ("number", 3.5, ["3", "3.5"], [3.0, 3.5]), ("multiple", ["a"], ["3", '["a"]'], ["3", '["a"]'])
        ),
    ],
)
def test_a_column_holds_what_every_version_asked_for(
    later: str, value: Any, cells: list[str], values: list[Any]
) -> None:
    study = make_study(conditions=1, items=1)
    first = answered(study, "first", {"i0": 3})
    with erasure_allowed():
        first.answers.all().delete()  # so that the item is not fixed yet
    SurveyItem.objects.update(kind=later, options=["a", "b"])
    answered(study, "later", {"i0": value})
    first.answers.create(round=first.rounds.get(), item=SurveyItem.objects.get(), value=3)
    rows, table = both(study)
    assert [row["c0.i0"] for row in rows] == cells
    assert table.column("c0.i0").to_pylist() == values


def test_a_preregistered_version_has_its_columns_before_the_first_participant() -> None:
    study = make_study(conditions=1, items=1)
    current_version(study_id=study.pk)
    Version.objects.update(frozen_at=timezone.now())
    SurveyItem.objects.update(key="other")
    assert "c0.i0" in names(study)
    assert "c0.other" not in names(study)


NAMES = ("failed", "steps", "label", "code", "failed_2")


@pytest.mark.servers
def test_no_two_columns_have_one_name() -> None:
    study = make_study(conditions=0, items=0)
    for number, key in enumerate(("participant", "about", "c0")):
        Condition.objects.create(
            study=study, key=key, name=key, label=key, position=number, settings={"max_steps": 2}
        )
    for number, key in enumerate(NAMES):
        SurveyItem.objects.create(study=study, key=key, measure=key, text=key, position=number)
    SurveyItem.objects.filter(key="failed").update(scale="Work load")
    SurveyItem.objects.filter(key="steps").update(scale="work_load")
    answered(study, "one", {key: at for at, key in enumerate(NAMES, start=1)})
    found = names(study)
    assert len(set(found)) == len(found)
    rows, table = both(study)
    assert table.column_names == found
    (row,) = rows
    assert row["participant.code"] == "4"
    assert (row["c0.steps"], row["c0.steps_2"]) == ("2", "2")
    assert (row["c0.failed_2"], row["c0.failed_2_2"]) == ("1", "5")
    assert (row["c0.work_load_score"], row["c0.work_load_score_2"]) == ("1.0", "2.0")
    meanings = {column.name: column.meaning for column in get_table("participants").columns_of(study)}
    assert meanings["c0.failed_2"].endswith("(Another column is called c0.failed.)")


@pytest.mark.servers
def test_a_design_that_changes_during_the_export_changes_no_file_that_was_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_study(conditions=1, items=1)
    monkeypatch.setattr("study.exports.export_files.PIECE", 1)
    answered(study, "one", {"i0": 3})
    pieces = csv_pieces(get_table("participants"), study)
    begun = next(pieces)
    SurveyItem.objects.create(study=study, key="new", measure="New", text="New?", position=2)
    late = answered(study, "two", {"i0": 3, "new": 4})
    header, *rows = csv.reader((begun + b"".join(pieces)).decode().splitlines())
    assert {len(row) for row in rows} == {len(header)}
    assert late.version.number == 2
