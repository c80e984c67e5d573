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

PAN_POT, POT_KNIFE = {"best": "pan", "worst": "pot"}, {"best": "pot", "worst": "knife"}


def test_answers_about_the_person_are_summed_up_of_those_analysed_and_texts_are_not_told() -> None:
    study = make_study(items=0)
    kinds: dict[str, dict[str, Any]] = {
        "Age": {"kind": "number"},
        "Games": {"kind": "single", "options": ["never", "often", "daily"]},
        "Devices": {"kind": "multiple", "options": ["phone", "console"]},
        "Remarks": {"kind": "text"},
        "Skill": {"kind": "slider", "minimum": 0, "maximum": 10},
        "Order": {"kind": "ranking", "options": ["fast", "calm"]},
        "Tools": {"kind": "best_worst", "options": ["pan", "pot", "knife"]},
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
        (31, "never", ["phone", "console"], "my name is Ada", 2, ["calm", "fast"], PAN_POT),
        (24, "often", ["phone"], "hello", 5, ["fast", "calm"], PAN_POT),
        (DOES_NOT_APPLY, "never", [], "none", 9, ["calm", "fast"], POT_KNIFE),
        (99, "daily", ["console"], "left out", 0, ["fast", "calm"], POT_KNIFE),
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
        ItemSummary("Skill", 3, (("numbers", "3"), ("median", "5"), ("range", "2 to 9"))),
        ItemSummary("Order", 3, (("fast", "mean place 1.67"), ("calm", "mean place 1.33"))),
        ItemSummary(
            "Tools",
            3,
            (("pan", "best 2, worst 0"), ("pot", "best 1, worst 2"), ("knife", "best 0, worst 1")),
        ),
    )
    table = said_table(found)
    assert "| **Games** | 3 answered |" in table and "| never | 2 |" in table and "Ada" not in table


def test_where_nothing_was_asked_nothing_is_said() -> None:
    analysis: Any = SimpleNamespace(participants=())
    assert said_table(about_summaries(Sample(make_study(), who="people"), analysis)) == ""
