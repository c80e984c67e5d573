"""What is kept for how long, and what the command says of it."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from kitchen.infra.append_only import AppendOnlyError, erasure_allowed, unguarded_tables
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode, Prompt, Step
from study.design.models import Study, SurveyItem
from study.participants.models import Answer, Participant
from study.researchers.models import SecurityEvent
from tests.study.factories import complete, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def study() -> Study:
    """With somebody of 40 days ago and somebody of today."""
    study = make_study()
    SurveyItem.objects.create(study=study, key="why", measure="Why", text="Why?", kind="text", position=9)
    for entry, days in (("before", 40), ("today", 0)):
        person = complete(study, entry)
        found = Participant.objects.filter(pk=person.pk)
        found.update(label=entry, referral={"X": entry}, active_at=timezone.now() - timedelta(days=days))
        with erasure_allowed():
            Answer.objects.filter(participant=person, item__key="why").update(value=f"I am {entry}")
    return study


def said(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command("retention", *arguments, stdout=out)
    return out.getvalue().splitlines()


def names() -> list[tuple[str, dict[str, str]]]:
    return list(Participant.objects.order_by("number").values_list("label", "referral"))


def test_names_go_first_then_everything(study: Study, settings: Any) -> None:
    settings.KEEP_NAMES_DAYS = 30
    looked = said("--dry-run")
    assert looked[0] == "small: names and free texts of 1 person"
    assert looked[-1].startswith("would be erased: 1 name, ")
    assert names() == [("before", {"X": "before"}), ("today", {"X": "today"})]

    assert said()[-1].startswith("erased: 1 name, ")
    assert names() == [("", {}), ("today", {"X": "today"})]
    texts = Answer.objects.filter(item__key="why").order_by("participant__number")
    assert set(texts.values_list("value", flat=True)) == {"", "I am today"}
    assert all(one.holds for one in verify_episode_logs(Episode.objects.all())) and Step.objects.count() == 12
    assert said()[-1].startswith("erased: 0 names, ")

    settings.KEEP_DAYS = 35
    assert said()[0] == "small: all that 1 person left"
    assert [label for label, _ in names()] == ["today"] and Step.objects.count() == 6
    study.refresh_from_db()
    assert study.withdrawn == 0


def test_no_answer_can_be_changed_or_deleted_by_sql(study: Study) -> None:
    assert "study_answer" not in unguarded_tables()
    for statement in ("UPDATE study_answer SET value = value", "DELETE FROM study_answer"):
        with pytest.raises(DatabaseError, match="study_answer is append-only"), transaction.atomic():
            connection.cursor().execute(statement)
    with pytest.raises(AppendOnlyError):
        Answer.objects.update(value="")
    with pytest.raises(AppendOnlyError), erasure_allowed():
        Answer.objects.update(attempt=2)


def test_without_a_number_everything_of_people_is_kept(study: Study) -> None:
    Participant.objects.update(active_at=F("active_at") - timedelta(days=9999))
    assert said()[-1] == "erased: 0 ended sessions, 0 expired tokens, 0 episodes of nobody"
    assert Participant.objects.count() == 2 and Step.objects.count() == 12


def test_staff_actions_are_erased_too(settings: Any) -> None:
    long_ago = timezone.now() - timedelta(days=100)
    SecurityEvent.objects.create(kind="login", user_name="of today")
    with_time = SecurityEvent(kind="login", user_name="of then")
    with_time.save()
    SecurityEvent.objects.create(kind="person_erased")
    AccessAttempt.objects.create(username="x", failures_since_start=1, attempt_time=timezone.now())
    AccessAttempt.objects.update(attempt_time=long_ago)
    Session.objects.create(session_key="over", session_data="", expire_date=long_ago)
    assert said()[-1].endswith("1 ended session, 0 expired tokens, 0 episodes of nobody")

    settings.KEEP_EVENTS_DAYS = 0  # older than now
    assert said()[-1].endswith("2 security events, 1 failed login, 0 episodes of nobody")
    assert SecurityEvent.objects.get().kind == "person_erased" and not AccessAttempt.objects.exists()


def test_remains_of_a_process_that_died_are_erased(study: Study) -> None:
    episodes = Episode.objects.filter(rounds__participant__label="before")
    pks = list(episodes.values_list("pk", flat=True))
    with erasure_allowed():
        Participant.objects.get(label="before").delete()
    Prompt.objects.create(hash="0" * 64, text="asked once")
    assert said()[-1].endswith("2 episodes of nobody")
    assert not Episode.objects.filter(pk__in=pks).exists() and Episode.objects.count() == 2
    assert not Prompt.objects.exists()
