"""The grids as drawn, in a browser without a server: every layout at every width, and what changes in it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Browser

from kitchen.contract.page_view import DRAWING_ONLY, SeatView, StepView
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.overcooked.game_rules import STAY
from kitchen.worlds.overcooked.page import PAGE
from tests.browser import IN_A_BROWSER
from tests.kitchen.worlds.cuisine.test_floor_layout import LARGE_ENOUGH, SIZES, SWAP, open_page
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.overcooked.test_page import SOUP, make, step

pytestmark = IN_A_BROWSER

LAYOUTS = ("coordination_ring", "asymmetric_advantages_tomato")
"""The highest one, and the widest one with the most orders."""
OUT_OF_PLACE = """() => {
    const wrong = [], board = document.getElementById("board"), box = one => one.getBoundingClientRect();
    const shown = box(board), side = shown.width / (board.viewBox.baseVal.width / board.dataset.cell);
    JSON.parse(document.getElementById("seen").value).players.forEach(({at}, seat) => {
        const body = box(document.querySelector(`.actor use[href='#whole-${seat + 1}']`));
        const [x, y] = [body.left + body.width / 2 - shown.left, body.top + body.height / 2 - shown.top];
        const high = (at[1] + .5) * side - y; // the hat is higher than the feet are low
        if (Math.abs(x - (at[0] + .5) * side) > 2 || high < 0 || high > side / 4)
            wrong.push(`cook ${seat} at ${x}, ${y}`);
    });
    if (document.documentElement.scrollWidth > innerWidth) wrong.push("too wide");
    const own = box(document.querySelector(".col-own"));
    if (innerHeight > 700 && shown.bottom > innerHeight) wrong.push("not all of it can be seen");
    const over = shown.right > own.left + 1 && shown.bottom > own.top + 1;
    if (innerHeight > 700 && over) wrong.push("behind the pad");
    return wrong;
}"""
STANDS = """() => [0, 1].map(
    seat => document.querySelector(`.actor[data-seat="${seat}"]`).getAttribute('transform'))"""
SHOWN = """() => {
    const uses = where => [...document.querySelectorAll(`${where} use`)];
    const pictures = where => uses(where).map(one => one.href.baseVal.split("#")[1]);
    const numbers = [...document.querySelectorAll(".pots .left")].map(one => one.textContent);
    return [pictures(".pots"), numbers, pictures(".held")];
}"""
CHANGED = "() => document.querySelector('[data-play]').dispatchEvent(new Event('brigade:panels'))"


def after(layout: str, steps: int, **settings: Any) -> SeatView:
    world = make(layout, **settings)
    for verb in SOUP[:steps]:
        step(world, (verb,), STAY)
    return replace(seen(world, 0), shown=DRAWING_ONLY)


async def test_every_layout_is_seen_whole_beside_the_pad(browser: Browser) -> None:
    wrong = {}
    for layout in LAYOUTS:
        page = await open_page(browser, after(layout, 3), PAGE)
        for width, height in SIZES:
            await page.set_viewport_size({"width": width, "height": height})
            wrong[f"{layout} at {width}"] = await page.evaluate(OUT_OF_PLACE) + await page.evaluate(
                LARGE_ENOUGH
            )
        await page.close()
    assert {where: what for where, what in wrong.items() if what} == {}


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
async def test_a_cook_glides_to_its_place_or_is_there_at_once(browser: Browser, motion: Any) -> None:
    page = await open_page(browser, after("cramped_room", 4), PAGE)
    await page.emulate_media(reduced_motion=motion)
    before = await page.evaluate(STANDS)
    later = {
        each.id: render_panel(each) for each in PAGE.panels(after("cramped_room", 7)) if each.id == "seen"
    }
    at_once = f"later => {{ ({SWAP})(later); ({CHANGED})(); return ({STANDS})() }}"  # before the next frame
    assert (await page.evaluate(at_once, later) == before) is (motion == "no-preference")
    await page.wait_for_function(f"() => ({STANDS})()[0] !== {json.dumps(before[0])}")
    await page.wait_for_function(f"() => ({OUT_OF_PLACE})().length === 0")


async def test_an_action_without_effect_is_seen_at_the_cook_of_who_did_it(browser: Browser) -> None:
    page, world = await open_page(browser, seen(make("cramped_room"), 0), PAGE), make("cramped_room")
    past: list[StepView] = []
    for number, commands in enumerate(((STAY, ("interact",)), (("interact",), STAY)), start=1):
        past.insert(0, step(world, *commands))
        panels = PAGE.panels(seen(world, 0, tuple(past)))
        await page.evaluate(SWAP, {each.id: render_panel(each) for each in panels if each.id == "happened"})
        await page.evaluate(CHANGED)
        told = await page.locator(".refused-words").all_inner_texts()
        assert told == ["there is nothing to use here"] * (number == 2), "the first was another's"


async def test_pots_and_hands_show_what_is_in_them(browser: Browser) -> None:
    page, told = await open_page(browser, after("cramped_room", 11), PAGE), []
    for steps in (11, 19, 35):
        fresh = {
            each.id: render_panel(each)
            for each in PAGE.panels(after("cramped_room", steps))
            if each.id == "seen"
        }
        await page.evaluate(SWAP, fresh)
        await page.evaluate(CHANGED)
        told.append(await page.evaluate(SHOWN))
    assert told == [
        [["onion", "onion"], [], []],
        [[], ["16"], ["dish"]],
        [["steam"], [], ["dish"]],
    ]
