"""The participants' pages, as a browser without scripts sees them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from kitchen.play.models import Episode
from study.design.models import Condition, Study, StudyPart, SurveyItem
from study.exports.export_table import ExportSelection
from study.exports.tables.page_times_and_outages_tables import PAGE_TIMES
from study.participants.models import Answer, Participant, Round
from study.participation.enter_study import INVITATION_SALT, synthetic_invitation
from study.researchers.api_tokens import token_make
from tests.study.exports.rows import rows_of
from tests.study.factories import SETTINGS, complete, make_study, play_out

pytestmark = pytest.mark.django_db


def field(html: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="{name}"', html)
    assert found, name
    return found.group(1) or found.group(2) or ""


def text_of(response: Any) -> str:
    return str(response.content.decode())


def agree(client: Client, study: Study, **more: str) -> Any:
    personal = begin(client, study, **more)
    client.post(personal["Location"], {"page": "consent", "agree_0": "on"})
    return personal


def begin(client: Client, study: Study, **more: str) -> Any:
    """Press the button on the study's link."""
    page = text_of(client.get(f"/s/{study.slug}/", more))
    return client.post(f"/s/{study.slug}/", {"entry": field(page, "entry"), **more})


@pytest.fixture
def study() -> Study:
    return make_study()


def test_opening_the_link_starts_nobody(client: Client, study: Study) -> None:
    assert client.get("/s/small/").status_code == 200
    assert client.head("/s/small/").status_code == 405
    assert not Participant.objects.exists()


def test_agreeing_leads_to_the_personal_link_and_the_study_link_leads_back_to_it(
    client: Client, study: Study
) -> None:
    personal = agree(client, study)["Location"]
    assert personal == Participant.objects.get().get_absolute_url()
    assert client.get("/s/small/")["Location"] == personal
    assert Client().get("/s/small/").status_code == 200


def test_without_the_tick_nobody_is_in_and_the_form_says_what_is_missing(
    client: Client, study: Study
) -> None:
    personal = begin(client, study)["Location"]
    response = client.post(personal, {"page": "consent"})
    assert response.status_code == 422
    assert "Tick this box" in text_of(response)
    assert Participant.objects.get().consented_at is None
    assert not Round.objects.exists()


def test_a_refusal_ends_the_participation_and_no_name_is_kept(client: Client) -> None:
    study = make_study(recruitment="prolific")
    link = "/s/small/?PROLIFIC_PID=p1&STUDY_ID=s1"
    entry = field(text_of(client.get(link)), "entry")
    personal = client.post(link, {"entry": entry})["Location"]
    assert Participant.objects.get().label == "p1"
    client.post(personal, {"page": "consent", "refuse": "yes"})
    person = Participant.objects.get()
    assert (person.status, person.label, person.referral) == ("no_consent", "", {})
    assert "You are not taking part" in text_of(client.get(personal))
    assert study.participants.count() == 1


def test_an_open_link_asks_once_more_after_a_refusal(client: Client) -> None:
    study = make_study()
    entry = field(text_of(client.get("/s/small/")), "entry")
    personal = client.post("/s/small/", {"entry": entry})["Location"]
    client.post(personal, {"page": "consent", "refuse": "yes"})
    over = text_of(client.get(personal))
    assert "You are not taking part" in over and 'href="/s/small/"' in over
    assert "link to come back" not in over and "Leave the study" not in over
    entry = field(text_of(client.get("/s/small/")), "entry")
    again = client.post("/s/small/", {"entry": entry})["Location"]
    assert again != personal
    assert "I agree and take part" in text_of(client.get(again))
    Study.objects.update(status=Study.Status.CLOSED)
    assert 'href="/s/small/"' not in text_of(client.get(personal))
    assert study.participants.count() == 2


@pytest.mark.parametrize("differ", [True, False])
def test_the_guide_says_when_it_holds_for_the_first_kitchen_alone(client: Client, differ: bool) -> None:
    study = make_study()  # the pace of its conditions differs
    if not differ:
        Condition.objects.update(settings=SETTINGS)
    page = text_of(client.get(agree(client, study)["Location"]))
    assert ("You will play in different kitchens" in page) is differ


