"""Who knows no more than a label (a Prolific ID) goes on in that place, and can erase nothing of it."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode

import pytest
from django.test import Client

from kitchen.play.models import Episode
from study.design.models import Study
from study.design.recruitment_platforms import Referral, label_proof, referral_of
from study.participants.models import Participant
from study.participation.enter_study import participant_enter
from tests.study.factories import make_study, play_out
from tests.study.participation.test_views import field, text_of

pytestmark = pytest.mark.django_db

LINK = "/s/small/?PROLIFIC_PID=5f01"


@pytest.fixture
def study() -> Study:
    return make_study(recruitment="prolific")


def come(client: Client, link: str = LINK) -> str:
    """Press the button of this link; the address it leads to."""
    page = text_of(client.get(link))
    return str(client.post(link, {"entry": field(page, "entry")})["Location"])


def begun(client: Client, link: str = LINK) -> str:
    """The personal link of somebody who has agreed."""
    personal = come(client, link)
    client.post(personal, {"page": "consent", "agree_0": "on"})
    return personal


def test_another_browser_goes_on_under_another_address(client: Client, study: Study) -> None:
    personal = begun(client)
    stranger = Client()
    theirs = come(stranger)
    person = Participant.objects.get()
    assert theirs != personal
    assert "guide" in text_of(stranger.get(theirs)).lower()
    assert stranger.post(theirs, {"page": "guide"})["Location"] == theirs
    assert "ws-connect" in text_of(stranger.get(theirs))
    assert stranger.get(LINK)["Location"] == theirs  # remembered, as a guest
    assert client.get(LINK)["Location"] == personal
    assert person.key not in theirs


def test_nothing_that_another_browser_is_sent_holds_the_personal_key(client: Client, study: Study) -> None:
    begun(client)
    person, stranger = Participant.objects.get(), Client()
    theirs, sent = come(stranger), []
    for form in ({"page": "guide"}, {"page": "survey", "position": "1", "item_i0": "5", "item_i1": "1"}):
        sent += [stranger.get(theirs), stranger.get(f"{theirs}here/"), stranger.get(f"{theirs}withdraw/")]
        sent.append(stranger.post(theirs, form))
        if form["page"] == "guide":
            play_out(Episode.objects.get(status="playing"))
    sent.append(stranger.get(theirs))
    assert not [answer for answer in sent if person.key in text_of(answer) + str(answer.headers)]
    assert not [name for name, morsel in stranger.cookies.items() if person.key in decoded(morsel.value)]


def decoded(cookie: str) -> str:
    """What a signed cookie says to whoever reads it."""
    said = cookie.strip('"').partition(":")[0]
    return cookie + urlsafe_b64decode(said + "=" * (-len(said) % 4)).decode(errors="ignore")


def test_another_browser_cannot_erase(client: Client, study: Study) -> None:
    personal, stranger = begun(client), Client()
    theirs = come(stranger)
    asked = stranger.get(f"{theirs}withdraw/")
    assert asked.status_code == 200 and "open your personal link" in text_of(asked)
    assert 'name="confirm"' not in text_of(asked)
    assert stranger.post(f"{theirs}withdraw/", {"confirm": "yes"}).status_code == 403
    assert Participant.objects.exists()
    gone = stranger.post(f"{personal}withdraw/", {"confirm": "yes"})  # whoever has the link may
    assert "Your data have been erased" in text_of(gone)
    assert not Participant.objects.exists()


def done_up_to_the_survey(client: Client, personal: str) -> None:
    """The guide and the only episode."""
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get(status="playing"))


LAST = {"page": "survey", "position": "1", "item_i0": "5", "item_i1": "1"}


def test_the_code_is_shown_to_those_who_finished(client: Client) -> None:
    make_study(recruitment="prolific", conditions=1)
    personal, stranger = begun(client), Client()
    theirs = come(stranger)
    done_up_to_the_survey(client, personal)
    client.post(personal, LAST)
    code = Participant.objects.get().given_code
    assert code and code in text_of(client.get(personal))
    told = text_of(stranger.get(theirs))
    assert code not in told and "finished in another browser" in told


def test_a_guest_who_came_to_the_end_has_the_code(client: Client) -> None:
    make_study(recruitment="prolific", conditions=1)
    begun(client)
    guest = Client()
    theirs = come(guest)
    done_up_to_the_survey(guest, theirs)
    guest.post(theirs, LAST)
    code = Participant.objects.get().given_code
    assert code and code in text_of(guest.get(theirs))
    stranger = Client().get(LINK)
    assert stranger.status_code == 403
    assert "You have already taken part" in text_of(stranger) and code not in text_of(stranger)


def test_a_guest_cannot_refuse_in_somebodys_place(client: Client, study: Study) -> None:
    personal, stranger = come(client), Client()
    theirs = come(stranger)
    assert stranger.post(theirs, {"page": "consent", "refuse": "yes"}).status_code == 403
    person = Participant.objects.get()
    assert (person.status, person.label) == ("active", "5f01")
    assert client.post(personal, {"page": "consent", "agree_0": "on"}).status_code == 302


def test_the_browser_that_began_is_nobodys_guest(client: Client, study: Study) -> None:
    begun(client)
    theirs = come(Client())
    assert 'name="confirm"' in text_of(client.get(f"{theirs}withdraw/"))


def test_earlier_answers_are_on_no_page_of_another_browser(client: Client) -> None:
    study = make_study(recruitment="prolific", conditions=2)
    personal = begun(client)
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    answers = {"page": "survey", "position": "1", "item_i0": "5", "item_i1": "1"}
    client.post(personal, answers)
    play_out(Episode.objects.get(status="playing"))
    stranger = Client()
    page = text_of(stranger.get(come(stranger)))
    assert "Item 0." in page and "checked" not in page
    assert study.participants.count() == 1


def test_a_signed_link_is_as_good_as_the_personal_one(client: Client) -> None:
    study = make_study(recruitment="label")
    person = participant_enter(study_id=study.pk, entry="one", referral=_referral(study, "ann"))
    signed = f"/s/small/?label=ann&proof={label_proof(study, 'ann')}"
    guest = come(client, "/s/small/?label=ann")
    assert guest != person.get_absolute_url()
    assert come(client, signed) == person.get_absolute_url()  # a guest shows that it is them
    for forged in (label_proof(study, "bob"), label_proof(make_study("other"), "ann"), "", "é"):
        assert come(Client(), f"/s/small/?label=ann&proof={forged}") == guest


def _referral(study: Study, label: str) -> Referral:
    return referral_of(study, {"label": label})


def test_links_to_hand_out_are_signed(admin_client: Client) -> None:
    study = make_study(recruitment="label")
    page = text_of(admin_client.get("/staff/small/design/recruitment/?links=1"))
    found = re.search(r"label=(\w+)&amp;proof=(\w+)", page)
    assert found and found[2] == label_proof(study, found[1])


def test_a_new_personal_link_ends_those_of_guests(client: Client, study: Study, admin_client: Client) -> None:
    begun(client)
    theirs, person = come(Client()), Participant.objects.get()
    Participant.objects.update(key="another")
    assert client.get(theirs).status_code == 404
    for wrong in (
        f"/p/{person.pk}-/",
        f"/p/{person.pk}/",
        f"/p/{'9' * 40}-x/",
        f"/p/{person.pk}-{'0' * 32}/",
    ):
        assert client.get(wrong).status_code == 404
