"""Staff erase one person who asked for it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kitchen.play.models import Episode
from study.participants.end_and_erase_participation import erasure_mark, read_receipt
from study.participants.models import Participant
from study.researchers.models import SecurityEvent
from study.researchers.reauthenticate import SURE_AT
from tests.study.factories import complete, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_an_owner_erases_one_person_and_gets_the_receipt(
    client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    study, owner = make_study(conditions=1), User.objects.create_user("ann", is_staff=True)
    study.memberships.create(user=owner, role="owner")
    person, stays = complete(study, "goes"), complete(study, "stays")
    client.force_login(owner)
    here = f"/staff/small/participants/{person.code}/"
    assert "Erase everything" in client.get(here).content.decode()

    assert client.post(f"{here}erase/")["Location"] == here  # not ticked
    session = client.session
    session[SURE_AT] = 0
    session.save()
    assert client.post(f"{here}erase/", {"sure": "on"})["Location"].startswith("/staff/account/password/")
    assert Participant.objects.count() == 2

    session[SURE_AT] = 2**40
    session.save()
    with django_capture_on_commit_callbacks(execute=True):
        page = client.post(f"{here}erase/", {"sure": "on"}).content.decode()
    found = re.search(r'id="receipt-code"[^>]*>([^<]+)<', page)
    receipt = found and read_receipt(unescape(found[1]))
    assert receipt and receipt.study == "small"
    assert list(Participant.objects.all()) == [stays] and Episode.objects.count() == 1
    noted = SecurityEvent.objects.get(kind="person_erased")
    assert (noted.user_name, noted.what) == ("ann", f"{receipt.without_proof} {erasure_mark(person)}")
    assert client.get(here).status_code == 404
