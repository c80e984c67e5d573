"""The second factor of staff: a login needs it once it is set up, and everything where it is required."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from study.researchers.api_tokens import token_make
from study.researchers.permissions import rights_in, studies_for
from study.researchers.second_factor import factor_begin, factor_confirm, has_factor
from tests.study.factories import make_study
from tests.study.participation.test_views import text_of

pytestmark = pytest.mark.django_db

PASSWORD = "otter-lamp-seven-clouds"
PAGE = "/staff/account/second-factor/"


@pytest.fixture
def ann() -> User:
    return User.objects.create_superuser("ann", password=PASSWORD)


def shown(device: TOTPDevice, ahead: int = 0) -> str:
    """What the app shows."""
    return f"{totp(device.bin_key, drift=ahead):06d}"


def log_in(client: Client, code: str = "") -> int:
    sent = {"username": "ann", "password": PASSWORD, "code": code}
    return client.post("/admin/login/?next=/staff/", sent).status_code


def unthrottled() -> None:
    """Some seconds later."""
    for device in (TOTPDevice, StaticDevice):
        device.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)


def test_without_one_the_password_is_enough(client: Client, ann: User) -> None:
    assert log_in(client) == 302


def test_it_is_set_up_on_its_page_and_asked_for_at_the_next_login(client: Client, ann: User) -> None:
    client.force_login(ann)
    client.post(PAGE, {"begin": "yes"})
    device, page = TOTPDevice.objects.get(), text_of(client.get(PAGE))
    assert 'src="data:image/svg+xml' in page and re.search(r'id="secret"[^>]*>[A-Z2-7 ]{30,}<', page)
    assert client.post(PAGE, {"code": "000000x"}).status_code == 422 and not has_factor(ann)
    unthrottled()
    used = shown(device)
    done = text_of(client.post(PAGE, {"code": used}))
    codes = re.findall(r"^(?: *<pre[^>]*>)?([a-z2-7]{8})$", done, re.MULTILINE)
    assert len(codes) == 10 and has_factor(ann)
    other = Client()
    assert log_in(other) == 200 and "_auth_user_id" not in other.session
    assert log_in(other, "not a code") == 200
    unthrottled()
    assert log_in(other, used) == 200  # nobody who looked over the shoulder gets in
    unthrottled()
    assert log_in(other, " ".join(shown(device, 1))) == 302
    unthrottled()
    assert [log_in(Client(), codes[0].upper()), log_in(Client(), codes[0])] == [302, 200]


def test_recovery_codes_are_stored_as_hashes(ann: User) -> None:
    codes = factor_confirm(ann, shown(factor_begin(ann)))
    stored = set(StaticToken.objects.values_list("token", flat=True))
    assert len(stored) == 10 and not stored & set(codes)
    unthrottled()
    assert log_in(Client(), min(stored)) == 200  # what is stored opens nothing
    unthrottled()
    assert log_in(Client(), codes[0]) == 302
    StaticToken.objects.create(device=StaticDevice.objects.get(), token="ofanadmi")
    assert log_in(Client(), "ofanadmi") == 302


def test_wrong_codes_are_counted_as_wrong_passwords(client: Client, ann: User, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    factor_confirm(ann, shown(factor_begin(ann)))
    assert [log_in(client, "123456") for _ in range(3)] == [200, 200, 429]


def test_removing_it_and_new_codes_ask_whether_it_is_meant(client: Client, ann: User) -> None:
    factor_confirm(ann, shown(factor_begin(ann)))
    client.force_login(ann)
    client.post(PAGE, {"remove": "yes"})
    assert has_factor(ann)
    assert "Your recovery codes" in text_of(client.post(PAGE, {"codes": "yes", "sure": "on"}))
    client.post(PAGE, {"remove": "yes", "sure": "on"})
    assert not has_factor(ann) and log_in(Client()) == 302


def test_setting_it_up_asks_for_the_password(client: Client, ann: User) -> None:
    client.force_login(ann)
    session = client.session
    session["sure_at"] = time.time() - 601
    session.save()
    assert client.post(PAGE, {"begin": "yes"})["Location"].startswith("/staff/account/password/")
    assert not TOTPDevice.objects.exists()


def test_where_it_is_required_nothing_is_open_without_it(client: Client, ann: User, settings: Any) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    study, (_, secret) = make_study(), token_make(user=ann, name="mine")
    client.force_login(ann)
    for address in (
        "/staff/",
        "/staff/small/",
        "/staff/small/data/participants.csv",
        "/admin/",
        "/admin/auth/user/",
    ):
        assert client.get(address)["Location"] == PAGE
    assert "asks all staff" in text_of(client.get(PAGE))
    assert not rights_in(ann, study) and not studies_for(ann).exists()  # sockets and tokens
    bearer = {"authorization": f"Bearer {secret}"}
    assert Client().get("/api/studies/small/progress", headers=bearer).status_code == 404
    factor_confirm(ann, shown(factor_begin(ann)))
    assert client.get("/staff/small/").status_code == 200
    assert Client().get("/api/studies/small/progress", headers=bearer).status_code == 200
    assert Client().get("/s/small/").status_code == 200
