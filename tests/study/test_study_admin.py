"""Studies in the admin: seen there, edited in the console."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from study.design.models import Study
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

STUDIES = reverse("admin:study_study_changelist")


def page_of(study: Study) -> str:
    """The address of a study's page."""
    return reverse("admin:study_study_change", args=[study.pk])


def staff(*rights: str) -> User:
    """Somebody of the staff with these rights in the admin, or all."""
    user = User.objects.create_user("looker", is_staff=True)
    own = Permission.objects.filter(content_type__app_label="study")
    user.user_permissions.set(own.filter(codename__in=rights) if rights else own)
    return user


def test_the_page_tells_the_design_and_leads_to_the_console(admin_client: Client) -> None:
    study = make_study()
    text = admin_client.get(page_of(study)).content.decode()
    wanted = [
        f"http://localhost:8000/s/{study.slug}/",
        *(reverse(f"study:staff-{page}", args=[study.slug]) for page in ("design", "study", "data")),
        *("Condition 0", "Condition 1", "Cuisine", "nobody"),
    ]
    assert [words for words in wanted if words not in text] == []


def test_nothing_of_a_study_is_added_changed_or_deleted(admin_client: Client) -> None:
    study = make_study()
    sent: dict[str, Any] = {"action": "delete_selected", "_selected_action": study.pk, "post": "yes"}
    delete = reverse("admin:study_study_delete", args=[study.pk])
    assert admin_client.get(reverse("admin:study_study_add")).status_code == 403
    assert admin_client.post(page_of(study), {"title": "Another"}).status_code == 403
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    admin_client.post(STUDIES, sent)
    assert Study.objects.get().title == "A small study"


def test_filters_name_no_study_of_others(client: Client) -> None:
    mine, theirs = make_study("mine"), make_study("theirs")
    Study.objects.filter(pk=theirs.pk).update(title="A secret of others")
    enter(mine)
    user = staff()
    mine.memberships.create(user=user, role="collaborator")
    client.force_login(user)
    page = client.get(reverse("admin:study_participant_changelist")).content.decode()
    assert "A secret of others" not in page


def test_empty_pages_say_what_to_do_first(admin_client: Client) -> None:
    assert "No studies yet. Make one" in admin_client.get(STUDIES).content.decode()
    nobody = admin_client.get(reverse("admin:study_participant_changelist")).content.decode()
    assert "Nobody has entered yet" in nobody


@pytest.mark.servers
def test_lists_ask_the_database_as_often_for_many_rows_as_for_one(
    admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        study = make_study(f"study{number}")
        enter(study, f"e{number}")
    for name in ("study", "participant"):
        with django_assert_max_num_queries(9):
            admin_client.get(reverse(f"admin:study_{name}_changelist"))


def test_who_may_look_sees_the_studies_of_which_they_are_members(client: Client) -> None:
    study = make_study()
    user = staff("view_study")
    client.force_login(user)
    assert client.get(page_of(study)).status_code == 302  # of a study that is none of theirs
    study.memberships.create(user=user, role="viewer")
    assert client.get(page_of(study)).status_code == 200


def test_nobody_but_staff_gets_in(client: Client) -> None:
    client.force_login(User.objects.create_user("visitor", password="a long password"))
    assert client.get(STUDIES).status_code == 302
