"""A person writes to the robots beside them in a real browser, by keyboard, and is answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser import IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.fitting import SCRIPT, TARGET, TEXT
from tests.journeys.person import Person, condition, enter_kitchen
from tests.servers import Stack

pytestmark = IN_A_BROWSER

TALK = '[conditions.organisation]\nkind = "central"\nsettings = { talk = true, spoken = true }\n'
EVIL = "<img src=x onerror=alert(1)> hello"


async def test_robots_are_written_to_answer_and_do_as_they_were_told(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    await page.set_viewport_size({"width": 360, "height": 740})
    await person.enter(enter_kitchen(live_stack, tmp_path, condition("two", "planner", 2) + TALK, steps=5))
    await page.focus("[data-drawer-toggle]")
    await page.keyboard.press("Enter")
    await page.focus("#talk-text")
    await page.keyboard.type("robot 3: stop, I cook the rice")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".said.is-yours")
    assert await page.input_value("#talk-text") == ""
    assert await page.evaluate("document.activeElement.id") == "talk-text"
    await page.keyboard.press("Escape")
    assert await page.locator("#drawer").is_hidden()
    assert await person.play_step(["noop"]) == 1
    await page.wait_for_selector(".said:not(.is-yours)", state="attached")
    await page.click("[data-drawer-toggle]:has([data-drawer-news]:visible)")
    understood = "Understood: Robot 3 waits. You cook rice. This holds until you write “Go on”."
    assert understood in await page.inner_text("#talk")
    assert await page.inner_text("#talk-said") == f"Robot 2, Robot 3: {understood}"
    assert await page.locator("#happened .past-step").first.inner_text() != ""
    await page.fill("#talk-text", EVIL)
    await page.click("#talk-form [data-send]")
    await page.wait_for_selector(".said.is-yours >> nth=1")
    assert EVIL in await page.inner_text("#talk") and await page.locator("#talk img").count() == 0
    await page.fill("#talk-text", "not sent yet")
    await page.click("[data-reply] >> nth=-1")
    await page.wait_for_selector(".said.is-yours >> nth=2")
    assert await page.input_value("#talk-text") == "not sent yet", "a reply leaves it"
    await page.fill("#talk-text", "")
    assert await page.evaluate("document.documentElement.scrollWidth <= 360")
    assert await violations(page, "talk") == []
    await page.evaluate(SCRIPT)
    for width in (360, 768, 1024, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        await page.wait_for_selector("#talk-text:visible")
        assert await page.evaluate(f"fitting.small({TARGET}, {TEXT})") == [], width
        assert await page.locator("#talk-text").evaluate("one => one.offsetWidth") > 150, width
    await page.reload()
    await person.connected()
    await page.wait_for_selector(".said.is-yours >> nth=1")
    assert await page.inner_text("#talk-said") == ""  # what was there is not told again
    assert await person.play_step(["noop"]) == 2
    assert person.problems == []


@pytest.mark.nightly  # tests/kitchen/play/test_talk_page.py
async def test_the_other_of_a_pair_answers_before_anybody_has_chosen(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    pair = '[conditions.organisation]\nkind = "pair"\n'
    person = Person(page)
    await person.enter(enter_kitchen(live_stack, tmp_path, condition("pair", "planner", 1) + pair, steps=1))
    for text in ("robot 2, stop", "let me do the chopping"):
        before = await page.locator(".said:not(.is-yours)").count()
        await page.fill("#talk-text", text)
        await page.keyboard.press("Enter")
        await page.wait_for_selector(f".said:not(.is-yours) >> nth={before}")
        assert await person.step() == 0
    assert await person.play_step(["noop"]) == 1
    assert person.problems == []
