"""What an analysis takes of the surveys: ratings, bounded numbers, the scores of sub-scales."""

from __future__ import annotations

from typing import Any

import pytest

from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.run_analysis import Analysis
from study.design.models import Study, SurveyItem
from study.design.questions.questionnaires import instrument
from study.editor.design_services import instrument_add, item_delete
from tests.study.exports.test_participant_columns import answered
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

TLX = {"tlx_mental": 10, "tlx_physical": 20, "tlx_temporal": 30, "tlx_performance": 40, "tlx_effort": 50}


def means(study: Study) -> dict[str, float | None]:
    """Of the first condition, by the measure's name."""
    return means_of(analyse_present_data(study, "people"))


def means_of(found: Analysis) -> dict[str, float | None]:
    return {result.measure.label: result.descriptions[0].mean for result in found.measures}


def with_instrument(code: str, **more: Any) -> Study:
    study = make_study(items=0, **more, steps=1)
    instrument_add(study_id=study.pk, instrument=instrument(code))
    return study


def test_the_nasa_tlx_is_analysed_item_by_item_and_as_its_score() -> None:
    study = with_instrument("nasa_tlx", conditions=1)
    answered(study, "one", TLX | {"tlx_frustration": 60})
    answered(study, "two", TLX | {"tlx_frustration": 0})
    analysis = analyse_present_data(study, "people")
    found = means_of(analysis)
    assert found["Mental demand"] == 10
    assert found["Frustration"] == 30
    assert found["Workload (raw TLX): mean of the items"] == (35 + 25) / 2
    scale = {one.measure.label: one.measure.scale for one in analysis.measures}
    assert scale["Workload (raw TLX): mean of the items"] == "0 to 100"


def test_the_sus_is_scored_by_its_own_formula() -> None:
    study = with_instrument("sus", conditions=1)
    keys = [item.key for item in study.items.all()]
    answered(study, "one", {key: 5 if number % 2 == 0 else 1 for number, key in enumerate(keys)})
    assert [value for label, value in means(study).items() if label.endswith("SUS, 0 to 100")] == [100]


def test_whoever_left_an_item_open_has_no_score() -> None:
    study = with_instrument("nasa_tlx", conditions=1)
    SurveyItem.objects.update(required=False)
    answered(study, "one", TLX | {"tlx_frustration": 60})
    answered(study, "two", TLX)
    measures = analyse_present_data(study, "people").measures
    score = next(one for one in measures if one.measure.kind == "score")
    values = {one.measure.key: one.table.values("c0") for one in measures}
    assert score.measure.key == "tlx_mental"
    assert values["workload_raw_tlx_score"] == (35,)
    assert values["tlx_mental"] == (10, 10)


def test_an_answer_between_other_ends_is_no_value_and_neither_is_its_score() -> None:
    study = make_study(conditions=1, steps=1)
    SurveyItem.objects.update(scale="Trust")
    answered(study, "old", {"i0": 5, "i1": 5})
    SurveyItem.objects.update(points=7)
    answered(study, "new", {"i0": 7, "i1": 6})
    found = means(study)
    assert (found["Measure 0"], found["Trust: mean of the items"]) == (7, 6.5)


def test_a_number_without_ends_a_choice_and_a_check_are_no_measures() -> None:
    study = make_study(conditions=1, items=3, steps=1)
    SurveyItem.objects.filter(key="i0").update(kind="number", maximum=9)
    SurveyItem.objects.filter(key="i1").update(kind="single", options=["a", "b"])
    SurveyItem.objects.filter(key="i2").update(correct=2)
    answered(study, "one", {"i0": 4, "i1": "a", "i2": 2})
    assert set(means(study)) == {
        "Success rate",
        "Dishes completed",
        "Share of refused commands",
        "Share of idle steps",
        "Thinking time",
    }


def test_the_key_of_a_score_is_no_items_key() -> None:
    study = make_study(conditions=1, items=1, steps=1)
    SurveyItem.objects.update(key="trust_score", scale="Trust")
    answered(study, "one", {"trust_score": 4})
    assert {"trust_score", "trust_score_2"} < {
        one.measure.key for one in analyse_present_data(study, "people").measures
    }


def test_an_item_that_was_deleted_unanswered_keeps_its_place_in_the_design_of_those_who_were_asked() -> None:
    study = make_study(conditions=1, steps=1)
    SurveyItem.objects.filter(key="i1").update(required=False)
    answered(study, "one", {"i0": 4})
    item_delete(item=SurveyItem.objects.get(key="i1"))
    assert means(study)["Measure 0"] == 4
    assert means(study)["Measure 1"] is None


def test_scales_of_other_scripts_are_not_taken_for_one_another_when_their_order_changes() -> None:
    study = make_study(conditions=1, steps=1)
    for key, scale in (("i0", "信任"), ("i1", "负荷")):
        SurveyItem.objects.filter(key=key).update(scale=scale)
    answered(study, "one", {"i0": 5, "i1": 1})
    SurveyItem.objects.filter(key="i0").update(position=9)
    answered(study, "two", {"i0": 5, "i1": 1})
    found = means(study)
    assert [found[f"{name}: mean of the items"] for name in ("信任", "负荷")] == [5, 1]


def test_an_item_of_a_later_version_is_not_taken_for_a_scale_of_an_earlier_one() -> None:
    study = make_study(conditions=1, items=1, steps=1)
    SurveyItem.objects.update(scale="Trust")
    answered(study, "one", {"i0": 3})
    SurveyItem.objects.create(study=study, key="trust_score", measure="New", text="?", position=9)
    answered(study, "two", {"i0": 5, "trust_score": 1})
    found = means(study)
    assert (found["New"], found["Trust: mean of the items"]) == (1, 4)
