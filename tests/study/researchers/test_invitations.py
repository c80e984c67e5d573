"""Staff are invited and recovered by links that work once, expire, and end with the rights of their maker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from study.design.models import Study
from study.researchers.invitations import (
    InvitationError,
    invitation_accept,
    invitation_find,
    invitation_make,
    recovery_make,
)
from study.researchers.models import Membership, SecurityEvent, StaffInvitation
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db
PASSWORD = "four unrelated words sing"


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def owner(study: Study) -> User:
    owner = User.objects.create_user("ann", is_staff=True)
    study.memberships.create(user=owner, role="owner")
    return owner


def invite(study: Study, owner: User) -> str:
    return invitation_make(by=owner, name="Eve", role="viewer", studies=[study])[1]


def test_an_invited_person_makes_a_login_once(client: Client, study: Study, owner: User) -> None:
    secret = invite(study, owner)
    address = f"/invitation/{secret}/"
    shown = client.get(address).content.decode()
    assert "You are invited" in shown and "You become a viewer of the study “A small study”." in shown
    weak = {"username": "eve", "password1": "password1", "password2": "password1"}
    assert client.post(address, weak).status_code == 422
    answered = client.post(address, {"username": "eve", "password1": PASSWORD, "password2": PASSWORD})
    assert answered["Location"] == "/staff/"
    eve = User.objects.get(username="eve")
    assert (eve.is_staff, eve.is_superuser) == (True, False)
    assert study.memberships.get(user=eve).role == "viewer"
    assert client.get("/staff/small/").status_code == 200
    assert Client().get(address).status_code == 404
    assert SecurityEvent.objects.filter(kind="invite_used", user_name="eve").exists()
    assert secret not in str(list(StaffInvitation.objects.values()))


def test_a_browser_sends_the_form_with_an_origin_that_is_accepted(study: Study, owner: User) -> None:
    """Under `no-referrer`, browsers send `Origin: null` with a form, and Django refuses it."""
    client = Client(enforce_csrf_checks=True)
    address = f"/invitation/{invite(study, owner)}/"
    policy = client.get(address)["Referrer-Policy"]
    origin = "null" if policy == "no-referrer" else "http://testserver"
    sent = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    sent["csrfmiddlewaretoken"] = client.cookies["csrftoken"].value
    assert policy == "strict-origin"  # the secret in the address is never a referrer
    assert client.post(address, sent, headers={"origin": origin})["Location"] == "/staff/"
    assert client.post(address, sent, headers={"origin": "null"}).status_code == 403


def test_staff_accept_with_the_login_they_have_and_keep_a_higher_role(study: Study, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    client.post(f"/invitation/{invite(study, owner)}/")
    assert study.memberships.get().role == "owner"


def test_a_link_ends_with_time_and_with_the_rights_of_its_maker(study: Study, owner: User) -> None:
    secret = invite(study, owner)
    row = invitation_find(secret)
    assert row
    StaffInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert invitation_find(secret) is None
    with pytest.raises(InvitationError):
        invitation_accept(row=row, username="late", password=PASSWORD)
    StaffInvitation.objects.update(expires_at=timezone.now() + timedelta(days=1))
    Membership.objects.update(role="viewer")
    assert invitation_find(secret) is None and invitation_find("another") is None


def test_another_administrator_recovers_a_login(admin_client: Client, admin_user: Any, owner: User) -> None:
    with pytest.raises(PermissionError):
        recovery_make(by=admin_user, user=admin_user)
    page = admin_client.post("/staff/logins/", {"recover": owner.pk, "sure": "on"}).content.decode()
    secret = page.partition("/invitation/")[2].partition("/")[0]
    assert "Ask an administrator of this server for a link" in Client().get("/admin/login/").content.decode()
    theirs = Client()
    theirs.force_login(owner)
    client = Client()
    sent = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(f"/invitation/{secret}/", sent)["Location"] == "/staff/"
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD) and theirs.get("/staff/").status_code == 302
    assert client.post(f"/invitation/{secret}/", sent).status_code == 404


def test_an_owner_invites_and_hands_the_study_over(study: Study, owner: User) -> None:
    client, ben = Client(), User.objects.create_user("ben", is_staff=True, password=PASSWORD)
    owner.set_password(PASSWORD)
    owner.save()
    client.post("/admin/login/", {"username": "ann", "password": PASSWORD})
    page = client.post("/staff/small/design/members/invite/", {"name": "Eve", "role": "viewer"})
    assert "/invitation/" in page.content.decode() and StaffInvitation.objects.get().what == "viewer in small"
    row = StaffInvitation.objects.get()
    assert "Take back" in page.content.decode()
    client.post("/staff/small/design/members/invite/", {"revoke": row.pk, "sure": "on"})
    row.refresh_from_db()
    assert row.revoked_at
    member = study.memberships.create(user=ben, role="viewer")
    client.post("/staff/small/design/members/hand-over/", {"member": member.pk})  # not ticked
    User.objects.filter(pk=ben.pk).update(is_active=False)
    client.post("/staff/small/design/members/hand-over/", {"member": member.pk, "sure": "on"})
    User.objects.filter(pk=ben.pk).update(is_active=True)
    assert study.memberships.get(user=owner).role == "owner"
    client.post("/staff/small/design/members/hand-over/", {"member": member.pk, "sure": "on"})
    assert dict(study.memberships.values_list("user__username", "role")) == {"ann": "viewer", "ben": "owner"}


def test_an_administrator_who_is_no_member_is_no_viewer_after_handing_over(
    admin_client: Client, study: Study, owner: User
) -> None:
    sent = {"member": study.memberships.get().pk, "sure": "on"}
    page = admin_client.post("/staff/small/design/members/hand-over/", sent, follow=True).content.decode()
    assert "ann owns the study now." in page and "You are a viewer" not in page


def test_an_administrator_locks_a_login_and_takes_an_invitation_back(
    admin_client: Client, study: Study, owner: User
) -> None:
    secret = invite(study, owner)
    admin_client.post("/staff/logins/", {"revoke": StaffInvitation.objects.get().pk, "sure": "on"})
    assert invitation_find(secret) is None
    admin_client.post("/staff/logins/", {"switch": owner.pk, "sure": "on"})
    owner.refresh_from_db()
    assert owner.is_active is False
    made = admin_client.post("/staff/logins/", {"name": "Eve", "role": "viewer", "studies": [study.pk]})
    assert "/invitation/" in made.content.decode()
