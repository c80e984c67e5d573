"""People are found by any name they came with, by condition and by what went wrong; several are changed at
once; one reads a message and confirms it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from kitchen.play.models import Decision
from study.design.models import Study
from study.exports.export_table import ExportSelection
from study.exports.tables.page_times_and_outages_tables import staff_action_rows
from study.monitor import participant_list_page, staff_actions
from study.monitor.find_people import PeopleFilter, find_erased, find_people
from study.monitor.person_timeline import timeline, visible_actions
from study.participants.end_and_erase_participation import (
    erase_names,
    participant_withdraw,
    participants_with_names,
)
from study.participants.models import Participant, StaffAction
from study.participants.staff_messages import ParticipantMessage, messages_read, unread_messages
from study.researchers.reauthenticate import SURE_AT
from tests.study.factories import complete, enter, make_study
from tests.study.participation.test_views import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
LIST = "/staff/small/participants/"


@pytest.fixture
def study() -> Study:
    return make_study(recruitment="prolific")


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada")


def named(study: Study, entry: str, label: str, **referral: str) -> Participant:
    person = enter(study, entry)
    Participant.objects.filter(pk=person.pk).update(label=label, referral=referral)
    person.refresh_from_db()
    return person


def found(study: Study, *, conceals: bool = False, **chosen: str) -> list[str]:
    sent = QueryDict(mutable=True)
    sent.update(chosen)
    return [one.code for one in find_people(study, PeopleFilter.read(sent, conceals=conceals))]


def test_people_are_found_by_every_name_they_came_with(study: Study) -> None:
    one = named(study, "one", "5f1ABCdef", SESSION_ID="sess-77")
    two = named(study, "two", "6a0other")
    for name in (one.code, one.code[:5], "5f1abc", "sess-77", one.key, f"https://x.org/p/{one.key}/", "1"):
        assert found(study, name=name) == [one.code], name
    assert found(study, name=one.key[:8]) == found(study, name="\x00") == []
    assert found(study, code=two.code) == [two.code]


def test_people_are_found_by_condition_and_by_what_went_wrong(study: Study, user: User) -> None:
    one, two = complete(study, "one"), enter(study, "two")
    two.rounds.filter(condition__key="c1").delete()
    assert found(study, condition="c1") == [one.code]
    assert found(study, condition="c1", conceals=True) == [two.code, one.code]
    assert all(
        found(study, trouble=trouble) == [] for trouble in ("model", "left", "outage", "note", "unread")
    )
    staff_actions.note_write(participant_id=two.pk, user=user, reason="rang up")
    assert found(study, trouble="note") == [two.code]
    mind = one.rounds.get(position=1).episode.minds.create(number=1, kind="planner", settings={})  # type: ignore[union-attr]
    Decision.objects.create(mind=mind, step=1, played_by="", fallback="timeout", milliseconds=1)
    assert found(study, trouble="model") == [one.code]
    assert len(found(study, trouble="model", conceals=True)) == 2


def test_somebody_who_left_is_found_by_the_beginning_of_a_receipt_and_by_the_id(study: Study) -> None:
    person = complete(study)
    Participant.objects.filter(pk=person.pk).update(label="PID9")
    receipt = participant_withdraw(participant_id=person.pk)
    erased = find_erased(study, receipt.code[:22])
    assert len(erased.receipts) == 1 and erased.completion is None
    assert find_erased(study, "PID9").completion.code == person.given_code
    assert not find_erased(study, "PID8") and not find_erased(study, "")


def test_a_link_leads_to_its_person_and_is_not_shown(admin_client: Client, study: Study) -> None:
    person = enter(study)
    answered = admin_client.get(LIST, {"name": f"http://testserver/p/{person.key}/"})
    assert answered["Location"] == f"{LIST}{person.code}/"


def test_an_action_on_several_asks_first_and_lists_them(admin_client: Client, study: Study) -> None:
    one, two, three = (named(study, name, f"PID-{name}") for name in ("a", "b", "c"))
    sent: dict[str, Any] = {"who": [one.code, three.code], "action": "exclude"}
    page = text_of(admin_client.post(f"{LIST}several/", sent))
    assert "<h2>Exclude 2 participants from the analysis</h2>" in page
    assert "PID-a" in page and "PID-c" in page and "PID-b" not in page and not StaffAction.objects.exists()
    refused = admin_client.post(f"{LIST}several/", {**sent, "confirmed": "yes", "reason": "same address"})
    assert refused.status_code == 422 and 'value="same address"' in text_of(refused)
    done = {**sent, "confirmed": "yes", "reason": "same address", "sure": "on"}
    participant_withdraw(participant_id=three.pk)
    page = text_of(admin_client.post(f"{LIST}several/", done, follow=True))
    assert "Done for 1 participant." in page
    assert list(Participant.objects.exclude(excluded_at=None)) == [one]
    everybody = {"everybody": "on", "name": "PID-b", "action": "note", "confirmed": "yes", "reason": "late"}
    admin_client.post(f"{LIST}several/", everybody)
    assert [action.participant for action in StaffAction.objects.filter(action="note")] == [two]


def test_the_page_says_whom_it_leaves_out_of_a_long_list(
    admin_client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participant_list_page, "MOST_AT_ONCE", 1)
    for entry in ("a", "b", "c"):
        enter(study, entry)
    page = text_of(admin_client.post(f"{LIST}several/", {"everybody": "on", "action": "note"}))
    assert "Only the newest 1: 2 others" in page and "1 participant" in page


def test_several_are_erased_by_an_owner_with_the_password(admin_client: Client, study: Study) -> None:
    one, two = enter(study, "a"), enter(study, "b")
    sent = {"who": [one.code], "sure": "on"}
    page = text_of(admin_client.post(f"{LIST}several/", {**sent, "action": "erase"}))
    assert f'action="{LIST}several/erase/"' in page and one.code in page and two.code not in page
    session = admin_client.session
    session[SURE_AT] = 0
    session.save()
    assert admin_client.post(f"{LIST}several/erase/", sent)["Location"].startswith("/staff/account/password/")
    session[SURE_AT] = 2**40
    session.save()
    admin_client.post(f"{LIST}several/erase/", sent)
    assert list(study.participants.all()) == [two]


def test_a_message_waits_on_the_next_page_until_it_is_confirmed(study: Study, user: User) -> None:
    person, client = enter(study), Client()
    page = f"/p/{person.key}/"
    assert "A message from the researchers" not in text_of(client.get(page))
    said: dict[str, Any] = {"participant_id": person.pk, "user": user}
    assert staff_actions.message_send(**said, reason="Please <b>wait</b> for us")
    shown = text_of(client.get(page))
    assert "Please &lt;b&gt;wait&lt;/b&gt; for us" in shown
    person.refresh_from_db()
    newest = unread_messages(person)[-1].pk
    staff_actions.message_send(**said, reason="second")  # not on the page that is confirmed
    assert client.post(f"{page}message/", {"newest": newest})["Location"] == page
    shown = text_of(client.get(page))
    assert "second" in shown and "for us" not in shown
    person.refresh_from_db()
    person.as_guest = True
    assert unread_messages(person) == [] and person.unread_messages == 1
    assert messages_read(person=person, newest=newest) == 0


def test_notes_are_in_no_file_and_messages_are_until_names_are_erased(study: Study, user: User) -> None:
    person = enter(study)
    said: dict[str, Any] = {"participant_id": person.pk, "user": user}
    staff_actions.note_write(**said, reason="a secret")
    staff_actions.message_send(**said, reason="x" * 400)
    messages_read(person=person, newest=ParticipantMessage.objects.get().pk)
    staff_actions.participant_exclude(**said, reason="slow")
    staff_actions.message_send(**said, reason="not read")
    (group,) = staff_action_rows(study, ExportSelection())
    cells = [(action, text, bool(read)) for _, _, action, text, read in group.rows]
    told = ("message", "x" * 400, True)
    assert cells == [told, ("exclude", "slow", False), ("message", "not read", False)]
    erase_names([person.pk])
    (group,) = staff_action_rows(study, ExportSelection())
    assert [(row[3], bool(row[4])) for row in group.rows] == [("", True), ("slow", False), ("", False)]
    assert ParticipantMessage.objects.get().text == ""
    assert not StaffAction.objects.filter(action="note").exists()
    assert "message from the researchers" not in text_of(Client().get(f"/p/{person.key}/"))
    person.refresh_from_db()
    assert person.unread_messages == 0 and not participants_with_names(study.participants.all()).exists()


def test_a_bonus_is_concealed_with_the_results(study: Study, user: User) -> None:
    person = enter(study)
    about: dict[str, Any] = {"study": study, "participant": person, "user": user, "user_name": "ada"}
    for action in ("bonus", "paid"):
        staff_actions.record_staff_action(**about, action=action, reason="1.00 GBP")
    for conceals, number in ((True, 0), (False, 2)):
        assert len(visible_actions(person, conceals=conceals)) == number
        lines = [one.words for one in timeline(person, conceals=conceals)]
        assert sum("GBP" in line for line in lines) == number


def test_a_page_of_one_person_has_everything_in_the_order_of_time(
    admin_client: Client, study: Study, user: User
) -> None:
    person = named(study, "one", "PID1", STUDY_ID="s1")
    address = f"{LIST}{person.code}/"
    admin_client.post(f"{address}act/", {"action": "note", "reason": "rang up"})
    admin_client.post(f"{address}act/", {"action": "message", "reason": "Thank you"})
    page = text_of(admin_client.get(address))
    assert (
        page.index("Entered<")
        < page.index("Staff wrote a note: rang up")
        < page.index("Staff sent a message")
    )
    assert "STUDY_ID: s1" in page and "not yet" in page
    too_long = admin_client.post(f"{address}act/", {"action": "message", "reason": "y" * 501})
    assert too_long.status_code == 422 and "y" * 501 in text_of(too_long)