@pytest.mark.parametrize(
    ("second", "differ"),
    [({}, False), ({"coplayer": "random"}, True), ({"coplayer": "random", "label": "Team 0"}, False)],
)
def test_the_guide_promises_another_team_each_time_only_if_no_two_are_the_same(
    client: Client, second: dict[str, str], differ: bool
) -> None:
    study = make_study()
    Condition.objects.update(coplayer="planner", teammates=1)
    study.conditions.filter(key="c1").update(**second)
    page = text_of(client.get(agree(client, study)["Location"]))
    assert ("You play 2 times, each time with another team, and answer" in page) is differ
    assert ("You play 2 times, and answer" in page) is not differ


@pytest.mark.parametrize("seconds", [20, None])
def test_the_guide_promises_that_the_kitchen_waits_only_if_it_does(
    client: Client, seconds: float | None
) -> None:
    study = make_study(conditions=1)
    Condition.objects.update(step_seconds=seconds)
    personal = agree(client, study)["Location"]
    guide = text_of(client.get(personal))
    client.post(personal, {"page": "guide"})
    for page in (guide, text_of(client.get(personal))):
        assert ("each step has a time limit" in page) is bool(seconds)
        assert ("the kitchen waits for you" in page) is not bool(seconds)


def test_an_invitation_marks_nobody_as_staff(client: Client) -> None:
    study = make_study()
    told = signing.dumps({"study": "small", "who": "preview"}, salt=INVITATION_SALT)
    assert begin(client, study, invitation=told).status_code == 422
    assert not Participant.objects.exists()


def test_every_page_has_its_time_over_the_whole_way(client: Client) -> None:
    study = make_study(conditions=1)
    personal = agree(client, study)["Location"]
    for _ in range(2):
        client.get(personal)
    client.post(personal, {"page": "guide"})
    client.get(personal)
    play_out(Episode.objects.get())
    client.get(personal)
    client.post(personal, {"item_i0": "5", "item_i1": "1", "page": "survey", "position": "1"})
    client.get(personal)
    times = page_times(study)
    assert [row["page"] for row in times] == ["welcome", "consent", "guide", "play", "survey", "end"]
    assert [row["page"] for row in times if row["seconds"] is None] == ["end"]
    assert min(row["seconds"] for row in times[:-1]) >= 0
    assert times[3]["done_at"] == Episode.objects.get().ended_at


@pytest.mark.parametrize("place", ["check", "survey"])
def test_items_with_a_right_answer_cannot_be_left_open(client: Client, place: str) -> None:
    study = make_study(conditions=1, items=0)
    StudyPart.objects.create(study=study, kind="check", enabled=True)
    SurveyItem.objects.create(
        study=study, key="sure", place=place, measure="Sure", text="Sure?", required=False, correct=5
    )
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    if place == "survey":
        play_out(Episode.objects.get())
    assert "(optional)" not in text_of(client.get(personal))
    page = {"page": "check", "attempt": "1"} if place == "check" else {"page": "survey", "position": "1"}
    for _ in range(3):
        assert client.post(personal, page).status_code == 422
    assert Participant.objects.get().status == "active"
    client.post(personal, {**page, "item_sure": "1"})
    assert Answer.objects.get().value == 1


def page_times(study: Study) -> list[dict[str, Any]]:
    """The rows of page_times.csv."""
    names = [column.name for column in PAGE_TIMES.columns]
    return [dict(zip(names, row, strict=True)) for row in rows_of(PAGE_TIMES, study, ExportSelection())]


def test_a_refusal_has_a_time_on_the_consent_page_too(client: Client, study: Study) -> None:
    personal = begin(client, study)["Location"]
    client.get(personal)
    client.post(personal, {"page": "consent", "refuse": "yes"})
    assert [(row["page"], row["seconds"] is None) for row in page_times(study)] == [
        ("welcome", False),
        ("consent", False),
    ]


def test_a_form_of_one_study_opens_no_other(client: Client, study: Study) -> None:
    make_study("other")
    sent = {"entry": field(text_of(client.get("/s/small/")), "entry")}
    assert client.post("/s/small/", sent).status_code == 302
    response = client.post("/s/other/", sent)
    assert (response.status_code, "belongs to another study" in text_of(response)) == (422, True)


@pytest.mark.parametrize("entry", ["", "forged", "a:b:c"])
def test_a_forged_form_is_refused(client: Client, study: Study, entry: str) -> None:
    assert client.post("/s/small/", {"agree": "on", "entry": entry}).status_code == 422
    assert not Participant.objects.exists()


