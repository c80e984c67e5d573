"""The default page and the grid page in a browser without a server: by mouse, finger and keys, at every
width."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from playwright.async_api import Browser, Page, WebSocketRoute

from kitchen.contract.page import Page as WorldPage
from kitchen.contract.page_view import DRAWING_ONLY, SeatView, StepView
from kitchen.contract.world import Json
from kitchen.play.live.render_page import Screen, render_panel
from tests.browser import IN_A_BROWSER
from tests.journeys.axe import violations
from tests.kitchen.changed_facts import changed
from tests.kitchen.pages.test_grid_page import OBSERVED
from tests.kitchen.pages.test_grid_page import PAGE as GEMS
from tests.kitchen.pages.test_grid_page import view as gems
from tests.kitchen.worlds.cuisine.test_floor_layout import LARGE_ENOUGH, open_page
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.worlds.lane.page import PAGE as LANE
from tests.worlds.lane.page import LanePage
from tests.worlds.lane.world import Lane
from tests.worlds.quarry import PAGE as QUARRY
from tests.worlds.quarry import Quarry

pytestmark = IN_A_BROWSER

SIZES = ((360, 740), (768, 1024), (1440, 900))
FITS = """() => {
    const box = one => one.getBoundingClientRect(), wrong = [];
    if (document.documentElement.scrollWidth > innerWidth) wrong.push("too wide");
    const own = box(document.querySelector(".col-own"));
    for (const one of document.querySelectorAll(".board-frame, .seen table, .col-state")) {
        const shown = box(one);
        if (shown.right > own.left + 1 && shown.bottom > own.top + 1) wrong.push(`covered: ${one.className}`);
    }
    return wrong;
}"""
STANDS = "() => document.querySelector(`.actor[data-seat='0']`).getAttribute('transform')"


class Server:
    """The other end of one page's socket."""

    def __init__(self, world: WorldPage, view: SeatView) -> None:
        self.world, self.view = world, view
        self.lines: list[WebSocketRoute] = []
        self.received: list[Mapping[str, Json]] = []
        self.screen = Screen()

    def answer(self, line: WebSocketRoute) -> None:
        """Send the whole page, and note what comes."""
        self.lines.append(line)
        line.on_message(lambda sent: self.received.append(json.loads(sent)))
        line.send(self.screen.fragments(self.world, self.view))

    def show(self, **more: Any) -> None:
        """Send what this changes on the page."""
        self.view = changed(self.view, **more)
        self.lines[-1].send(self.screen.fragments(self.world, self.view))

    def of(self, kind: str) -> list[Mapping[str, Json]]:
        """What came of this kind."""
        return [one for one in self.received if one["type"] == kind]

    @property
    def commands(self) -> list[Json]:
        """What was handed in."""
        return [json.loads(one["command"]) for one in self.of("command")]

    async def hears(self, kind: str, number: int) -> None:
        """Wait until so many of this kind came."""
        async with asyncio.timeout(30):
            while len(self.of(kind)) < number:
                await asyncio.sleep(0.01)


async def opened(browser: Browser, world: WorldPage, view: SeatView, **how: Any) -> tuple[Page, Server]:
    context, server = await browser.new_context(**how), Server(world, view)
    await context.route_web_socket("**/*", server.answer)
    page = await open_page(context, view, world)
    await page.wait_for_selector("#connection[data-state=connected]")
    return page, server


def quarry(steps: int = 0) -> SeatView:
    world, past = Quarry(2, {}), tuple[StepView, ...]()
    world.reset(1)
    for _ in range(steps):
        turn = {0: ("load", "left_cart", "2"), 1: ("paint", "right_cart")}
        past = (StepView(world.clock + 1, turn, world.step(turn)), *past)
    return seen(world, 0, past)


def lane(tick_ms: int | None = None, at: int = 2) -> SeatView:
    world = Lane(2, {"tick_ms": tick_ms or 0})
    world.at[0] = at
    return changed(seen(world, 0), shown=DRAWING_ONLY, tick_ms=tick_ms, figures=Lane.figures)


