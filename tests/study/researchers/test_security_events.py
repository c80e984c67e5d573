"""What matters to security is noted, without secrets, and superusers read it."""

from __future__ import annotations

import io
import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from brigade.log_formatters import RedactingFormatter, SeparateLogFile
from kitchen.infra.append_only import AppendOnlyError, erasure_allowed
from study.design.demo_study_files import DEMO_FILE
from study.design.models import Study
from study.participants.end_and_erase_participation import erasure_mark, participant_withdraw
from study.participants.models import Participant
from study.researchers import security_events
from study.researchers.api_tokens import LONGEST, token_make, token_revoke
from study.researchers.models import SecurityEvent
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

PASSWORD = "a long password of Ada's"


@pytest.fixture
def ada() -> User:
    user = User.objects.create_superuser("ada", password=PASSWORD)
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    return user


@pytest.fixture
def study() -> Study:
    return make_study()


def noted() -> list[tuple[str, str, str]]:
    """What, who, which study; the oldest first."""
    return list(SecurityEvent.objects.order_by("pk").values_list("kind", "user_name", "study"))


def test_logins_are_noted_and_no_password_is_wherever_it_was_typed(ada: User, client: Client) -> None:
    for name, word in (("ada", "wrong-word"), (PASSWORD, "ada"), ("ada", PASSWORD)):
        client.post("/admin/login/", {"username": name, "password": word})
    client.post("/admin/logout/")
    assert noted() == [
        ("login_failed", "ada", ""),
        ("login_failed", "", ""),
        ("login", "ada", ""),
        ("logout", "ada", ""),
    ]
    assert set(SecurityEvent.objects.values_list("address", flat=True)) == {"127.0.0.1"}
    everything = json.dumps(list(SecurityEvent.objects.values()), default=str)
    assert PASSWORD not in everything and "wrong-word" not in everything


def test_tokens_are_noted_by_how_they_begin(ada: User, study: Study) -> None:
    row, secret = token_make(user=ada, name="mine", study=study)
    assert token_revoke(user=ada, token_id=row.pk)
    assert not token_revoke(user=ada, token_id=row.pk)
    assert noted() == [("token_made", "ada", "small"), ("token_revoked", "ada", "small")]
    assert {event.what for event in SecurityEvent.objects.all()} == {f"{secret[:12]}… (mine)"}


def test_what_is_taken_from_the_data_is_noted(ada: User, study: Study, client: Client) -> None:
    _, secret = token_make(user=ada, name="mine")
    client.force_login(ada)
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    assert client.get("/staff/small/data/participants.csv").status_code == 200
    assert client.get("/staff/small/data/nothing.csv").status_code == 404
    bearer = {"authorization": f"Bearer {secret}"}
    assert Client(headers=bearer).get("/api/studies/small/files/steps.csv").status_code == 200
    assert noted() == [("data_downloaded", "ada", "small")] * 2
    assert [event.what for event in SecurityEvent.objects.order_by("pk")] == [
        "participants.csv",
        f"steps.csv, by {secret[:12]}… (mine)",
    ]


def test_studies_that_open_and_close_and_people_who_are_erased(
    ada: User, study: Study, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    client.force_login(ada)
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    for state in ("closed", "open"):
        client.post("/staff/small/design/state/", {"state": state})
    person = enter(study, "somebody")
    with django_capture_on_commit_callbacks(execute=True):
        participant_withdraw(participant_id=person.pk)
    assert noted() == [
        ("study_closed", "ada", "small"),
        ("study_opened", "ada", "small"),
        ("person_erased", "", "small"),
    ]


def test_nobody_is_erased_whose_mark_is_not_kept(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, stays = enter(study, "gone"), enter(study, "stays")
    participant_withdraw(participant_id=gone.pk)
    noted = SecurityEvent.objects.get(kind="person_erased")  # in the same transaction
    assert noted.what.endswith(erasure_mark(gone))

    def locked(**_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(security_events, "event_write", locked)
    with pytest.raises(OperationalError):
        participant_withdraw(participant_id=stays.pk)
    assert Participant.objects.filter(pk=stays.pk).exists()


def test_a_study_that_is_loaded_open_is_noted_too() -> None:
    call_command("load_study", DEMO_FILE, stdout=io.StringIO())
    opened = SecurityEvent.objects.get()
    assert (opened.kind, opened.study, opened.what) == ("study_opened", "demo", "from demo.toml")


def test_superusers_read_it_and_nobody_else(ada: User, client: Client) -> None:
    client.force_login(User.objects.create_user("bea", is_staff=True))
    assert client.get("/staff/security-events/").status_code == 403
    assert "security-events" not in client.get("/staff/").content.decode()
    client.force_login(ada)
    page = client.get("/staff/security-events/").content.decode()
    assert "logged in" in page and "bea" in page
    assert "security-events" in client.get("/staff/").content.decode()


def test_what_is_noted_stays() -> None:
    event = SecurityEvent.objects.create(kind="login")
    with pytest.raises(AppendOnlyError):
        event.save()


def test_its_log_is_a_line_of_json_in_a_file_of_its_own(
    ada: User, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    log, file = (
        logging.getLogger("brigade.security"),
        SeparateLogFile(tmp_path / "log" / "security.log", delay=True),
    )
    file.setFormatter(RedactingFormatter("%(message)s"))
    log.addHandler(file)
    with django_capture_on_commit_callbacks(execute=True):
        _, secret = token_make(user=ada, name=f"line\nbreak {'x' * 40}")
        assert not (tmp_path / "log" / "security.log").exists()  # it may still be undone
    log.removeHandler(file)
    file.close()
    (line,) = (tmp_path / "log" / "security.log").read_text().splitlines()
    assert json.loads(line).keys() == {"at", "kind", "user_name", "study", "what", "address"}
    assert json.loads(line)["kind"] == "token_made"
    assert secret not in line


def test_no_token_opens_anything_for_more_than_a_year(ada: User) -> None:
    for asked in (None, timezone.now() + timedelta(days=3650)):
        row, _ = token_make(user=ada, name="mine", expires_at=asked)
        assert row.expires_at <= timezone.now() + LONGEST
    soon = timezone.now() + timedelta(days=1)
    assert token_make(user=ada, name="mine", expires_at=soon)[0].expires_at == soon
