"""Practice in the console: in the kitchen of the study, until something was achieved unless it is to last."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from study.design.models import Study, StudyPart
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def address(study: Study) -> str:
    return reverse("study:staff-design-part", args=[study.slug, "practice"])


def test_it_is_offered_in_the_kitchen_of_the_first_condition(admin_client: Client) -> None:
    study = make_study()
    form = admin_client.get(address(study)).context["form"]
    first = study.conditions.order_by("position").first()
    assert first
    names = {name: value for name, value in form.initial.items() if name.endswith("level")}
    assert list(names.values()) == [first.settings["level"]]


@pytest.mark.parametrize("lasting", [True, False])
def test_only_what_lasts_all_its_steps_says_so_in_the_design(admin_client: Client, lasting: bool) -> None:
    study = make_study()
    form = admin_client.get(address(study)).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent = {name: value for name, value in sent.items() if value is not False}
    sent |= {"enabled": "on"} | ({"all_steps": "on"} if lasting else {})
    answer = admin_client.post(address(study), sent)
    assert answer.status_code == 302, answer.context["form"].errors
    stored = StudyPart.objects.get(study=study, kind="practice").settings
    assert stored.get("all_steps", False) is lasting
    assert ("all_steps" in stored) is lasting
