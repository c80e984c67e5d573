"""What a study plans to test: contrasts as they are written, refused where they cannot be tested."""

import pytest
from django.contrib.auth import get_user_model

from study.analysis import analysis_results
from study.design.analysis_plan import (
    DEFAULT_PLAN,
    ContrastError,
    EquivalenceMargin,
    analysis_plan_of,
    parse_contrasts,
)
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.design.preregistration import freeze_study
from study.design.readiness_checks import blocking_problems
from study.design.study_errors import DesignError
from study.editor.design_forms import PlanForm
from tests.study.factories import complete, make_study


def test_contrasts_are_a_line_each_with_fractions_as_weights() -> None:
    first, second = parse_contrasts(
        "H1 a: alone -1, one 1/3, two 1/3, three 1/3\n\nH2: alone -1.5, two 1.5\n"
    )
    assert first.name == "H1 a"
    assert list(first.weights.values()) == pytest.approx([-1, 1 / 3, 1 / 3, 1 / 3])
    assert second.weights == {"alone": -1.5, "two": 1.5}
    assert parse_contrasts(" \n") == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("alone -1, one 1", "a contrast is a name"),
        ("H1: alone -1, one", "no condition with a weight"),
        ("H1: alone -1, one 1/0", "no condition with a weight"),
        ("H1: alone -1, one 1/2", "the weights add up to -1/2"),
        ("H1: alone -1, alone 1", "alone is there twice"),
        ("H1: alone 0, one 0", "the weight of alone is 0"),
        ("H1: a -1, b 1\nH1: a 1, b -1", "Two contrasts are named"),
    ],
)
def test_what_is_no_contrast_says_why(line: str, why: str) -> None:
    with pytest.raises(ContrastError, match=why):
        parse_contrasts(line)


@pytest.mark.django_db
def test_a_planned_test_that_cannot_be_run_is_refused_at_freezing() -> None:
    study = make_study(conditions=3, planned_contrasts="H1: nowhere -1, condition_1 1")
    user = get_user_model().objects.create_user("owner")
    assert any("weighs nowhere" in one.words and one.page == "plan" for one in blocking_problems(study))
    with pytest.raises(DesignError, match="Nothing is frozen"):
        freeze_study(study_id=study.pk, user=user)
    form = PlanForm({"planned_contrasts": study.planned_contrasts}, instance=study)
    assert "which is no condition of this study" in str(form.errors["planned_contrasts"])


@pytest.mark.django_db
def test_what_is_analysed_is_what_was_preregistered() -> None:
    study = make_study(conditions=3, items=0)
    keys = list(study.conditions.values_list("key", flat=True))
    text = f"H1: {keys[0]} -1, {keys[1]} 1/2, {keys[2]} 1/2"
    Study.objects.filter(pk=study.pk).update(planned_contrasts=text, main_test="mixed")
    freeze_study(study_id=study.pk, user=get_user_model().objects.create_user("owner"))
    Study.objects.filter(pk=study.pk).update(planned_contrasts="", main_test="one_way")
    study.refresh_from_db()
    for number, value in enumerate((1, 3, 4)):
        complete(study, f"program {number}", synthetic=True, value=value)
    found = analysis_results.analyse_present_data(study, "synthetic")
    assert (found.plan.main, [one.name for one in found.plan.contrasts]) == ("mixed", ["H1"])
    within = found.measures[-1].within
    assert within is not None
    assert [one.name for one in within.planned.contrasts] == ["H1"]


@pytest.mark.django_db
def test_documents_of_before_mean_the_tests_as_usual() -> None:
    design = blueprint_of(make_study(conditions=2, main_test="friedman"))
    older = Blueprint.from_json(design.in_format(4).to_json())
    assert analysis_plan_of(older.study) == DEFAULT_PLAN
    assert older.meant("main_test") == "repeated"
    assert design.beyond(4)


@pytest.mark.django_db
def test_contrasts_that_came_in_by_a_file_and_are_wrong_are_told_by_the_analysis() -> None:
    study = make_study(conditions=2, planned_contrasts="H1: one")
    complete(study, "program 1", synthetic=True)
    analysis_results.compute_and_cache(study, "synthetic")
    finished = analysis_results.analysis_ready(study, "synthetic")
    assert finished is not None
    assert "no condition with a weight" in finished.problem


@pytest.mark.parametrize(
    ("head", "name", "measures", "margin"),
    [
        ("H1 ±0.1", "H1", (), EquivalenceMargin(0.1)),
        ("H1 [trust, fun] ± 0.3 d", "H1", ("trust", "fun"), EquivalenceMargin(0.3, "d")),
        ("two words [trust] +-2", "two words", ("trust",), EquivalenceMargin(2)),
        ("within 5", "within 5", (), None),
    ],
)
def test_a_contrast_can_have_a_margin_of_equivalence(
    head: str, name: str, measures: tuple[str, ...], margin: EquivalenceMargin | None
) -> None:
    (found,) = parse_contrasts(f"{head}: a 1, b -1")
    assert (found.name, found.measures, found.margin) == (name, measures, margin)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("H1 [trust] ±.5", "the margin of equivalence cannot be read"),
        ("H1 [trust] ±0,5", "the margin of equivalence cannot be read"),
        ("H1 [trust] ±0.5 SD", "the margin of equivalence cannot be read"),
        ("H1 [trust] fun", "the measures end with a bracket"),
    ],
)
def test_what_is_no_margin_and_no_list_of_measures_is_refused(head: str, why: str) -> None:
    with pytest.raises(ContrastError, match=why):
        parse_contrasts(f"{head}: a 1, b -1")


def test_a_margin_of_equivalence_is_not_0() -> None:
    with pytest.raises(ContrastError, match="the margin of equivalence is 0"):
        parse_contrasts("H1 ±0: a 1, b -1")
