"""In a real browser, by keyboard, a person is a leaf under a leader that plans with the stand-in. A leader
reads on the page which workers are idle or late."""

from __future__ import annotations

import json
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
  const job = document.querySelector(".job.is-given");
  const { top, bottom, left, width } = job.getBoundingClientRect();
  const met = y => job.contains(document.elementFromPoint(left + width / 2, y));
  return top > bar && met(top + 4) && met(bottom - 4);
}"""
"""Whether a job is in sight below the bar, and nothing covers it."""
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


IN_A_CHAIN = """coplayer_settings = { planner = "rule" }
[conditions.organisation]
kind = "chain"
leads = 1
settings = { sees = "all" }
"""
"""A program leads a chain, and the participant is in the middle."""
LEADS_AND_PLAYS = LEADS.replace("step_seconds = 1", "step_seconds = 3").replace("apart = true\n", "")
HIDDEN = """what => [...document.querySelectorAll(what)].filter(one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return !one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map(one => one.textContent)"""
"""Which of these elements are covered or out of sight."""
WASH = "Not sent to Robot 2: Wash the dishes."
SOCKETS = """window.sockets = [];
const lose = event => window.isDeaf && event.stopImmediatePropagation();
window.WebSocket = class extends WebSocket {
  constructor(...all) { super(...all); window.sockets.push(this); this.addEventListener("message", lose); }
};"""
"""Lets a test close the page's connection, or lose what the server answers while `isDeaf` is true."""


IN_BAR = """() => ["[data-drawer-toggle]", "#jobs-waiting"].map(
    one => document.querySelector(one).checkVisibility())"""
"""Whether the bar shows the button of the drawer, and the link to a job."""
IN_BAR_AT_THE_END = f"""{{
    const page = document.querySelector("[data-play]").classList;
    page.add("has-ended");
    const found = ({IN_BAR})();
    page.remove("has-ended");
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
    await given.wait_for(timeout=5_000, state="attached")
    assert await page.inner_text("#talk-said") != ""
    found = await covered(page, "leaf")
    await page.set_viewport_size({"width": 390, "height": 844})
    assert await page.evaluate(IN_BAR) == [False, True], (
        "the link stands where the button of the drawer stood"
    )
    assert await page.evaluate(f"() => {IN_BAR_AT_THE_END}") == [True, False]
    await page.focus("#jobs-waiting")
    await page.keyboard.press("Enter")
    assert await page.evaluate(SHOWN), "the bar's link leads to a job in sight"
    await given.get_by_role("button", name="Decline").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".job.is-declined", state="attached")
    assert await page.locator("#jobs-waiting").is_hidden()
    for _ in range(40):  # the leader asks others first, but plans again
        if not await given.count():
            await person.play_step(["noop"])
    await page.press("#jobs-waiting", "Enter")
    await given.get_by_role("button", name="Accept").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".job.is-accepted, .job.is-started")
    while not await page.locator(".job.is-done").count():
        assert await page.get_attribute("#bar", "data-phase") == "choose", "the job was not done"
        await person.play_step()
    assert await page.evaluate("document.documentElement.scrollWidth <= 390")
    assert await violations(page, "leaf") == []
    assert (found, person.problems) == ([], [])


async def unsent(page: Page) -> list[str]:
    """Return the jobs that the page lists as not sent."""
    return await page.locator("#job-unsent p").all_inner_texts()


async def lose_the_answer(page: Page, person: Person) -> None:
    """Give jobs while answers are lost. The page lists each as not sent. The server takes none twice."""
    before = await page.get_attribute("#job_given", "data-number")
    await page.context.set_offline(True)
    await page.click("[data-aim] >> nth=2")
    assert len(await unsent(page)) == 1, "at once, because the browser says that it is offline"
    await page.context.set_offline(False)
    await person.connected()
    await page.evaluate("window.isDeaf = true")
    await page.click("[data-aim] >> nth=3")
    await page.wait_for_selector("#job-unsent > :nth-child(3):last-child", timeout=5_000)
    await page.evaluate("window.isDeaf = false; sockets.at(-1).close()")
    await page.wait_for_selector("#connection:not([data-state=connected])")
    await person.connected()  # by itself, although nothing had failed
    await page.wait_for_selector("#job-unsent > :nth-child(2):last-child")
    given = await page.get_attribute("#job_given", "data-number")
    assert given != before, "the second job has arrived, and its line has gone"
    await page.click("[data-resend]")
    await page.wait_for_selector("#job-unsent", state="hidden")
    numbers = [one["number"] for one in json.loads(await page.get_attribute("#job_given", "data-own") or "")]
    assert len(numbers) == 3, "one press each: none was sent twice"


async def test_a_leader_is_told_in_the_page_who_is_idle_and_who_is_late(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    """The second robot moves at random and answers nobody. A job is late after thirty steps."""
    person = Person(page)
    await page.add_init_script(SOCKETS)
    await person.enter(
        enter_kitchen(live_stack, tmp_path, condition("late", "follower", 2) + LEADS, steps=60)
    )
    await page.wait_for_selector("#worker-0 .worker-free")
    assert "has no job" in await page.inner_text("#worker-0")
    await page.check("#job-to-1")
    await page.click("#job-more summary")
    await page.fill("#job-text", "Wash the dishes")
    await page.click("#job-more summary")
    await page.wait_for_selector("#job-text", timeout=2_000)  # words that are not sent stay in sight
    await page.context.set_offline(True)
    await page.wait_for_selector("#connection:not([data-state=connected])")
    await page.click("#job-form [data-send]")
    assert await unsent(page) == [WASH]
    await page.check("#job-to-0")
    await page.click("[data-aim] >> nth=0")
    first = (await unsent(page))[1]
    await page.click("[data-aim] >> nth=1")
    await page.click("[data-aim] >> nth=1")
    assert len(await unsent(page)) == 3, "each once"
    assert await page.input_value("#job-text") == ""
    await page.context.set_offline(False)
    await person.connected()
    await page.reload()
    await person.connected()
    assert (await unsent(page))[:2] == [WASH, first], "they are kept when the page is loaded again"
    await page.click("[data-resend] >> nth=0")
    await page.wait_for_selector("#job_given:has-text('Given to Robot 2: Wash the dishes.')")
    assert (await unsent(page))[0] == first and len(await unsent(page)) == 2
    await page.click("#job-unsent [data-remove] >> nth=0")
    await page.click("#job-unsent [data-remove]")
    assert await page.is_hidden("#job-unsent")
    await lose_the_answer(page, person)
    await page.wait_for_selector("#worker-1 .is-given")
    await page.wait_for_selector("#worker-1 .worker-late", timeout=60_000)
    assert "no news for" in await page.inner_text("#talk-said")
    assert await covered(page, "late") == []
    assert await violations(page, "late") == []
    assert person.problems == []


async def test_a_leader_with_a_robot_has_all_places_to_go_to_and_all_usual_jobs_in_sight(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    await person.enter(
        enter_kitchen(live_stack, tmp_path, condition("plays", "follower", 2) + LEADS_AND_PLAYS, steps=60)
    )
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.locator("#verb-goto label").count() == 8
        assert await page.evaluate(HIDDEN, "#verb-goto label, #menu [data-submit]") == [], width
    await page.set_viewport_size({"width": 1440, "height": 900})
    assert await page.evaluate(HIDDEN, ".job-aim, #job-more summary") == []
    await page.click("[data-drawer-tab=talk]")
    assert await page.evaluate(HIDDEN, "#talk-form [data-send]") == []
    assert await page.evaluate("document.documentElement.scrollWidth <= 1440")
    assert await covered(page, "leads-and-plays") == []
    assert person.problems == []


OPEN_ALL = "() => document.querySelectorAll('.talks details').forEach(one => { one.open = true; })"
ACTIONS_IN_SIGHT = """() => [...document.querySelectorAll("#menu label, [data-quick] button")].filter(one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return width && one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).length"""
"""How many actions can be pressed without scrolling."""


async def test_a_member_of_a_chain_reads_who_leads_and_keeps_its_actions_in_sight(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    chain = condition("chained", "hourglass", 2) + IN_A_CHAIN
    await person.enter(enter_kitchen(live_stack, tmp_path, chain, steps=40))
    await person.play_step(["noop"])
    assert await page.text_content("#led-by") == "· Robot 2 leads"
    assert await page.text_content("#you-lead") == "· you lead"
    await page.evaluate(OPEN_ALL)
    for width, height in ((1440, 900), (800, 600), (390, 844), (844, 390)):
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate(ACTIONS_IN_SIGHT) >= 2, width
    await page.set_viewport_size({"width": 1440, "height": 900})
    drawer = "document.querySelector('.talks').getBoundingClientRect()"
    assert await page.evaluate(f"{drawer}.height / innerHeight") <= 0.6
    assert await page.evaluate(f"{drawer}.width / innerWidth") <= 0.25
    assert person.problems == []
