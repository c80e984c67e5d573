"""The ready study in the Overcooked grids, as it ships."""

from __future__ import annotations

import pytest

from study.design.blueprint import blueprint_of
from study.design.demo_study_files import OVERCOOKED
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.round_plans import plan_sequences
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.editor.factor_services import cell_rows

pytestmark = pytest.mark.django_db


def test_three_partners_are_crossed_with_five_layouts_and_seven_measures_rated_in_three_languages() -> None:
    study = study_from_file(OVERCOOKED)
    conditions = list(study.conditions.all())
    pairs = {(each.coplayer, each.settings["layout"]) for each in conditions}
    assert len(pairs) == len(conditions) == 15
    assert {each.settings["clock"] for each in conditions} == {"tick"}
    assert study.items.filter(place="survey").count() == 7
    assert not list(blocking_problems(study))
    assert not [one.words for one in readiness_problems(study) if "the demo's words" in one.words]
    assert missing_translations(blueprint_of(study)) == {"es": [], "zh-hans": []}


def test_everybody_plays_each_layout_once_and_cells_differ_only_in_what_their_levels_set() -> None:
    study = study_from_file(OVERCOOKED)
    design = blueprint_of(study)
    assert design.rounds == 5
    rows = cell_rows(study)
    assert len(rows) == 15
    assert [row.key for row in rows if row.condition is None or row.unplanned] == []
    for one in plan_sequences(design.round_plan()):
        layouts = {design.condition(key).levels["layout"] for key in one.order}
        assert (len(one.order), len(layouts)) == (5, 5)
