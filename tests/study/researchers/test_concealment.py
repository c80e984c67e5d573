"""Concealment: who sees which condition a participant has, and that participants never see one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Seat
from kitchen.registry.world_registry import get_page
from study.design.models import Study
from study.monitor import live_status
from study.monitor.live_study_page import shown_rows, totals_context
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participation.page_progress import answers_submit, finish_page
from study.researchers.permissions import is_concealed_from, rights_in, studies_for
from tests.study.design.test_between_groups import grouped_study
from tests.study.factories import enter, play_out

pytestmark = pytest.mark.django_db
SECRETS = ("Hiddenname", "hiddenkey", "hiddengroup", "hiddenlevel")
"""Parts of the names and keys of conditions, groups and levels."""


@pytest.fixture
def study() -> Study:
    study = grouped_study(groups="hiddengroup_a hiddengroup_b", conceals_allocation=True)
    for number, row in enumerate(study.conditions.all()):
        row.key, row.name = f"hiddenkey_{number}", f"Hiddenname {number}"
        row.within_level = f"hiddenlevel_{number % 2}"
        row.save()
    return study


@pytest.fixture
def person(study: Study) -> Participant:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    return Participant.objects.get(pk=person.pk)


def staff(study: Study, role: str) -> User:
    user = User.objects.create_user(role, is_staff=True)
    study.memberships.create(user=user, role=role)
    return user


def pages(study: Study, person: Participant, user: User) -> Iterator[tuple[str, str]]:
    browser = Client()
    browser.force_login(user)
    names = ("", "live/", "participants/", f"participants/{person.code}/")
    for name in names:
        yield name, browser.get(f"/staff/{study.slug}/{name}").content.decode()


def reveals(study: Study, person: Participant, text: str) -> bool:
    """Whether the page names the condition or group of this person, or the counts of groups."""
    one = person.rounds.select_related("condition").first()
    assert one
    below = text.partition('id="participants-title"')[2] or text.partition('id="live-title"')[2] or text
    return person.between_group in below or one.condition.name in below


@pytest.mark.parametrize(("role", "concealed"), [("owner", False), ("collaborator", True), ("viewer", True)])
def test_only_owners_see_conditions_and_results_until_the_study_is_closed_and_over(
    study: Study, person: Participant, role: str, concealed: bool
) -> None:
    user = staff(study, role)
    assert ("results" not in rights_in(user, study)) is concealed is is_concealed_from(user, study)
    assert (study not in studies_for(user, "results")) is concealed and study in studies_for(user)
    Study.objects.update(status=Study.Status.CLOSED)
    assert ("results" not in rights_in(user, study)) is concealed, "somebody still plays"
    Participant.objects.update(status=Participant.Status.COMPLETE)
    assert "results" in rights_in(user, study) and study in studies_for(user, "results")


def test_a_study_that_does_not_conceal_shows_everything_to_all_members(
    study: Study, person: Participant
) -> None:
    Study.objects.update(conceals_allocation=False)
    study.refresh_from_db()
    user = staff(study, "viewer")
    assert "results" in rights_in(user, study) and not is_concealed_from(user, study)
    told = {name for name, text in pages(study, person, user) if reveals(study, person, text)}
    assert {"live/", f"participants/{person.code}/"} <= told


def test_pages_of_staff_do_not_tell_the_condition_or_the_next_group(
    study: Study, person: Participant
) -> None:
    user = staff(study, "collaborator")
    for name, text in pages(study, person, user):
        if name:
            assert not reveals(study, person, text), name
            assert "Participants in each condition" not in text and "Groups between people" not in text
    browser = Client()
    browser.force_login(user)
    for path in ("analysis/", "data/", "data/participants.csv"):
        assert browser.get(f"/staff/{study.slug}/{path}").status_code == 403
    episode = person.rounds.exclude(episode=None).get().episode
    assert episode
    assert browser.get(f"/staff/{study.slug}/replays/{episode.key}/").status_code in (403, 404)


def test_the_orders_page_has_no_counts(study: Study, person: Participant) -> None:
    counts = {}
    for role in ("owner", "collaborator"):
        browser = Client()
        browser.force_login(staff(study, role))
        text = browser.get(f"/staff/{study.slug}/design/orders/").content.decode()
        assert "Orders of the group hiddengroup_a" in text
        counts[role] = "Taking part" in text
    assert counts == {"owner": True, "collaborator": False}


def test_the_live_socket_sends_rows_and_totals_without_conditions(study: Study, person: Participant) -> None:
    (shown,), (hidden,) = (shown_rows(study, [person.code], conceals=one) for one in (False, True))
    assert shown.condition.startswith("Hiddenname") and (hidden.condition, hidden.standing) == ("", ())
    assert (hidden.code, hidden.page, hidden.position) == (shown.code, shown.page, shown.position)
    assert (
        totals_context(study)["totals"].groups and not totals_context(study, conceals=True)["totals"].groups
    )
    row = live_status.without_condition(shown)
    assert row == hidden and hidden.concealed


def test_an_owner_switches_concealment_and_a_collaborator_cannot(study: Study) -> None:
    for role, status, after in (("collaborator", 403, True), ("owner", 302, False)):
        browser = Client()
        browser.force_login(staff(study, role))
        answer = browser.post(f"/staff/{study.slug}/design/members/conceal/", {"conceal": "no"})
        assert answer.status_code == status
        study.refresh_from_db()
        assert study.conceals_allocation is after
    assert (
        "Conceal conditions from all but owners"
        in browser.get(f"/staff/{study.slug}/design/members/").content.decode()
    )


def test_participants_pages_addresses_and_messages_never_name_conditions_or_groups(study: Study) -> None:
    browser, person = Client(), enter(study)
    seen = [browser.get(f"/s/{study.slug}/").content.decode()]
    for _ in range(9):
        page = browser.get(person.get_absolute_url(), follow=True)
        seen += [page.content.decode(), str(page.headers), str(page.redirect_chain)]
        place = current_page(Participant.objects.get(pk=person.pk))
        if place.page == "end":
            break
        if place.page == "play":
            assert place.round and place.round.episode
            seat = Seat.objects.get(episode=place.round.episode, number=place.round.seat)
            seen.append(Screen().fragments(get_page(seat.episode.world), current_seat_view(seat)))
            play_out(place.round.episode)
        elif not finish_page(participant_id=person.pk, page=place.page):
            answers_submit(
                participant_id=person.pk, page=place.page, values={"i0": 3, "i1": 3}, position=place.position
            )
    assert place.page == "end" and len(seen) > 15
    text = "\n".join(seen)
    assert not [word for word in SECRETS if word.lower() in text.lower()]
