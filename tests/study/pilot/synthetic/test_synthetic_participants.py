"""A dry run leaves nothing behind that locks a study: programs are counted apart, and can be erased."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from kitchen.play.models import Episode
from study import tasks
from study.analysis import analysis_sample
from study.analysis.analysis_sample import Sample
from study.design.models import Study
from study.design.study_errors import DesignError, FrozenError
from study.editor.design_services import condition_delete, item_delete, study_delete
from study.monitor import live_status
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Answer
from study.participants.participant_counts import has_begun, study_counts
from study.pilot.previews import study_preview
from study.pilot.synthetic.synthetic_participants import synthetic_erase
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def study() -> Study:
    """A program went the whole way, another withdrew."""
    found = make_study()
    complete(found, "program", synthetic=True)
    participant_withdraw(participant_id=enter(found, "gone", synthetic=True).pk)
    found.refresh_from_db()
    return found


def test_programs_that_withdraw_are_counted_apart(study: Study) -> None:
    participant_withdraw(participant_id=enter(study, "person").pk)
    study.refresh_from_db()

    assert (study.withdrawn, study.withdrawn_synthetic) == (1, 1)
    counts, totals = study_counts(study), live_status.live_totals(study)
    assert (counts.withdrawn, counts.withdrawn_synthetic) == (1, 1)
    assert (totals.withdrawn, totals.withdrawn_synthetic) == (1, 1)
    numbers = [
        analysis_sample.attrition(Sample(study, who=who)).withdrew for who in ("people", "synthetic", "all")
    ]
    assert numbers == [1, 1, 2]


def test_only_people_lock_the_link(study: Study) -> None:
    assert not has_begun(study)
    participant_withdraw(participant_id=enter(study, "person").pk)
    study.refresh_from_db()
    assert has_begun(study)


def test_erasing_programs_leaves_people_and_previews_and_nothing_of_theirs(study: Study) -> None:
    person = complete(study, "person")
    preview = study_preview(study_id=study.pk)

    assert synthetic_erase(study_id=study.pk) == 1
    assert synthetic_erase(study_id=study.pk) == 0

    study.refresh_from_db()
    assert set(study.participants.all()) == {person, preview}
    assert (study.withdrawn, study.withdrawn_synthetic) == (0, 0)
    assert not Answer.objects.exclude(participant=person).exists()
    assert not Episode.objects.filter(synthetic=True).exists()


def test_a_study_is_deleted_once_its_programs_are_erased(study: Study) -> None:
    with pytest.raises(DesignError, match="First erase the 1 synthetic participant"):
        study_delete(study_id=study.pk)
    synthetic_erase(study_id=study.pk)
    study_delete(study_id=study.pk)
    assert not Study.objects.exists()


def test_answers_of_programs_leave_words_free_and_are_erased_before_anything_is_deleted(study: Study) -> None:
    item, row = study.items.all()[0], study.conditions.all()[0]
    item.text = "In other words."
    item.full_clean()
    item.save()
    item.points = 7
    with pytest.raises(FrozenError, match="synthetic participants or previews answered it"):
        item.save()
    with pytest.raises(DesignError, match="First erase the 1 synthetic participant"):
        item_delete(item=item)
    with pytest.raises(DesignError, match="First erase the 1 synthetic participant"):
        condition_delete(condition=row)

    synthetic_erase(study_id=study.pk)
    item.save()
    item_delete(item=item)
    condition_delete(condition=row)

    assert (study.items.count(), study.conditions.count()) == (1, 1)


def test_an_owner_has_a_worker_erase_them(study: Study, client: Client, monkeypatch: Any) -> None:
    asked: list[int] = []

    def send(task: str, pk: int, **_: Any) -> bool:
        asked.append(pk)
        return True

    monkeypatch.setattr("study.task_queue.send_task", send)
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)

    page = client.get(reverse("study:staff-design", args=[study.slug])).content.decode()
    assert "Erase 1 synthetic participant<" in page
    client.post(reverse("study:staff-design-synthetic-gone", args=[study.slug]), {"sure": "on"})

    assert asked == [study.pk]
    assert tasks.erase_synthetic(*asked) == 1
    page = client.get(reverse("study:staff-design", args=[study.slug])).content.decode()
    assert "Erase 1 synthetic participant" not in page


def test_without_a_broker_the_page_says_that_nothing_was_erased(
    study: Study, admin_client: Client, monkeypatch: Any
) -> None:
    monkeypatch.setattr("study.task_queue.send_task", lambda *_, **__: False)
    url = reverse("study:staff-design-synthetic-gone", args=[study.slug])
    said = admin_client.post(url, {"sure": "on"}, follow=True).content.decode()
    assert "Nothing was erased: Redis" in said
    assert study.participants.count() == 1


def test_the_command_erases_and_says_how_many(study: Study) -> None:
    out = io.StringIO()
    call_command("erase_synthetic", study.slug, stdout=out)
    assert out.getvalue() == "1 synthetic participant erased in small\n"
    with pytest.raises(CommandError) as caught:
        call_command("erase_synthetic", "nowhere")
    assert caught.value.returncode == 2
