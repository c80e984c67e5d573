"""Primary, secondary and exploratory measures: in the plan's form, and what is corrected together."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from study.analysis.analysis_covariates import covariate_values
from study.analysis.analysis_sample import Sample, designed_measures
from study.analysis.statistics.observations import AnalysisCondition, Measure, Observation
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.design.analysis_plan import AnalysisPlan, analysis_plan_of, contrast_problems, parse_contrasts
from study.design.blueprint import blueprint_of
from study.design.group_and_factor_checks import factor_problems
from study.design.models import StudyPart, SurveyItem
from study.editor.describe_design import plan_pairs
from study.participants.models import Answer
from tests.study.factories import complete, make_study

THERE = "/staff/small/design/plan/"
PLAN = {"main_test": "repeated", "measures_correction": "holm"}
CONDITIONS = [AnalysisCondition(key, key.upper(), place) for place, key in enumerate("ab")]


def analysed(plan: AnalysisPlan, *measures: Measure) -> Analysis:
    values = {"a": (2.0, 3.0, 2.5, 3.5), "b": (3.0, 3.5, 4.0, 4.6)}
    rows = [
        Observation(f"p{who}", condition, measure.key, value, 1, False)
        for measure in measures
        for condition, own in values.items()
        for who, value in enumerate(own)
    ]
    return analyse(rows, CONDITIONS, measures, plan=plan)


def factors(analysis: Analysis) -> dict[str, float]:
    """By how much the correction over measures raised the p value of each measure."""
    return {
        one.measure.key: round(one.within.over_measures["condition"].p / one.within.main["condition"], 6)
        for one in analysis.measures
        if one.within and one.within.over_measures
    }


def test_p_values_are_corrected_over_primary_and_over_secondary_measures_each_for_itself() -> None:
    plan = AnalysisPlan(correction="holm")
    measures = [
        Measure("one", "One", "number", None, None, primary=True),
        *(Measure(key, key.title(), "number", None, None) for key in ("two", "three", "four")),
        Measure("item", "Item", "number", None, None, in_scale=True),
        Measure("beside", "Beside", "number", None, None, exploratory=True),
    ]
    assert factors(analysed(plan, *measures)) == {"one": 1.0, "two": 3.0, "three": 3.0, "four": 3.0}


def test_a_contrast_is_tested_in_the_measures_that_it_is_about() -> None:
    (bound, free) = parse_contrasts("H1 [one]: a -1, b 1\nH2: a 1, b -1")
    assert (bound.name, bound.measures, free.measures) == ("H1", ("one",), ())
    plan = AnalysisPlan(contrasts=(bound, free))
    found = analysed(plan, *(Measure(key, key.title(), "number", None, None) for key in ("one", "two")))
    named = {r.measure.key: [c.name for c in r.within.planned.contrasts] for r in found.measures if r.within}
    assert named == {"one": ["H1", "H2"], "two": ["H2"]}


def test_a_contrast_about_an_unknown_measure_is_refused_with_those_that_are_there() -> None:
    text = "H1 [fun, two]: a -1, b 1"
    (problem,) = contrast_problems(text, {"a": "", "b": ""}, ["one", "two"])
    assert problem.endswith("is about fun, which is no measure of this study; its measures: one, two.")
    assert contrast_problems(text, {"a": "", "b": ""}) == []


@pytest.mark.django_db
def test_roles_are_chosen_on_the_plan_and_the_primary_measure_comes_first(admin_client: Client) -> None:
    study = make_study()
    SurveyItem.objects.filter(key="i1").update(scale="Team")
    SurveyItem.objects.filter(key="i0").update(scale="Team")
    page = admin_client.get(THERE).content.decode()
    assert "Primary and secondary measures" in page
    first = designed_measures(study)[0]
    assert not first.primary
    answer = admin_client.post(THERE, {**PLAN, "role__i1": "primary", f"role__{first.key}": "exploratory"})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert study.measure_roles == {"i1": "primary", first.key: "exploratory"}
    found = designed_measures(study)
    assert (found[0].key, found[0].primary, found[0].in_scale) == ("i1", True, False)
    assert {one.key for one in found if one.in_scale} == {"i0"}
    assert next(one for one in found if one.key == first.key).exploratory
    told = {one.label: one.value for one in plan_pairs(blueprint_of(study))}
    assert told["Roles of measures"] == f"{first.key}: exploratory; i1: primary"
    assert 'value="primary" selected' in admin_client.get(THERE).content.decode()


@pytest.mark.django_db
def test_the_plan_names_the_keys_with_which_contrasts_are_written(admin_client: Client) -> None:
    study = make_study(conditions=2)
    html = admin_client.get(THERE).content.decode()
    keys = study.conditions.values_list("key", flat=True)
    assert f"Conditions: {', '.join(keys)}. Measures: " in html
    assert all(f"{one.key} ({one.label})" in html for one in designed_measures(study))


def test_wrong_roles_and_contrasts_are_refused_and_nothing_is_stored(admin_client: Client) -> None:
    study = make_study()
    for more in ({"role__i1": "main"}, {"planned_contrasts": "H [fun]: c0 -1, c1 1"}):
        assert admin_client.post(THERE, {**PLAN, "role__i0": "primary", **more}).status_code == 422
    study.refresh_from_db()
    assert study.measure_roles == {}
    assert analysis_plan_of({"measure_roles": {"a": "main", "b": "primary"}}).roles == {"b": "primary"}


@pytest.mark.django_db
def test_an_item_asked_before_the_rounds_can_be_a_covariate(admin_client: Client) -> None:
    study = make_study()
    SurveyItem.objects.filter(key="i0").update(place=SurveyItem.Place.ABOUT, kind=SurveyItem.Kind.NUMBER)
    assert 'name="role__i0"' not in admin_client.get(THERE).content.decode()
    levels: list[dict[str, Any]] = [{"key": key, "name": key.title(), "sets": {}} for key in ("a", "b")]
    study.factors = [{"key": "partner", "name": "Partner", "between": False, "levels": levels}]
    study.save()
    assert 'name="role__i0"' not in admin_client.get(THERE).content.decode()  # its page is off
    page = StudyPart.objects.create(study=study, kind="about", enabled=True)
    assert admin_client.post(THERE, {**PLAN, "role__i0": "covariate"}).status_code == 302
    study.refresh_from_db()
    assert study.measure_roles == {"i0": "covariate"}
    assert analysis_plan_of({"measure_roles": study.measure_roles}).covariates == ("i0",)
    (told,) = [one.value for one in plan_pairs(blueprint_of(study)) if one.label == "Roles of measures"]
    assert told == "i0: covariate"
    words = "Covariates are in the mixed model only"
    assert any(words in one.words for one in factor_problems(study, blueprint_of(study)))
    assert "i0 is not asked" not in str(list(factor_problems(study, blueprint_of(study))))
    page.enabled = False
    page.save()
    assert "i0 is not asked" in str(list(factor_problems(study, blueprint_of(study))))
    SurveyItem.objects.filter(key="i0").update(place=SurveyItem.Place.SURVEY)
    problems = list(factor_problems(study, blueprint_of(study)))
    assert any("i0 is not asked before the rounds" in one.words and one.hinders for one in problems)
    study.measure_roles = {"position": "covariate"}
    problems = list(factor_problems(study, blueprint_of(study)))
    assert any("has the name of the round's position" in one.words for one in problems)


@pytest.mark.django_db
def test_the_covariates_of_a_sample_are_the_answers_of_its_participants() -> None:
    study = make_study()
    SurveyItem.objects.filter(key="i0").update(place=SurveyItem.Place.ABOUT, kind=SurveyItem.Kind.NUMBER)
    person = complete(study)
    Answer.objects.create(participant=person, item=study.items.get(key="i0"), value=31)
    values = covariate_values(Sample(study, who="all"), ["i0"])
    assert values == {person.code: {"i0": 31.0}}
    assert covariate_values(Sample(study, who="all"), []) == {}
