"""Before somebody enters, the time that the server takes to answer is measured. A long time is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.async_api import Browser

from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
from study.participation.enter_study import synthetic_invitation
from tests.study.exports.rows import csv_rows
from tests.study.factories import make_study
from tests.study.participation.test_views import field, text_of

SCRIPT = Path(__file__).parents[3] / "static" / "js" / "entry_trip.js"


def begin(study: Study, **form: Any) -> Any:
    client = Client()
    page = text_of(client.get(f"/s/{study.slug}/"))
    return client.post(f"/s/{study.slug}/", {"entry": field(page, "entry"), **form})


@pytest.mark.django_db
def test_nothing_is_measured_unless_the_study_needs_it(client: Client) -> None:
    study = make_study()
    page = text_of(client.get("/s/small/"))
    assert "entry_trip.js" not in page and 'name="trip"' not in page
    assert begin(study, trip="40").status_code == 302
    assert study.participants.get().round_trip_ms is None


@pytest.mark.django_db
def test_who_is_near_enters_and_their_round_trip_is_stored_and_exported() -> None:
    study = make_study(max_round_trip_ms=150)
    assert begin(study, trip="150").status_code == 302
    assert study.participants.get().round_trip_ms == 150
    assert [row["entry_round_trip_ms"] for row in csv_rows(study, "participants")] == ["150"]


@pytest.mark.django_db
def test_who_is_too_far_is_told_so_and_nothing_is_stored() -> None:
    study = make_study(max_round_trip_ms=150)
    answer = begin(study, trip="151")
    page = text_of(answer)
    assert answer.status_code == 403 and not study.participants.exists()
    assert "Your connection is too slow for this study" in page
    assert "Our server needs 151 milliseconds to answer you. This study allows 150 at most" in page
    assert '<a class="button" href="/s/small/">Measure again</a>' in page


@pytest.mark.django_db
@pytest.mark.parametrize("trip", ["", "-3", "fast", "1e3", "9" * 40])
def test_without_a_measured_time_the_page_says_what_to_do(trip: str, client: Client) -> None:
    study = make_study(max_round_trip_ms=150)
    page = text_of(client.get("/s/small/"))
    assert "That needs JavaScript" in page and "Switch on JavaScript" not in page and "entry_trip.js" in page
    answer = begin(study, trip=trip)
    assert answer.status_code == 422 and not study.participants.exists()
    assert "Switch on JavaScript in your browser, load this page again" in text_of(answer)


@pytest.mark.django_db
def test_programs_and_people_who_come_back_are_not_measured() -> None:
    study = make_study(max_round_trip_ms=150, recruitment="label")
    client = Client()
    entry = field(text_of(client.get("/s/small/?label=a")), "entry")
    for _ in range(2):
        client.post("/s/small/?label=a", {"entry": entry, "trip": "20"})
    again = field(text_of(Client().get("/s/small/?label=a")), "entry")
    assert Client().post("/s/small/?label=a", {"entry": again}).status_code == 302
    program = {"entry": field(text_of(Client().get("/s/small/?label=b")), "entry")}
    program["invitation"] = synthetic_invitation(study)
    assert Client().post("/s/small/?label=b", program).status_code == 302
    assert study.participants.count() == 2


@pytest.mark.django_db
def test_where_people_are_only_paired_by_it_nobody_is_refused() -> None:
    study = make_study()
    study.conditions.update(organisation={"kind": "central", "people": [0, 1], "pairs_by_trip": True})
    page = text_of(Client().get("/s/small/"))
    assert "entry_trip.js" in page and "That needs JavaScript" not in page
    assert begin(study).status_code == begin(study, trip="900").status_code == 302
    assert [one.round_trip_ms for one in study.participants.order_by("number")] == [None, 900]


@pytest.mark.django_db
def test_the_limit_is_part_of_the_design_where_there_is_one() -> None:
    study = make_study()
    assert "max_round_trip_ms" not in blueprint_of(study).study
    study.max_round_trip_ms = 150
    design = Blueprint.from_json(blueprint_of(study).to_json())
    assert design.meant("max_round_trip_ms") == 150 and design.beyond(12)
    assert design.in_format(12).meant("max_round_trip_ms") is None


def test_the_measuring_script_is_answered_without_the_database(client: Client) -> None:
    answer = client.get("/round-trip/")
    assert (answer.status_code, answer.content) == (204, b"") and "no-store" in answer["Cache-Control"]


STUB = """<form><input type=hidden data-trip><p data-trip-said data-address=/round-trip/ hidden></p>
<button>Begin</button></form>"""
FETCH = """fault => { window.fetch = () => new Promise((found, failed) => setTimeout(
    () => fault ? failed(new DOMException("away", fault)) : found({ ok: true }), 40)); }"""
"""Answers each request after a while, with an error if it has a name."""
SENT = """() => {
    window.sent = [];
    document.querySelector("form").addEventListener("submit", event => {
        if (!event.defaultPrevented) sent.push(document.querySelector("[data-trip]").value);
        event.preventDefault();
    });
    document.querySelector("button").click();
    return document.querySelector("[data-trip-said]").hidden;
}"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.browser
async def test_who_presses_the_button_early_waits_for_the_measurement(browser: Browser) -> None:
    page = await browser.new_page()
    for fault in ("", "NetworkError", "TimeoutError"):
        await page.set_content(STUB)
        await page.evaluate(FETCH, fault)
        await page.add_script_tag(path=SCRIPT)
        assert await page.evaluate(SENT) is False  # it says meanwhile what it waits for
        await page.wait_for_function("() => sent.length === 1")
        (trip,) = await page.evaluate("sent")
        assert {"NetworkError": trip == "", "TimeoutError": trip == "3000"}.get(
            fault, trip and int(trip) >= 39
        )
    await page.close()
