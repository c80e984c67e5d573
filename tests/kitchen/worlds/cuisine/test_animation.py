"""What has changed is seen to move, one after the other, and stands still for whoever wants that."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page

from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.world import Command, Event, Json, World
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.cuisine.page import PAGE
from tests.browser import IN_A_BROWSER
from tests.kitchen.worlds.cuisine.test_floor_layout import open_page
from tests.kitchen.worlds.cuisine.test_step_report import kitchen, play

pytestmark = IN_A_BROWSER

ARRIVE = """([parts, scrolled]) => {
    document.dispatchEvent(new CustomEvent("htmx:wsBeforeMessage"));
    scrollBy(0, scrolled);
    for (const [id, html] of Object.entries(parts)) document.getElementById(id).outerHTML = html;
    document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"));
    const moves = document.getAnimations().filter(one => !(one instanceof CSSAnimation));
    const sways = moves.filter(one => one.effect.target.matches(".character"));
    const walking = moves.map(one => one.effect.target);
    if (sways.some(one => !walking.includes(one.effect.target.parentElement))) return [];
    const told = one => one.dataset.bot ?? one.dataset.thing ?? one.getAttribute("class");
    const waits = one => {
        const [[first, next], { delay, duration }] = [one.getKeyframes(), one.getTiming()];
        return Math.round(delay + (first.transform === next.transform ? next.offset * duration : 0));
    };
    const others = moves.filter(one => !sways.includes(one));
    const found = others.map(one => [told(one.effect.target), waits(one.effect)]);
    moves.forEach(one => one.finish());
    return found;
}"""
"""The panels come as in a message: what moves then, and how many milliseconds later. Only who walks sways."""
PLACED = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(document.querySelector("[data-bubble]")?.style.translate))))"""
"""Where words beside a robot are moved to."""
LOOKS = re.compile(r"look-\d")
IN_FRONT = """() => {
    const drawn = selector => Number(getComputedStyle(document.querySelector(selector)).zIndex) || 0;
    return drawn("[data-bot]") > drawn(".station-button") && drawn("[data-bot]") < drawn("[data-spot-menu]");
}"""
GHOSTS = "() => document.querySelectorAll('.ghost').length"


async def arrive(page: Page, view: SeatView, scrolled: int = 0) -> list[list[str | int]]:
    """What moves when this is what has become of the kitchen, and the page was `scrolled` by so much."""
    parts = {
        panel.id: str(render_panel(panel)) for panel in PAGE.panels(view) if panel.id in ("floor", "orders")
    }
    moves: list[list[str | int]] = await page.evaluate(ARRIVE, [parts, scrolled])
    return moves


async def cook(page: Page, world: World, *commands: Command) -> list[list[str | int]]:
    """What moves when everybody has done this."""
    return await arrive(page, play(world, commands))


async def test_robots_glide_in_their_order_and_things_hop_to_where_they_are_put(browser: Browser) -> None:
    world, waits = kitchen(2), ("noop",)
    page = await open_page(browser, play(world))
    assert await cook(page, world, ("goto", "storage0"), ("goto", "pot1")) == [["0", 0], ["1", 80]]
    assert await cook(page, world, ("get", "storage0", "rice"), waits) == [["rice", 0]]
    assert await cook(page, world, ("goto", "pot0"), waits) == [["0", 0]]  # what it holds goes along
    assert await cook(page, world, ("put", "pot0"), waits) == [["rice", 0]]
    assert await cook(page, world, waits, waits) == []
    assert await page.evaluate(IN_FRONT), "who walks to another row is not drawn behind its worktop"
    await page.set_viewport_size({"width": 800, "height": 300})
    assert await arrive(page, play(world, [waits, waits]), scrolled=150) == []
    assert await page.evaluate("scrollY") == 150


@pytest.mark.parametrize("calm", [False, True])
async def test_a_missed_order_burns_away_unless_less_motion_is_wanted(browser: Browser, calm: bool) -> None:
    world, waits = kitchen(), ("noop",)
    page = await open_page(browser, play(world))
    await page.emulate_media(reduced_motion="reduce" if calm else "no-preference")
    moves: list[list[str | int]] = []
    while not world.score()["failed"]:
        moves = await cook(page, world, waits)
    assert ["ticket ghost lost", 0] in moves or calm
    assert {delay for told, delay in moves if told == "ticket"} == (set() if calm else {700}), (
        "no ticket is printed over another"
    )
    assert not (calm and moves)
    assert await page.evaluate(GHOSTS) == 0


def with_dish(holds: str | None, *orders: Json) -> SeatView:
    """A robot at the serving table that holds this, or has just served it, with these orders."""
    view = play(kitchen())
    agents = [{**view.observation["agents"][0], "holds": holds}]
    completed = Event("completed", None, {"dish": "salmonSushi"})
    past = () if holds else (StepView(1, {0: ("put", "servingtable0")}, (completed,)),)
    return replace(
        view, observation={**view.observation, "agents": agents, "orders": list(orders)}, history=past
    )


@pytest.mark.parametrize("calm", [False, True])
async def test_a_dish_flies_to_the_guest_and_its_ticket_is_stamped_or_only_that(
    browser: Browser, calm: bool
) -> None:
    page = await open_page(browser, with_dish("salmonSushi", {"dish": "salmonSushi", "life": 20}))
    await page.emulate_media(reduced_motion="reduce" if calm else "no-preference")
    looks = LOOKS.findall(str(await page.get_attribute("[data-guest] .guest-body", "class")))
    moves = await arrive(page, with_dish(None))
    assert ["ticket ghost stamped", 0] in moves
    assert LOOKS.findall(str(await page.get_attribute("[data-guest=happy] .guest-body", "class"))) == looks
    assert [told for told, _ in moves if told == "thing held ghost"] == ([] if calm else ["thing held ghost"])
    assert await page.locator("[data-guest=happy]").count() == 1
    assert await page.evaluate("() => getComputedStyle(document.querySelector('.gain')).animationName") == (
        "none" if calm else "rise"
    )
    assert await page.evaluate(GHOSTS) == 0


END = """reached => {
    const [play, over] = ["[data-play]", "#over"].map(one => document.querySelector(one));
    const tell = () => play.dispatchEvent(new Event("brigade:panels"));
    over.className = "over";
    tell();
    over.className = "over is-over";
    over.toggleAttribute("data-reached", reached);
    tell();
    return document.querySelectorAll(".confetti svg").length;
}"""
"""Ends the game, with something reached or not, and returns how many shapes fall."""


async def test_an_end_with_something_reached_is_celebrated_unless_less_motion_is_wanted(
    browser: Browser,
) -> None:
    page = await open_page(browser, play(kitchen()))
    assert await page.evaluate(END, False) == 0
    await page.emulate_media(reduced_motion="reduce")
    assert await page.evaluate(END, True) == 0
    assert await page.locator(".character.pose-cheer").count() == 1
    await page.emulate_media(reduced_motion="no-preference")
    assert await page.evaluate(END, True) > 0
    await page.wait_for_selector(".confetti", state="detached")


async def test_words_beside_a_robot_fit_when_the_kitchen_was_not_seen(
    browser: Browser,
) -> None:
    start, refused = play(kitchen()), play(kitchen(), [("activate", "pot0")])
    page = await open_page(browser, start)
    await arrive(page, refused)
    place = await page.evaluate(PLACED)
    assert place
    await arrive(page, start)
    await page.click("#tab-tables")
    await arrive(page, refused)
    await page.click("#tab-drawn")
    assert await page.evaluate(PLACED) == place
