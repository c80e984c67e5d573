"""A condition whose teammates have a time of their own for a decision: in documents, at play, in the data."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.exceptions import ValidationError

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, blueprint_of
from study.editor.describe_design import LabelledValue, condition_pairs
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_it_is_in_documents_and_episodes_and_in_a_later_column(settings: object) -> None:
    settings.DECISION_SECONDS = 7.0  # type: ignore[attr-defined]
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(decision_seconds=45)
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest and after.in_format(4).digest == before.in_format(4).digest
    told = [
        LabelledValue("Time for a decision", "45 s") in condition_pairs(plan) for plan in after.conditions
    ]
    assert told == [False, True]
    complete(study, "one")
    assert dict(Episode.objects.values_list("label", "decision_seconds")) == {"Team 0": 7.0, "Team 1": 45.0}
    text = b"".join(csv_pieces(get_table("episodes"), study)).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["condition"]: row["decision_seconds"] for row in rows} == {"c0": "7.0", "c1": "45.0"}
    names = list(rows[0])
    assert names.index("decision_seconds") > names.index("shows_intents")


@pytest.mark.parametrize("seconds", [0.5, 601])
def test_it_is_from_a_second_to_ten_minutes(seconds: float) -> None:
    row = make_study(conditions=1).conditions.get()
    row.decision_seconds = seconds
    with pytest.raises(ValidationError, match="decision_seconds"):
        row.full_clean()
