"""Concealment: who sees which condition a participant has, and that participants never see one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, override_settings

from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Seat
from kitchen.registry.world_registry import get_page
from study.design.models import Study
from study.monitor import live_status
from study.monitor.live_study_page import shown_rows, totals_context
from study.monitor.staff_actions import link_fingerprint
from study.participants.models import Participant
from study.participants.next_page import current_page
from study.participation.enter_study import participant_enter
from study.participation.group_assignment import seed_of_draws
from study.participation.page_progress import answers_submit, finish_page
from study.participation.round_planning import plan_rounds
from study.researchers.permissions import is_concealed_from, rights_in, studies_for
from study.urls import urlpatterns as url_patterns
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


@pytest.mark.parametrize("role", ["owner", "collaborator"])
def test_a_new_personal_link_would_show_the_condition_so_only_owners_give_one_while_concealed(
    study: Study, person: Participant, role: str
) -> None:
    browser = Client()
    browser.force_login(staff(study, role))
    page = f"/staff/{study.slug}/participants/{person.code}/"
    action = {"action": "reissue", "reason": "lost", "sure": "on", "target": link_fingerprint(person)}
    offered = "Give a new link" in browser.get(page).content.decode()
    answer = browser.post(f"{page}act/", action)
    renewed = Participant.objects.get(pk=person.pk).key != person.key
    if role == "owner":
        assert offered and renewed and answer.status_code == 200
        return
    assert not offered and not renewed and answer.status_code == 403
    Study.objects.update(conceals_allocation=False)
    assert "Give a new link" in browser.get(page).content.decode()
    assert browser.post(f"{page}act/", action).status_code == 200


def reveals(study: Study, person: Participant, text: str) -> bool:
    """Whether the page names the condition or group of this person, or the counts of groups."""
    one = person.rounds.select_related("condition").first()
    assert one
    below = text.partition('id="participants-title"')[2] or text.partition('id="live-title"')[2] or text
    return person.between_group in below or one.condition.name in below


@pytest.mark.parametrize(("role", "concealed"), [("owner", False), ("collaborator", True), ("viewer", True)])
def test_only_owners_see_conditions_and_results_until_one_of_them_shows_these(
    study: Study, person: Participant, role: str, concealed: bool
) -> None:
    """A collaborator may close a study and end participations. Neither shows anything."""
    user = staff(study, role)
    assert ("results" not in rights_in(user, study)) is concealed is is_concealed_from(user, study)
    assert (study not in studies_for(user, "results")) is concealed and study in studies_for(user)
    Study.objects.update(status=Study.Status.CLOSED)
    Participant.objects.update(status=Participant.Status.COMPLETE)
    assert ("results" not in rights_in(user, study)) is concealed is is_concealed_from(user, study)
    assert (study not in studies_for(user, "results")) is concealed
    Study.objects.update(conceals_allocation=False)
    assert "results" in rights_in(user, study) and study in studies_for(user, "results")


MAY_SEE_WITHOUT_RESULTS = {
    "figure-texts": "names the right to edit, and asks for results, too (see the next test)",
}
"""Names of addresses of data that need less than the right `results`, with the reason."""


def test_every_staff_address_of_data_needs_the_right_to_see_results() -> None:
    roots = tuple(f"staff/<slug:slug>/{name}/" for name in ("analysis", "data", "replay", "replays"))
    found = [one for one in url_patterns if str(one.pattern).startswith(roots)]
    rights = {one.name: getattr(one.callback, "opens_for", "") for one in found}
    assert len(found) > 12
    assert {name for name, right in rights.items() if right != "results"} == MAY_SEE_WITHOUT_RESULTS.keys()


def test_who_edits_but_sees_no_results_cannot_open_the_texts_of_a_figure(study: Study) -> None:
    browser = Client()
    browser.force_login(staff(study, "collaborator"))
    assert browser.get(f"/staff/{study.slug}/analysis/i0/means/texts/").status_code == 403


@pytest.mark.parametrize("conceals", [False, True])
def test_the_seed_and_previews_do_not_tell_the_draws_of_a_study_that_conceals(
    study: Study, conceals: bool
) -> None:
    study.conceals_allocation = conceals
    person = Participant(study=study)
    seeds = {seed_of_draws(person, 11)}
    with override_settings(SECRET_KEY="another" * 9):
        seeds.add(seed_of_draws(person, 11))
    for kind in ("preview", "synthetic"):
        seeds.add(seed_of_draws(Participant(study=study, **{kind: True}), 11))
    assert len(seeds) == (4 if conceals else 1) and (11 in seeds) is not conceals


def test_a_study_that_conceals_draws_groups_and_orders_from_its_secret(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study.objects.update(orders="random", conceals_allocation=True)
    drawn = {False: set[tuple[object, ...]](), True: set[tuple[object, ...]]()}
    for conceals in drawn:
        for secret in range(8):
            monkeypatch.setattr(settings, "SECRET_KEY", f"secret {secret} of this server")
            Study.objects.update(conceals_allocation=conceals)
            with transaction.atomic():
                person = participant_enter(study_id=study.pk, entry="one")
                plan_rounds(person)
                drawn[conceals].add(
                    (person.between_group, *person.rounds.values_list("condition", flat=True))
                )
                transaction.set_rollback(True)
    assert len(drawn[False]) == 1 and len(drawn[True]) > 2


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
