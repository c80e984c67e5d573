"""In a real browser, by keyboard, a person is a leaf under a leader that plans with the stand-in. A leader
reads on the page which workers are idle or late."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.person import Person, condition, enter_kitchen
from tests.journeys.uncovered import covered
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # tests/kitchen/play/test_organisation_acceptance.py has the jobs

SHOWN = """() => {
  const bar = document.querySelector(".topbar").getBoundingClientRect().bottom;
  const sheet = document.querySelector("[data-play-area]").getBoundingClientRect().top;
  const { top, bottom } = document.querySelector(".job.is-given").getBoundingClientRect();
  return top > bar && bottom < sheet;
}"""
"""Whether a job is in sight, between the bar and the sheet of actions."""
FOLLOWS = """
[conditions.organisation]
kind = "tree"
settings = { sees = "all", leaves_talk = false }
members = [{ seats = [], coplayer = "hourglass", settings = { model = "stand-in" } }]
"""
LEADS = """step_seconds = 1
[conditions.organisation]
kind = "tree"
apart = true
settings = { sees = "all" }
members = [{ seats = [1], coplayer = "random" }]
"""


IN_BAR = """() => [".bar-label", "#jobs-waiting"].map(one => document.querySelector(one).checkVisibility())"""
"""Whether the bar shows the team's name, and the link to a job."""
IN_BAR_AT_THE_END = f"""{{
    const over = document.querySelector("#over"), before = over.className;
    over.className = "is-over";
    const found = ({IN_BAR})();
    over.className = before;
    return found;
}}"""


async def test_organisation_person_as_leaf_gets_declines_and_does_jobs_by_keyboard(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    await page.set_viewport_size({"width": 390, "height": 844})
    await person.enter(
        enter_kitchen(live_stack, tmp_path, condition("led", "follower", 2) + FOLLOWS, steps=40)
    )
    await person.play_step(["noop"])
    given = page.locator(".job.is-given")
    await given.wait_for(timeout=5_000)
    assert await page.inner_text("#talk-said") != ""
    found = await covered(page, "leaf")
    await page.set_viewport_size({"width": 390, "height": 844})
    assert await page.evaluate(IN_BAR) == [False, True], "the link stands where the team's name stood"
    assert await page.evaluate(f"() => {IN_BAR_AT_THE_END}") == [True, False]
    await page.focus("#jobs-waiting")
    await page.keyboard.press("Enter")
    assert await page.evaluate(SHOWN), "the bar's link leads to a job that is not behind the sheet"
    await given.get_by_role("button", name="Decline").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".job.is-declined")
    assert await page.locator("#jobs-waiting").is_hidden()
    while not await given.count():  # the leader asks others first, but plans again
        await person.play_step(["noop"])
    await given.get_by_role("button", name="Accept").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".job.is-accepted, .job.is-started")
    while not await page.locator(".job.is-done").count():
        assert await page.get_attribute("#bar", "data-phase") == "choose", "the job was not done"
        await person.play_step()
    assert await page.evaluate("document.documentElement.scrollWidth <= 390")
    assert await violations(page, "leaf") == []
    assert (found, person.problems) == ([], [])


async def test_a_leader_is_told_in_the_page_who_is_idle_and_who_is_late(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    """The second robot moves at random and answers nobody. A job is late after thirty steps."""
    person = Person(page)
    await person.enter(
        enter_kitchen(live_stack, tmp_path, condition("late", "follower", 2) + LEADS, steps=60)
    )
    await page.wait_for_selector("#worker-0 .worker-free")
    assert "has no job" in await page.inner_text("#worker-0")
    await page.check("#job-to-1")
    await page.click("#job-more summary")
    await page.fill("#job-text", "Wash the dishes")
    await page.click("#job-more summary")
    assert await page.is_visible("#job-text"), "words that are not sent stay in sight"
    await page.context.set_offline(True)
    await page.wait_for_selector("#connection:not([data-state=connected])")
    await page.click("#job-form [data-send]")
    assert await page.inner_text("#job-unsent p") == "Not sent to Robot 2: Wash the dishes."
    await page.check("#job-to-0")
    await page.context.set_offline(False)
    await person.connected()
    await page.click("[data-resend]")
    await page.wait_for_selector("#job_given:has-text('Given to Robot 2: Wash the dishes.')")
    assert await page.input_value("#job-text") == "" and await page.is_hidden("#job-unsent")
    await page.wait_for_selector("#worker-1 .is-given")
    await page.wait_for_selector("#worker-1 .worker-late", timeout=60_000)
    assert "no news for" in await page.inner_text("#talk-said")
    assert await covered(page, "late") == []
    assert await violations(page, "late") == []
    assert person.problems == []
