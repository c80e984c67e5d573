"""What a researcher sets up can be analysed, and stays what was answered."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from study.analysis.analysis_results import analyse_present_data
from study.design.models import Condition, SurveyItem
from study.design.study_errors import FrozenError
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db

CHANGES = [
    ("key", "other"),
    ("measure", "Other"),
    ("text", "Other."),
    ("points", 7),
    ("low", "a"),
    ("high", "b"),
]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Condition 0"}, "Another condition of this study has this name"),
        ({"name": "No\u00a0break"}, "do not print"),
        ({"key": "-alone"}, "Begin with a letter or a digit"),
    ],
)
def test_a_condition_that_could_not_be_told_apart_is_refused(changes: dict[str, Any], words: str) -> None:
    first = make_study(conditions=1).conditions.get()
    fresh = {"key": "c9", "name": "Another", "label": "Team X", "settings": first.settings}
    with pytest.raises(ValidationError, match=words):
        Condition(study=first.study, **{**fresh, **changes}).full_clean()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measure": "Measure 0"}, "Another item of this study has this measure"),
        ({"measure": "Success rate"}, "Choose another name"),
        ({"measure": "Dishes completed"}, "Choose another name"),
        ({"measure": "No\u00a0break"}, "do not print"),
        ({"key": "i0"}, "Another item of this study has this key|already exists"),
        ({"key": "success_rate"}, "Choose another key"),
        ({"key": "completed"}, "Choose another key"),
        ({"key": "_trust"}, "Begin with a letter or a digit"),
    ],
)
def test_an_item_that_could_not_be_told_apart_is_refused(changes: dict[str, Any], words: str) -> None:
    study = make_study(items=1)
    fresh = {"key": "new", "measure": "New", "text": "Something new."}
    with pytest.raises(ValidationError, match=words):
        SurveyItem(study=study, **{**fresh, **changes}).full_clean()


def test_what_is_accepted_can_be_analysed() -> None:
    study = make_study()
    for row in (*study.conditions.all(), *study.items.all()):
        row.full_clean()
    assert analyse_present_data(study, "all").participants == ()


def test_two_studies_may_use_the_same_names() -> None:
    for study in (make_study(), make_study("other")):
        for row in (*study.conditions.all(), *study.items.all()):
            row.full_clean()


@pytest.mark.parametrize(("field", "value"), CHANGES)
def test_what_was_answered_does_not_change(field: str, value: Any) -> None:
    study = make_study(conditions=1, items=1)
    complete(study)
    item = study.items.get()
    setattr(item, field, value)
    with pytest.raises(ValidationError, match="there are answers to it"):
        item.full_clean()
    with pytest.raises(FrozenError, match=f"{field} cannot change"):
        item.save()


@pytest.mark.parametrize(("field", "value"), CHANGES)
def test_before_there_are_answers_everything_may_change(field: str, value: Any) -> None:
    item = make_study(items=1).items.get()
    setattr(item, field, value)
    item.full_clean()
    item.save()


def test_an_answered_item_may_still_move_and_become_optional() -> None:
    study = make_study(conditions=1, items=1)
    complete(study)
    item = study.items.get()
    item.position, item.required = 9, False
    item.full_clean()
    item.save()
    item.refresh_from_db()
    assert (item.position, item.required) == (9, False)


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("required", {"correct": 3, "required": False}),
        ("correct", {"kind": "multiple", "options": ["x", "y"], "correct": []}),
    ],
)
def test_a_right_answer_must_be_given_and_can_be(field: str, more: dict[str, Any]) -> None:
    item = make_study(items=1).items.get()
    for name, value in more.items():
        setattr(item, name, value)
    with pytest.raises(ValidationError) as wrong:
        item.full_clean()
    assert list(wrong.value.message_dict) == [field]
