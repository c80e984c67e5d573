"""Participants walk the whole way in a real browser, and nothing that happens to the machine loses a step."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person, asked_by_a_worker, condition, enter_kitchen, load_study, new_slug
from tests.nightly import nightly
from tests.servers import Stack

pytestmark = IN_A_BROWSER

TWO_PLANNERS = condition("two", "planner", 2)
ASKED_BY_A_WORKER = asked_by_a_worker(2)


async def started(page: Page, slug: str) -> Person:
    person = Person(page)
    await person.agree(slug)
    await person.read_guide()
    return person


async def entered(page: Page, address: str) -> Person:
    person = Person(page)
    await person.enter(address)
    return person


@pytest.mark.parametrize("steps", [20, *nightly(60)])
async def test_a_person_cooks_beside_two_planners_and_goes_on_to_the_next_condition(
    page: Page, live_stack: Stack, tmp_path: Path, steps: int
) -> None:
    slug = new_slug()
    conditions = TWO_PLANNERS + "\n" + condition("also", "dispatcher", 2)
    load_study(live_stack, tmp_path, slug, conditions, steps=steps, items=2)
    person = await started(page, slug)
    assert len(await person.play_to_the_end()) == 1, "nothing moved"
    assert await person.step() == steps
    served = int(await page.inner_text("#over dl div:first-child dd"))
    assert served >= 1
    await person.go_on()
    assert f"{served}" in await page.inner_text("main")
    await person.answer()
    await person.connected()
    assert await person.step() == 0
    assert await person.play_step() == 1
    assert person.problems == []


async def test_the_newest_of_several_tabs_plays_and_a_reload_and_the_same_link_come_back_to_the_same_step(
    page: Page, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = new_slug()
    load_study(live_stack, tmp_path, slug, TWO_PLANNERS, steps=10)
    person = await started(page, slug)
    await person.play_step()
    await page.reload()
    await person.connected()
    assert await person.step() == 1
    other = Person(await page.context.new_page())
    await other.page.goto(page.url)
    await other.connected()
    await page.wait_for_selector("#elsewhere:not([hidden])")
    assert "open in another tab; continue there" in await page.inner_text("#elsewhere")
    assert await page.is_disabled("#menu [data-submit]")
    live_stack.kill_daphne()
    live_stack.restart()  # only the newer one may connect again
    await other.connected()
    assert await other.play_step() == 2
    assert await page.is_visible("#elsewhere")
    await page.focus("[data-take]")
    await page.keyboard.press("Enter")
    await other.page.wait_for_selector("#elsewhere:not([hidden])")
    await person.stepped(2)
    assert await person.play_step() == 3
    await page.reload()
    await person.connected()
    assert await person.play_step() == 4
    assert await page.is_hidden("#elsewhere")
    await other.page.goto(f"/s/{slug}/")
    assert other.page.url == page.url
    assert person.problems == other.problems == []
    link = page.url
    await page.context.close()
    context = await browser.new_context(base_url=live_stack.url)
    later = Person(await context.new_page())
    await later.page.goto(link)
    await later.connected()
    assert await later.step() == 4
    assert await later.play_step() == 5


async def test_a_second_click_in_another_tab_is_answered_and_plays_nothing_twice(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await entered(page, enter_kitchen(live_stack, tmp_path, condition("alone"), steps=10))
    sent = await page.evaluate(
        """() => new Promise(resolve => {
            const path = document.querySelector("[ws-connect]").getAttribute("ws-connect");
            const socket = new WebSocket(path, "brigade.json");
            const told = [];
            socket.onmessage = message => {
                told.push(JSON.parse(message.data));
                if (told.filter(one => one.type === "notice").length === 2) resolve(told);
            };
            socket.onopen = () => {
                for (const step of [1, 1, 7]) {
                    socket.send(JSON.stringify({type: "command", step, command: ["goto", "storage0"]}));
                }
            };
        })"""
    )
    assert [one["code"] for one in sent if one["type"] == "notice"] == ["repeated", "early"]
    await page.wait_for_selector("#elsewhere:not([hidden])")
    await page.click("[data-take]")
    await person.stepped(1)


@pytest.mark.nightly  # tests/live/test_kills.py kills the same programs
async def test_killing_worker_daphne_and_valkey_in_mid_episode_loses_nothing(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await entered(page, enter_kitchen(live_stack, tmp_path, ASKED_BY_A_WORKER, steps=8))
    await person.play_step()
    live_stack.kill_worker()
    await person.choose(person.favourite(await person.offered(), 0))
    await page.click("#menu [data-submit]")
    await page.wait_for_selector("#bar[data-phase=thinking]")
    assert await person.step() == 1
    live_stack.restart()
    await person.stepped(2)
    live_stack.kill_daphne()
    await page.wait_for_selector("#connection:not([data-state=connected])")
    live_stack.restart()
    await person.connected()
    assert await person.step() == 2
    await person.play_step()
    for number in range(2):  # one of them has the person's page; whichever is left goes on with it
        live_stack.kill_one_daphne(number)
        assert await person.play_step() == 4 + number
        live_stack.restart()
    if live_stack.has_own_valkey:
        await lose_a_queued_decision(person, live_stack)
    await person.play_to_the_end()
    assert await person.step() == 8


async def lose_a_queued_decision(person: Person, live_stack: Stack) -> None:
    """The worker is down, a decision is queued, and the queue dies with Valkey."""
    step = await person.step()
    live_stack.kill_worker()
    await person.choose(person.favourite(await person.offered(), step))
    await person.page.click("#menu [data-submit]")
    await person.page.wait_for_selector("#bar[data-phase=thinking]")
    live_stack.kill_valkey()
    live_stack.restart()
    await person.stepped(step + 1)


@pytest.mark.nightly  # each page's form is the browser's own; the kitchen by keys is in test_ways_to_play.py
async def test_everything_can_be_done_with_the_keyboard_alone(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    slug = new_slug()
    load_study(live_stack, tmp_path, slug, condition("alone"), steps=2)
    person = Person(page)
    await page.goto(f"/s/{slug}/")
    await page.focus("main form button[type=submit]")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-page=consent]")
    await page.focus("input[name=agree_0]")
    await page.keyboard.press("Space")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-page=guide]")
    await page.focus("main form button[type=submit]")
    await page.keyboard.press("Enter")
    await person.connected()
    for step in (1, 2):
        await page.focus("#menu-title")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await person.stepped(step)
    await page.wait_for_selector("[data-play]:not(.is-just-over)")
    await page.focus(".over-continue a")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-page=survey]")
    await page.focus("main input[type=radio]")
    await page.keyboard.press("Space")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[data-page=end]")


# the tests of accessibility zoom each page
@pytest.mark.parametrize("width", nightly(360, 1440))
async def test_no_page_of_the_way_needs_sideways_scrolling(
    width: int, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = new_slug()
    load_study(live_stack, tmp_path, slug, TWO_PLANNERS, steps=1)
    context = await browser.new_context(base_url=live_stack.url, viewport={"width": width, "height": 800})
    person = Person(await context.new_page())

    async def fits() -> bool:
        widest = await person.page.evaluate("document.documentElement.scrollWidth")
        return int(widest) <= width

    await person.page.goto(f"/s/{slug}/")
    assert await fits()
    await person.agree(slug)
    assert await fits()
    await person.read_guide()
    assert await fits()
    await person.play_to_the_end()
    assert await fits()
    await person.go_on()
    assert await fits()
    await person.answer()
    assert await fits()
    assert person.problems == []


async def test_leaving_takes_two_clicks_and_leaves_nothing(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await entered(page, enter_kitchen(live_stack, tmp_path, condition("alone"), steps=3))
    await person.play_step()
    link = page.url
    await page.click("text=Leave")
    await page.click("#leave-dialog button[name=confirm]")
    assert "erased" in (await page.inner_text("main")).lower()
    response = await page.goto(link)
    assert response
    assert response.status == 404


async def test_a_server_that_hangs_is_noticed_and_the_page_comes_back_by_itself(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await entered(page, enter_kitchen(live_stack, tmp_path, condition("alone"), steps=5))
    for child in live_stack.webs:
        child.tell(signal.SIGSTOP)
    try:
        await page.wait_for_selector("#connection[data-state=reconnecting]", timeout=30_000)
        assert "Nothing is lost" in await page.inner_text("#connection")
        assert await page.is_disabled("#menu [data-submit]")
    finally:
        for child in live_stack.webs:
            child.tell(signal.SIGCONT)
    await person.connected()
    assert await person.play_step() == 1
