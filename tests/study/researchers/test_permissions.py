"""Who of the staff may do what with a study, and in the admin. Every page: `test_every_address.py`."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from study.design.models import Study
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from study.pilot.previews import condition_preview
from study.researchers.permissions import has_right, rights_in, studies_for
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = pytest.mark.django_db

RIGHTS = {
    "owner": {"copy", "view", "results", "edit", "own"},
    "collaborator": {"copy", "view", "results", "edit"},
    "viewer": {"copy", "view", "results"},
    "nobody": set(),
}


@pytest.fixture
def study() -> Study:
    return make_study()


def member(study: Study, role: str, **more: Any) -> User:
    """Somebody of the staff with this role; `nobody` has none."""
    user = User.objects.create_user(f"the {role}", is_staff=True, **more)
    if role != "nobody":
        study.memberships.create(user=user, role=role)
    return user


@pytest.mark.parametrize("role", RIGHTS)
def test_a_role_gives_its_rights_in_its_study_and_in_no_other(study: Study, role: str) -> None:
    user, other = member(study, role), make_study("other")

    assert rights_in(user, study) == RIGHTS[role]
    assert rights_in(user, other) == set()
    for right in RIGHTS["owner"]:
        assert list(studies_for(user, right)) == ([study] if right in RIGHTS[role] else [])


def test_the_list_shows_the_studies_one_is_a_member_of(study: Study, client: Client) -> None:
    make_study("other")
    client.force_login(member(study, "viewer"))

    page = client.get("/staff/").content.decode()

    assert "/staff/small/" in page
    assert "/staff/other/" not in page


def test_superusers_have_every_right_everywhere(study: Study, admin_user: User) -> None:
    assert rights_in(admin_user, study) == RIGHTS["owner"]
    assert list(studies_for(admin_user, "own")) == [study]


@pytest.mark.parametrize("lost", ["is_staff", "is_active"])
def test_who_is_no_longer_of_the_staff_has_no_right_left(study: Study, lost: str) -> None:
    user = member(study, "owner")
    setattr(user, lost, False)
    user.save()

    assert not has_right(user, study, "copy")
    assert not studies_for(user).exists()


def test_a_shared_study_can_be_copied_by_all_staff_and_seen_by_none_of_them(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(shared=True)
    study.refresh_from_db()
    user = member(study, "nobody")

    assert rights_in(user, study) == {"copy"}
    assert list(studies_for(user, "copy")) == [study]
    assert not studies_for(user).exists()


@pytest.mark.parametrize("role", RIGHTS)
def test_the_admin_shows_studies_by_role(study: Study, client: Client, role: str) -> None:
    user = member(study, role)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="study"))
    client.force_login(user)
    page = reverse("admin:study_study_change", args=[study.pk])
    assert client.get(page).status_code == (200 if "view" in RIGHTS[role] else 302)
    shown = "A small study" in client.get(reverse("admin:study_study_changelist")).content.decode()
    assert shown == ("view" in RIGHTS[role])


def playing(study: Study) -> Participant:
    """Somebody in the first episode."""
    person = enter(study, entry=study.slug)
    finish_page(participant_id=person.pk, page="guide")
    return person


def seen(client: Client, episode: Episode) -> bool:
    """Whether the admin has a page for this episode."""
    return client.get(reverse("admin:kitchen_episode_change", args=[episode.pk])).status_code == 200


@pytest.mark.parametrize("role", RIGHTS)
def test_the_admin_shows_episodes_to_members_of_their_study_and_to_no_other_staff(
    study: Study, client: Client, role: str
) -> None:
    mine = Episode.objects.get(rounds__participant=playing(study))
    theirs = Episode.objects.get(rounds__participant=playing(make_study("other")))
    nobodys = create_episode(world="cuisine", settings=SETTINGS, seats=1, seed=1, minds=[])
    user = member(study, role)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="kitchen"))
    client.force_login(user)

    shown = [seen(client, episode) for episode in (mine, theirs, nobodys)]
    listed = client.get(reverse("admin:kitchen_episode_changelist")).content.decode()
    found = client.get(reverse("admin:kitchen_episode_changelist"), {"q": str(theirs.key)}).content.decode()

    assert shown == [role != "nobody", False, False]
    assert [str(episode.key) in listed for episode in (mine, theirs, nobodys)] == shown
    assert f"/episode/{theirs.pk}/" not in found


def test_superusers_see_every_episode(study: Study, admin_client: Client) -> None:
    nobodys = create_episode(world="cuisine", settings=SETTINGS, seats=1, seed=1, minds=[])
    assert seen(admin_client, nobodys)


def test_a_member_without_any_right_in_the_admin_is_led_to_the_decisions(
    study: Study, client: Client
) -> None:
    preview = condition_preview(condition=study.conditions.all()[0])
    episode = Episode.objects.get(rounds__participant=preview)
    client.force_login(member(study, "viewer"))

    there = reverse("admin:kitchen_episode_change", args=[episode.pk])
    page = client.get(reverse("study:staff-participants-one", args=[study.slug, preview.code]))

    assert f'"{there}">steps, decisions and calls of models, in the administration' in page.content.decode()
    assert "a person" in client.get(there).content.decode()
    assert client.get(reverse("admin:kitchen_episode_changelist")).status_code == 403
