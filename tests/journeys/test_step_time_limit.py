"""A person with three seconds for each step."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.person import Person, condition, enter_kitchen
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # tests/kitchen/play/test_clock has the timer

SET_CLOCK = """
from kitchen.play.models import Episode
Episode.objects.filter(rounds__participant__key="{key}").update(step_seconds=3)
"""


async def test_a_person_who_is_too_slow_waits_and_the_kitchen_goes_on(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person = Person(page)
    await person.enter(enter_kitchen(live_stack, tmp_path, condition("one", "planner", 1), steps=5))
    await person.choose(["goto", "storage0"])
    live_stack.kill_daphne()
    await page.wait_for_selector("#connection:not([data-state=connected])")
    live_stack.restart()
    await person.connected()
    assert await page.is_checked('#menu input[value=\'["goto","storage0"]\']')
    assert await page.query_selector("#clock meter") is None
    live_stack.manage("shell", "-c", SET_CLOCK.format(key=page.url.rstrip("/").rsplit("/", 1)[-1]))
    await page.reload()
    await page.wait_for_selector("#clock meter")
    assert "s left" in await page.inner_text("#clock")
    await person.stepped(1)
    assert "You ran out of time and waited" in await page.inner_text("#happened")
    assert await person.play_step(["goto", "storage0"]) == 2
    live_stack.kill_worker()
    await page.wait_for_selector("text=Time is up")
    live_stack.restart()
    await page.wait_for_selector("#bar[data-phase=over]", timeout=60_000)
    assert await person.step() == 5
    assert person.problems == []
