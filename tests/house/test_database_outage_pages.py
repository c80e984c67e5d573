"""What people see while the database can store nothing: that, and no error; what they filled in is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from brigade.error_pages import bad_request, request_to_retry, storage_page
from kitchen.infra.db_errors import DatabaseProblem
from study.participation.enter_study import participant_enter
from tests.study.factories import make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers, pytest.mark.sqlite]


@pytest.fixture
def page() -> str:
    """Somebody's personal link, who is about to agree."""
    return participant_enter(study_id=make_study().pk, entry="somebody").get_absolute_url()


@pytest.fixture
def migrated(page: str) -> Iterator[Callable[[], None]]:
    """Another version has migrated the database, until this is called."""
    names = ["consented_at", "agreed_at"]

    def rename() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE study_participant RENAME COLUMN {names[0]} TO {names[1]}")
        names.reverse()

    rename()
    yield rename
    if names[1] == "consented_at":
        rename()


def hidden(page: str) -> dict[str, str]:
    """What a page keeps to send again."""
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))


def test_a_form_is_kept_in_the_page_and_goes_in_once_it_can(page: str, migrated: Callable[[], None]) -> None:
    client = Client(raise_request_exception=False)
    filled = {"page": "consent", "agree_0": "on", "remark": 'rice & "fish"'}
    answered = client.post(page, filled)
    said = answered.content.decode()
    assert (answered.status_code, answered["Retry-After"]) == (503, "5")
    assert "Nothing that you typed or chose is lost" in said and "being updated" in said
    assert f'action="{page}" data-again="5"' in said and "js/again.js" in said
    assert hidden(said) == filled | {"remark": "rice &amp; &quot;fish&quot;"}
    migrated()
    assert client.post(page, filled).status_code == 302


def test_a_page_that_cannot_be_shown_asks_again_by_itself(page: str, migrated: Callable[[], None]) -> None:
    answered = Client(raise_request_exception=False).get(page)
    said = answered.content.decode()
    assert answered.status_code == 503
    assert f'href="{page}" data-again="5"' in said and "<form" not in said
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in said


def test_staff_are_told_why_and_programs_in_json(migrated: Callable[[], None]) -> None:
    ada = get_user_model().objects.create_superuser("ada", password="…")
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    answered = client.get("/staff/small/participants/")
    assert answered.status_code == 503
    assert (
        "For the administrator of the server: database and app are of different versions"
        in answered.content.decode()
    )
    told = storage_page(RequestFactory().get("/api/studies/"), DatabaseProblem.AWAY)
    assert (told.status_code, told["Content-Type"]) == (503, "application/json")


def test_what_is_broken_otherwise_is_an_error_as_before(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any, **__: Any) -> None:
        raise ValueError("ours")

    monkeypatch.setattr("study.participation.views.page_opened", wrong)
    assert Client(raise_request_exception=False).get(page).status_code == 500


def test_a_session_that_cannot_be_stored_is_no_bad_request() -> None:
    error = SessionInterrupted("the session was deleted")
    error.__context__ = OperationalError("database is locked")
    request = RequestFactory().get("/staff/")
    assert bad_request(request, error).status_code == 503
    assert bad_request(request, SessionInterrupted("it was")).status_code == 400


def test_what_goes_away_by_itself_is_told_from_what_somebody_must_mend() -> None:
    request = RequestFactory().get("/p/key/")
    longer = {
        kind: "This may take longer" in storage_page(request, kind).content.decode()
        for kind in DatabaseProblem
    }
    assert {kind for kind, said in longer.items() if said} == {
        DatabaseProblem.FULL,
        DatabaseProblem.READ_ONLY,
        DatabaseProblem.DAMAGED,
    }


def test_passwords_and_files_are_written_into_no_page_and_staff_press_the_button() -> None:
    make = RequestFactory()
    login = request_to_retry(make.post("/admin/login/", {"username": "ada", "password": "secret"}))
    upload = request_to_retry(make.post("/staff/load/", {"file": SimpleUploadedFile("study.toml", b"x")}))
    form = request_to_retry(make.post("/staff/small/", {"title": ["one", "two"]}))
    assert (login.fields, login.by_itself) == (upload.fields, upload.by_itself) == ((), False)
    assert (form.fields, form.by_itself) == ((("title", "one"), ("title", "two")), False)
    told = storage_page(make.post("/admin/login/", {"password": "secret"}), DatabaseProblem.BUSY)
    assert "secret" not in told.content.decode() and "Go back in your browser" in told.content.decode()
