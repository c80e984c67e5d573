"""Labelled files for SPSS and Stata, read again and compared."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pyreadstat
import pytest
from django.core.management import call_command

from study.design.models import Study, SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.exports.column_levels import Codes
from study.exports.export_files import FORMATS, data_file_pieces
from study.exports.export_registry import get_table
from study.exports.export_table import EVERYBODY, Column, ExportTable
from study.exports.labelled_files import LABELLED, LABELLED_FORMS, _frame, variable_names
from study.exports.row_groups import RowGroup
from study.participants.models import Participant
from tests.study.exports.rows import csv_rows, rows_of
from tests.study.exports.test_participant_columns import answered
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db

READ = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}


@pytest.fixture
def study() -> Study:
    """A study of two people; the first one answers the last item by “does not apply”."""
    found = make_study("labelled", conditions=1, items=2)
    SurveyItem.objects.filter(key="i1").update(may_not_apply=True)
    first = answered(found, "one", {"i0": 4, "i1": DOES_NOT_APPLY})
    complete(found, "two", value=2)
    Participant.objects.filter(pk=first.pk).update(label="é" * 3_000)
    return found


def reread(folder: Path, form: str, table: str, study: Study) -> tuple[Any, Any]:
    path = folder / f"{table}.{form}"
    path.write_bytes(b"".join(FORMATS[form].pieces(get_table(table), study, EVERYBODY, None)))
    found, about = READ[form](path, user_missing=True)
    return found, about


@pytest.mark.parametrize("form", LABELLED_FORMS)
def test_a_labelled_file_read_again_has_every_value_and_label(
    form: str, study: Study, tmp_path: Path
) -> None:
    found, about = reread(tmp_path, form, "participants", study)
    rows = csv_rows(study, "participants")
    assert list(found.columns) == list(variable_names(rows[0]).values())
    assert found["participant"].tolist() == [row["participant"] for row in rows]
    assert [str(at)[:19] for at in found["entered_at"]] == [
        row["entered_at"][:19].replace("T", " ") for row in rows
    ]
    assert about.column_names_to_labels["c0_i0"].startswith("c0.i0: ")
    assert about.variable_value_labels["c0_i0"] == {1: "Strongly disagree", 5: "Strongly agree"}
    assert found["c0_i0"].tolist() == [4, 2]
    mark = "a" if form == "dta" else -99
    assert found["c0_i1"].tolist() == [mark, 2]
    assert about.variable_value_labels["c0_i1"][mark] == "does not apply"
    status = found["exit_status"].map(about.variable_value_labels["exit_status"])
    assert status.tolist() == ["complete", "complete"]
    assert about.variable_value_labels["synthetic"] == {0: "no", 1: "yes"}
    assert found["label"][0] == "é" * 1_000
    if form == "sav":
        levels = {
            name: about.variable_measure[name] for name in ("exit_status", "synthetic", "c0_i0", "number")
        }
        assert list(levels.values()) == ["nominal", "nominal", "ordinal", "scale"]
    missing, _ = READ[form](tmp_path / f"participants.{form}")
    assert missing["c0_i1"].isna().tolist() == [True, False]


@pytest.mark.parametrize("form", LABELLED_FORMS)
def test_every_labelled_table_can_be_written_with_rows(form: str, study: Study, tmp_path: Path) -> None:
    for table in LABELLED:
        found, _ = reread(tmp_path, form, table, study)
        assert len(found) == len(list(rows_of(get_table(table), study))), table


@pytest.mark.parametrize("form", LABELLED_FORMS)
def test_the_command_writes_every_labelled_table_of_a_study_without_rows(form: str, tmp_path: Path) -> None:
    empty = make_study("nobody", conditions=1, items=2)
    call_command("export_study", "nobody", "--out", str(tmp_path), "--format", form)
    assert {path.stem for path in tmp_path.glob(f"*.{form}")} == set(LABELLED)
    for table in LABELLED:
        found, _ = READ[form](tmp_path / f"{table}.{form}")
        columns, _ = get_table(table).opened(empty, EVERYBODY)
        names = variable_names(column.name for column in columns)
        assert (len(found), list(found.columns)) == (0, list(names.values())), table


@pytest.mark.parametrize(
    ("levels", "codes", "mark"),
    [
        ("From 0 to 100", (), -99),
        ("From -99 to 99", (), -999),
        ("", ((-1000, "low"), (5, "high")), -9999),
    ],
)
def test_the_mark_for_does_not_apply_is_none_of_the_possible_answers(
    levels: str, codes: Codes, mark: int
) -> None:
    columns = (
        Column("cold", "number", "It.", levels=levels, codes=codes),
        Column("cold.does_not_apply", "boolean", "It."),
    )
    table = ExportTable("new", "New.", columns, lambda *_: [RowGroup((), [[3, False], [None, True]])])
    frame, labels = _frame("sav", table, Study(), EVERYBODY)
    assert frame["cold"].tolist() == [3, mark] and labels.missing["cold"] == [mark]


def test_the_zip_has_a_codebook_with_the_names_of_the_variables(study: Study) -> None:
    pieces = data_file_pieces(study, "all_sav.zip", EVERYBODY)()
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        book = archive.read("labelled/codebook.csv").decode()
        read = archive.read("labelled/README.md").decode()
    assert "participants.sav,c0_i0,integer" in book
    files = read.split("## ")[1]
    listed = [line.split("`")[1] for line in files.splitlines() if line.startswith("- ")]
    assert listed == [*LABELLED, "codebook", "design.json", "README.md"]


def test_variables_have_names_that_both_programs_take_and_that_differ() -> None:
    names = variable_names(["c0.ease", "c0_ease", "C0.EASE", "with", "1st", "x" * 40, "x" * 40 + "y"])
    assert list(names.values()) == [
        *("c0_ease", "c0_ease_2", "C0_EASE_3", "v_with", "v_1st"),
        *("x" * 32, "x" * 30 + "_2"),
    ]
