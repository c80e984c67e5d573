"""Names of sub-scales of which one may be a slip."""

from __future__ import annotations

import pytest

from study.design.models import SurveyItem
from study.design.readiness_checks import likely_typos, readiness_problems
from tests.study.factories import make_study


@pytest.mark.parametrize(
    ("one", "other", "is_slip"),
    [
        ("Experience", "experience", True),
        ("Work load", "Workload", True),
        ("Raw TLX", "Raw-TLX ", True),
        ("Team fluency", "Team fluencey", True),
        ("Team fluency", "Team fluecny", True),
        ("Agency", "Agenty", True),
        ("Trust 1", "Trust 2", False),
        ("Trust before", "Trust after", False),
        ("Pre", "Pro", False),
        ("Agency", "Experience", False),
        ("信任", "负荷", False),
    ],
)
def test_a_slip_is_told_from_another_name(one: str, other: str, is_slip: bool) -> None:
    assert list(likely_typos([one, other, one])) == ([(one, other)] if is_slip else [])


@pytest.mark.django_db
def test_sub_scales_that_are_written_alike_are_asked_about_before_people_come() -> None:
    study = make_study()
    SurveyItem.objects.filter(key="i0").update(scale="Experience")
    SurveyItem.objects.filter(key="i1").update(scale="experience")
    told = [one for one in readiness_problems(study) if "Is one of them a typing error?" in one.words]
    assert [(one.hinders, one.page) for one in told] == [(False, "instruments")]
    assert told[0].words.startswith("“Experience” and “experience” are two separate sub-scales")
