"""A problem of several conditions is one line, and a button that needs a tick says so."""

from __future__ import annotations

import pytest
from django.test import Client

from study.design.readiness_checks import readiness_problems
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("count", "names"),
    [(1, "Only 0"), (3, "Only 0, Only 1 and Only 2"), (6, "Only 0, Only 1, Only 2 and 3 more")],
)
def test_the_same_problem_of_several_conditions_is_said_once(count: int, names: str) -> None:
    study = make_study(conditions=count)
    for number, row in enumerate(study.conditions.all()):
        study.conditions.filter(pk=row.pk).update(name=f"Only {number}", coplayer="nobody-knows-it")
    told = [one for one in readiness_problems(study) if "cannot be played" in one.words]
    assert len(told) == 1
    assert told[0].words.startswith(f"{names} cannot be played: ")
    assert told[0].args == (study.conditions.all()[0].pk,)


def test_the_button_to_freeze_says_what_is_missing(admin_client: Client) -> None:
    study = make_study()
    html = admin_client.get(f"/staff/{study.slug}/preregistration/").content.decode()
    assert "Tick the box first." in html.partition("Freeze")[2]
