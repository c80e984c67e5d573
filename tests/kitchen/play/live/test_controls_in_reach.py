"""With messages, jobs, hints, a plan, a clock and the scene switched on, nothing covers what one plays with.

The pages are open in a browser without a server. They are measured at seven sizes, with the drawer closed
and open, with the list of all actions, and with the scene in three dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.page import Page as WorldPage
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import TeamMessage
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.blocks.page import PAGES as BLOCKS
from kitchen.worlds.cuisine.page import PAGE as KITCHEN
from kitchen.worlds.overcooked.page import PAGE as GRID
from tests.browser import IN_A_BROWSER, SHOTS
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.test_floor_layout import HOST, SWAP, open_page
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.overcooked.test_page import make
from tests.nightly import nightly

pytestmark = IN_A_BROWSER

IN_REACH = Path(__file__).with_name("in_reach.js").read_text().rstrip()
SIZES = {360: 740, 390: 844, 640: 360, 800: 600, 844: 390, 1024: 768, 1440: 900}
LINES = tuple(
    TeamMessage(number, 1, number % 2, (1 - number % 2,), "say", f"Please take the rice to pot {number}.")
    for number in range(1, 13)
)
JOBS = tuple(
    Job(20 + number, 1, 0, "Chop the salmon", 1, state) for number, state in enumerate(("given", "done"))
)
TEAM = {
    "member": 0,
    "members": {0: "Robot 1", 1: "Robot 2"},
    "addressees": (1,),
    "messages": LINES,
    "led": True,
    "leaders": (1,),
    "listed": JOBS,
    "hints": ("Look at what has changed.", "Try this: go to storage to fetch rice for the salmon sushi."),
    "step_seconds": 30.0,
    "seconds_left": 20.0,
}
"""Everything that a page may have beside the game."""
OWN = "#menu-title"
SENDS = ("#menu .action", "[data-submit]", OWN)
"""The list of all actions, and the button that sends one."""
DRAWER = {
    "jobs": (".job-act button", "[data-drawer-tab]"),
    "talk": ("#talk-form :is(select, input, button):not([type=hidden])", "[data-drawer-tab]"),
}
"""What one plays with in each part of the drawer."""


def of_kitchen() -> SeatView:
    """Return the first step of a kitchen with many places."""
    world = kitchen("level_3", seats=2)
    world.step({0: ("goto", "storage0")})
    view = seen(world, 0)
    plans = {"offered": True, "plannable": world.plannable(0), "shows_intents": True}
    return changed(view, **TEAM, **plans, hinted=("get", "storage0", "rice"))


def of_grid() -> SeatView:
    """Return the first step of a grid."""
    return changed(seen(make("cramped_room"), 0), **TEAM, hinted=("north",))


def of_blocks() -> SeatView:
    """Return the first step of a building site."""
    return changed(seen(game("construction", blueprint="shelter"), 0), **TEAM)


PLAYED: Mapping[str, tuple[WorldPage, Any, tuple[str, ...]]] = {
    "kitchen": (KITCHEN, of_kitchen, ("[data-spot]", ".ticket", "[data-quick] button, #menu .action")),
    "grid": (GRID, of_grid, (".board-frame", ".grid-orders li", ".pad :is(.action, .slot)")),
    "blocks": (BLOCKS["blocks_construction"], of_blocks, (".map", ".map-tools button")),
}
"""For each world: its page, a view, and what one plays with beside the own player."""


async def opened(browser: Browser, name: str, **more: Any) -> Page:
    """Open the page of this world with its messages and jobs, as they come after the first answer.

    `more` goes to its template.
    """
    world, view_of, _ = PLAYED[name]
    view = view_of()
    page = await open_page(browser, view, world, scene=world.scene, **more)
    parts = {
        panel.id: render_panel(panel) for panel in shared_panels(world, view) if panel.id in ("talk", "jobs")
    }
    await page.evaluate(SWAP, parts)
    return page


async def unreached(page: Page, name: str, selectors: tuple[str, ...]) -> list[str]:
    """Return what cannot be reached. Take a picture if somebody wants to look at it."""
    found: list[str] = await page.evaluate(f"({IN_REACH})({list(selectors)!r})")
    if SHOTS:
        await page.screenshot(path=f"{SHOTS}/{name}.png")
    return [f"{name}: {one}" for one in found]


async def resize(page: Page, width: int, height: int) -> None:
    """Give the window this size, and wait until the page has measured its bar."""
    await page.set_viewport_size({"width": width, "height": height})
    await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def set_drawer(page: Page, *, on: bool) -> None:
    """Open or close the drawer with its button in the bar."""
    toggle = page.locator("[data-drawer-toggle]")
    if (await toggle.get_attribute("aria-expanded") == "true") is not on:
        await toggle.click()


SCENE = """on => {
    document.querySelector("[data-play]").classList.toggle("in-scene", on);
    document.querySelector("[data-scene-room]").hidden = !on;
}"""
"""Opens the scene without drawing it."""
SCENE_WIDTHS = (390, 844, 1024)
LOW = {844: 390}
IN_TURN = """() => {
    const shown = [".topbar", ".board-frame", ".talks", ".pad"].map(one => document.querySelector(one));
    const boxes = shown.map(one => one.getBoundingClientRect());
    const isHidden = (one, above) => one.top < above.bottom - 1 || one.bottom > innerHeight;
    return boxes.slice(1).filter((one, number) => isHidden(one, boxes[number]));
}"""
"""Which of drawing, drawer and pad is behind the one above it, or below the page."""
UPRIGHT = {390: 844, 360: 740, 800: 1100}
UNDER_A_CLOCK = "document.querySelector('[data-play]').classList.add('is-ticking')"


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("kitchen", SIZES), ("grid", LOW), ("blocks", LOW), *nightly(("grid", SIZES), ("blocks", SIZES))],
)
async def test_nothing_covers_what_one_plays_with(
    browser: Browser, name: str, sizes: Mapping[int, int]
) -> None:
    page, found = await opened(browser, name), list[str]()
    game_itself, all_actions = PLAYED[name][2], page.locator(".all-actions")
    for width, height in sizes.items():
        await resize(page, width, height)
        at = f"{name}-{width}x{height}"
        await set_drawer(page, on=width >= 1024)
        found += await unreached(page, f"{at}-plays", (*game_itself, OWN))
        if await all_actions.is_visible():
            await all_actions.click()
            found += await unreached(page, f"{at}-all", (*game_itself[:1], *SENDS))
            await all_actions.click()
        if name == "kitchen" and width in SCENE_WIDTHS:
            await page.evaluate(SCENE, True)
            found += await unreached(page, f"{at}-scene", ("[data-scene-frame]", "[data-scene-close]", OWN))
            await page.evaluate(SCENE, False)
        await set_drawer(page, on=True)
        in_place_of_actions = () if width < 1024 else (OWN,)
        for part, controls in DRAWER.items():
            await page.click(f"[data-drawer-tab={part}]")
            found += await unreached(
                page, f"{at}-{part}", (*game_itself[:2], *controls, *in_place_of_actions)
            )
    if name == "grid":
        await page.evaluate(UNDER_A_CLOCK)
        for width, height in UPRIGHT.items():
            await resize(page, width, height)
            await set_drawer(page, on=False)
            await set_drawer(page, on=True)
            assert await page.evaluate(IN_TURN) == [], (width, "from the top to the foot")
            board, _, pad = game_itself
            found += await unreached(page, f"{name}-{width}-clock-talk", (board, pad, *DRAWER["talk"]))
    assert found == []
    await page.close()


DRAWN = """() => ["[data-stage], [data-board]", ".ticket"].map(what => {
    const { left, top, width } = document.querySelector(what).getBoundingClientRect();
    return [left, top, width].map(Math.round);
})"""


STAYS = {"kitchen": ".ticket", "grid": ".grid-orders li", "blocks": ".map"}
"""An element beside the drawing that must not move, by page."""
AWAY = """html => {
    document.getElementById("away").outerHTML = html;
    document.querySelector("[data-play]").dispatchEvent(new Event("brigade:away"));
    return document.querySelectorAll("[data-play] [data-away]").length;
}"""
"""Tells the page who is away, and returns the number of marked players."""
UNSHIELD = "document.querySelector('[data-play]').classList.remove('is-just-over')"
PUT = "html => document.querySelector('[data-play]').panels.put(html)"
BAR = """parts => {
    document.getElementById("connection").dataset.state = "connected";
    for (const [id, html] of Object.entries(parts)) document.getElementById(id).outerHTML = html;
    return document.querySelector(".topbar").offsetHeight;
}"""
"""Puts these panels into the bar, and returns its height."""


def bars(world: WorldPage, view: SeatView) -> list[dict[str, str]]:
    """Return what the bar says in turn, from the shortest to the longest line."""
    choice, waits = view.choice, replace(view, phase="thinking", waiting_for=(1,), length=40)
    turns = (replace(waits, phase="choose"), waits, replace(waits, choice=replace(choice, passed_by=True)))
    return [
        {panel.id: str(render_panel(panel)) for panel in shared_panels(world, turn) if panel.id in BAR_PARTS}
        for turn in turns
    ]


BAR_PARTS = ("bar", "phase")
HEARD = """() => {
    const box = document.querySelector("[data-result]");
    window.heard = new Promise(done => new MutationObserver(
        () => done(box.checkVisibility({ visibilityProperty: true }))).observe(box, { childList: true }));
}"""
"""Notes whether the own result is in sight when it is filled in: else no screen reader says it."""
SHARE = "<p>You did 23 of the 51 actions of your team (45 %).</p>"
CONTINUE = "[data-over-continue]"
CENTRE = """() => {
    const boards = [...document.querySelectorAll("[data-stage], [data-board]")];
    const board = boards.find(one => one.checkVisibility());
    const { left, top, width, height } = board.getBoundingClientRect();
    return !document.elementFromPoint(left + width / 2, top + height / 2).closest("[data-over]");
}"""
"""Whether the end leaves the middle of the board in sight."""
WRITTEN = "#talk-form :is(textarea, input:not([type=hidden]))"


@pytest.mark.parametrize(
    ("name", "sizes"), [("kitchen", SIZES), ("grid", LOW), ("blocks", LOW), *nightly(("grid", SIZES))]
)
async def test_neither_who_is_away_nor_the_end_moves_anything_of_the_game(
    browser: Browser, name: str, sizes: Mapping[int, int]
) -> None:
    page = await opened(browser, name, result_url=f"{HOST}/result/", result_position=2)
    await page.route("**/result/", lambda route: route.fulfill(body=SHARE))
    world, view_of, _ = PLAYED[name]
    end = {panel.id: render_panel(panel) for panel in shared_panels(world, replace(view_of(), phase="over"))}
    left = {
        panel.id: render_panel(panel) for panel in shared_panels(world, changed(view_of(), turned_away={1}))
    }
    drawn = DRAWN.replace(".ticket", STAYS[name])
    empty, here = [await page.locator(one).evaluate("one => one.outerHTML") for one in ("#over", "#away")]
    found = list[str]()
    for width in (1024, 1280):
        await resize(page, width, 768)
        heights = [await page.evaluate(BAR, parts) for parts in bars(world, view_of())]
        assert len(set(heights)) == 1, (width, heights)
    await page.evaluate(HEARD)
    await page.evaluate(PUT, end["over"])
    assert await page.evaluate("heard")
    await page.evaluate(PUT, empty)
    await page.emulate_media(reduced_motion="reduce")
    for width, height in sizes.items():
        await resize(page, width, height)
        before = await page.evaluate(drawn)
        assert await page.evaluate(AWAY, left["away"]) == 1, "at the player"
        assert await page.evaluate(drawn) == before, width
        assert await page.evaluate(AWAY, here) == 0
        await set_drawer(page, on=True)  # which must not stand in the place of the end
        before = await page.evaluate(drawn)
        await page.evaluate(PUT, end["over"])
        assert await page.evaluate(drawn) == before, width
        await page.get_by_text("You did 23 of the 51").wait_for()
        assert await page.evaluate(f"document.activeElement.matches('{CONTINUE}')"), width
        await page.evaluate(UNSHIELD)
        assert await page.evaluate(CENTRE), width
        found += await unreached(page, f"{name}-{width}x{height}-over", (CONTINUE,))
        await page.evaluate(PUT, empty)
    await page.emulate_media(reduced_motion="no-preference")
    await set_drawer(page, on=True)
    await page.click("[data-drawer-tab=talk]")
    await page.fill(WRITTEN, "Please tak")
    await page.evaluate(PUT, end["over"])
    assert not await page.locator(CONTINUE).is_visible(), "the last step is seen first"
    await page.locator(CONTINUE).wait_for()
    assert await page.evaluate("document.activeElement.matches('#over h2')"), "who writes does not leave"
    assert await page.input_value(WRITTEN) == "Please tak"
    assert found == []
    assert await page.locator(CONTINUE).get_attribute("href") == f"{HOST}/?result=2"
    assert await page.locator(CONTINUE).get_attribute("aria-describedby") == "over"
    await page.close()
