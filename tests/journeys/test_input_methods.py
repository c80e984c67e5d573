"""A whole short episode in each of the ways in which people play: mouse, keys, a finger, the menu."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.grids import enter_grid, grid
from tests.journeys.person import ARROWS, Person, condition, enter_kitchen
from tests.servers import Stack

pytestmark = IN_A_BROWSER

RICE = [
    ["goto", "storage0"],
    ["get", "storage0", "rice"],
    ["goto", "pot0"],
    ["put", "pot0"],
    ["activate", "pot0"],
]
"""What cooks rice, and a step later the episode is over."""
CLICKS = """() => {
    window.pointed = 0;
    document.addEventListener("click", event => { if (event.detail) pointed += 1; }, true);
}"""
LAID_OUT = """() => [...document.querySelectorAll("#menu-actions .verb, #menu-actions legend, .goto .action")]
    .map(one => { const {left, top, width, height} = one.getBoundingClientRect();
                  return [one.id || one.textContent, left, top, width, height].join(" "); }).join("; ")"""
DOUBLE = 320
"""Milliseconds after which a second tap at the same place is no double one."""
PLACES = {"storage0": "Storage", "pot0": "Pot 1"}
TOLD = [
    (1, "You went to storage"),
    (2, "You took rice from storage"),
    (3, "You went to pot 1"),
    (4, "You put rice into pot 1"),
    (5, "You used pot 1"),
]
"""What live regions say after each of these steps."""
HEAR = """() => {
    window.heard = [];
    for (const region of document.querySelectorAll("[role=status], [role=alert], [aria-live]")) {
        const words = () => region.textContent.replace(/\\s+/g, " ").trim();
        let before = words();
        new MutationObserver(() => {
            if (words() !== before && (before = words())) heard.push(before);
        }).observe(region, {childList: true, subtree: true, characterData: true});
    }
}"""
SPOKEN = "heard.splice(0).filter(one => one.startsWith('Step')).length"
SHOWS = """all => all.map(one => {
    const {left, right, top, bottom} = one.getBoundingClientRect();
    return [[left + 2, top + 2], [right - 2, bottom - 2]].every(point => {
        const there = document.elementFromPoint(...point);
        return one.contains(there) || one.parentElement === there;
    });
})"""
"""Whether each is seen whole."""
TOPS = "all => all.map(one => document.querySelector(one).getBoundingClientRect().top)"
FOCUSED = "document.activeElement.dataset.spot || ''"


async def started(page: Page, stack: Stack, folder: Path, more: str = "", here: str = "") -> Person:
    """Somebody alone in the first of five steps; `more` is of the study, `here` of its condition."""
    person = Person(page)
    await person.enter(enter_kitchen(stack, folder, condition("alone") + here, steps=len(RICE), more=more))
    await page.evaluate(CLICKS)
    return person


async def cooked(person: Person, act: Callable[[list[str]], Awaitable[Any]]) -> None:
    """Rice is in the pot when each of the commands was given in this way, and nothing went wrong."""
    for number, command in enumerate(RICE, start=1):
        await act(command)
        await person.stepped(number, patience=10_000)
    told = await person.page.text_content("#past-5")
    assert told and "You used pot 1" in told
    assert await person.page.is_visible("#over")
    assert person.problems == []


async def test_by_mouse_on_the_drawing_with_one_click_an_action_where_every_place_shows(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.set_viewport_size({"width": 1024, "height": 768})
    person = await started(page, live_stack, tmp_path)
    assert await page.eval_on_selector_all("[data-spot]", SHOWS) == [True] * 8

    async def click(command: list[str]) -> None:
        await page.click(f'[data-spot="{command[1]}"]')
        if command[0] == "get":
            await page.click("[data-spot-menu] >> text=rice")

    await cooked(person, click)
    assert await page.evaluate("pointed") == len(RICE) + 1  # which of the ingredients is a choice


async def test_by_keyboard_alone_arrows_lead_from_place_to_place(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await started(page, live_stack, tmp_path)

    while await page.evaluate(FOCUSED) == "":  # from here on it never leaves the drawing
        await page.keyboard.press("Tab")

    async def reach(spot: str) -> None:
        while (here := await page.evaluate(FOCUSED)) != spot:
            await page.keyboard.press(await page.evaluate(ARROWS, [here, spot]))

    async def press(command: list[str]) -> None:
        await reach(command[1])
        await page.keyboard.press("Enter")
        if command[0] == "get":
            await page.wait_for_selector("[data-spot-menu] button:focus")
            while "rice" not in await page.evaluate("document.activeElement.textContent"):
                await page.keyboard.press("ArrowDown")
            await page.keyboard.press("Enter")

    await cooked(person, press)
    assert await page.evaluate("pointed") == 0


async def test_a_plan_is_made_by_keyboard_and_follows_by_itself(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    person = await started(page, live_stack, tmp_path, here="offers_plans = true\norder_choices = true\n")
    await page.press(".all-actions", "Enter")
    await page.press("#plan-fold summary", "Enter")
    for command in [["noop"], *RICE[1:]]:
        await page.select_option("#plan-choice", json.dumps(command, separators=(",", ":")))
        await page.press("#plan-add", "Enter")
    listed = page.locator("[data-plan-list] li")
    assert await listed.count() == len(RICE)
    await page.get_by_role("button", name="Remove: Wait").press("Enter")
    assert await listed.count() == len(RICE) - 1
    assert await violations(page, "a plan is made") == []
    await page.get_by_role("button", name="Storage").first.press("Enter")
    assert "Go and take rice" in await page.locator("[data-spot-menu] button").all_inner_texts()
    await page.get_by_role("button", name="Go to storage").press("Enter")
    await page.get_by_role("button", name="Do it").press("Enter")
    await person.stepped(len(RICE), patience=10_000)
    told = await page.text_content("#past-5")
    assert told and "You used pot 1" in told
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert person.problems == []


async def test_by_names_alone_with_each_step_told_in_one_line(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, told = await started(page, live_stack, tmp_path), iter(TOLD)
    await page.evaluate(HEAR)
    kitchen = page.get_by_role("group", name="Drawing of the kitchen")

    async def act(command: list[str]) -> None:
        await kitchen.get_by_role("button", name=PLACES[command[1]]).press("Enter")
        if command[0] == "get":
            await kitchen.get_by_role("button", name="rice", exact=False).press("Enter")
        step, sentence = next(told)
        said = page.get_by_role("status").filter(has_text=f"Step {step} of 5. {sentence}.")
        await said.wait_for(state="attached")
        assert len((await said.inner_text()).split()) < 30
        assert await page.evaluate(SPOKEN) == 1

    await cooked(person, act)
    assert await kitchen.get_by_role("button", name=re.compile("^Pot 1 ?: Cooked rice")).count() == 1
    assert await kitchen.get_by_role("list").count() == 1  # where nobody stands there is no list
    onward = page.get_by_role("link", name="Continue", description=re.compile("^This game is over"))
    assert await onward.evaluate("one => one === document.activeElement")


WAITING = """() => {
    const {left, top} = document.querySelector("[data-quick] [data-waits]").getBoundingClientRect();
    return [left, top, scrollY].join() }"""
STEP = "document.getElementById('bar').dataset.step"


async def test_by_touch_on_a_phone(browser: Browser, live_stack: Stack, tmp_path: Path) -> None:
    context = await browser.new_context(
        base_url=live_stack.url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    person = await started(await context.new_page(), live_stack, tmp_path)

    places = set()

    async def tap(command: list[str]) -> None:
        places.add(await person.page.evaluate(WAITING))
        if command[0] == "get":  # what has just come to where one taps is not taken
            before = await person.page.evaluate(STEP)
            await person.page.tap("[data-quick] >> text=rice")
            await person.page.wait_for_timeout(DOUBLE)
            assert await person.page.evaluate(STEP) == before
        await person.page.wait_for_timeout(DOUBLE if command[0] in ("put", "activate", "get") else 0)
        spot = f'[data-spot="{command[1]}"]'
        await person.page.tap("[data-quick] >> text=rice" if command[0] == "get" else spot)

    order = await person.page.evaluate(TOPS, ["#floor", "#orders", "#happened-title"])
    assert order == sorted(order)
    await cooked(person, tap)
    assert len(places) == 1, "Wait stays where it is"
    assert await person.page.evaluate("document.documentElement.scrollWidth") <= 360
    await context.close()


async def test_by_letters_wherever_the_focus_is(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    person = await started(page, live_stack, tmp_path)
    keys = {
        "goto storage0": "s",
        "get storage0": "t",
        "goto pot0": "o",
        "put pot0": "p",
        "activate pot0": "u",
    }
    elsewhere = iter(["#orders", "#happened", "[role=tab][aria-selected=false]", "#view-tables"])

    async def press(command: list[str]) -> None:
        if place := next(elsewhere, None):
            await page.click(place)
        else:
            await page.click("[data-open=reference-dialog]")
            await page.keyboard.press("Escape")
        chosen = "#menu input:checked"
        while not (found := await page.query_selector(chosen)) or command != json.loads(
            await found.input_value()
        ):
            await page.keyboard.press(keys[" ".join(command[:2])])
            await page.wait_for_selector(chosen)
        await page.keyboard.press("Enter")

    assert await page.get_attribute("[data-submit]", "aria-disabled") == "true"
    await cooked(person, press)


async def test_by_clicks_on_the_menu_which_keeps_its_places(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, layouts = await started(page, live_stack, tmp_path), set[tuple[str, ...]]()

    async def click(command: list[str]) -> None:
        layouts.add(tuple([await laid_out(width) for width in (360, 768, 1440)]))
        await page.click(f"#do-{'-'.join(command)}")

    async def laid_out(width: int) -> str:
        await page.set_viewport_size({"width": width, "height": 900})
        await page.evaluate("document.querySelector('[data-play]').classList.add('show-actions')")
        return str(await page.evaluate(LAID_OUT))

    await cooked(person, click)
    assert await page.evaluate("pointed") == len(RICE)
    assert len(layouts) == 1, "\n\n".join(map("\n".join, layouts))


OUT_OF_SIGHT = """() => {
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
  delete document.visibilityState;
}"""


@pytest.mark.nightly  # test_command_form asks on the same page without the app
async def test_a_study_that_asks_first_asks_once_on_the_drawing_and_in_the_menu(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await started(page, live_stack, tmp_path, "asks_first = true\nkeeps_devices = true")
    async with page.expect_request_finished(lambda one: one.url.endswith("/here/")) as told:
        await page.evaluate(OUT_OF_SIGHT)
    answer = await (await told.value).response()
    assert answer and answer.status == 200
    await page.click("[data-spot=storage0]")
    assert await page.inner_text("[data-spot-menu] p") == "Go to storage"
    assert await person.step() == 0
    found = await violations(page, "asked first", within="[data-play]")
    assert [
        one for one in found if "target-size" not in one
    ] == []  # places behind the question are half seen
    await page.set_viewport_size({"width": 1280, "height": 720})
    await page.click("[data-spot-menu] >> text=Do it")
    await person.stepped(1)
    await page.click("#do-goto-pot0")
    assert await page.inner_text("[data-submit]") == "Go to pot 1"
    assert await person.step() == 1
    await page.click("[data-submit]")
    await person.stepped(2)
    assert person.problems == []


async def test_a_grid_by_keys_that_act_at_once_and_by_taps_on_the_pad(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = grid(live_stack, tmp_path, "ticks = 6")
    context = await browser.new_context(
        base_url=live_stack.url, viewport={"width": 360, "height": 740}, has_touch=True
    )
    page = await context.new_page()
    person = Person(page)
    await person.agree(slug)
    await person.read_guide()
    for number, key in enumerate(["ArrowUp", "a", " "], start=1):
        if key == " ":  # is the game's again, whatever was looked at
            await page.click("[data-open=guide-dialog]")
            await page.keyboard.press("Escape")
            await page.click("summary >> text=The kitchen in words")
        await page.keyboard.press(key)
        await person.stepped(number, patience=10_000)
    assert await page.inner_text("[data-holds]") == "onion"
    assert await violations(page, "a grid") == []
    for number, verb in enumerate(["east", "north", "interact"], start=4):
        await page.tap(f".pad-{verb}")
        await person.stepped(number, patience=10_000)
    assert "put an onion into the pot" in await page.inner_text("#spoken, #past-6")
    await person.go_on()
    await person.answer()
    await page.wait_for_selector("[data-page=end]")
    assert person.problems == []
    await context.close()


async def test_a_grid_whose_clock_waits_for_nobody(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    live_stack.start_ticker()
    person = Person(page)
    settings = 'ticks = 60, clock = "tick", tick_ms = 150'
    talk = 'organisation = { kind = "central", settings = { talk = true } }'
    await person.enter(enter_grid(live_stack, tmp_path, settings, "fast_and_slow", talk))
    heard = "() => !document.getElementById('tick-said').textContent.includes('everybody')"
    await page.wait_for_function(heard)
    await page.fill("#talk-text", "Stop!")
    await page.press("#talk-text", "Enter")
    answer = page.locator("#talk .said:not(.is-yours)")
    assert "I wait." in await answer.inner_text()
    assert await page.input_value("#talk-text") == ""
    await page.keyboard.down("w")  # the keys move the cook again
    await page.wait_for_selector("#over.is-over", timeout=30_000)
    assert await page.inner_text("#score [data-left]") == "0"
    assert await page.inner_text("#over dd >> nth=-1") == "9"  # 60 ticks of 150 ms, in seconds
    assert "row 2, looks up" in str(await page.text_content("[data-actor]"))
    await person.go_on()
    assert person.problems == []
