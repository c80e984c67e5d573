"""What participants said about themselves, as the report sums it up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from study.analysis.analysis_sample import Sample
from study.design.models import SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.participants.models import Answer, Participant
from study.reporting.report_text import ItemSummary, about_summaries, said_table
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db


def test_answers_about_the_person_are_summed_up_of_those_analysed_and_texts_are_not_told() -> None:
    study = make_study(items=0)
    kinds: dict[str, dict[str, Any]] = {
        "Age": {"kind": "number"},
        "Games": {"kind": "single", "options": ["never", "often", "daily"]},
        "Devices": {"kind": "multiple", "options": ["phone", "console"]},
        "Remarks": {"kind": "text"},
    }
    items = [
        SurveyItem.objects.create(
            study=study, key=name.lower(), measure=name, text=name, place="about", position=at, **more
        )
        for at, (name, more) in enumerate(kinds.items())
    ]
    people = [enter(study, f"person {at}") for at in range(4)]
    study.participants.update(status=Participant.Status.COMPLETE)
    said: list[tuple[Any, ...]] = [
        (31, "never", ["phone", "console"], "my name is Ada"),
        (24, "often", ["phone"], "hello"),
        (DOES_NOT_APPLY, "never", [], "none"),
        (99, "daily", ["console"], "left out"),
    ]
    for person, values in zip(people, said, strict=True):
        for item, value in zip(items, values, strict=True):
            Answer.objects.create(participant=person, item=item, value=value)
    analysis: Any = SimpleNamespace(participants=[person.code for person in people[:3]])
    found = about_summaries(Sample(study, who="people"), analysis)
    assert found == (
        ItemSummary(
            "Age", 3, (("numbers", "2"), ("median", "27.5"), ("range", "24 to 31"), ("does not apply", "1"))
        ),
        ItemSummary("Games", 3, (("never", "2"), ("often", "1"), ("daily", "0"))),
        ItemSummary("Devices", 3, (("phone", "2"), ("console", "1"))),
    )
    table = said_table(found)
    assert "| **Games** | 3 answered |" in table and "| never | 2 |" in table and "Ada" not in table


def test_where_nothing_was_asked_nothing_is_said() -> None:
    analysis: Any = SimpleNamespace(participants=())
    assert said_table(about_summaries(Sample(make_study(), who="people"), analysis)) == ""
