"""On a phone, the list of all actions is a sheet over the foot of the page. It leaves the world in sight."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.grids import write_grid
from tests.journeys.person import Person, condition, enter_loaded, new_slug, write_study
from tests.journeys.test_blocks_map import STUDY as BLOCKS
from tests.journeys.test_two_rooms import SOUP
from tests.journeys.test_two_rooms import entered as enter_two_rooms
from tests.journeys.uncovered import covered
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER

PHONES = {390: 844, 360: 740}
PRACTICE = '[parts.practice]\ntext = "Try it."\n'
PREVIEW = """
from study.participants.models import Participant
Participant.objects.filter(study__slug="{slug}").update(preview=True)
"""
SHEETS = {
    "preview with a clock": True,
    "kitchen with plans": True,
    "kitchen in words": True,
    "practice": True,
    "map": True,
    "map in words": False,
    "grid": False,
    "two rooms": False,
}
"""For each view of a world: whether a phone has a button that opens the list of all actions."""


def enter(stack: Stack, folder: Path, name: str) -> str:
    """Create a participant in the world of this name, and return the address."""
    if name == "two rooms":
        return enter_two_rooms(stack, folder, SOUP, people=[0])[0]
    if name == "grid":
        return enter_loaded(stack, *write_grid(folder, "ticks = 40"))[0]
    slug, more = new_slug(), "\nshown = 'tables'\n" if "in words" in name else "\n"
    if name.startswith("map"):
        text = BLOCKS.format(
            slug=slug, world="blocks_kitchen", settings="{ steps = 20 }", coplayer="none", teammates=0
        )
        (folder / "map.toml").write_text(text.replace("[[items]]", f"{more}[[items]]"))
        return enter_loaded(stack, folder / "map.toml", slug)[0]
    more += "offers_plans = true\n" if "plans" in name else ""
    more += "step_seconds = 600\n" if "clock" in name else ""
    practice = PRACTICE if name == "practice" else ""
    file = write_study(folder, slug, practice + condition("sheet", "follower", 2) + more, steps=40)
    address = enter_loaded(stack, file, slug, page="practice" if practice else "play")[0]
    if "preview" in name:
        stack.manage("shell", "-v", "0", "-c", PREVIEW.format(slug=slug))
    return address


@pytest.mark.parametrize("name", SHEETS)
async def test_an_open_list_of_actions_leaves_the_world_in_sight(
    page: Page, live_stack: Stack, tmp_path: Path, name: str
) -> None:
    person, found = Person(page), list[str]()
    await page.set_viewport_size({"width": 390, "height": 844})
    await person.enter(enter(live_stack, tmp_path, name))
    await page.wait_for_selector("#menu [data-submit]", state="attached")
    found += await covered(page, f"{name}-closed", PHONES)
    fold = page.locator("[data-fold=show-actions]")
    assert await fold.is_visible() == SHEETS[name]
    for width, height in PHONES.items() if SHEETS[name] else ():
        await page.set_viewport_size({"width": width, "height": height})
        await fold.click()
        found += await covered(page, f"{name}-open", {width: height})
        await page.locator(".plan-slot summary").click() if "plans" in name else None
        found += await covered(page, f"{name}-plan", {width: height}) if "plans" in name else []
        await fold.click()
    assert (found, person.problems) == ([], [])
