"""A person without a robot leads three that follow, in a real browser, by keyboard alone."""

from __future__ import annotations

import json
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


IS_PRESSED = """what => {
  const one = document.querySelector(what), { x, y, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
"""Whether a press in the middle of an element meets it, without scrolling."""


async def give_from_list(page: Page, aim: str, robot: str) -> None:
    """By keyboard: choose a robot, open the list, type a job, and press the button."""
    await page.focus("#job-form input[name=to]:checked")
    while await page.locator("#job-form input[name=to]:checked").input_value() != robot:
        await page.keyboard.press("ArrowRight")
    if await page.get_attribute("#job-more", "open") is None:
        await page.focus("#job-more summary")
        await page.keyboard.press("Enter")
    await page.focus("#job-aim")
    await page.keyboard.type(aim)
    await page.focus("#job-form [data-send]")
    await page.keyboard.press("Enter")


async def give_again_in_sight(page: Page) -> None:
    """Press *Give again* with the mouse. The button that gives the job, and the team, are then in sight."""
    before = page.viewport_size
    assert before is not None
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        if await page.get_attribute("#job-more", "open") is not None:
            await page.click("#job-more summary")
        await page.click("#worker-2 [data-again]")
        assert await page.evaluate(IS_PRESSED, "#job-form [data-send]"), width
        assert await page.evaluate(IS_PRESSED, "#job-form label:has(:focus)"), width
        assert await page.locator(".team").evaluate("one => one.clientHeight") >= 127, width
    await page.set_viewport_size(before)


async def next_step(person: Person) -> None:
    """Wait for the next step, because a person may send three messages in one."""
    await person.page.wait_for_selector(f"#bar[data-step='{await person.step() + 1}']")


async def presses_to_give(page: Page, aim: str, robot: int) -> int:
    """Give a usual job by number keys. Return the number of presses, until the page says that it is given."""
    presses = 0
    if not await page.is_checked(f"#job-to-{robot}"):
        await page.keyboard.press(f"Shift+Digit{robot + 1}")
        presses += 1
    button = page.locator(f"[data-aim='{aim}']")
    await page.keyboard.press(await button.locator("kbd").text_content() or "")
    words = await button.locator("[data-words]").text_content()
    await page.wait_for_selector(f"#job_given:has-text('Given to Robot {robot + 1}: {words}')")
    return presses + 1


async def touches_to_give(page: Page, aim: str, robot: int) -> int:
    """Give a usual job by clicks on targets of at least 44 by 44 px. Return the number of clicks."""
    who = page.locator(f"#job-form label:has(#job-to-{robot})")
    wanted = [page.locator(f"[data-aim='{aim}']")]
    if not await page.is_checked(f"#job-to-{robot}"):
        wanted.insert(0, who)
    for target in wanted:
        box = await target.bounding_box()
        assert box is not None and min(box["width"], box["height"]) >= 44
        await target.click()
    await page.wait_for_selector(f"#job_given:has-text('Given to Robot {robot + 1}: ')")
    return len(wanted)


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
    await give_from_list(page, "Fetch salmon sashimi", "2")
    await page.wait_for_selector("#worker-2 .is-failed")
    assert "Robot 3: not possible: Fetch salmon sashimi." in await page.inner_text("#talk-said")
    assert "Robot 3: not possible: Fetch salmon sashimi." in await page.inner_text("#team_news a")
    assert await covered(page, f"leader-{width}-failed", {width: SIZES[width]}) == []
    await page.fill("#job-text", "be quick")
    await page.focus("#worker-2 [data-again]")
    await page.keyboard.press("Enter")
    assert (await page.input_value("#job-text"), await page.input_value("#job-aim")) == ("be quick", "")
    assert "The form was not filled" in await page.inner_text("#talk-said")
    await page.fill("#job-text", "")
    await page.focus("#worker-2 [data-again]")
    await page.keyboard.press("Enter")
    assert await page.input_value("#job-aim") == '["fetch","salmonSashimi"]'
    await give_again_in_sight(page)
    assert await page.evaluate("document.activeElement.matches('#job-to-0:checked')"), "the next idle one"
    assert await presses_to_give(page, '["make","cookedRice"]', 0) == 1
    assert "Given to Robot 1: Make cooked rice." in await page.inner_text("#talk-said")
    await page.wait_for_selector("#worker-0 .is-started")
    await page.focus("#job_given button")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#worker-0 .is-withdrawn")
    assert await page.evaluate("document.activeElement.id") == "job-title"  # its button has gone
    assert await page.is_visible("#team_idle")
    dish = json.loads(await page.locator("[data-aim]:has(.job-wanted)").first.get_attribute("data-aim") or "")
    aim = json.dumps(dish, separators=(",", ":"))
    await next_step(person)
    ways = [await presses_to_give(page, aim, 2), await touches_to_give(page, aim, 0)]
    assert max(ways) <= 2, "a job takes two presses"
    await next_step(person)
    await page.focus("#job-to-1")
    await page.keyboard.press("Space")
    assert await presses_to_give(page, aim, 1) == 1
    await page.wait_for_selector("#worker-1 .is-done, #worker-0 .is-done", timeout=90_000)
    assert await page.locator("#menu, [data-actions], input[name=command]").count() == 0
    assert await covered(page, f"leader-{width}-served", {width: SIZES[width], 360: 740}) == []
    assert await violations(page, "leads") == []
    assert person.problems == []
