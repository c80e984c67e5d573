"""Ready studies of several factors name one primary measure, and say why in three languages."""

from __future__ import annotations

import pytest

from study.analysis.analysis_sample import designed_measures
from study.design.analysis_plan import PRIMARY
from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.readiness_checks import readiness_problems
from study.design.study_files import study_from_file

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "measure", "reasons"),
    [
        ("overcooked", "soups", ("because that is what both", "porque para eso", "因为这是两位厨师")),
        ("blocks_plan", "score", ("because every missing", "porque ahí cuenta", "因为每一个缺少")),
    ],
)
def test_one_primary_measure_with_a_reason_in_each_language(
    name: str, measure: str, reasons: tuple[str, str, str]
) -> None:
    study = study_from_file(DEMO_FILE.with_name(READY_STUDIES[name][1]))
    assert study.measure_roles == {measure: PRIMARY}
    assert [one.key for one in designed_measures(study) if one.primary] == [measure]
    assert [one for one in readiness_problems(study) if one.hinders] == []
    english = blueprint_of(study).part("debriefing").text
    texts = [english, *(study.texts[code][english] for code in ("es", "zh-hans"))]
    assert [reason in text for reason, text in zip(reasons, texts, strict=True)] == [True] * 3
