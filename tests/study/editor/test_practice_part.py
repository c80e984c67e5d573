"""Practice in the console: in the kitchen of the study, until something was achieved unless it is to last."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study, StudyPart
from study.design.study_files import study_from_file
from tests.nightly import nightly
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


@pytest.mark.parametrize(
    ("switch", "on"),
    [
        ("all_steps", True),
        ("own_seat", True),
        ("talks", True),
        ("talks", False),
        *nightly(("all_steps", False), ("own_seat", False)),
    ],
)
def test_switches_are_in_the_design_only_where_they_are_on(
    admin_client: Client, switch: str, on: bool
) -> None:
    study = make_study()
    form = admin_client.get(address(study)).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent = {name: value for name, value in sent.items() if value is not False}
    sent |= {"enabled": "on", "coplayer": "planner", "teammates": 1} | ({switch: "on"} if on else {})
    answer = admin_client.post(address(study), sent)
    assert answer.status_code == 302, answer.context["form"].errors
    stored = StudyPart.objects.get(study=study, kind="practice").settings
    assert stored.get(switch, False) is on
    assert (switch in stored) is on
    assert (blueprint_of(study).practice.organisation != {}) is (on and switch == "talks")


def test_somebody_to_lead_is_needed_to_practise_as_a_leader(admin_client: Client) -> None:
    study = make_study()
    form = admin_client.get(address(study)).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value()}
    sent |= {"enabled": "on", "teammates": 0}
    refused = admin_client.post(address(study), {**sent, "leads": "on"})
    assert "a leader needs at least one teammate" in str(refused.context["form"].errors)
    led = {**sent, "leads": "on", "coplayer": "follower", "teammates": 1}
    assert admin_client.post(address(study), led).status_code == 302
    assert StudyPart.objects.get(study=study, kind="practice").settings["leads"] is True
    assert blueprint_of(study).practice.organisation["kind"] == "tree"
    assert admin_client.post(address(study), {**led, "leads": ""}).status_code == 302
    assert not blueprint_of(study).practice.organisation


def test_practice_begins_with_the_seat_of_each_group_where_groups_play_different_seats(
    admin_client: Client,
) -> None:
    study = study_from_file(DEMO_FILE.with_name(READY_STUDIES["collab_overcooked"][1]))
    study.parts.filter(kind="practice").delete()
    assistants = {"kind": "pair", "settings": {"within": True}, "people": [1]}
    study.conditions.filter(between_group="assistant_first").update(organisation=assistants)
    assert admin_client.get(address(study)).context["form"].initial["own_seat"] is True
    study.conditions.update(organisation={})
    assert not admin_client.get(address(study)).context["form"].initial["own_seat"]
