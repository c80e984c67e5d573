"""Device, window and times away of each page: kept where the study says so, and nowhere else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.design.readiness_checks import readiness_problems
from study.design.study_versions import Difference, differences
from study.exports.tables.page_times_and_outages_tables import PAGE_TIME_COLUMNS, PAGE_TIMES
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import PageVisit, Participant
from study.participation.enter_study import participant_enter
from study.participation.page_progress import finish_page
from tests.study.exports.rows import rows_of
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

NAME = "Mozilla/5.0 (Windows NT 10.0; rv:143.0) Gecko/20100101 Firefox/143.0"
TOLD: dict[str, Any] = {
    "page": "guide", "position": 0, "width": 1280, "height": 720, "times_away": 0, "away_ms": 0,
}  # fmt: skip
KEPT = (
    *("device", "browser", "browser_version", "system", "window_width", "window_height"),
    *("times_away", "away_ms"),
)
NOTHING = ("", "", None, "", None, None, None, None)
HEADER = ("computer", "Firefox", 143, "Windows")


@pytest.fixture
def browser() -> Client:
    return Client(headers={"user-agent": NAME})


def seen(study: Study, browser: Client, entry: str = "one") -> Participant:
    """Somebody who has read the guide, an hour ago."""
    person = enter(study, entry)
    browser.get(person.get_absolute_url())
    PageVisit.objects.update(opened_at=timezone.now() - timedelta(hours=1))
    return person


def tell(browser: Client, person: Participant, **told: Any) -> int:
    return browser.post(f"/p/{person.key}/here/", {**TOLD, **told}).status_code


def kept(person: Participant, page: str = "guide") -> tuple[Any, ...]:
    found: tuple[Any, ...] = person.visits.values_list(*KEPT).get(page=page)
    return found


def test_nothing_is_kept_or_asked_unless_the_study_says_so(browser: Client) -> None:
    person = seen(make_study(), browser)
    assert b"data-device" not in browser.get(person.get_absolute_url()).content
    assert tell(browser, person) == 422
    assert kept(person) == NOTHING


def test_without_a_script_the_user_agent_is_recorded(browser: Client) -> None:
    person = seen(make_study(keeps_devices=True), browser)
    assert kept(person) == (*HEADER, None, None, None, None)


def test_the_page_tells_window_and_times_away_and_goes_on_from_there_when_it_is_loaded_again(
    browser: Client,
) -> None:
    person = seen(make_study(keeps_devices=True), browser)
    assert tell(browser, person) == 200
    assert kept(person) == (*HEADER, 1280, 720, 0, 0)
    assert tell(browser, person, times_away=2, away_ms=61_500) == 200
    page = browser.get(person.get_absolute_url()).content.decode()
    assert 'data-page="guide"' in page and 'data-times-away="2" data-away-ms="61500"' in page
    assert tell(browser, person, times_away=1, away_ms=10) == 200  # a word that comes late
    assert kept(person) == (*HEADER, 1280, 720, 2, 61_500)


def test_a_device_report_is_no_presence_signal(browser: Client) -> None:
    person = seen(make_study(keeps_devices=True), browser)
    long_ago = timezone.now() - timedelta(minutes=3)
    Participant.objects.update(active_at=long_ago)
    assert tell(browser, person, times_away=1) == 200
    person.refresh_from_db()
    assert person.active_at == long_ago


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": -1},
        {"width": 0},
        {"height": 10**9},
        {"height": "tall"},
        {"width": "NaN"},
        {"times_away": -1},
        {"times_away": 10**6},
        {"times_away": "1.5"},
        {"away_ms": -5},
        {"away_ms": 10**12},
        {"away_ms": 2 * 3600 * 1000},  # longer than the page is known
        {"away_ms": ""},
        {"page": "survey"},  # never seen
        {"page": "'; --"},
        {"position": 7},
        {"position": "x"},
    ],
)
def test_an_impossible_report_is_refused_and_changes_nothing(browser: Client, wrong: dict[str, Any]) -> None:
    person = seen(make_study(keeps_devices=True), browser)
    before = kept(person)
    assert tell(browser, person, **wrong) == 422
    assert kept(person) == before


def test_a_link_tells_of_its_own_participant_only(browser: Client) -> None:
    study = make_study(keeps_devices=True)
    one, other = seen(study, browser), seen(study, browser, "other")
    assert tell(browser, one, times_away=1, participant=other.pk) == 200
    assert (kept(one)[-2], kept(other)[-2]) == (1, None)
    assert browser.post("/p/nobodys-key/here/", TOLD).status_code == 404
    assert Client(enforce_csrf_checks=True).post(f"/p/{one.key}/here/", TOLD).status_code == 403


def test_the_page_that_plays_tells_too(browser: Client) -> None:
    person = seen(make_study(keeps_devices=True), browser)
    finish_page(participant_id=person.pk, page="guide")
    page = browser.get(person.get_absolute_url()).content.decode()
    assert 'data-page="play" data-position="1"' in page and "js/device.js" in page
    assert tell(browser, person, page="play", position=1, touched="on", width=390) == 200
    assert kept(person, "play")[3:5] == ("Windows", 390)


def test_nothing_is_kept_before_somebody_has_agreed(browser: Client) -> None:
    study = make_study(keeps_devices=True)
    person = participant_enter(study_id=study.pk, entry="one")
    page = browser.get(person.get_absolute_url()).content
    assert b'data-page="consent"' in page and b"data-device" not in page
    assert tell(browser, person, page="consent") == 422
    browser.post(person.get_absolute_url(), {"page": "consent", "agree_0": "on"})
    browser.get(person.get_absolute_url())
    assert kept(person, "consent") == NOTHING and kept(person)[:4] == HEADER


def test_participants_of_an_earlier_version_have_no_device_records(browser: Client) -> None:
    study = make_study()
    person = seen(study, browser)
    Study.objects.update(keeps_devices=True)
    browser.get(person.get_absolute_url())
    assert (tell(browser, person), kept(person)) == (422, NOTHING)


def test_page_times_have_devices_and_a_withdrawal_erases_them(browser: Client) -> None:
    study = make_study(keeps_devices=True)
    person = seen(study, browser)
    tell(browser, person, times_away=1, away_ms=2500)
    names = [column.name for column in PAGE_TIME_COLUMNS]
    first = names.index("device")
    *before, guide = ([*row[first : first + len(KEPT)]] for row in rows_of(PAGE_TIMES, study))
    assert guide == [*HEADER, 1280, 720, 1, 2.5] and {cell for row in before for cell in row} == {None}
    participant_withdraw(participant_id=person.pk)
    assert not PageVisit.objects.exists()


def test_people_read_that_it_is_stored_where_it_is_and_also_after_it_was_turned_off(browser: Client) -> None:
    study = make_study()
    person = seen(study, browser)
    page = browser.get("/s/small/stored/").content.decode()
    assert "the size of the window" not in page and "nothing about your computer" in page
    assert "on which device" not in browser.get(f"/p/{person.key}/withdraw/").content.decode()
    Study.objects.update(keeps_devices=True)
    seen(Study.objects.get(), browser, "later")
    for on in (True, False):
        Study.objects.update(keeps_devices=on)
        page = browser.get("/s/small/stored/").content.decode()
        assert "the size of the window" in page and "nothing about your computer" not in page
    assert "on which device you saw each page" in browser.get(f"/p/{person.key}/withdraw/").content.decode()


def test_it_is_part_of_the_design_and_of_the_preregistration() -> None:
    study = make_study()
    before = blueprint_of(study)
    assert before.meant("keeps_devices") is False and before.in_format(4).meant("keeps_devices") is False
    study.keeps_devices = True
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()).meant("keeps_devices") is True
    assert differences(before, after) == [Difference("study", "keeps_devices", False, True)]
    assert after.beyond(4) and not before.beyond(4)


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        ("We keep your answers.", True),
        ("No name, and nothing about your computer, is kept. Use any device.", True),
        ("We keep on which device you saw each page.", False),
    ],
)
def test_a_consent_that_does_not_mention_devices_is_reported_to_the_researcher(
    words: str, is_told: bool
) -> None:
    study = make_study(keeps_devices=True)
    study.parts.filter(kind="consent").update(enabled=True, text=words)
    assert any("window and times away" in one.words for one in readiness_problems(study)) is is_told
