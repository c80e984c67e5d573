"""What people on the way still need stays as they entered with it, whoever edits and wherever."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from study.design.models import Condition, Study, SurveyItem
from study.design.naming_rules import dependent_participants
from study.design.study_errors import DesignError, FrozenError
from study.editor.design_services import condition_delete, item_delete
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import answers_submit, finish_page
from study.pilot.previews import condition_preview, study_preview
from tests.study.editor.test_console import filled
from tests.study.factories import enter, make_study, play_out, play_round

pytestmark = pytest.mark.django_db


def arrived(study: Study, entry: str = "one", **more: Any) -> Participant:
    """Somebody on the consent page: no round, no answer."""
    return participant_enter(study_id=study.pk, entry=entry, **more)


def rows(study: Study) -> tuple[Condition, SurveyItem]:
    return study.conditions.get(key="c1"), study.items.get(key="i1")


def test_what_somebody_on_the_consent_page_will_meet_is_not_deleted_and_the_words_say_what_to_do() -> None:
    study = make_study()
    person = arrived(study)
    condition, item = rows(study)
    with pytest.raises(DesignError, match=r"1 participant on the way .* copy the study"):
        condition_delete(condition=condition)
    with pytest.raises(DesignError, match=r"1 participant on the way .* Switch it off instead"):
        item_delete(item=item)

    consent_given(participant_id=person.pk)
    finish_page(participant_id=person.pk, page="guide")
    play_round(person)
    play_round(person)
    person.refresh_from_db()
    assert person.status == "complete"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "other"),
        ("text", "Else?"),
        ("points", 7),
        ("reversed", True),
        ("scale", "load"),
        ("correct", 1),
    ],
)
def test_an_item_that_somebody_on_the_way_may_be_asked_keeps_its_facts(field: str, value: Any) -> None:
    study = make_study()
    arrived(study)
    _, item = rows(study)
    setattr(item, field, value)
    with pytest.raises(FrozenError, match=f"1 participant on the way .*{field} cannot change"):
        item.save()
    with pytest.raises(ValidationError, match="1 participant on the way"):
        item.full_clean()


def test_a_condition_keeps_its_key_and_may_change_otherwise() -> None:
    study = make_study()
    arrived(study)
    condition, _ = rows(study)
    condition.name = "Another name"
    condition.save()
    condition.key = "other"
    with pytest.raises(FrozenError, match="its key and study cannot change"):
        condition.save()


def test_a_switched_off_item_is_still_asked_of_those_who_entered_with_it() -> None:
    study = make_study(conditions=1)
    person = enter(study)
    SurveyItem.objects.filter(key="i1").update(enabled=False)
    finish_page(participant_id=person.pk, page="guide")
    play_round(person)
    assert set(person.answers.values_list("item__key", flat=True)) == {"i0", "i1"}


def test_who_is_through_or_previews_or_entered_without_it_binds_nothing() -> None:
    study = make_study()
    participant_end(participant_id=arrived(study, "gone").pk, status="timed_out")
    arrived(study, "staff", preview=True)
    condition, item = rows(study)
    assert (dependent_participants(condition), dependent_participants(item)) == (0, 0)

    item_delete(item=item)
    arrived(study, "later")
    made = SurveyItem.objects.create(study=study, key="i9", measure="Nine", text="Nine?")
    assert dependent_participants(made) == 0
    assert dependent_participants(condition) == 1


def test_the_console_fixes_what_somebody_will_meet_and_says_why(admin_client: Client) -> None:
    study = make_study()
    arrived(study)
    condition, item = rows(study)
    for name, row in (("condition", condition), ("item", item)):
        page = admin_client.get(reverse(f"study:staff-design-{name}", args=[study.slug, row.pk]))
        assert page.context["form"].fields["key"].disabled, name
        act = reverse(f"study:staff-design-{name}-act", args=[study.slug, row.pk, "delete"])
        assert (
            "1 participant on the way" in admin_client.post(act, {"sure": "on"}, follow=True).content.decode()
        ), name
    there = reverse("study:staff-design-item", args=[study.slug, item.pk])
    assert "1 participant on the way entered with it" in admin_client.get(there).content.decode()
    assert rows(study) == (condition, item)


def test_a_preview_whose_condition_is_gone_ends_instead_of_failing() -> None:
    study = make_study()
    staff = arrived(study, "staff", preview=True)
    condition_delete(condition=study.conditions.get(key="c1"))
    consent_given(participant_id=staff.pk)
    staff.refresh_from_db()
    assert (staff.status, staff.end_reason) == ("technical", "deleted meanwhile: condition c1")
    assert not staff.rounds.exists()


def test_a_preview_whose_question_is_gone_ends_and_keeps_its_other_answers() -> None:
    study = make_study(conditions=1)
    staff = study_preview(study_id=study.pk)
    consent_given(participant_id=staff.pk)
    finish_page(participant_id=staff.pk, page="guide")
    one = staff.rounds.get()
    assert one.episode
    play_out(one.episode)
    item_delete(item=study.items.get(key="i1"))
    values = {"i0": 3, "i1": 4}
    answers_submit(participant_id=staff.pk, page="survey", position=1, values=values)
    staff.refresh_from_db()
    assert (staff.status, staff.end_reason) == ("technical", "deleted meanwhile: question i1")
    assert [answer.item.key for answer in staff.answers.all()] == ["i0"]


def test_a_renamed_condition_takes_its_previews_along(admin_client: Client) -> None:
    study = make_study()
    row = study.conditions.get(key="c1")
    condition_preview(condition=row)
    there = reverse("study:staff-design-condition", args=[study.slug, row.pk])

    assert admin_client.post(there, filled(admin_client, there, key="renamed")).status_code == 302

    assert study.conditions.filter(key="renamed").exists()
    assert not study.participants.exists()
