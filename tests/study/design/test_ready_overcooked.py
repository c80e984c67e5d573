"""The ready study in the Overcooked grids, as it ships."""

from __future__ import annotations

import pytest

from study.design.blueprint import blueprint_of
from study.design.demo_study_files import OVERCOOKED
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations

pytestmark = pytest.mark.django_db


def test_everybody_meets_three_partners_in_five_layouts_and_rates_seven_measures_in_three_languages() -> None:
    study = study_from_file(OVERCOOKED)
    conditions = list(study.conditions.all())
    pairs = {(each.coplayer, each.settings["layout"]) for each in conditions}
    assert len(pairs) == len(conditions) == 15
    assert {each.settings["clock"] for each in conditions} == {"tick"}
    assert study.items.filter(place="survey").count() == 7
    assert not list(blocking_problems(study))
    assert not [one.words for one in readiness_problems(study) if "the demo's words" in one.words]
    assert missing_translations(blueprint_of(study)) == {"es": [], "zh-hans": []}
