"""A person wins a small game of blocks on the drawn map: by mouse, by keyboard alone, and by touch.

By mouse, fifty logs are gathered in `test_build_together.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER, SHOTS
from tests.journeys.axe import violations
from tests.journeys.person import ARROWS, Person, enter_loaded, new_slug
from tests.servers import Stack

pytestmark = IN_A_BROWSER

STUDY = """slug = "{slug}"
title = "Blocks"
seed = 5
[world]
kind = "{world}"
settings = {settings}
[parts.consent]
text = "I agree."
[[conditions]]
key = "one"
name = "one"
label = "Blocks"
coplayer = "{coplayer}"
teammates = {teammates}
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""
WALL = """{ own_blueprint = '''legend = { s = "stone", g = "glass" }
levels = [["sg"]]''' }"""
PIXEL = """([x, y]) => {
    const own = document.querySelector(".is-you").getBoundingClientRect();
    const cell = Number(document.querySelector("[data-map]").dataset.cell);
    const angled = document.querySelector("[data-map]").hasAttribute("data-angled");
    const [right, down] = angled ? [(x - y) * 0.6, (x + y) * 0.35 + 0.3] : [x, y];
    return [own.left + own.width / 2 + right * cell, own.top + own.height / 2 + down * cell];
}"""
"""What is so many columns and rows from the own builder, on the floor: at an angle or from above."""
BESIDE = ([-0.39, 0.11], [0.14, -0.86])
"""Places on the ghosts of the two blocks of the wall, of which the second one is in front."""
FLOOR = ([0.0, 0.0], [1.0, 0.0])
"""The floor of the two cells."""
FOCUSED = "document.activeElement.dataset.spot || ''"
OVER = "#bar[data-phase=over]"


async def enter(
    page: Page, stack: Stack, folder: Path, world: str, settings: str, coplayer: str = "none"
) -> Person:
    """Somebody at the first step of such a game."""
    slug, file = new_slug(), folder / "blocks.toml"
    text = STUDY.format(
        slug=slug, world=world, settings=settings, coplayer=coplayer, teammates=int(coplayer != "none")
    )
    file.write_text(text)
    person = Person(page)
    await person.enter(enter_loaded(stack, file, slug)[0])
    return person


async def shot(page: Page, name: str) -> None:
    """A picture, where somebody wants to look at it."""
    if SHOTS:
        await page.screenshot(path=f"{SHOTS}/blocks-{name}.png")


async def won(person: Person) -> None:
    """The goal is reached, and nothing went wrong."""
    await person.page.wait_for_selector(OVER, timeout=60_000)
    assert await person.page.is_visible("#over")
    assert person.problems == []