class WavingPage(LanePage):
    """A lane with an event of its own, of which some data may be missing."""

    names = {**LanePage.names, "left_hand": "the left hand"}
    events: Mapping[str, str] = {"waved": "{player} waves {hand}{again}."}


LEFT = '.action-amount:has-text("Load left cart")'


async def test_an_amount_survives_panel_changes_and_is_sent(browser: Browser) -> None:
    page, server = await opened(browser, QUARRY, quarry())
    field = page.locator(f"{LEFT} input[type=number]")
    submit = page.locator("#menu [data-submit]")
    await page.click(f"{LEFT} .action")
    assert server.commands == [], "an amount is asked for before it is sent"
    assert await submit.inner_text() == "Load left cart: 1"
    await field.focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    assert await submit.inner_text() == "Load left cart: 3"
    server.show(
        amounts={("load", "left_cart"): (1, 4)}, legal=quarry().choice.legal[:1]
    )  # each field comes anew
    await page.wait_for_selector(f"{LEFT} input[max='4']")
    assert (await field.input_value(), await submit.inner_text()) == ("3", "Load left cart: 3")
    assert await field.evaluate("one => one === document.activeElement")
    assert await page.locator("#menu input:checked").count() == 1
    await page.keyboard.press("Control+a")
    await page.keyboard.type("9")
    await page.keyboard.press("Enter")
    assert await field.evaluate("one => !one.checkValidity()") and server.commands == []
    await page.keyboard.press("Backspace")
    await page.keyboard.type("4")
    await page.keyboard.press("Enter")
    await server.hears("command", 1)
    assert server.commands == [["load", "left_cart", "4"]]
    assert server.of("command")[0].keys() - {"HEADERS"} == {"type", "step", "command"}, (
        "no field is new in what is sent"
    )


async def test_the_default_menu_is_used_by_keys_alone(browser: Browser) -> None:
    page, server = await opened(browser, QUARRY, quarry())
    await page.keyboard.press("p")
    await page.keyboard.press("p")
    assert await page.inner_text("#menu [data-submit]") == "Paint right cart"
    await page.keyboard.press("w")
    assert await page.inner_text("#menu [data-submit]") == "Wait"
    await page.keyboard.press("l")
    await page.keyboard.press("Tab")
    assert (
        await page.evaluate("document.activeElement.labels[0].innerText.split('\\n').join(' ')")
        == "How many? Load left cart"
    )
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await server.hears("command", 1)
    assert server.commands == [["load", "left_cart", "2"]]


async def test_a_digit_after_the_letter_of_a_choice_is_its_amount(browser: Browser) -> None:
    page, server = await opened(browser, QUARRY, quarry())
    for key in ("l", "3", "Enter"):
        await page.keyboard.press(key)
    await server.hears("command", 1)
    assert server.commands == [["load", "left_cart", "3"]]


async def test_a_finger_sends_what_it_taps_and_nothing_is_covered_or_too_wide(browser: Browser) -> None:
    page, server = await opened(browser, QUARRY, quarry(1), has_touch=True)
    wrong = {}
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        wrong[width] = await page.evaluate(FITS) + await page.evaluate(LARGE_ENOUGH)
    assert {width: what for width, what in wrong.items() if what} == {}
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.tap(".action:has-text('Paint left cart')")
    await server.hears("command", 1)
    assert server.commands == [["paint", "left_cart"]]
    server.show(phase="waiting", legal=(), amounts={}, chosen=("paint", "left_cart"))
    asked = quarry(1)
    chosen = {name: getattr(asked.choice, name) for name in ("legal", "amounts", "chosen")}
    server.show(phase=asked.phase, **chosen, step=2)
    await page.wait_for_function("() => !document.querySelector('#menu-actions').disabled")
    assert await violations(page, "the default page") == []


