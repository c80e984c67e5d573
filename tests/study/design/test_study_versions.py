"""Versions of a study: which was preregistered, and what is different now."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.registry.world_registry import get_world
from study.design import preregistration
from study.design.blueprint import FORMAT, blueprint_of
from study.design.models import Condition, Outcome, Study, SurveyItem, Version
from study.design.preregistration import bundle_of, bundle_problem, freeze_study, program_differences
from study.design.study_versions import (
    Difference,
    current_version,
    differences,
    freeze_states,
    frozen_version,
)
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


AS_BEFORE: dict[str, Any] = {"scores_above_surveys": True, "remind_teams": False, "shown": "tables"}
"""How studies were before documents could tell."""


def version(study: Study, *, title: str, frozen: bool = False) -> Version:
    """The version of the study under this title."""
    Study.objects.filter(pk=study.pk).update(title=title)
    found = current_version(study_id=study.pk)
    if frozen:
        Version.objects.filter(pk=found.pk).update(frozen_at=timezone.now())
    return found


def flags(found: Version) -> tuple[bool, bool]:
    """Whether frozen, whether changed since."""
    state = freeze_states(found.study)[found.pk]
    return state.version_frozen, state.changed_since_freeze


def test_what_was_there_before_the_freeze_is_neither_frozen_nor_changed() -> None:
    study = make_study()
    first, second, third = (
        version(study, title="A"),
        version(study, title="B", frozen=True),
        version(study, title="C"),
    )

    assert [flags(one) for one in (first, second, third)] == [(False, False), (True, False), (False, True)]
    assert frozen_version(study) == second


def test_who_goes_back_to_the_frozen_design_has_changed_nothing() -> None:
    study = make_study()
    version(study, title="A", frozen=True)
    version(study, title="B")

    assert flags(version(study, title="A")) == (True, False)


def test_differences_are_told_field_by_field() -> None:
    study = make_study()
    before = blueprint_of(study)
    Condition.objects.filter(key="c0").update(settings={"level": "level_1"}, label="Team Z")
    Study.objects.filter(pk=study.pk).update(title="Other")
    SurveyItem.objects.filter(key="i1").delete()
    study.refresh_from_db()

    found = differences(before, blueprint_of(study))

    assert Difference("study", "title", "A small study", "Other") in found
    assert Difference("condition c0", "label", "Team 0", "Team Z") in found
    assert Difference("condition c0", "settings: level", "level_0", "level_1") in found
    assert Difference("condition c0", "settings: alpha", 1.0, None) in found
    assert [(one.where, one.new) for one in found if one.field == "all of it"] == [("item i1", None)]


def test_another_order_of_conditions_is_a_difference() -> None:
    study = make_study()
    before = blueprint_of(study)
    Condition.objects.filter(key="c0").update(position=9)

    found = differences(before, blueprint_of(study))

    assert found == [Difference("study", "order of conditions", ["c0", "c1"], ["c1", "c0"])]


def old_format(found: Version) -> Version:
    """The version as an older program stored it: its document says nothing of budget and ends."""
    design = found.blueprint.in_format(1)
    Version.objects.filter(pk=found.pk).update(document=design.to_json(), digest=design.digest)
    return Version.objects.get(pk=found.pk)


@pytest.mark.parametrize("change", ["budget", "a new end", "the words of an end", "an end's code"])
def test_a_changed_budget_or_end_is_another_version_and_told(change: str) -> None:
    study = make_study()
    Outcome.objects.create(study=study, kind="timed_out", text="Over.")
    first = version(study, title="A", frozen=True)
    if change == "budget":
        Study.objects.filter(pk=study.pk).update(budget_limit=0)
    elif change == "a new end":
        Outcome.objects.create(study=study, kind="complete", text="Thanks.")
    elif change == "the words of an end":
        study.outcomes.update(text="Other.")
    else:
        study.outcomes.update(code="C0FFEE")
    later = version(study, title="A")

    assert flags(later) == (False, True)
    (found,) = differences(first.blueprint, later.blueprint)
    told = {
        "budget": Difference("study", "budget_limit", "10.00", "0.00"),
        "the words of an end": Difference("end timed_out", "text", "Over.", "Other."),
        "an end's code": Difference("end timed_out", "has_code", False, True),
    }
    assert found == told.get(change, found)
    assert (found.where, found.field) == ("end complete", "all of it") or change in told
    assert "C0FFEE" not in str(later.document)


def test_a_preregistration_of_an_older_format_still_fits_and_an_upgrade_changes_nothing() -> None:
    study, user = make_study(**AS_BEFORE), User.objects.create_superuser("ada")
    first = old_format(version(study, title="A"))
    bundle = bundle_of(first.blueprint, at="2026-01-01", by="ada", version=1)
    assert bundle["content"]["design"] == first.document
    Version.objects.filter(pk=first.pk).update(frozen_at=timezone.now(), bundle=bundle)
    assert bundle_problem(bundle) == ""

    study.refresh_from_db()
    assert version(study, title="A").number == 1
    assert freeze_study(study_id=study.pk, user=user).number == 1
    assert differences(first.blueprint, blueprint_of(study)) == []

    assert flags(version(study, title="B")) == (False, True)
    back = version(study, title="A")
    assert (back.number, back.blueprint.format, flags(back)) == (3, FORMAT, (True, False))


def test_what_an_older_document_cannot_tell_makes_another_version_once_it_is_set() -> None:
    study = make_study(**AS_BEFORE)
    first = old_format(version(study, title="A", frozen=True))
    assert version(study, title="A").number == 1
    Study.objects.update(remind_teams=True)
    SurveyItem.objects.filter(key="i0").update(may_not_apply=True)
    second = version(study, title="A")
    assert (second.number, flags(second)) == (2, (False, True))
    assert second.blueprint.meant("remind_teams") and not first.blueprint.meant("remind_teams")
    assert differences(first.blueprint, second.blueprint) == [
        Difference("study", "remind_teams", False, True),
        Difference("item i0", "may_not_apply", False, True),
    ]


def test_what_an_older_program_left_unfrozen_is_frozen_whole() -> None:
    study, user = make_study(), User.objects.create_superuser("ada")
    old_format(version(study, title="A"))
    found = freeze_study(study_id=study.pk, user=user)
    assert (found.number, found.blueprint.study["budget_limit"]) == (2, "10.00")


@pytest.mark.parametrize("change", ["the study", "asks", "a condition", "nothing"])
def test_an_older_document_means_tables_and_another_look_is_another_version(change: str) -> None:
    study = make_study(**AS_BEFORE)
    first = old_format(version(study, title="A"))
    Study.objects.filter(pk=study.pk).update(
        shown="both" if change == "the study" else "tables", asks_first=change == "asks"
    )
    if change == "a condition":
        study.conditions.filter(key="c1").update(shown="drawn")
    study.refresh_from_db()
    later = version(study, title="A")

    told = {
        "the study": [Difference("study", "shown", "tables", "both")],
        "asks": [Difference("study", "asks_first", False, True)],
        "a condition": [Difference("condition c1", "shown", "", "drawn")],
        "nothing": [],
    }[change]
    assert differences(first.blueprint, blueprint_of(study)) == told
    assert (later.number == 1) is (change == "nothing")
    plan = first.blueprint.condition("c1")
    assert (first.blueprint.shown_in(plan), first.blueprint.meant("asks_first")) == ("tables", False)


def test_another_program_is_told_by_its_prompts_and_rules(
    monkeypatch: pytest.MonkeyPatch, admin_client: Client
) -> None:
    study, user = make_study(), User.objects.create_superuser("ada")
    study.conditions.filter(key="c1").update(coplayer="dispatcher", teammates=1)
    bundle = freeze_study(study_id=study.pk, user=user).bundle
    assert bundle is not None
    assert program_differences(bundle) == []

    monkeypatch.setattr(preregistration, "prompts_of", lambda condition: [f"New words: {condition.key}"])
    monkeypatch.setattr(preregistration, "model_of", lambda condition: f"new:{condition.key}")
    monkeypatch.setattr(get_world("cuisine"), "version", 99)
    monkeypatch.setattr(preregistration, "program", lambda: bundle["program"] | {"version": "9.9"})
    found = {(one.where, one.field): (one.old, one.new) for one in program_differences(bundle)}
    was = bundle["content"]["worlds"]["cuisine"]
    assert found["program", "version"] == (bundle["program"]["version"], "9.9")
    assert found["world cuisine", "version of its rules"] == (was, 99)
    assert ("condition c1", "prompts, SHA-256") in found
    assert found["condition c1", "language model"][1] == "new:c1"
    assert bundle["content"]["models"]["c0"] == ""
    assert bundle["content"]["models"]["c1"].startswith("stand-in:")

    page = admin_client.get(reverse("study:staff-preregistration", args=[study.slug])).content.decode()
    assert "What differs under the current program" in page
    assert bundle_problem(bundle) == ""
