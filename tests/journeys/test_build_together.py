"""Two people and an agent build a small blueprint in two browsers; alone, a person gathers fifty logs by
mouse."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.person import Person, enter_loaded, new_slug
from tests.journeys.test_blocks_map import OVER, PIXEL, STUDY, enter, shot, won
from tests.journeys.test_two_people_in_one_episode import TOGETHER, arrive
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER

ROW = """{ inventories = "by_material", own_blueprint = '''
legend = { s = "stone", g = "glass", p = "oak_planks" }
levels = [["sgp"]]''' }"""
PLACED = """
from kitchen.play.models import Episode
episode = Episode.objects.filter(rounds__participant__study__slug="{slug}").distinct().get()
events = [event for step in episode.steps.all() for event in step.events if event["kind"] == "done"]
print(sorted((event["seat"], event["macro"][1]) for event in events), episode.score["score"])
"""


async def test_two_people_and_an_agent_each_place_what_only_they_hold(
    page: Page, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug, file = new_slug(), tmp_path / "row.toml"
    text = STUDY.format(
        slug=slug, world="blocks_construction", settings=ROW, coplayer="blocks_planner", teammates=2
    )
    file.write_text(text.replace("[[items]]", f"{TOGETHER}[[items]]"))
    first, second = enter_loaded(live_stack, file, slug, people=2, page="guide")
    context = await browser.new_context(base_url=live_stack.url)
    try:
        other = Person(await context.new_page())
        await arrive(person := Person(page), first)
        await arrive(other, second)
        await other.connected()
        await person.connected()
        await shot(page, "together")
        for builder, cell in ((person, [-0.4, -0.4]), (other, [-1, -0.4])):
            await builder.page.mouse.click(*await builder.page.evaluate(PIXEL, cell))
        await won(person)
        await won(other)
    finally:
        await context.close()
    said = live_stack.manage("shell", "-c", PLACED.format(slug=slug))
    assert said.strip().endswith("[(0, 'stone'), (1, 'glass'), (2, 'oak_planks')] 100.0")


async def test_by_mouse_fifty_logs_are_gathered_with_one_choice(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = await enter(page, live_stack, tmp_path, "blocks_gather", '{ task = "50_logs" }')
    await shot(page, "gather")
    await page.click("[data-spot=oak_log]")
    await shot(page, "gather-menu")
    await page.fill("[data-spot-menu] input", "50")
    await page.click("[data-spot-menu] >> text=Collect: oak log")
    await page.wait_for_selector(OVER, timeout=180_000)  # the page shows each of some 180 steps
    await won(person)
