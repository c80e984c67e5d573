"""Whoever sits down at somebody else's open session can neither destroy data nor let others in; what happens
to accounts is noted."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from kitchen.infra.append_only import erasure_allowed, trigger_name
from study.monitor.staff_actions import changed_staff_actions, record_staff_action
from study.participants.models import StaffAction
from study.researchers.api_tokens import token_find, token_make
from study.researchers.models import ApiToken, Membership, SecurityCount, SecurityEvent
from study.researchers.reauthenticate import SURE_AT
from study.researchers.second_factor import factor_begin
from study.researchers.security_events import events_erase, events_verify, log_security_event
from tests.study.factories import enter, make_study
from tests.study.researchers.test_second_factor import PAGE, shown

pytestmark = pytest.mark.django_db

PASSWORD = "otter-lamp-seven-clouds"


@pytest.fixture
def ann() -> User:
    return User.objects.create_superuser("ann", password=PASSWORD)


@pytest.fixture
def unsure(client: Client, ann: User) -> Client:
    """Logged in, and has not given the password for long."""
    client.force_login(ann)
    session = client.session
    session[SURE_AT] = 0
    session.save()
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    return client


def asks(client: Client, address: str, sent: dict[str, Any]) -> bool:
    answer = client.post(address, sent)
    return answer.status_code == 302 and answer["Location"].startswith("/staff/account/password/")


def noted() -> list[tuple[str, str, str]]:
    return list(SecurityEvent.objects.order_by("pk").values_list("kind", "user_name", "what"))


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label_lower)
def test_every_page_of_the_admin_that_deletes_asks_for_the_password(unsure: Client, model: Any) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    chosen = {"action": "delete_selected", "post": "yes", "_selected_action": "1"}
    assert asks(unsure, reverse(f"{name}_delete", args=[1]), {"post": "yes"})
    assert asks(unsure, reverse(f"{name}_changelist"), chosen)
    assert asks(unsure, reverse(f"{name}_change", args=[1]), {"rows-0-DELETE": "on"})


def test_pages_that_decide_who_gets_in_ask_for_the_password(unsure: Client, ann: User) -> None:
    for page, args in (("password_change", [ann.pk]), ("change", [ann.pk]), ("add", [])):
        assert asks(unsure, reverse(f"admin:auth_user_{page}", args=args), {"username": "eve"})
    assert asks(unsure, reverse("admin:auth_group_add"), {"name": "all"})
    assert asks(unsure, "/staff/tokens/", {"name": "mine", "days": "365"})
    assert not ApiToken.objects.exists() and not noted()


def test_second_factors_have_no_page_in_the_admin(unsure: Client) -> None:
    assert not any(model._meta.app_label.startswith("otp") for model in admin.site._registry)


def test_another_password_ends_tokens_and_is_noted(client: Client, ann: User) -> None:
    bea = User.objects.create_user("bea", password=PASSWORD, is_staff=True)
    _, secret = token_make(user=bea, name="mine")
    client.force_login(ann)
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    fresh = {"password1": "lamp-otter-nine-rivers", "password2": "lamp-otter-nine-rivers"}
    client.post(
        reverse("admin:auth_user_password_change", args=[bea.pk]), {**fresh, "usable_password": "true"}
    )
    assert token_find(secret) is None
    assert [(kind, who) for kind, who, _ in noted()] == [
        ("password_changed", "ann"),
        ("token_revoked", "bea"),
    ]


def test_accounts_and_roles_are_noted_with_who_gave_them(client: Client, ann: User) -> None:
    client.force_login(ann)
    with erasure_allowed():
        SecurityEvent.objects.all().delete()
    made = {"username": "bea", "password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    client.post(reverse("admin:auth_user_add"), made)
    bea = User.objects.get(username="bea")
    bea.is_staff = True
    bea.save()
    bea.groups.add(Group.objects.create(name="readers"))
    study = make_study()
    Membership.objects.create(study=study, user=bea, role="viewer").delete()
    bea.delete()
    kinds = [kind for kind, _, _ in noted()]
    assert set(kinds[:2]) == {"user_made", "password_changed"}
    assert kinds[2:] == ["rights_changed", "rights_changed", "role_given", "role_taken", "user_deleted"]
    assert noted()[0][1:] == ("ann", "bea") and noted()[2][1:] == ("", "bea: is_active, is_staff")


def test_a_second_factor_ends_logins_of_before_and_is_noted(client: Client, ann: User) -> None:
    other = Client()
    other.force_login(ann)
    client.force_login(ann)
    client.post(PAGE, {"code": shown(factor_begin(ann))})
    assert client.get("/staff/").status_code == 200
    assert other.get("/staff/").status_code == 302
    client.post(PAGE, {"remove": "yes", "sure": "on"})
    assert [kind for kind, _, _ in noted()[-3:]] == ["factor_set_up", "codes_made", "factor_removed"]


def test_of_somebody_who_leaves_no_address_is_noted(client: Client) -> None:
    log_security_event("person_erased")
    assert not SecurityEvent.objects.get().address


def sql(statement: str) -> None:
    connection.check_constraints()
    with connection.cursor() as cursor:
        cursor.execute(statement)


def unguarded(table: str) -> None:
    sql(f"DROP TRIGGER {trigger_name(table)}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


@pytest.mark.servers
@pytest.mark.parametrize(
    ("forged", "found"),
    [
        ("DELETE FROM study_securityevent", ["security events number 1 to 4 are missing"]),
        ("DELETE FROM study_securityevent WHERE number = 2", ["security event number 2 is missing"]),
        ("DELETE FROM study_securityevent WHERE number > 2", ["security events number 3 to 4 are missing"]),
        ("DELETE FROM study_securitycount", ["security events: how many there were is gone"]),
        (
            "UPDATE study_securitycount SET erased = 4",
            ["security events: how many there were was not written with this installation's key"],
        ),
    ],
)
def test_security_events_that_are_gone_are_missed(forged: str, found: list[str]) -> None:
    SecurityCount.objects.all().delete()
    for _ in range(4):
        log_security_event("login")
    assert list(events_verify()) == []
    with erasure_allowed():
        sql(forged)
    assert list(events_verify()) == found


@pytest.mark.servers
def test_what_the_app_erases_itself_is_no_gap_and_a_changed_event_is_found() -> None:
    SecurityCount.objects.all().delete()
    for _ in range(4):
        log_security_event("login")
    with CaptureQueriesContext(connection) as asked:
        assert events_erase(SecurityEvent.objects.filter(number__lte=2)) == 2
    assert sum("study_securitycount" in query["sql"] for query in asked) == 2  # locked and written once
    assert list(events_verify()) == []
    unguarded("study_securityevent")
    sql("UPDATE study_securityevent SET user_name = 'eve' WHERE number = 3")
    (fault,) = events_verify()
    assert fault.endswith("is not what was written")


@pytest.mark.servers
def test_what_staff_did_is_sealed(ann: User) -> None:
    study = make_study()
    person = enter(study)
    record_staff_action(
        study=study, participant=person, user=ann, user_name="ann", action="exclude", reason="asleep"
    )
    assert list(changed_staff_actions(StaffAction.objects.all())) == []
    unguarded("study_staffaction")
    sql("UPDATE study_staffaction SET reason = 'awake'")
    (fault,) = changed_staff_actions(StaffAction.objects.all())
    assert fault.endswith("is not what was written")
