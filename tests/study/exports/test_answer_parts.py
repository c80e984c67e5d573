"""Answers with several parts have a column for each option, in every form of file and in the scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from study.design.models import SurveyItem
from study.exports.export_table import EVERYBODY
from study.exports.publication_package import PackageOptions, package_files
from tests.study.exports.rows import csv_rows
from tests.study.exports.test_labelled_files import reread
from tests.study.exports.test_participant_columns import answered
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

PARTS = {
    "order": ("ranking", ["Speed", "Calm & care"], ["Calm & care", "Speed"]),
    "ends": ("best_worst", ["a", "b", "快"], {"best": "快", "worst": "a"}),
    "any": ("multiple", ["x", "y"], ["y"]),
    "words": ("texts", ["One", "Two"], {"Two": "fine"}),
}


def test_an_answer_with_parts_has_a_column_for_each_option(tmp_path: Path) -> None:
    study = make_study("parted", conditions=1, items=0)
    for at, (key, (kind, options, _)) in enumerate(PARTS.items()):
        more = {"kind": kind, "options": options, "position": at, "required": False}
        SurveyItem.objects.create(study=study, key=key, measure=key, text=key, **more)
    answered(study, "one", {key: answer for key, (_, _, answer) in PARTS.items()})
    (row,) = csv_rows(study, "participants")
    expected = {
        "order.speed": "2",
        "order.calm_care": "1",
        "order": '["Calm & care","Speed"]',
        "ends.a": "-1",
        "ends.b": "0",
        "ends.option_3": "1",
        "any.x": "0",
        "any.y": "1",
        "words.one": "",
        "words.two": "fine",
    }
    assert {name: row[f"c0.{name}"] for name in expected} == expected
    found, about = reread(tmp_path, "sav", "participants", study)
    assert found["c0_order_calm_care"].tolist() == [1]
    label = about.column_names_to_labels["c0_order_calm_care"]
    assert label.startswith("c0.order.calm_care: Rank of “Calm & care”")
    assert about.variable_value_labels["c0_ends_a"] == {1: "best", 0: "neither", -1: "worst"}


def test_the_scripts_of_the_package_show_the_mean_rank_of_each_option() -> None:
    study = make_study("ranked", conditions=1, items=1)
    SurveyItem.objects.update(kind="ranking", options=["Speed", "Calm"])
    pieces = package_files(study, EVERYBODY, PackageOptions(None, "cc0"))
    files = {path: b"".join(content).decode() for path, content in pieces}
    for end in ("py", "R"):
        assert '    "c0.i0.speed",\n    "c0.i0.calm"' in files[f"analysis/read_data.{end}"]
    compile(files["analysis/read_data.py"], "read_data.py", "exec")
