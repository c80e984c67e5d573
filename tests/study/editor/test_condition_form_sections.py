"""The form of a condition begins with who plays; folds hold the rest and say what is set there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from study.design.models import Condition, Study
from study.editor.condition_form_sections import condition_folds
from study.editor.team_condition_form import TeamFields, condition_form
from tests.study.editor.test_condition_and_item_forms import add_condition, at, errors
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def form_for(study: Study, **values: Any) -> TeamFields:
    return condition_form()(instance=Condition(study=study, **values))


def test_a_fold_says_what_differs_from_a_new_condition() -> None:
    study = make_study()
    folds = {one.id: one for one in condition_folds(form_for(study))}
    assert {one.told for one in folds.values()} == {""}, "a new condition is as usual"
    changed = form_for(study, step_seconds=10, goal={"completed": 3}, offers_plans=True)
    folds = {one.id: one for one in condition_folds(changed)}
    assert folds["fold-time"].told == "Step timer, seconds: 10"
    assert folds["fold-goal"].told == "Goal of a round: completed = 3"
    assert "Let participants plan ahead" in folds["fold-view"].told


def test_every_field_of_the_form_is_placed_once(admin_client: Client) -> None:
    study = make_study()
    page = admin_client.get(at(study, "condition-new"))
    html = page.content.decode()
    missing = [
        name
        for name in page.context["form"].fields
        if not name.startswith(("world__", "coplayer__", "three_dimensions", "team_"))
        and html.count(f'name="{name}"') != 1
    ]
    assert missing == []
    assert html.index('name="world"') < html.index('name="coplayer"') < html.index('name="team_kind"')


def test_a_fold_with_an_error_is_open_and_a_key_is_made_from_the_name(admin_client: Client) -> None:
    study = make_study()
    wrong = add_condition(admin_client, study, step_seconds="-1")
    assert "step_seconds" in errors(wrong)
    assert [one.id for one in wrong.context["folds"] if one.is_open] == ["fold-time"]
    for name, label in (("Two planners", "A"), ("Two planners!", "B")):
        assert add_condition(admin_client, study, key="", name=name, label=label).status_code == 302
    assert {"two_planners", "two_planners_2"} < set(study.conditions.values_list("key", flat=True))


def test_a_language_model_has_fewer_than_twenty_fields_in_sight(admin_client: Client) -> None:
    study = make_study(conditions=1)
    row = study.conditions.get()
    row.coplayer, row.teammates = "dispatcher", 2
    row.save()
    context = admin_client.get(at(study, "condition", row.pk)).context
    (model,) = (one for one in context["coplayer_settings"] if one.chosen)
    (world,) = (one for one in context["world_settings"] if one.chosen)
    assert "coplayer__dispatcher__model" in [field.name for field in model.main]
    seen = [*model.main, *world.main, *context["team_fields"]["first"], *context["names"]]
    assert len(seen) + len(["world", "coplayer", "teammates", "team_people"]) < 20
