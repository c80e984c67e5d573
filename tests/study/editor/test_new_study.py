"""The page that begins a study makes all that was chosen on it, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from study.design.models import Study
from study.design.readiness_checks import blocking_problems

GIVEN = {
    "title": "Two set-ups",
    "written": "en",
    "others": ["es"],
    "recruitment": "prolific",
    "max_participants": "24",
    "world": "cuisine",
    "set_ups": ["planners", "dispatcher"],
    "probes": "every 10 steps, 30 seconds\ntrust = How much trust? [slider: none | all]",
    "rating_slider": "Trust: none | complete",
    "think_aloud": "optional",
    "consent": "You play four rounds.",
    "instruments": ["nasa_tlx"],
    "lines": "I would work with it again.\nI had to watch it. (R)",
    "list_name": "Trust",
    "place": "survey",
    "points": "7",
    "low": "not at all",
    "high": "completely",
    "table": "Your team",
    "bonus_currency": "USD",
    "bonus_figure": "completed",
    "bonus_each": "0.5",
    "bonus_most": "3",
}


@pytest.fixture
def staff(client: Client, django_user_model: Any) -> User:
    user: User = django_user_model.objects.create_user("staff", password="x", is_staff=True)
    client.force_login(user)
    return user


def test_one_form_makes_conditions_languages_consent_and_questions(staff: User, client: Client) -> None:
    assert client.post("/staff/new/", GIVEN).headers["Location"] == "/staff/two-set-ups/design/"
    made = Study.objects.get()
    assert (made.languages, made.recruitment, made.max_participants) == ("en es", "prolific", 24)
    rows = [(one.key, one.label, one.coplayer, one.teammates) for one in made.conditions.all()]
    assert rows == [("planners", "Team A", "planner", 2), ("dispatcher", "Team B", "dispatcher", 2)]
    asked = [(one.probes[0]["every_steps"], one.rating_slider["text"]) for one in made.conditions.all()]
    assert (made.think_aloud, asked) == ("optional", [(10, "Trust"), (10, "Trust")])
    assert made.parts.get(kind="consent").text == GIVEN["consent"]
    trust = [(one.key, one.reversed, one.scale, one.points, one.table) for one in made.items.all()][-2:]
    assert trust == [
        ("trust_1", False, "Trust", 7, "Your team"),
        ("trust_2", True, "Trust", 7, "Your team"),
    ]
    assert made.items.count() == 8
    assert made.bonus_rule["figures"] == {"completed": {"each": "0.5"}} and made.bonus_rule["most"] == "3"
    assert [one.page for one in blocking_problems(made)] == ["outcomes"]  # Prolific's codes


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"world": ""}, "Choose the world of the set-ups."),
        ({"world": "collab_overcooked"}, "This world does not offer: One person and two planners"),
        ({"probes": "soon"}, "“soon” is no time"),
        ({"rating_slider": "x" * 200 + ": a | b"}, "id_rating_slider_error"),
        ({"set_ups": []}, "Choose a set-up"),
        ({"list_name": ""}, "Name the list"),
        ({"points": "1"}, "id_points_error"),
        ({"lines": "x" * 2000}, "Line 1:"),
        ({"bonus_currency": ""}, "id_bonus_currency_error"),
        ({"bonus_figure": "amount"}, "No condition of this study measures this figure."),
    ],
)
def test_a_refused_choice_makes_no_study_and_keeps_all_that_was_typed(
    changed: dict[str, str], told: str, staff: User, client: Client
) -> None:
    answer = client.post("/staff/new/", {**GIVEN, **changed})
    page = answer.content.decode()
    assert answer.status_code == 422 and told in page and "You play four rounds." in page
    assert not Study.objects.exists()