async def test_a_grid_is_walked_by_keys_mouse_and_finger_and_drawn_as_it_is(browser: Browser) -> None:
    page, server = await opened(browser, LANE, lane(), has_touch=True)
    wrong = {}
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        wrong[width] = await page.evaluate(FITS) + await page.evaluate(LARGE_ENOUGH)
    assert {width: what for width, what in wrong.items() if what} == {}
    before = await page.evaluate(STANDS)
    for step, press in enumerate(
        (page.keyboard.press("ArrowRight"), page.click(".pad-stay"), page.tap(".pad-west"))
    ):
        await press
        await server.hears("command", step + 1)
        there = lane(at=3)
        server.show(observation=there.observation, legal=there.choice.legal, step=step + 1)
        await page.wait_for_function("() => !document.querySelector('#menu fieldset').disabled")
    assert server.commands == [["east"], ["stay"], ["west"]]
    await page.wait_for_function(f"before => ({STANDS})() !== before", arg=before)
    assert "column 4, row 1" in str(await page.text_content("[data-actor]"))
    assert await violations(page, "a grid") == []


async def test_under_a_clock_a_grid_shows_ones_own_moves_first_and_tells_all_in_words(
    browser: Browser,
) -> None:
    page, server = await opened(browser, WavingPage(), lane(tick_ms=100))
    now = lane(100).observation
    state = {"tick_ms": 100, "observation": now, "score": {"walked": 0}, "key": 0, "lost_ms": 0}
    server.lines[-1].send(json.dumps({"type": "whole", "step": 0, "starts_in_ms": 0, **state}))
    await page.wait_for_function("() => document.querySelector('[data-observed]').textContent === '2'")
    before = await page.evaluate(STANDS)
    await page.keyboard.press("ArrowRight")
    await page.wait_for_function(f"before => ({STANDS})() !== before", arg=before)
    events = [
        {"kind": "waved", "seat": 1, "player": "nobody", "hand": "left_hand"},
        {"kind": "refused", "seat": 0, "command": ["west"], "reasons": ["wall"]},
    ]
    later = {"changed": lane(100, at=5).observation, "gone": [], "events": events, "score": {"walked": 3}}
    server.lines[-1].send(json.dumps({"type": "tick", "step": 1, "key": 9, "lost_ms": 0, **later}))
    await page.wait_for_function(
        "() => document.querySelector('[data-actor]').textContent === 'column 6, row 1'"
    )
    assert await page.inner_text("[data-observed=you]") == "5"
    assert await page.inner_text("[data-figure=walked]") == "3"
    lines = await page.locator("[data-deeds] .past-line").all_inner_texts()
    assert [" ".join(line.split()) for line in lines] == [
        "· Robot 2 waves the left hand.",
        "You: ✕ there is a wall",
    ]
    await page.hover(".pad-east")
    await page.mouse.down()
    await page.mouse.up()
    await server.hears("key", 4)
    keys = [(one["command"], one["down"]) for one in server.of("key")]
    assert keys == [(["east"], True), (["east"], False), (["east"], True), (["east"], False)]
    await page.set_viewport_size({"width": 360, "height": 740})
    assert await page.evaluate(FITS) + await page.evaluate(LARGE_ENOUGH) == []
    await page.context.set_offline(True)
    await page.focus("#connection[data-state=offline] [data-text][tabindex='0']")
    await page.keyboard.press("ArrowDown")
    await page.wait_for_function("() => document.activeElement.scrollTop > 0")
    assert await violations(page, "a grid under a clock that is offline") == []


async def test_a_layer_is_drawn_with_plain_shapes_where_a_world_has_no_pictures(browser: Browser) -> None:
    page = await open_page(browser, gems(), GEMS)
    assert await page.locator(".gems .thing-letter").all_text_contents() == ["R"]
    assert await page.locator(".held .thing-letter").all_text_contents() == ["R"]
    gone = replace(gems(), observation={**OBSERVED, "gems": []})
    html = {panel.id: render_panel(panel) for panel in GEMS.panels(gone) if panel.id == "seen"}
    await page.evaluate("html => { document.getElementById('seen').outerHTML = html.seen; }", html)
    await page.evaluate(
        "() => document.querySelector('[data-play]').dispatchEvent(new Event('brigade:panels'))"
    )
    assert await page.locator(".gems .thing-letter").count() == 0
