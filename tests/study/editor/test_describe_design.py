"""A design in words: what was set is read on pages, with the words of the forms."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from study.design.analysis_plan import MAIN_TESTS
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Condition, Outcome, Study, StudyPart, SurveyItem
from study.design.preregistration import freeze_study
from study.design.questions.item_fields import ItemPlan
from study.design.questions.questionnaires import instrument
from study.editor.describe_design import (
    FIXED_CODE,
    OWN_CODE,
    LabelledValue,
    answers_words,
    condition_pairs,
    ends,
    item_notes,
    part_pairs,
    plain_value,
    plan_pairs,
    question,
    questions_by_place,
    scales,
    study_pairs,
    world_words,
)
from study.editor.design_services import instrument_add
from tests.study.factories import SETTINGS, make_study

pytestmark = pytest.mark.django_db


def item(**more: Any) -> ItemPlan:
    """One of the usual kind, but for what is said."""
    usual: dict[str, Any] = {
        "key": "x",
        "place": "survey",
        "kind": "likert",
        "measure": "X",
        "text": "X?",
        "points": 5,
        "low": "Strongly disagree",
        "high": "Strongly agree",
        "scale": "",
        "reversed": False,
        "options": [],
        "minimum": None,
        "maximum": None,
        "step": None,
        "correct": None,
        "required": True,
    }
    return ItemPlan(**usual | more)


def frozen_page(study: Study, client: Client) -> str:
    """The readable preregistration of the design as it is now."""
    version = freeze_study(study_id=study.pk, user=User.objects.create_superuser("ada"))
    args = [study.slug, version.number]
    return client.get(reverse("study:staff-preregistration-readable", args=args)).content.decode()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "scale with points: 1 (Strongly disagree) to 5 (Strongly agree)"),
        ({"points": 7, "low": "", "high": ""}, "scale with points: 1 to 7"),
        ({"kind": "number"}, "number: any"),
        (
            {"kind": "number", "minimum": 0.0, "maximum": 100.0, "step": 5.0, "low": "Low", "high": "High"},
            "number: from 0 (Low) to 100 (High), in steps of 5, as a row of 21 marks",
        ),
        ({"kind": "number", "minimum": 18.0, "step": 1.0}, "number: from 18, in steps of 1"),
        ({"kind": "text"}, "text, at most 5000 characters"),
        ({"kind": "team"}, "one of the teams played with"),
    ],
)
def test_how_an_item_is_answered_is_told_with_range_and_ends(more: dict[str, Any], words: str) -> None:
    assert answers_words(item(**more)) == words


def test_what_was_set_of_an_item_is_told() -> None:
    number = {"kind": "number", "minimum": 0.0, "maximum": 10.0}
    odd = item(**number, scale="Load", reversed=True, required=False, needs_teammates=True)

    assert question(item()).notes == ("must be answered",)
    assert question(odd).notes == ("sub-scale Load", "reversed", "only with teammates", "may be left empty")
    assert question(item(correct=2)).right == "2"
    assert question(item(kind="multiple", options=["a", "b"], correct=["a", "b"])).right == "a; b"
    assert item_notes(item(kind="text", scale="Load")) == ()


def test_sub_scales_are_named_with_formula_range_and_items() -> None:
    study = make_study(items=0)
    instrument_add(study_id=study.pk, instrument=instrument("sus"))
    for key, points in (("a", 5), ("b", 7)):
        words = {"measure": key.upper(), "text": "?", "scale": "Broken", "points": points}
        SurveyItem.objects.create(study=study, key=key, **words)
    sus = [one for one in blueprint_of(study).items if one.scale != "Broken"]

    broken, whole = sorted(scales(blueprint_of(study)), key=lambda one: bool(one.ends))

    assert (whole.formula, whole.ends, len(whole.items)) == ("SUS, 0 to 100", "0 to 100", 10)
    reversed_ones = [f"{one.measure} ({one.key}, reversed)" for one in sus if one.reversed]
    assert [one for one in whole.items if "reversed" in one] == reversed_ones != []
    assert broken.problem == "its items do not share one range"


def test_settings_of_the_study_are_told_and_what_recruits_is_not() -> None:
    study = make_study(idle_minutes=None, same_dishes=True, thinking_seconds=2.5, recruitment="sona")
    found = {one.label: one.value for one in study_pairs(blueprint_of(study))}

    assert found["The same dishes for everybody"] == "yes"
    assert found["Items in random order"] == "no"
    assert found["Thinking time, seconds"] == "2.5"
    assert found["Time out after minutes without action"] == "never"
    assert found["Warn after minutes without action"] == "10"
    assert found["Budget, US dollars"] == "10.00"
    assert "sona" not in str(found).lower()
    assert [one.value for one in plan_pairs(blueprint_of(study))] == [
        "not given",
        "nobody is left out for this reason",
        MAIN_TESTS["repeated"],
        "no correction over measures",
        "nothing",
    ]


def test_every_field_of_the_documents_study_is_on_the_page(admin_client: Client) -> None:
    study = make_study(hypotheses="HYPO", exclusions="EXCL", planned_tests="TESTS", planned_participants=48)
    page = frozen_page(study, admin_client)
    design = study.versions.get().blueprint
    told = {one.label for one in (*study_pairs(design), *plan_pairs(design))}
    for words in (*told, "HYPO", "EXCL", "TESTS", "48"):
        assert words in page
    text = {
        "hypotheses",
        "exclusions",
        "planned_tests",
        "orders",
        "between_groups",
        "factors",
        "one_round_per",
        "blocked_by",
        "rounds_per_person",
        "measure_roles",
    }  # this study has no groups, factors and roles
    assert len(told) == len(design.study.keys() - text)


def test_conditions_are_told_with_the_words_of_their_settings() -> None:
    study = make_study()
    more = {"coplayer": "dispatcher", "coplayer_settings": {"fallback": "noop"}, "teammates": 2}
    study.conditions.filter(key="c1").update(**more, thinking_seconds=3)
    alone, team = (condition_pairs(one) for one in blueprint_of(study).conditions)

    assert LabelledValue("Difficulty (alpha)", "1") in alone
    assert LabelledValue("Class of a level made from a seed", "Simple (default)") in alone
    assert LabelledValue("Agents", "1: only the participant's") in alone
    assert "Co-player" not in {one.label for one in alone}
    assert LabelledValue("When the model does not answer", "The agents wait") in team
    assert LabelledValue("Language model", "empty (default)") in team
    assert LabelledValue("Thinking time", "3 s") in team


def test_a_world_is_told_with_the_first_of_its_settings() -> None:
    assert world_words(Condition(world="cuisine", settings={"alpha": 2.0, "level": "level_3"})) == (
        "Cuisine, level_3: Sushi (intermediate)"
    )
    assert world_words(Condition(world="cuisine", settings={"alpha": 2.0})) == "Cuisine"
    assert world_words(Condition(world="gone", settings={"level": "level_3"})) == "Gone"


def test_a_world_or_setting_that_is_gone_is_told_by_its_name() -> None:
    study = make_study()
    study.conditions.filter(key="c0").update(world="lost_world", settings={"some_thing": {"a": [1, True]}})
    found = condition_pairs(blueprint_of(study).conditions[0])
    assert LabelledValue("World", "Lost world") in found
    assert LabelledValue("Some thing", "A: 1; yes") in found


def test_parts_are_told_with_the_words_of_their_forms() -> None:
    study = make_study()
    StudyPart.objects.create(study=study, kind="check", settings={"attempts": 3, "on_failure": "continue"})
    StudyPart.objects.create(study=study, kind="practice", settings={"kitchen": {"settings": SETTINGS}})
    design = blueprint_of(study)

    assert part_pairs(design.part("consent")) == [
        LabelledValue("Statements to agree to", many=("I have read this and I agree to take part.",))
    ]
    assert part_pairs(design.part("check")) == [
        LabelledValue("Attempts", "3"),
        LabelledValue("After the last failed attempt", "continue; the data show it"),
    ]
    practice = part_pairs(design.part("practice"))
    assert {LabelledValue("Hints step by step", "yes"), LabelledValue("Steps of an episode", "3")} <= set(
        practice
    )


def test_the_order_of_questions_and_a_part_that_is_off_are_told() -> None:
    study = make_study(shuffle_items=True)
    SurveyItem.objects.create(study=study, key="q", place="check", kind="text", correct="a")
    check, survey = questions_by_place(blueprint_of(study))
    assert check.order == "This part is off, so these questions are not asked."
    assert "random order" in survey.order
    Study.objects.filter(pk=study.pk).update(shuffle_items=False)
    assert questions_by_place(blueprint_of(Study.objects.get(pk=study.pk)))[1].order == "In this order."


def test_a_fixed_code_is_told_from_a_code_of_ones_own() -> None:
    study = make_study()
    assert [(one.words, one.given) for one in ends(blueprint_of(study))] == [
        ("complete", f"{OWN_CODE}; no address.")
    ]
    Outcome.objects.create(study=study, kind="complete", code="SECRET", url="https://example.org/")
    Outcome.objects.create(study=study, kind="timed_out", text="**Over.**")
    first, second = ends(blueprint_of(study))
    assert first.given == f"{FIXED_CODE}; an address to go to."
    assert (second.words, second.given) == ("timed out", "No code; no address.")
    assert "<strong>" in second.text
    assert ends(blueprint_of(study).in_format(1)) == []


def test_no_value_is_told_as_json() -> None:
    values: tuple[Any, ...] = ({"a": {"b": [1.0, None]}}, [["x"], False], "", {}, 2.50)
    assert [plain_value(one) for one in values] == ["A: B: 1; nothing", "x; no", "nothing", "nothing", "2.5"]


def test_the_readable_preregistration_leaves_nothing_of_an_item_out(admin_client: Client) -> None:
    study = make_study(conditions=2)
    study.conditions.filter(key="c1").update(coplayer="dispatcher", teammates=1)
    Outcome.objects.create(study=study, kind="complete", code="SECRET")
    words = {"measure": "Load", "text": "How much?", "low": "Little", "high": "Much"}
    scaled = {"scale": "load_all", "reversed": True, "needs_teammates": True, "required": False}
    bounds = {"minimum": 0, "maximum": 20, "step": 2}
    SurveyItem.objects.create(study=study, key="load", kind="number", **words, **scaled, **bounds)

    page = frozen_page(study, admin_client).partition("<h1>")[2]

    for told in (
        "from 0 (Little) to 20 (Much), in steps of 2",
        "sub-scale load_all, reversed, only with teammates, may be left empty",
        "mean of the items",
        "Load (load, reversed)",
        "Success rate",
        FIXED_CODE,
        "Language model that plays",
        "practice episode; check of understanding",
    ):
        assert told.lower() in page.lower()
    assert "{&quot;" not in re.sub("<pre.*?</pre>", "", page, flags=re.S)
    assert "SECRET" not in page
    assert "A code of its own" not in page


def test_the_designs_list_of_questions_shows_what_was_set(admin_client: Client) -> None:
    study = make_study()
    more = {"kind": "number", "scale": "load_all", "reversed": True, "needs_teammates": True}
    SurveyItem.objects.filter(key="i0").update(**more, minimum=0, maximum=20, required=False, enabled=False)
    page = admin_client.get(reverse("study:staff-design", args=[study.slug])).content.decode()
    for badge in ("off", "sub-scale load_all", "reversed", "only with teammates", "may be left empty"):
        assert f'<span class="badge">{badge}</span>' in page
    assert "number: from 0 to 20" in page


def test_an_older_document_tells_what_it_has() -> None:
    old = Blueprint.from_json(blueprint_of(make_study()).in_format(1).to_json())
    assert "Budget, US dollars" not in {one.label for one in study_pairs(old)}