async def test_by_mouse_each_missing_block_is_placed_with_one_click_on_its_cell(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await enter(page, live_stack, tmp_path, "blocks_construction", WALL)
    await shot(page, "mouse")
    before = [await page.evaluate(f"({PIXEL})([0, 0])[{axis}]") for axis in (0, 1)]
    await page.mouse.move(before[0] - 70, before[1] + 60)
    await page.mouse.down()
    await page.mouse.move(before[0] - 10, before[1] + 110, steps=4)
    await page.mouse.up()  # the map is dragged, and nothing is chosen
    await page.wait_for_function(f"({PIXEL})([0, 0])[0] > {before[0] + 40}")
    assert await page.is_hidden("[data-spot-menu]") and await person.step() == 0
    level = page.locator("[data-levels] output")
    assert await level.inner_text() == "1/1\nLevel 1 of 1" and await level.get_attribute("aria-label") is None
    await page.fill("#menu [data-amount]:has-text('Stay for some steps') input[type=number]", "60")
    await page.keyboard.press("Enter")  # refused in the page's own words
    await page.wait_for_selector("#menu >> text=Enter a number from 1 to 30. >> visible=true")
    assert await person.step() == 0
    await page.keyboard.type("1")  # takes the place of what was refused
    await page.wait_for_selector("#menu [data-limits]:visible", state="detached")
    await page.click("#menu [data-amount] .action >> text=Stay for some steps")
    await page.keyboard.press("Enter")  # sends an action with an amount that was clicked
    await person.stepped(1, patience=10_000)
    cells = [await page.evaluate(PIXEL, at) for at in BESIDE]
    for column, at in enumerate(cells):
        await page.mouse.click(*at)  # beside who stands there
        await person.stepped(column + 2, patience=10_000)
    await won(person)
    said = await page.inner_text("#over")
    assert said.startswith("The building stands as planned: 2 of 2 blocks") and "blocks as wanted\n2" in said
    assert await page.evaluate("document.activeElement.getAttribute('aria-describedby') === 'over'")


@pytest.mark.nightly
async def test_who_does_not_know_the_blueprint_places_what_a_partner_asks_for_cell_by_cell(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    settings = WALL.removesuffix(" }") + ', blueprint_blocked = "first" }'
    person = await enter(page, live_stack, tmp_path, "blocks_construction", settings)
    assert not await page.locator("#menu [value*=place]").count()
    while await page.evaluate(FOCUSED) != "site":
        await page.keyboard.press("Tab")
    await page.keyboard.press("Shift+ArrowRight")
    assert await page.inner_text("#stage-said") == "Place a block here: block 2 from the left"
    await page.keyboard.press("Enter")
    await page.click("[data-spot-menu] >> text=Place stone")
    await person.stepped(1)
    cells = [await page.evaluate(PIXEL, at) for at in FLOOR]
    wrong = await page.evaluate(PIXEL, BESIDE[1])
    await page.mouse.click(*wrong)
    await page.keyboard.press("Escape")  # it asks first
    assert await page.is_hidden("[data-spot-menu]") and await person.step() == 1
    await page.mouse.click(*wrong)
    await page.click("[data-spot-menu] >> text=Take it away: stone")
    await person.stepped(2)
    for column, item in enumerate(("stone", "glass")):
        await page.mouse.click(*cells[column])
        await page.click(f"[data-spot-menu] >> text=Place {item}")
        await person.stepped(3 + column)
    await won(person)


@pytest.mark.nightly
async def test_by_keyboard_alone_bread_is_made_from_the_field_and_the_workbench(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await enter(page, live_stack, tmp_path, "blocks_cooking", '{ targets = "bread" }')
    assert await violations(page, "a map") == []
    while await page.evaluate(FOCUSED) == "":
        await page.keyboard.press("Tab")

    async def choose(spot: str, words: str, amount: str = "") -> None:
        for _ in range(30):
            if (here := await page.evaluate(FOCUSED)) == spot:
                break
            await page.keyboard.press(await page.evaluate(ARROWS, [here, spot]))
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-spot-menu] button:focus")
        while words not in await page.evaluate("document.activeElement.textContent"):
            await page.keyboard.press("ArrowDown")
        if amount:
            await page.keyboard.press("Tab")
            await page.keyboard.type(amount)
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#bar[data-phase=choose], #bar[data-phase=over]", timeout=60_000)

    await choose("wheat", "Collect: wheat", "3")
    await page.locator("#known", has_text="got 3 wheat").wait_for(timeout=60_000)
    await shot(page, "keyboard")
    await choose("crafting_table", "Make: bread")
    await won(person)


@pytest.mark.nightly
async def test_by_touch_at_390_pixels_one_makes_what_a_partner_gives_the_parts_of(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    context = await browser.new_context(
        base_url=live_stack.url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = await context.new_page()
    task = '{ task = "craft_2_02_lime_wool" }'
    person = await enter(page, live_stack, tmp_path, "blocks_crafting", task, "blocks_planner")
    await shot(page, "touch")
    while not await page.locator("#menu [value*=lime_wool]").count():
        await page.tap("[data-wait-on]:not(:disabled)")  # one tap, until there is news
        await page.wait_for_selector("#partner-wait-why:not(:empty)")
    assert await person.step() >= 1
    await page.tap(".is-you")
    await shot(page, "touch-menu")
    await page.tap("[data-spot-menu] >> text=Make: lime wool")
    await won(person)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await context.close()


@pytest.mark.nightly
async def test_by_mouse_a_dish_is_cooked_by_a_builder_that_stands_on_what_it_uses(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await enter(page, live_stack, tmp_path, "blocks_kitchen", "{ interval = 20, steps = 10 }")
    ordered = await page.inner_text("#goals")
    animal, meat = ("chicken", "chicken") if "chicken" in ordered else ("sheep", "raw mutton")
    here = ".map-spot.is-you .seat"

    async def act(spot: str, words: str) -> None:
        step = await person.step()
        box = await page.locator(spot).bounding_box()
        assert box
        await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        choice = page.locator("[data-spot-menu] button", has_text=words)
        if await choice.count():
            await choice.click()
        await person.stepped(step + 1)

    await act("[data-spot=oak_log]", "Go to: oak log")
    await act(here, "Cut: oak log")
    await act(f"[data-spot={animal}]", f"Go to: {animal}")
    await act(here, f"Hunt: {animal}")
    await act("[data-spot=furnace]", "Go to: furnace")
    await act(here, "Put fuel into the furnace: oak log")
    await shot(page, "kitchen")
    await act(here, f"Put food into the furnace: {meat}")
    await act(here, "Take everything out")
    await act("[data-spot=chest]", "Go to: chest")
    await act(here, "Put all of it into the chest")
    await won(person)
    assert "order completed\n1" in await page.inner_text("#over")


@pytest.mark.nightly
async def test_by_mouse_an_item_is_made_after_a_partner_gave_the_part_that_is_missing(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    task = '{ task = "craft_2_02_lime_wool" }'
    person = await enter(page, live_stack, tmp_path, "blocks_crafting", task, "blocks_planner")
    while not await page.locator("#menu [value*=lime_wool]").count():
        step = await person.step()
        await page.mouse.click(*await page.evaluate(PIXEL, [0, 0]))
        await page.click("[data-spot-menu] >> text=Wait one step")
        await person.stepped(step + 1)
    await page.mouse.click(*await page.evaluate(PIXEL, [0, 0]))
    await shot(page, "crafting")
    await page.click("[data-spot-menu] >> text=Make: lime wool")
    await won(person)


@pytest.mark.nightly
async def test_by_mouse_bread_is_made_from_wheat_that_is_collected_first(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await enter(page, live_stack, tmp_path, "blocks_cooking", '{ targets = "bread" }')
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.click("[data-spot=wheat]")
    await page.click("[data-spot-menu] >> text=All in sight: 36")
    assert await page.input_value("[data-spot-menu] input") == "36"
    await page.fill("[data-spot-menu] input", "3")
    await shot(page, "cooking")
    await page.click("[data-spot-menu] >> text=Collect: wheat")
    await page.locator("#known", has_text="got 3 wheat").wait_for(timeout=60_000)
    await page.click("[data-spot=crafting_table]")
    await page.click("[data-spot-menu] >> text=Make: bread")
    await won(person)
