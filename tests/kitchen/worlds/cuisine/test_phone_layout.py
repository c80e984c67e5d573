"""What can be seen on a phone without scrolling: the places and an order, above what is fixed at the foot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import translation
from django.utils.translation import gettext
from playwright.async_api import Browser

from kitchen.contract.page_view import SeatView
from kitchen.play.live.seat_view import hints_for
from tests.browser import IN_A_BROWSER
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen, play
from tests.kitchen.worlds.cuisine.test_floor_layout import open_page
from tests.kitchen.worlds.cuisine.test_page import seen

pytestmark = [*IN_A_BROWSER, pytest.mark.filterwarnings("ignore:level_12")]

COVERED = """selectors => {
    const foot = document.querySelector(".col-own").getBoundingClientRect().top;
    const found = selectors.map(each => [...document.querySelectorAll(each)]);
    if (found.some(each => !each.length)) return ["nothing to look for"];
    const covered = found.flat().filter(one => one.getBoundingClientRect().bottom > foot);
    return covered.map(one => one.textContent.trim());
}"""
PLACES, TABLE, TICKET, NAME = ".station-button", ".locations tr", ".ticket", ".ticket h3"


def view(level: str, shown: str, *, hint: bool) -> SeatView:
    """Somebody's first choice."""
    world = kitchen(level)
    play(world, "goto storage0")
    now = replace(seen(world, 0), shown=shown)
    hints = hints_for(world, now)
    return changed(now, hints=hints.sentences, hinted=hints.command) if hint else now


@pytest.mark.parametrize(
    ("level", "shown", "hint", "seen_at"),
    [
        (
            "level_3",
            "drawn",
            True,
            {(360, 640): [PLACES], (360, 740): [PLACES, NAME], (390, 844): [PLACES, TICKET]},
        ),
        ("level_12_fryer", "drawn", False, {(390, 844): [PLACES, NAME]}),
        ("level_3", "tables", True, {(390, 844): [TABLE, TICKET]}),
    ],
)
async def test_places_and_an_order_are_in_sight(
    browser: Browser, level: str, shown: str, hint: bool, seen_at: dict[tuple[int, int], list[str]]
) -> None:
    page = await open_page(browser, view(level, shown, hint=hint))
    await page.wait_for_selector("[data-play]")
    for (width, height), what in seen_at.items():
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate(COVERED, what) == []
    await page.close()


@pytest.mark.parametrize("shown", ["tables", "drawn"])
async def test_a_hint_is_among_the_actions_that_fit_one_tap_away(browser: Browser, shown: str) -> None:
    page = await open_page(browser, view("level_3", shown, hint=True))
    await page.set_viewport_size({"width": 360, "height": 740})
    hinted = await page.inner_text("#menu .action[data-hinted] .action-text")
    assert hinted and await page.locator("[data-quick] button[data-hinted]:visible").count() == 1
    assert 2 <= await page.locator("[data-quick] button:visible").count() <= 4
    assert await page.locator(".menu-actions").is_hidden()
    await page.set_viewport_size({"width": 1440, "height": 900})
    assert await page.locator("[data-quick]").is_hidden()
    await page.close()


async def test_a_phone_at_200_percent_shows_tables_without_a_wider_page(browser: Browser) -> None:
    page = await open_page(browser, view("level_3", "tables", hint=True))
    await page.set_viewport_size({"width": 180, "height": 390})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 180
    await page.close()


async def test_where_it_is_narrowest_the_head_has_two_rows(browser: Browser) -> None:
    page = await open_page(browser, view("level_3", "drawn", hint=False))
    await page.set_viewport_size({"width": 320, "height": 640})
    tops = "all => new Set(all.map(one => one.getBoundingClientRect().top)).size"
    assert await page.eval_on_selector_all(".topbar-actions .button:not([data-sound]), .bar-phase", tops) <= 2
    assert await page.eval_on_selector_all(".topbar-actions .button:not([data-sound])", tops) == 1
    assert await page.eval_on_selector_all(".leave, [data-sound]", tops) == 1
    await page.close()


OFFLINE = """text => {
    const said = document.getElementById("connection"), bar = document.querySelector(".topbar");
    const tell = (state, text) => {
        said.dataset.state = state;
        said.querySelector("[data-text]").textContent = text;
        return bar.offsetHeight;
    };
    return tell("offline", text) - tell("connected", "Conectado");
}"""


async def test_the_bar_keeps_its_height_whatever_is_said_of_the_connection(browser: Browser) -> None:
    with translation.override("es"):
        page = await open_page(browser, view("level_3", "drawn", hint=False))
        text = gettext("You are offline. Nothing is lost; you can continue when you are connected again.")
    for width in (360, 768, 1024, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate(OFFLINE, text) == 0, width
    await page.close()
