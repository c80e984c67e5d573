"""Logins of staff: guessing is slow, bad passwords are refused, idle ones end, destroying asks."""

from __future__ import annotations

import time
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from kitchen.experiments.experiment_setup import ExperimentSetup
from kitchen.experiments.models import Experiment
from study.researchers.reauthenticate import SURE_AT, SURE_SECONDS
from study.researchers.staff_login import is_session_active
from tests.study.factories import make_study
from tests.study.participation.test_views import text_of

pytestmark = pytest.mark.django_db

GOOD = "otter-lamp-seven-clouds"
LOGIN = "/admin/login/?next=/staff/"
EXPERIMENT = ExperimentSetup(coplayer="random", levels=("level_0",), agents=(2,), episodes=1)


@pytest.fixture
def ann() -> User:
    return User.objects.create_superuser("ann", password=GOOD)


def log_in(client: Client, password: str, name: str = "ann", address: str = "203.0.113.9") -> int:
    sent = {"username": name, "password": password}
    return client.post(LOGIN, sent, REMOTE_ADDR=address).status_code


def test_a_name_is_not_guessed_at_from_many_addresses(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    tries = [log_in(client, "wrong", address=f"203.0.113.{n}") for n in range(3)]
    assert tries == [200, 200, 429]
    answer = client.post(LOGIN, {"username": "ann", "password": GOOD}, REMOTE_ADDR="198.51.100.1")
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    assert "Too many wrong passwords" in text_of(answer) and "15 minutes" in text_of(answer)


def test_an_address_does_not_guess_at_many_names(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    assert [log_in(client, "wrong", name=f"name{n}") for n in range(3)] == [200, 200, 429]
    assert log_in(client, GOOD) == 429
    assert log_in(client, GOOD, address="198.51.100.1") == 302


def test_a_login_of_ones_own_wins_no_tries_at_another_name(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    User.objects.create_superuser("mallory", password=GOOD)
    assert [log_in(client, "wrong") for _ in range(2)] == [200, 200]
    assert log_in(Client(), GOOD, name="mallory") == 302
    assert log_in(client, "wrong") == 429


def test_who_mistyped_begins_anew_once_they_are_in(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    assert [log_in(client, "wrong") for _ in range(2)] == [200, 200]
    assert log_in(client, GOOD) == 302
    assert [log_in(Client(), "wrong") for _ in range(2)] == [200, 200]
    assert log_in(Client(), GOOD) == 302


def test_a_proxy_is_not_taken_for_one_who_guesses(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        client.post(LOGIN, {"username": "x", "password": "y"}, HTTP_X_FORWARDED_FOR="203.0.113.9")
    sent = {"username": "ann", "password": GOOD}
    assert client.post(LOGIN, sent, HTTP_X_FORWARDED_FOR="198.51.100.1").status_code == 302


@pytest.mark.servers
def test_from_one_ipv6_network_nobody_guesses_either_and_others_log_in(
    client: Client, ann: User, settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    tries = [log_in(client, "wrong", f"name{n}", f"2001:db8:1:2::{n}") for n in range(3)]
    assert tries == [200, 200, 429]
    assert log_in(client, GOOD, address="2001:db8:1:2:ffff::1") == 429
    assert log_in(client, GOOD, address="2001:db8:1:3::1") == 302


@pytest.mark.servers
@pytest.mark.parametrize("forwarded", ["::1", "2001:db8::7", "203.0.113.9", "nobody knows"])
def test_where_somebody_comes_from_is_kept_as_an_address(
    client: Client, ann: User, settings: Any, forwarded: str
) -> None:
    client.post(LOGIN, {"username": "x", "password": "y"}, HTTP_X_FORWARDED_FOR=forwarded)
    (attempt,) = AccessAttempt.objects.all()
    ip_address(str(attempt.ip_address))


@pytest.mark.parametrize(
    "password",
    [
        "password12345",
        "P@ssw0rd2026!!",
        "123456789012345",
        "847291650384",
        "qwertyuiopasdf",
        "abcdefghijklmn",
        "abcabcabcabc",
        "aaaaaaaaaaaab",
        "researcher.ann1",
        "2026Sunshine!!",
    ],
)
def test_passwords_that_are_guessed_early_are_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, User(username="researcher.ann"))


@pytest.mark.parametrize("password", [GOOD, "correct horse battery staple", "vT9#kq2LmZ!x", "kJ3-hh2-Qp9-ww"])
def test_good_passwords_are_taken(password: str) -> None:
    validate_password(password, User(username="researcher.ann"))


def test_who_logs_in_without_an_address_comes_to_the_studies(client: Client, ann: User) -> None:
    ann.set_password("a long word for Ann")
    ann.save()
    sent = {"username": ann.username, "password": "a long word for Ann"}
    assert client.post("/admin/login/", sent).headers["Location"] == "/staff/"


def test_a_login_lasts_as_long_as_pages_are_opened(client: Client, ann: User, settings: Any) -> None:
    settings.SESSION_COOKIE_AGE = 7200
    client.force_login(ann)
    session = client.session
    session["seen"] = int(time.time()) - 61
    session.save()
    Session.objects.update(expire_date=timezone.now() + timedelta(minutes=5))
    assert client.get("/staff/").cookies["sessionid"]["max-age"] == 7200
    assert Session.objects.get().expire_date > timezone.now() + timedelta(minutes=110)


def test_a_login_that_was_idle_for_too_long_is_over(client: Client, ann: User) -> None:
    client.force_login(ann)
    assert client.get("/staff/").status_code == 200
    key = client.session.session_key or ""
    assert is_session_active(key)
    Session.objects.update(expire_date=timezone.now())
    assert client.get("/staff/").status_code == 302
    assert not is_session_active(key)


def test_the_idle_limit_of_an_installation_is_two_hours(settings: Any) -> None:
    assert settings.SESSION_COOKIE_AGE == 7200


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("/staff/small/design/delete/", {"confirm": "small"}),
        ("/admin/kitchen/experiment/{pk}/delete/", {"post": "yes"}),
        (
            "/admin/kitchen/experiment/",
            {"action": "delete_selected", "post": "yes", "_selected_action": "{pk}"},
        ),
    ],
)
def test_destroying_a_study_asks_for_the_password_again(
    client: Client, ann: User, address: str, sent: dict[str, str]
) -> None:
    row: Any = make_study() if "staff" in address else Experiment.objects.create(setup=EXPERIMENT.to_json())
    client.force_login(ann)
    session = client.session
    session[SURE_AT] = time.time() - SURE_SECONDS
    session.save()
    address = address.format(pk=row.pk)
    sent = {name: value.format(pk=row.pk) for name, value in sent.items()}
    page = "http://testserver/staff/small/design/members/"
    asked = client.post(address, sent, HTTP_REFERER=page)["Location"]
    assert asked.startswith("/staff/account/password/") and type(row).objects.filter(pk=row.pk).exists()
    assert "Confirm your password" in text_of(client.get(asked))
    assert client.post(asked, {"password": "wrong"}).status_code == 422
    assert client.post(asked, {"password": GOOD})["Location"] == page
    client.post(address, sent)
    assert not type(row).objects.filter(pk=row.pk).exists()


def test_nobody_is_led_elsewhere_after_the_password(client: Client, ann: User) -> None:
    client.force_login(ann)
    there = client.post("/staff/account/password/?next=https://evil.example/", {"password": GOOD})
    assert there["Location"] == "/staff/"


@pytest.mark.parametrize("button", ["previews/erase", "synthetic/erase"])
def test_other_buttons_that_erase_ask_too(client: Client, ann: User, button: str) -> None:
    make_study()
    client.force_login(ann)
    session = client.session
    del session[SURE_AT]
    session.save()
    answer = client.post(f"/staff/small/design/{button}/", {"sure": "on"})
    assert answer["Location"].startswith("/staff/account/password/")
