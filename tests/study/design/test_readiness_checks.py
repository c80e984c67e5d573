"""What a study is told before it takes people."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from study.design.demo_study_files import demo_part_texts
from study.design.models import Study, StudyPart, SurveyItem
from study.design.questions.questionnaires import instrument
from study.design.readiness_checks import readiness_problems
from study.design.readiness_problem import ReadinessProblem
from study.editor.design_services import instrument_add
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def told(study: Study, part: str) -> list[ReadinessProblem]:
    return [one for one in readiness_problems(study) if part in one.words]


def add(study: Study, key: str, **more: Any) -> SurveyItem:
    return SurveyItem.objects.create(study=study, key=key, measure=key.title(), text="?", **more)


def test_a_mixed_model_of_more_values_than_it_can_take_hinders() -> None:
    study = make_study(conditions=3, main_test="mixed", planned_participants=1000)
    assert not told(study, "mixed model")
    study.planned_participants = 1001
    study.save()
    (found,) = told(study, "too many for the mixed model")
    assert found.hinders


def test_with_too_few_participants_for_a_planned_test_nothing_can_be_frozen() -> None:
    study = make_study(conditions=2, main_test="mixed", planned_participants=4)
    (found,) = told(study, "too few for the mixed model")
    assert found.hinders
    assert "4 participants who each play 2 of 2 conditions" in found.words
    assert "Plan 5 or more" in found.words
    for number, few in ((5, 0), (2, 1)):
        study.planned_participants = number
        study.save()
        assert len([one for one in told(study, "no test of conditions") if one.hinders]) == few
        assert not told(study, "mixed model")


def test_a_contrast_of_which_nothing_is_measured_hinders() -> None:
    study = make_study(items=0, planned_contrasts="worlds: c0 -1, c1 1")
    assert not told(study, "planned contrast")
    grids = {"layout": "cramped_room", "ticks": 20}
    study.conditions.filter(key="c1").update(world="overcooked", settings=grids, coplayer="none", teammates=0)
    (found,) = told(study, "planned contrast")
    assert (found.hinders, "nothing is measured in all its conditions" in found.words) == (True, True)
    add(study, "fun")
    assert not told(study, "planned contrast")


def test_a_contrast_of_what_is_not_asked_everywhere_is_told() -> None:
    study = make_study(items=0, planned_contrasts="H1: c0 -1, c1 1")
    add(study, "fun")
    assert not told(study, "planned contrast")
    add(study, "trust", needs_teammates=True)
    (found,) = told(study, "planned contrast")
    assert "“H1” cannot be tested for Trust, which is not asked" in found.words
    assert not found.hinders


def test_a_sub_scale_whose_items_do_not_share_a_range_is_told() -> None:
    study = make_study(items=0)
    add(study, "a", scale="Fluency", points=5)
    add(study, "b", scale="Fluency", points=5)
    assert not told(study, "Fluency")
    add(study, "c", scale="Fluency", points=7)
    (found,) = told(study, "Fluency")
    assert found.words == "The sub-scale “Fluency” gets no score: its items do not share one range."
    assert not found.hinders


def test_a_sus_with_an_item_switched_off_is_told() -> None:
    study = make_study(items=0)
    instrument_add(study_id=study.pk, instrument=instrument("sus"))
    assert not told(study, "gets no score")
    SurveyItem.objects.filter(key="sus_03").update(enabled=False)
    (found,) = told(study, "gets no score")
    assert "the SUS has ten Likert items of five points" in found.words


def test_a_number_of_a_sub_scale_without_bounds_hinders_and_leads_to_the_item(admin_client: Client) -> None:
    study = make_study(items=0)
    load = add(study, "load", kind="number", scale="Load", maximum=20.0)
    found = told(study, "needs minimum and maximum")
    assert [(one.page, one.args, one.hinders) for one in found] == [("item", (load.pk,), True)]
    assert told(study, "gets no score")
    address = reverse("study:staff-design-item", args=[study.slug, load.pk])
    assert address in admin_client.get(reverse("study:staff-design", args=[study.slug])).content.decode()


def test_an_item_that_has_answers_is_told_but_does_not_hinder_and_can_be_switched_off() -> None:
    study = make_study(items=1)
    SurveyItem.objects.update(points=2)
    assert [one.hinders for one in told(study, "A whole number from 3 to 11")] == [True]
    complete(study, value=2)
    assert [one.hinders for one in told(study, "A whole number from 3 to 11")] == [False]
    item = study.items.get()
    item.enabled = False
    item.full_clean()
    item.save()
    item.correct, item.required = 1, False
    with pytest.raises(ValidationError, match="Fixed: there are answers"):
        item.full_clean()
    assert not told(study, "A whole number from 3 to 11")


def test_words_of_the_demo_that_were_not_rewritten_are_told() -> None:
    study = make_study()
    StudyPart.objects.filter(study=study, kind="consent").update(text=demo_part_texts()["consent"])
    (found,) = told(study, "demo's words")
    assert not found.hinders
    assert found.args == ("consent",)
    StudyPart.objects.filter(study=study, kind="consent").update(text="Our own.")
    assert not told(study, "demo's words")


def test_a_practice_that_ends_before_its_goal_is_told() -> None:
    study = make_study(conditions=1)
    kitchen: dict[str, Any] = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 12}
    stored = {"kitchen": {"settings": kitchen}}
    part = StudyPart.objects.create(study=study, kind="practice", enabled=True, settings=stored)
    (gap,) = told(study, "Practice is too short")
    assert (gap.page, gap.args, gap.hinders) == ("part", ("practice",), False)
    longer = {"kitchen": {"settings": {**kitchen, "max_steps": 60}}}
    for settings in (longer, {}, {**stored, "all_steps": True}):
        StudyPart.objects.filter(pk=part.pk).update(settings=settings)
        assert not told(study, "Practice is too short")


def test_a_practice_in_another_kitchen_than_the_guide_shows_is_told() -> None:
    study = make_study()
    StudyPart.objects.create(study=study, kind="guide", enabled=True)
    practised = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}
    part = StudyPart.objects.create(
        study=study, kind="practice", enabled=True, settings={"kitchen": {"settings": practised}}
    )
    (gap,) = told(study, "practice has other settings (Level)")
    assert (gap.page, gap.args, gap.hinders) == ("part", ("practice",), False)
    one = study.conditions.all()[0]
    before, one.settings = one.settings, {**one.settings, "level": "level_3"}
    one.save()
    assert not told(study, "practice has other settings"), "some begin with what is practised"
    one.settings = before
    one.save()
    part.settings = {"kitchen": {"settings": {**practised, "level": "level_0", "alpha": 3.0}}}
    part.save()
    assert not told(study, "practice has other settings")
    part.settings, part.enabled = {"kitchen": {"settings": practised}}, False
    part.save()
    assert not told(study, "practice has other settings")
