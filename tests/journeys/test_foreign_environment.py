"""A person plays environments of others in a browser to their ends: one by turns, one by a clock."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.person import Person, enter_loaded, new_slug
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER

STUDY = """slug = "{slug}"
title = "Environment"
seed = 5
[world]
kind = "{world}"
[parts.consent]
text = "I agree."
[[conditions]]
key = "a"
name = "a"
label = "Team A"
coplayer = "random"
teammates = 1
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""
PICTURE = "[data-frame]:not([hidden])"
IS_COVERED = """() => document.querySelector("[data-frame]").getBoundingClientRect().bottom
    > document.querySelector("#in-words").getBoundingClientRect().top + 1"""
"""Whether the picture lies on its description."""
REPLAYED = """
from kitchen.play.models import Episode
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import replay_faults
(record,) = read_episode_records(Episode.objects.filter(rounds__participant__study__slug="{slug}"))
print(record.episode.status, record.episode.step, list(replay_faults(record)))
"""


async def enter(page: Page, stack: Stack, folder: Path, world: str) -> tuple[Person, str]:
    slug, file = new_slug(), folder / f"{world}.toml"
    file.write_text(STUDY.format(slug=slug, world=world))
    (address,) = enter_loaded(stack, file, slug)
    person = Person(page)
    await page.goto(address)
    await page.wait_for_selector(PICTURE, timeout=60_000)
    return person, slug


async def test_tic_tac_toe_is_played_by_turns_and_told_in_words(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, slug = await enter(page, live_stack, tmp_path, "pettingzoo_tictactoe")
    await page.keyboard.press("s")
    await page.click("#in-words summary")
    await page.wait_for_selector("#state-description :text('Middle row') + :text('cross')")
    assert await page.get_attribute(PICTURE, "aria-describedby") == "state-description"
    assert await page.evaluate(IS_COVERED) is False
    assert await violations(page, "an environment") == []
    while not await page.locator("#bar[data-phase=over]").count():
        if await page.locator("#bar[data-phase=choose]").count():
            await page.locator("#menu label.action").first.click()
        await page.wait_for_timeout(200)
    said = live_stack.manage("shell", "-v", "0", "-c", REPLAYED.format(slug=slug))
    assert said.startswith("over") and said.strip().endswith("[]")
    assert person.problems == []


async def test_pong_is_played_by_a_clock(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    live_stack.start_ticker()
    person, slug = await enter(page, live_stack, tmp_path, "pettingzoo_pong")
    sources = set()
    while not await page.locator("#over *").count():
        await page.keyboard.press("ArrowUp")
        sources.add(await page.get_attribute("[data-frame]", "src"))
        await page.wait_for_timeout(100)
    assert len(sources) > 3
    said = live_stack.manage("shell", "-v", "0", "-c", REPLAYED.format(slug=slug))
    assert said.startswith("over") and said.strip().endswith("[]")
    assert person.problems == []
