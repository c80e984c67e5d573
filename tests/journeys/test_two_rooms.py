"""Chef and assistant of Collab-Overcooked in a real browser, beside the stand-in, by keyboard and touch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from tests.browser import IN_A_BROWSER, SHOTS
from tests.journeys.fitting import SCRIPT, TARGET, TEXT
from tests.journeys.person import Person, enter_loaded, new_slug
from tests.servers import Stack

pytestmark = IN_A_BROWSER

STUDY = """slug = "{slug}"
title = "Two rooms"
seed = 5
[world]
kind = "collab_overcooked"
settings = {{ task = "{task}", gamma = 3.0 }}
[parts.consent]
text = "I agree."
[[conditions]]
key = "one"
name = "one"
label = "Two rooms"
coplayer = "recipe_partner"
teammates = 1
offers_plans = true
shows_intents = true
organisation = {{ kind = "pair", settings = {{ within = true }}, people = [{seat}] }}
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""
SOUP = "baked_pumpkin_soup"


def entered(stack: Stack, folder: Path, task: str, seat: int) -> str:
    """Return the address of somebody in this seat of such a game."""
    file, slug = folder / "rooms.toml", new_slug()
    file.write_text(STUDY.format(slug=slug, task=task, seat=seat))
    return enter_loaded(stack, file, slug)[0]


async def picture(page: Page, name: str) -> None:
    """Keep a picture of the page for somebody who wants to look."""
    if SHOTS:
        await page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


async def pick_by_keyboard(page: Page, macro: Command) -> None:
    """Choose verb, thing and place of a macro in the lists, by typing, and add it."""
    for place, word in enumerate(macro):
        select = page.locator("[data-macro-picker] select").nth(place)
        await select.focus()
        text = await select.locator(f"option[value='{word}']").inner_text()
        await page.keyboard.type(text)
        assert await select.input_value() == word
    await page.focus("[data-add-request]")
    await page.keyboard.press("Enter")


async def act(page: Page, person: Person, macro: Command) -> None:
    """Choose a macro by keyboard as soon as it can begin; wait until one is asked again."""
    before = await person.step()
    wanted = macro if list(macro) in [list(one) for one in await person.offered()] else ("wait", "1")
    done = json.dumps(list(wanted), separators=(",", ":"))
    await page.evaluate(
        "value => document.querySelector('[data-play]').choosing.radioOf(value).focus()", done
    )
    await page.keyboard.press("Space")
    if await person.step() == before and await page.get_attribute("#bar", "data-phase") == "choose":
        await page.keyboard.press("Enter")
    await page.wait_for_selector(
        f"#bar[data-phase=choose]:not([data-step='{before}']), #bar[data-phase=over]", timeout=60_000
    )
    if wanted != macro and await page.get_attribute("#bar", "data-phase") != "over":
        await act(page, person, macro)


async def test_a_chef_asks_by_keyboard_and_delivers_a_soup(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, pair = Person(page), references(SOUP)[0]
    await page.set_viewport_size({"width": 1280, "height": 900})
    await person.enter(entered(live_stack, tmp_path, SOUP, seat=0))
    assert "Cook in the pot: baked pumpkin slices" in await page.inner_text("#score")
    for unit in pair.units:
        for macro in unit:
            await pick_by_keyboard(page, macro)
        assert await page.locator("[data-request-list] li").count() == len(unit)
        before = await page.locator(".said:not(.is-yours)").count()
        await page.focus("#ask-text")
        await page.keyboard.type("Please.")
        await page.keyboard.press("Enter")
        await page.wait_for_selector(f".said:not(.is-yours) >> nth={before}")
        assert await page.locator("[data-request-list] li").count() == 0
        assert await person.step() == 0, "the answer came within the step"
    assert await page.locator(".request-card.is-yours").count() == 2
    for macro in pair.chef:
        await act(page, person, macro)
        if macro[0] == "bake":
            await page.evaluate("document.querySelector('.col-scene').scrollTop = 0")
            await picture(page, "chef-1280")
    assert await page.get_attribute("#bar", "data-phase") == "over"
    assert person.problems == []


@pytest.mark.nightly
async def test_an_assistant_accepts_requests_by_touch_on_a_phone(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, base_url=live_stack.url
    )
    page = await context.new_page()
    person = Person(page)
    await person.enter(entered(live_stack, tmp_path, SOUP, seat=1))
    await picture(page, "assistant-390-start")
    assert "You do not have the recipe" in await page.inner_text("#score")
    while await page.get_attribute("#bar", "data-phase") != "over":
        await page.wait_for_selector("#bar[data-phase=choose], #bar[data-phase=over]", timeout=60_000)
        before = await person.step()
        accept = page.locator("[data-accept]:not(:disabled)").first
        fold = page.locator("[data-fold=show-actions][aria-expanded=true]")
        if await fold.count():
            await fold.tap()
        if "You do not have to choose" in await page.inner_text("#menu"):
            pass  # a wait goes on by itself
        elif await accept.count():
            await accept.tap()
            await picture(page, "assistant-390")
            await page.tap("#menu [data-submit]")
        elif await page.get_attribute("#bar", "data-phase") == "choose":
            await person.send(("wait", "1"))
        await page.wait_for_selector(
            f"#bar:not([data-step='{before}'])[data-phase=choose], #bar[data-phase=over]", timeout=60_000
        )
    assert await page.evaluate("document.documentElement.scrollWidth <= 390")
    assert person.problems == []
    await context.close()


@pytest.mark.nightly
async def test_the_page_fits_every_width(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    person = Person(page)
    await person.enter(entered(live_stack, tmp_path, "boiled_egg", seat=0))
    await page.evaluate(SCRIPT)
    for width in (360, 390, 768, 1024, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await page.evaluate(f"document.documentElement.scrollWidth <= {width}"), width
        assert await page.evaluate(f"fitting.small({TARGET}, {TEXT})") == [], width
        await picture(page, f"chef-{width}")