def test_the_whole_way_through_the_pages(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    assert "guide" in text_of(client.get(personal)).lower()
    client.post(personal, {"page": "guide"})
    for position in (1, 2):
        page = text_of(client.get(personal))
        assert "ws-connect" in page
        play_out(Episode.objects.order_by("-id")[0])
        assert "Item 0." in text_of(client.get(personal))
        answers = {"item_i0": "5", "item_i1": "1", "page": "survey", "position": str(position)}
        assert client.post(personal, answers).status_code == 302
    assert Participant.objects.get().completion_code in text_of(client.get(personal))
    assert Answer.objects.count() == 4


def test_an_incomplete_survey_keeps_what_was_chosen_and_says_what_is_missing(
    client: Client, study: Study
) -> None:
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    response = client.post(personal, {"item_i0": "4", "page": "survey", "position": "1"})
    page = text_of(response)
    assert response.status_code == 422
    assert "Choose one of the points" in page
    assert re.search(r'name="item_i0"[^>]*value="4"[^>]*checked', page)
    assert not Answer.objects.exists()


def test_an_answer_outside_the_scale_changes_nothing(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    for value in ("0", "6", "x", "1.5", ""):
        sent = {"item_i0": value, "item_i1": "3", "page": "survey", "position": "1"}
        assert client.post(personal, sent).status_code == 422
    assert not Answer.objects.exists()


def test_a_form_of_a_page_that_is_over_leads_to_the_present_page(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    client.post(personal, {"item_i0": "5", "item_i1": "1", "page": "survey", "position": "1"})
    for late in ({"item_i0": "1", "item_i1": "1", "page": "survey", "position": "1"}, {"page": "guide"}, {}):
        assert client.post(personal, late)["Location"] == personal
    assert Answer.objects.count() == 2


def test_a_closed_study_says_so(client: Client) -> None:
    make_study("shut", status=Study.Status.CLOSED)
    response = client.get("/s/shut/")
    assert response.status_code == 403
    assert "closed" in text_of(response).lower()


@pytest.mark.parametrize("path", ["/s/nothing/", "/p/nobody/", "/p/nobody/withdraw/", "/nowhere"])
def test_a_missing_page_has_an_error_page_in_words(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "<h1" in text_of(response)


def test_withdrawing_is_asked_once_and_then_everything_is_gone(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    asked = client.get(f"{personal}withdraw/")
    assert asked.status_code == 200 and "every step that you played" in text_of(asked)
    assert client.post(f"{personal}withdraw/").status_code == 200
    assert Participant.objects.exists()
    response = client.post(f"{personal}withdraw/", {"confirm": "yes"})
    assert "erased" in text_of(response)
    assert not Participant.objects.exists()
    assert client.get(personal).status_code == 404
    assert client.get("/s/small/").status_code == 200


def test_every_page_of_a_participant_offers_to_leave(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    seen = [text_of(client.get(personal))]
    client.post(personal, {"page": "guide"})
    seen.append(text_of(client.get(personal)))
    play_out(Episode.objects.get())
    seen.append(text_of(client.get(personal)))
    seen.append(text_of(client.get(complete(study, "x").get_absolute_url())))
    assert all("/withdraw/" in page for page in seen)


def test_only_an_invitation_of_this_server_makes_a_synthetic_participant(
    client: Client, study: Study
) -> None:
    agree(client, study, invitation=synthetic_invitation(study))
    assert Participant.objects.get().synthetic
    other = make_study("other")
    for wrong in (synthetic_invitation(study), signing.dumps({"study": "other"}), "x"):
        assert begin(Client(), other, invitation=wrong).status_code == 422
    assert Participant.objects.count() == 1


class Elements(HTMLParser):
    """Every element of a page as a browser would build it: (tag, attributes)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


BAD = (
    "Hello <script>alert(1)</script> <script src=//evil.example></script> [x](javascript:alert(1)) "
    "<img src=x onerror=alert(1)> <a href=/ onclick=alert(1)>y</a> <svg onload=alert(1)></svg>\n\n"
    "<iframe src=//evil.example></iframe>\n\n<div style='position:fixed'>z</div>"
)


def test_researchers_texts_cannot_bring_scripts(client: Client) -> None:
    for slug, text in (("plain", "Hello"), ("bad", BAD)):
        StudyPart.objects.create(study=make_study(slug), kind="welcome", text=text)
    plain, bad = (Elements(text_of(client.get(f"/s/{slug}/"))).found for slug in ("plain", "bad"))
    assert [
        name for _, attributes in bad for name in attributes if name.startswith("on") or name == "style"
    ] == []
    assert [one for one in bad if "javascript:" in (one[1].get("href") or "")] == []
    for tag in ("script", "img", "iframe", "svg", "style"):
        assert [one for one in bad if one[0] == tag] == [one for one in plain if one[0] == tag]


def described(html: str) -> set[str]:
    """Ids that some field of the page names as its description."""
    named = [attributes.get("aria-describedby") or "" for _, attributes in Elements(html).found]
    return {name for names in named for name in names.split() if name.startswith("id_")}


def ids(html: str) -> list[str]:
    return [attributes["id"] or "" for _, attributes in Elements(html).found if "id" in attributes]


def test_every_error_is_the_description_of_what_it_is_about(client: Client, study: Study) -> None:
    personal = begin(client, study)["Location"]
    consent = text_of(client.post(personal, {"page": "consent"}))
    client.post(personal, {"page": "consent", "agree_0": "on"})
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    survey = text_of(client.post(personal, {"page": "survey", "position": "1"}))
    for page, errors in ((consent, 1), (survey, 2)):
        assert len(described(page)) == page.count('class="field-error"') == errors
        assert described(page) <= set(ids(page))
        assert len(ids(page)) == len(set(ids(page)))


def test_pages_forbid_foreign_scripts_frames_and_caches(client: Client, study: Study) -> None:
    response = client.get(agree(client, study)["Location"])
    policy = response["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "no-store" in response["Cache-Control"]


def test_a_form_without_the_token_of_the_page_is_refused(study: Study) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post("/s/small/", {"agree": "on"})
    assert response.status_code == 403
    assert "<h1" in text_of(response)


def test_no_key_of_a_survey_item_can_break_the_page(client: Client) -> None:
    study = make_study("odd", conditions=1, items=0)
    for key in ("round", "action", "csrfmiddlewaretoken"):
        SurveyItem.objects.create(study=study, key=key, measure=key, text=key)
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    play_out(Episode.objects.get())
    answers = {
        "item_round": "5",
        "item_action": "2",
        "item_csrfmiddlewaretoken": "3",
        "page": "survey",
        "position": "1",
    }
    client.post(personal, answers)
    assert sorted(Answer.objects.values_list("value", flat=True)) == [2, 3, 5]


def test_a_study_that_closes_while_somebody_reads_says_so(client: Client, study: Study) -> None:
    entry = field(text_of(client.get("/s/small/")), "entry")
    study.conditions.all().delete()
    response = client.post("/s/small/", {"agree": "on", "entry": entry})
    assert response.status_code == 403
    assert not Participant.objects.exists()


def test_the_second_of_two_clicks_on_leaving_finds_nothing(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    personal = agree(client, study)["Location"]

    def gone(**_: Any) -> None:
        raise Participant.DoesNotExist

    monkeypatch.setattr("study.participation.pages.end_and_privacy_pages.participant_withdraw", gone)
    assert client.post(f"{personal}withdraw/", {"confirm": "yes"}).status_code == 404


NUL = "%00"
"""PostgreSQL takes no text with this character in it."""


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/p/{NUL}/", 404),
        (f"/p/{NUL}/here/", 404),
        (f"/p/{NUL}/withdraw/", 404),
        (f"/s/{NUL}/", 404),
        (f"/s/small/?label={NUL}", 422),
        (f"/s/small/?label=one&invitation={NUL}", 200),
        (f"/staff/{NUL}/", 404),
        (f"/staff/small/participants/?code={NUL}&kind={NUL}&status={NUL}&page={NUL}", 200),
        (f"/staff/small/participants/{NUL}/", 404),
        (f"/staff/small/data/{NUL}", 404),
        (f"/staff/small/analysis/{NUL}.svg", 404),
        (f"/staff/small/?who={NUL}&participants={NUL}", 422),
        (f"/api/studies/{NUL}/progress", 404),
        (f"/api/studies/{NUL}/files", 404),
        (f"/api/studies/small/files/{NUL}", 404),
    ],
)
def test_a_nul_in_an_address_is_no_error_of_the_server(
    admin_client: Client, admin_user: Any, path: str, status: int
) -> None:
    make_study(recruitment="label")
    _, secret = token_make(user=admin_user, name="mine")
    headers = {"authorization": f"Bearer {secret}"} if path.startswith("/api/") else {}
    assert admin_client.get(path, headers=headers).status_code == status
