"""Who leaves after the end is paid all the same, and nobody takes part twice by one name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from kitchen.play.models import Episode
from study.design.models import Outcome, Study
from study.design.recruitment_platforms import Referral, label_proof
from study.design.study_errors import TookPartError
from study.participants.end_and_erase_participation import (
    completion_of,
    erase_orphaned_episodes,
    participant_end,
    participant_withdraw,
    record_completion,
)
from study.participants.models import LeftComplete, Participant
from study.participation import enter_study
from study.participation.enter_study import participant_enter
from study.participation.page_progress import finish_page
from tests.study.factories import complete, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

LINK = "/s/small/?PROLIFIC_PID=5f01"
NAME = Referral("prolific", "5f01")


def text(response: Any) -> str:
    return str(response.content.decode())


@pytest.fixture
def person() -> Participant:
    study = make_study(recruitment="prolific", conditions=1)
    person = complete(study)
    Participant.objects.filter(pk=person.pk).update(label="5f01", source="prolific")
    person.refresh_from_db()
    return person


def leave(person: Participant) -> str:
    return text(Client().post(f"/p/{person.key}/withdraw/", {"confirm": "yes"}))


def test_before_and_after_it_is_said_that_they_are_paid(person: Participant) -> None:
    asked = text(Client().get(f"/p/{person.key}/withdraw/"))
    assert "does not affect your payment" in asked and "nobody takes part twice" in asked
    done = leave(person)
    assert "Your payment is not affected" in done and person.given_code in done
    assert "return your submission" not in done


def test_the_button_back_still_hands_the_code_in() -> None:
    study = make_study(recruitment="prolific", conditions=1)
    Outcome.objects.create(study=study, kind="complete", code="C0FFEE")
    person = complete(study)
    Participant.objects.filter(pk=person.pk).update(source="prolific", label="5f01")
    assert "https://app.prolific.com/submissions/complete?cc=C0FFEE" in leave(person)


def test_a_person_who_leaves_early_reads_to_return_the_submission_and_nothing_is_kept() -> None:
    person = enter(make_study(recruitment="prolific"))
    Participant.objects.filter(pk=person.pk).update(source="prolific", label="5f01")
    assert "your payment" not in text(Client().get(f"/p/{person.key}/withdraw/"))
    assert "return your submission" in leave(person)
    assert not LeftComplete.objects.exists()
    assert "Begin" in text(Client().get(LINK))


def test_staff_see_the_code_and_nothing_else(person: Participant, admin_client: Client) -> None:
    leave(person)
    page = text(admin_client.get("/staff/small/participants/"))
    assert "Withdrew after completing" in page and person.given_code in page
    kept = LeftComplete.objects.values().get()
    assert not {person.code, person.key, "5f01"} & set(map(str, kept.values()))


@pytest.mark.parametrize("leaves", [False, True])
def test_the_same_name_does_not_begin_again(person: Participant, leaves: bool) -> None:
    form = text(Client().get("/s/small/?PROLIFIC_PID=other"))
    entry = form.split('name="entry" value="')[1].split('"')[0]
    if leaves:
        leave(person)
    page = Client().get(LINK)
    assert page.status_code == 403 and "You have already taken part" in text(page)
    assert "Begin" not in text(page) and person.given_code not in text(page) and person.key not in text(page)
    sent = Client().post(LINK, {"entry": entry}, follow=True)  # from a page of before
    assert person.given_code not in text(sent) and Participant.objects.count() == (not leaves)
    if leaves:
        assert "You have already taken part" in text(sent)
        with pytest.raises(TookPartError):
            participant_enter(study_id=person.study_id, entry="new", referral=NAME)


def test_a_signed_link_shows_the_code_and_a_browser_that_began_the_last_page(person: Participant) -> None:
    signed = f"{LINK}&proof={label_proof(person.study, '5f01')}"
    assert Client().get(signed)["Location"] == person.get_absolute_url()
    leave(person)
    page = text(Client().get(signed))
    assert person.given_code in page and "Begin" not in page
    assert person.given_code not in text(Client().get(f"{LINK}&proof=wrong"))


def test_the_name_is_forgotten_with_names_and_the_code_with_all_the_rest(
    person: Participant, settings: Any
) -> None:
    leave(person)
    assert completion_of(person.study_id, "5f01")
    LeftComplete.objects.update(left_on=timezone.now().date() - timedelta(days=40))
    settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS = 30, 50
    call_command("retention")
    assert not completion_of(person.study_id, "5f01") and LeftComplete.objects.get().code
    settings.KEEP_DAYS = 30
    call_command("retention")
    assert not LeftComplete.objects.exists()


def failed(study: Study) -> Participant:
    person = enter(study)
    Participant.objects.filter(pk=person.pk).update(label="5f01", source="prolific")
    participant_end(participant_id=person.pk, status=Participant.Status.FAILED_CHECK)
    person.refresh_from_db()
    return person


def test_a_withdrawal_does_not_allow_a_second_try_after_a_failed_check(admin_client: Client) -> None:
    person = failed(make_study(recruitment="prolific"))
    asked = text(Client().get(f"/p/{person.key}/withdraw/"))
    assert "nobody takes part twice" in asked and "completion code and the day" not in asked
    assert "return your submission" in leave(person)
    assert LeftComplete.objects.get().code == ""
    page = Client().get(LINK)
    assert page.status_code == 403 and "You have already taken part" in text(page)
    with pytest.raises(TookPartError):
        participant_enter(study_id=person.study_id, entry="new", referral=NAME)
    signed = text(Client().get(f"{LINK}&proof={label_proof(person.study, '5f01')}"))
    assert "have been erased" in signed and "personal link" not in signed
    assert "Withdrew after completing" not in text(admin_client.get("/staff/small/participants/"))


def test_no_record_of_a_failed_check_is_kept_without_a_label_or_once_labels_expire(settings: Any) -> None:
    person = failed(make_study(recruitment="prolific"))
    person.label = ""
    record_completion(person)
    assert not LeftComplete.objects.exists()
    leave(person)
    LeftComplete.objects.update(left_on=timezone.now().date() - timedelta(days=40))
    settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS = 30, None
    call_command("retention")
    assert not LeftComplete.objects.exists()


def test_queries_about_many_labels_are_limited(person: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enter_study, "MOST_NAME_QUERIES", 3)

    def ask(name: str, address: str = "203.0.113.9", **more: str) -> int:
        return Client(REMOTE_ADDR=address).get("/s/small/", {"PROLIFIC_PID": name, **more}).status_code

    assert [ask("a"), ask("b"), ask("5f01"), ask("5f01"), ask("d")] == [200, 200, 403, 429, 429]
    assert ask("5f01", "198.51.100.1") == 403 and ask("5f01", "127.0.0.1") == 403
    assert ask("5f01", proof=label_proof(person.study, "5f01")) == 302
    form = text(Client(REMOTE_ADDR="198.51.100.2").get("/s/small/?PROLIFIC_PID=other"))
    sent = {"entry": form.split('name="entry" value="')[1].split('"')[0]}
    assert Client(REMOTE_ADDR="203.0.113.9").post(LINK, sent).status_code == 429
    cache.clear()  # as a minute later
    assert ask("5f01") == 403


def test_the_page_differs_for_erased_and_present_participants(person: Participant) -> None:
    said = text(Client().get(LINK))
    assert "If your data were erased" in said and "your personal link" in said
    leave(person)
    assert "If your data were erased" in text(Client().get(LINK))


def test_programs_and_expired_records_leave_nothing(person: Participant) -> None:
    program = complete(person.study, "program", synthetic=True)
    participant_withdraw(participant_id=program.pk)
    participant_withdraw(participant_id=person.pk, counted=False)
    assert not LeftComplete.objects.exists()


def test_a_leader_without_a_seat_who_withdraws_leaves_nothing() -> None:
    study = make_study(conditions=1)
    team = {"teammates": 2, "coplayer": "follower", "organisation": {"kind": "tree", "apart": True}}
    study.conditions.update(**team, step_seconds=3)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    episode = Episode.objects.get()
    assert episode.status == "playing"
    seat = person.rounds.get().seat
    assert episode.seats.get(number=seat).acts is False
    with patch("study.participants.end_and_erase_participation.erase_episode"):  # the process dies
        participant_withdraw(participant_id=person.pk)
    assert Episode.objects.get().status == "abandoned"
    assert erase_orphaned_episodes(study_id=study.pk) == 1 and not Episode.objects.exists()
