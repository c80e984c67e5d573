"""Where participants come from, and where they are sent back to."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from study.design.models import Outcome, Study, Version
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.study_errors import StudyClosedError
from study.exports.export_registry import get_table
from study.participants.end_and_erase_participation import (
    finish_participant,
    participant_end,
    participant_withdraw,
)
from study.participants.models import Participant
from study.participation.enter_study import consent_given, participant_enter, synthetic_invitation
from tests.nightly import thinned
from tests.study.exports.rows import rows_of
from tests.study.factories import complete, enter, make_study
from tests.study.participation.test_views import begin, field, text_of

LINKS = {
    "anonymous": "",
    "label": "?label=w1",
    "mturk": "?workerId=w1&assignmentId=a1&hitId=h1",
    "prolific": "?PROLIFIC_PID=w1&STUDY_ID=s1&SESSION_ID=e1",
    "sona": "?survey_code=w1",
}
MORE = {"mturk": {"assignmentId": "a1", "hitId": "h1"}, "prolific": {"STUDY_ID": "s1", "SESSION_ID": "e1"}}


def come(client: Client, link: str) -> Any:
    """Open a link and press its button."""
    return client.post(link, {"entry": field(text_of(client.get(link)), "entry")})


@pytest.mark.django_db
@pytest.mark.parametrize("place", sorted(RECRUITMENT_PLACES))
def test_what_the_link_says_is_stored_with_the_person(client: Client, place: str) -> None:
    make_study(recruitment=place)
    come(client, f"/s/small/{LINKS[place]}")
    person = Participant.objects.get()
    assert (person.source, person.label) == (place, "" if place == "anonymous" else "w1")
    assert person.referral == MORE.get(place, {})


@pytest.mark.django_db
@pytest.mark.parametrize("place", sorted(set(RECRUITMENT_PLACES) - {"anonymous"}))
def test_the_same_label_goes_on_in_another_browser_even_when_the_study_is_closed(place: str) -> None:
    study = make_study(recruitment=place)
    link = f"/s/small/{LINKS[place]}"
    first = come(Client(), link)["Location"]
    Study.objects.update(status=Study.Status.CLOSED)
    other = Client()
    assert "You will continue where you left off" in text_of(other.get(link))
    person = study.participants.get()
    assert (come(other, link)["Location"], first) == (f"/p/{person.guest_key}/", f"/p/{person.key}/")
    assert study.participants.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "place", thinned(sorted(name for name, place in RECRUITMENT_PLACES.items() if place.needed), 2)
)
def test_a_link_that_does_not_say_who_it_is_has_no_button(client: Client, place: str) -> None:
    study = make_study(recruitment=place)
    page = text_of(client.get("/s/small/"))
    assert RECRUITMENT_PLACES[place].label in page
    assert 'name="entry"' not in page
    entry = field(text_of(client.get(f"/s/small/{LINKS[place]}")), "entry")
    assert client.post("/s/small/", {"entry": entry}).status_code == 422
    assert not study.participants.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("value", ["{{%PROLIFIC_PID%}}", "${e://Field/PID}", "%SURVEY_CODE%"])
def test_a_link_that_was_not_filled_in_is_nobodys(client: Client, value: str) -> None:
    study = make_study(recruitment="prolific")
    page = client.get(study.get_absolute_url(), {"PROLIFIC_PID": value})
    assert page.status_code == 422
    assert "is incomplete" in page.content.decode()
    assert not study.participants.exists()


@pytest.mark.django_db
def test_mturks_preview_shows_the_study_and_lets_nobody_in(client: Client) -> None:
    study = make_study(recruitment="mturk")
    preview = "/s/small/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h1"
    response = client.get(preview)
    assert response.status_code == 200
    assert "This is a preview" in text_of(response)
    assert "Accept the HIT first" in text_of(response)
    assert 'name="entry"' not in text_of(response)
    entry = field(text_of(client.get(f"/s/small/{LINKS['mturk']}")), "entry")
    with_worker = f"{preview}&workerId=w1"
    assert client.post(with_worker, {"entry": entry}).status_code == 422
    assert client.post(preview, {"entry": entry}).status_code == 422
    assert not study.participants.exists()


@pytest.mark.django_db
def test_a_survey_link_of_mturk_without_a_workers_name_leads_to_a_completion_code_to_paste(
    client: Client,
) -> None:
    make_study(recruitment="mturk")
    personal = come(client, "/s/small/")["Location"]
    person = Participant.objects.get()
    assert (person.source, person.label, person.referral) == ("mturk", "", {})
    finish_participant(person, Participant.Status.COMPLETE)
    assert person.completion_code in text_of(client.get(personal))


@pytest.mark.django_db
def test_the_console_says_which_hits_of_mturk_can_be_used(admin_client: Client) -> None:
    make_study(recruitment="mturk")
    for page in ("design/", "design/recruitment/"):
        assert "HIT of the kind “Survey Link”" in text_of(admin_client.get(f"/staff/small/{page}"))


@pytest.mark.django_db
def test_who_withdrew_left_no_name_and_could_begin_anew(client: Client) -> None:
    study = make_study(recruitment="prolific")
    link = f"/s/small/{LINKS['prolific']}"
    come(client, link)
    participant_withdraw(participant_id=Participant.objects.get().pk)
    assert "You will continue where you left off" not in text_of(Client().get(link))
    come(Client(), link)
    study.refresh_from_db()
    assert (study.entered, study.withdrawn, study.participants.count()) == (2, 1, 1)


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["label", "prolific", "sona"])
def test_a_link_that_nobody_filled_in_names_nobody(client: Client, place: str) -> None:
    make_study(recruitment=place)
    answer = client.get(RECRUITMENT_PLACES[place].link("/s/small/"))
    assert answer.status_code == 422
    assert f"The link is incomplete: {RECRUITMENT_PLACES[place].label} is" in text_of(answer)


@pytest.mark.django_db
def test_a_program_needs_nobody_who_sends_it(client: Client) -> None:
    study = make_study(recruitment="prolific")
    assert begin(client, study, invitation=synthetic_invitation(study)).status_code == 302
    assert Participant.objects.get().synthetic


KINDS = [kind for kind, _ in Outcome.Kind.choices]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", thinned(KINDS, 3))
def test_every_outcome_has_its_code_words_and_button(client: Client, kind: str) -> None:
    study = make_study(recruitment="sona")
    url = "https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=1&survey_code={label}&c={code}"
    Outcome.objects.create(study=study, kind=kind, code="AB C", url=url, text="**Words** for this.")
    personal = come(client, f"/s/small/{LINKS['sona']}")["Location"]
    participant_end(participant_id=Participant.objects.get().pk, status=kind)
    page = text_of(client.get(personal))
    assert "AB C" in page
    assert "<strong>Words</strong> for this." in page
    assert "survey_code=w1&amp;c=AB%20C" in page


@pytest.mark.django_db
def test_the_words_of_an_end_are_those_of_the_version_and_its_address_is_put_right(client: Client) -> None:
    study = make_study()
    Outcome.objects.create(study=study, kind="complete", url="https://wrong.example/", text="Thanks.")
    person = complete(study)
    study.outcomes.update(url="https://right.example/", text="Other words.")
    page = text_of(client.get(person.get_absolute_url()))
    assert "Thanks." in page
    assert "Other words." not in page
    assert "https://right.example/" in page

    old = person.version.blueprint.in_format(1).to_json()
    Version.objects.filter(pk=person.version_id).update(document=old)
    assert "Other words." in text_of(client.get(person.get_absolute_url()))


@pytest.mark.django_db
def test_who_refuses_goes_back_with_the_label_that_only_their_browser_keeps(client: Client) -> None:
    study = make_study(recruitment="sona")
    Outcome.objects.create(study=study, kind="no_consent", url="https://example.org/?id={label}")
    personal = come(client, f"/s/small/{LINKS['sona']}")["Location"]
    client.post(personal, {"page": "consent", "refuse": "yes"})
    for _ in range(2):
        assert 'href="https://example.org/?id=w1"' in text_of(client.get(personal))
    assert 'href="https://example.org/?id="' in text_of(Client().get(personal))
    assert not Participant.objects.filter(label="w1").exists()


@pytest.mark.django_db
def test_who_refused_is_asked_again_and_somebody_else_at_the_same_computer_too(client: Client) -> None:
    study = make_study(recruitment="label")
    first = come(client, "/s/small/?label=w1")["Location"]
    client.post(first, {"page": "consent", "refuse": "yes"})
    for label in ("w2", "w1"):
        assert come(client, f"/s/small/?label={label}")["Location"] != first
    assert study.participants.count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize("kind", thinned(KINDS, 3))
def test_prolific_is_gone_back_to_by_its_usual_address(client: Client, kind: str) -> None:
    study = make_study(recruitment="prolific")
    Outcome.objects.create(study=study, kind=kind, code="C1")
    personal = come(client, f"/s/small/{LINKS['prolific']}")["Location"]
    participant_end(participant_id=Participant.objects.get().pk, status=kind)
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1"' in text_of(client.get(personal))


@pytest.mark.django_db
def test_the_code_that_was_given_is_the_same_everywhere_and_stays(
    client: Client, admin_client: Client
) -> None:
    study = make_study()
    outcome = Outcome.objects.create(study=study, kind="complete", code="C0FFEE")
    person = complete(study)
    outcome.code = "LATER"
    outcome.save()
    assert "C0FFEE" in text_of(client.get(person.get_absolute_url()))
    for path in ("/staff/small/", f"/staff/small/participants/{person.code}/"):
        page = text_of(admin_client.get(path))
        assert "C0FFEE" in page
        assert person.completion_code not in page
    found = text_of(admin_client.get("/admin/study/participant/", {"q": "C0FFEE"}))
    assert person.code in found
    (row,) = rows_of(get_table("participants"), study)
    assert "C0FFEE" in row
    assert person.completion_code not in row


@pytest.mark.django_db
def test_a_full_study_says_so_and_those_who_play_can_finish(client: Client) -> None:
    study = make_study(max_participants=1)
    person = enter(study)
    response = client.get("/s/small/")
    assert (response.status_code, "This study is full" in text_of(response)) == (403, True)
    assert client.get(person.get_absolute_url()).status_code == 200
    assert complete(study).status == "complete"
    assert client.get("/s/small/").status_code == 403


@pytest.mark.django_db
def test_a_study_closes_by_itself_on_its_day(client: Client) -> None:
    study = make_study(closes_at=timezone.now() + timedelta(minutes=1))
    assert client.get("/s/small/").status_code == 200
    person = enter(study)
    Study.objects.update(closes_at=timezone.now())
    assert "last day" in text_of(client.get("/s/small/"))
    assert client.get(person.get_absolute_url()).status_code == 200


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
def test_two_at_once_on_the_last_place_are_one() -> None:
    study = make_study(max_participants=1)
    start, found = threading.Barrier(4), []

    def come_in(entry: str) -> None:
        start.wait(20)
        try:
            person = participant_enter(study_id=study.pk, entry=entry)
            consent_given(participant_id=person.pk)
            found.append("in")
        except StudyClosedError:
            found.append("closed")
        finally:
            connection.close()

    crowd = [threading.Thread(target=come_in, args=(str(number),)) for number in range(4)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join(30)
    assert sorted(found) == ["closed", "closed", "closed", "in"]
    assert study.participants.exclude(consented_at=None).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("place", "told"), [("prolific", True), ("sona", False)])
def test_who_leaves_is_told_what_to_do_where_they_came_from(client: Client, place: str, told: bool) -> None:
    study = make_study(recruitment=place)
    come(client, f"/s/small/?{RECRUITMENT_PLACES[place].label}=5f0000000000000000000001")
    person = study.participants.get()
    page = text_of(client.post(f"/p/{person.key}/withdraw/", {"confirm": "yes"}))
    assert ("return your submission" in page) is told
