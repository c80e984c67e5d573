"""Two people and an agent build a small blueprint in two browsers. Alone, a person gathers fifty logs by
mouse. A person speaks to the agents of the kitchen, and they do what was said."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page, expect

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
        for builder, cell in ((person, [-0.39, 0.11]), (other, [-1.39, 0.11])):
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


SPEECH = """window.SpeechRecognition = window.webkitSpeechRecognition = class {
    start() { setTimeout(() => this.onresult({ results: [[{ transcript: "player 2, get wood" }]] })); }
    stop() { setTimeout(() => this.onend()); }
};"""
"""A browser that hears a sentence as long as somebody holds the button."""
VOICE = '[conditions.organisation]\nkind = "central"\nsettings = { talk = true, spoken = true }\n'
HEARD = """
from kitchen.play.models import Episode
episode = Episode.objects.filter(rounds__participant__study__slug="{slug}").get()
first = episode.sent.order_by("number").first()
print(first.text, first.data, *(one.command for one in episode.commands.filter(step=1, seat=1)))
"""


async def test_words_that_are_spoken_fill_the_message_and_the_agents_of_the_kitchen_follow_them(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.add_init_script(SPEECH)
    slug, file = new_slug(), tmp_path / "voice.toml"
    text = STUDY.format(
        slug=slug, world="blocks_kitchen", settings="{ steps = 2 }", coplayer="blocks_dispatcher", teammates=2
    )
    file.write_text(text.replace("[[items]]", f"{VOICE}[[items]]"))
    person = Person(page)
    await person.enter(enter_loaded(live_stack, file, slug)[0])
    for width, height in ((390, 844), (1440, 900)):
        await page.set_viewport_size({"width": width, "height": height})
        if await page.locator("#drawer").is_hidden():
            await page.click("[data-drawer-toggle]")
        await page.locator("[data-speak]").scroll_into_view_if_needed()
        await shot(page, f"voice-{width}")
    assert await page.input_value("#talk-text") == ""
    await page.hover("[data-speak]")
    await page.mouse.down()
    await page.wait_for_selector("[data-speak][aria-pressed=true]")
    await expect(page.locator("#talk-text")).to_have_value("player 2, get wood")
    await page.mouse.up()
    await page.wait_for_selector("[data-speak][aria-pressed=false]")
    assert await page.locator(".said").count() == 0, "nothing is sent before the person presses Send"
    await page.click("#talk-form [data-send]")
    await page.wait_for_selector(".said.is-yours")
    assert await person.play_step(["go_on"]) == 1
    await page.wait_for_selector(".said:not(.is-yours)")
    assert "Player 2 gets this: oak log." in await page.locator(".said:not(.is-yours)").first.inner_text()
    assert person.problems == []
    said = live_stack.manage("shell", "-c", HEARD.format(slug=slug))
    assert said.strip().endswith("player 2, get wood {'spoken': True} ['mineBlock', 'oak_log']")
