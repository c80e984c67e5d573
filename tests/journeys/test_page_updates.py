"""What has not changed stays as it is: elements, choice, focus, what is open, what is scrolled."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from playwright.async_api import Page

from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person, asked_by_a_worker, condition, enter_kitchen
from tests.servers import Stack

pytestmark = IN_A_BROWSER

MARK = """() => document.querySelectorAll("[data-play] [id]").forEach(one => { one.known = true; })"""
NEW = """() => [...document.querySelectorAll("[data-play] [id]")].filter(one => !one.known)
               .map(one => one.id)"""
LISTEN = """() => {
    window.heard = [];
    const live = "[role=status], [aria-live]";
    new MutationObserver(changes => {
        const regions = new Set(changes.map(change => change.target.closest?.(live)).filter(Boolean));
        for (const region of regions) if (region.id !== "connection") heard.push(region.textContent.trim());
    }).observe(document.body, {childList: true, characterData: true, subtree: true});
    window.swapped = [];
    document.addEventListener("htmx:load", ({target}) => swapped.push(target.id));
}"""
READY = "[data-submit]:enabled"
CHOSEN = """() => document.querySelector("#menu input[name=command]:checked")?.value || "" """
PLACE = """() => [document.activeElement.value || document.activeElement.id,
               document.getElementById("menu-actions").scrollTop,
               document.querySelector("#rest-get").open]"""


COVERED = """() => {
    const notice = document.querySelector("#notice p").getBoundingClientRect();
    const bar = document.querySelector(".topbar").getBoundingClientRect();
    return notice.top < bar.bottom || notice.left < 0 || notice.right > innerWidth;
}"""
"""Whether a notice lies over the head of the page, or is not to be seen whole."""


async def covered(page: Page) -> list[int]:
    """The widths at which a notice covers what it must not."""
    found = []
    for width in (360, 1440):
        await page.set_viewport_size({"width": width, "height": 720})
        found += [width] * await page.evaluate(COVERED)
    return found


async def alone(page: Page, live_stack: Stack, folder: Path) -> Person:
    """Somebody who plays alone, in the first step."""
    person = Person(page)
    await person.enter(enter_kitchen(live_stack, folder, condition("alone"), steps=9))
    await page.wait_for_selector(READY)
    return person


async def test_a_step_replaces_what_it_changes_says_it_once_and_sends_nothing_again(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await alone(page, live_stack, tmp_path)
    await person.play_step(["goto", "storage0"])
    await person.play_step(["noop"])
    await page.evaluate(MARK)
    await page.evaluate(LISTEN)
    await person.play_step(["noop"])
    new = await page.evaluate(NEW)
    tickets = [one for one in new if one.startswith("t")]
    assert {*new} == {"bar", "done-left", "happened", "past-3", "menu-step", "spoken", *tickets}
    assert all(one.endswith("-l") for one in tickets)
    assert await page.evaluate("heard") == [await page.inner_text("#spoken")]
    assert await page.evaluate("swapped") == [], "htmx swaps no panel: its events cost more than the swap"
    assert await page.evaluate(CHOSEN) == ""
    assert await page.inner_text("[data-submit]") == "Click an action to do it"
    assert await page.locator("[data-submit].is-line").count() == 1, "no grey button"
    assert (await page.inner_text("#menu-hint")).startswith("Arrow keys")
    assert await page.evaluate("document.activeElement.id") == "menu-title"
    await page.evaluate(MARK)
    await person.play_step(["get", "storage0", "rice"])
    assert "Hands are full" in await page.inner_text("#verb-get")
    await person.play_step(["put", "storage0"])
    assert "do-get-storage0-rice" not in await page.evaluate(NEW)
    assert await page.evaluate(CHOSEN) == ""
    assert {*map(tuple, await person.offered())} >= {("get", "storage0", "rice"), ("goto", "storage0")}
    await page.focus("#menu-title")
    await page.keyboard.press("3")
    assert await page.evaluate(CHOSEN) == '["get","storage0","rice"]'
    assert await page.inner_text("[data-submit]") == "Take rice"
    assert person.problems == []


async def test_a_page_that_connects_anew_keeps_its_place(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await alone(page, live_stack, tmp_path)
    await person.play_step(["goto", "storage0"])
    await page.click("#rest-get summary")
    await page.focus("#menu-title")
    await page.keyboard.press("3")
    await page.evaluate("document.getElementById('menu-actions').scrollTop = 40")
    await page.evaluate(MARK)
    before = await page.evaluate(PLACE)
    live_stack.kill_daphne()
    await page.wait_for_selector("#connection:not([data-state=connected])")
    live_stack.restart()
    await person.connected()
    await page.wait_for_selector(READY)
    assert await page.inner_text("[data-submit]") == "Take rice"
    assert await page.evaluate(PLACE) == before
    assert await page.evaluate(CHOSEN) == '["get","storage0","rice"]'
    new = {"menu", "menu-title", "menu-actions", "verb-get", "rest-get", "floor"}
    assert {*await page.evaluate(NEW)} <= new
    await page.keyboard.press("Enter")
    assert await person.stepped(2) == 2
    assert person.problems == []


async def test_while_others_decide_the_actions_stay_and_cannot_be_chosen(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    await person.enter(enter_kitchen(live_stack, tmp_path, asked_by_a_worker(1), steps=9))
    await page.wait_for_selector(READY)
    offered = await person.offered()
    live_stack.kill_worker()
    await person.send(["goto", "storage0"])
    await page.wait_for_selector("#bar[data-phase=thinking]")
    assert len(await page.query_selector_all("#menu input[name=command]:disabled")) == len(offered)
    assert await page.evaluate(CHOSEN) == '["goto","storage0"]'
    assert await page.inner_text("#menu-hint") == "You chose: Go to storage"
    await page.reload()
    await page.wait_for_selector("#connection[data-state=connected]")
    assert "You have chosen\nGo to storage" in await page.inner_text("#menu-actions")
    live_stack.restart()
    await person.stepped(1)
    assert await page.evaluate(CHOSEN) == ""
    assert len(await person.offered()) > 20
    assert person.problems == []


async def test_who_was_refused_twice_can_choose_anew(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    person = await alone(page, live_stack, tmp_path)
    swap = 'place => { document.querySelector(\'#do-goto-storage0 input\').value = `["goto","${place}"]`; }'
    await page.evaluate(swap, "oven7")
    for _ in range(2):
        await person.send(["goto", "oven7"])
        await page.wait_for_selector("#notice p")
        assert await covered(page) == []
        await page.wait_for_timeout(300)  # so long the page does not say that it waits
        await page.wait_for_selector(READY)
        assert await person.step() == 0
    await page.evaluate(swap, "storage0")
    assert await person.play_step(["goto", "storage0"]) == 1
    assert await page.inner_text("#notice") == ""
    assert person.problems == []


async def test_a_command_that_a_hung_server_never_read_is_given_again_by_itself(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.clock.install()
    person = await alone(page, live_stack, tmp_path)
    await person.choose(["goto", "storage0"])
    for child in live_stack.webs:
        child.tell(signal.SIGSTOP)
    await page.click("#menu [data-submit]")
    tried: list[object] = []
    page.on("websocket", lambda socket: tried.append(socket))
    await page.clock.fast_forward(15_000)
    await page.wait_for_selector("#connection[data-state=reconnecting]")
    assert len(tried) == 1
    for _ in range(40):  # nobody answers that one either
        if len(tried) == 1:
            await page.clock.fast_forward(1_000)
            await asyncio.sleep(0.05)
    assert len(tried) == 2
    live_stack.kill_daphne()
    live_stack.restart()
    await page.clock.fast_forward(6_000)
    await page.wait_for_selector(READY)
    assert await person.stepped(1) == 1
