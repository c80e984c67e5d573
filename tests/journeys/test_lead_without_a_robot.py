"""A person without a robot leads three that follow, in a real browser, by keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.person import Person, condition, enter_loaded, new_slug, write_study
from tests.journeys.uncovered import SIZES, covered
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # test_talking has the panels, tests/kitchen/play/test_leading the jobs

LEADS = """step_seconds = 1
[conditions.organisation]
kind = "tree"
apart = true
settings = { sees = "all" }
"""


async def give(page: Page, aim: str, *robots: str) -> None:
    """By keyboard: tick for whom, type what, press the button."""
    for box in await page.locator("#job-form input[name=to]").all():
        if await box.is_checked() != (await box.input_value() in robots):
            await box.focus()
            await page.keyboard.press("Space")
    await page.focus("#job-aim")
    await page.keyboard.type(aim)
    await page.focus("#job-form [data-send]")
    await page.keyboard.press("Enter")


@pytest.mark.parametrize("width", SIZES)
async def test_organisation_person_as_root_has_a_dish_served_by_keyboard(
    page: Page, live_stack: Stack, tmp_path: Path, width: int
) -> None:
    slug = new_slug()
    file = write_study(tmp_path, slug, condition("led", "follower", 3) + LEADS, steps=60)
    person = Person(page)
    await page.set_viewport_size({"width": width, "height": SIZES[width]})
    await page.goto(*enter_loaded(live_stack, file, slug, page="guide"))
    assert await page.locator("#leads-note-title").count() == 1  # the guide says how
    await person.read_guide()
    assert await page.locator("#menu, [data-actions], input[name=command]").count() == 0
    await give(page, "Fetch salmon sashimi", "2")
    await page.wait_for_selector("#worker-2 .is-failed")
    assert "Robot 3: not possible: Fetch salmon sashimi." in await page.inner_text("#talk-said")
    assert await covered(page, f"leader-{width}-failed", {width: SIZES[width]}) == []
    await page.select_option("#job-aim", "")
    await page.fill("#job-text", "be quick")
    await page.focus("#worker-2 [data-again]")
    await page.keyboard.press("Enter")
    assert (await page.input_value("#job-text"), await page.input_value("#job-aim")) == ("be quick", "")
    assert "The form was not filled" in await page.inner_text("#talk-said")
    await page.fill("#job-text", "")
    await page.focus("#worker-2 [data-again]")
    await page.keyboard.press("Enter")
    assert await page.input_value("#job-aim") == '["fetch","salmonSashimi"]'
    assert await page.evaluate("document.activeElement.matches('#job-form [name=to][value=\"0\"]')")
    await give(page, "Make cooked rice", "0")
    await page.wait_for_selector("#worker-0 .is-started")
    await page.focus("#worker-0 .job-act button")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#worker-0 .is-withdrawn")
    assert await page.evaluate("document.activeElement.id") == "roster-title"  # its button has gone
    dish = await page.locator("#orders .ticket h3").first.inner_text()
    await give(page, f"Serve {dish}", "0", "1", "2")
    await page.wait_for_selector("#worker-1 .is-done, #worker-0 .is-done", timeout=90_000)
    assert await page.locator("#menu, [data-actions], input[name=command]").count() == 0
    assert await covered(page, f"leader-{width}-served", {width: SIZES[width], 360: 740}) == []
    assert await violations(page, "leads") == []
    assert person.problems == []
