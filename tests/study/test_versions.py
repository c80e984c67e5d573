"""Versions of a study: which was preregistered, and what is different now."""

from __future__ import annotations

import pytest
from django.utils import timezone

from study import services
from study.blueprint import blueprint_of
from study.models import Condition, Study, SurveyItem, Version
from study.versions import Difference, differences, freeze_states, frozen_version
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def version(study: Study, *, title: str, frozen: bool = False) -> Version:
    """The version of the study under this title."""
    Study.objects.filter(pk=study.pk).update(title=title)
    found = services.version_current(study_id=study.pk)
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
