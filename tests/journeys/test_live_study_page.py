"""Staff watch while two synthetic participants play, and end an episode by the button."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER, SHOTS
from tests.journeys.person import Person, condition, load_study
from tests.servers import Stack

pytestmark = IN_A_BROWSER

MAKE_STAFF = """
from django.contrib.auth.models import User
User.objects.create_superuser("{name}", password="{password}")
"""


async def log_in(page: Page, stack: Stack) -> None:
    name, password = f"staff-{secrets.token_hex(3)}", secrets.token_hex(12)
    stack.manage("shell", "-c", MAKE_STAFF.format(name=name, password=password))
    await page.goto("/admin/login/?next=/staff/")
    await page.fill("input[name=username]", name)
    await page.fill("input[name=password]", password)
    await page.click("input[type=submit]")


async def picture(page: Page, name: str) -> None:
    for width in (360, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} px wide on {width} px"
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/{name}-{width}.png", full_page=True)


@pytest.mark.nightly  # `study/monitor` sends and draws the same without a browser
async def test_staff_see_who_is_where_without_reloading_and_end_an_episode(
    page: Page, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = f"journey-{secrets.token_hex(3)}"
    load_study(live_stack, tmp_path, slug, condition("one", "planner", 1), steps=6)
    staff = Person(page)
    await log_in(page, live_stack)
    await page.goto(f"/staff/{slug}/live/")
    await page.wait_for_selector("#connection[data-state=connected]")
    assert "Nobody takes part" in await page.inner_text("#live-rows")

    contexts = [await browser.new_context(base_url=live_stack.url) for _ in range(2)]
    people = [Person(await context.new_page()) for context in contexts]
    for person in people:
        await person.agree(slug)
        await person.read_guide()
    await page.wait_for_selector("#live-rows tr:nth-child(2)")
    assert "2 people taking part" in await page.inner_text("#live-summary")
    await asyncio.gather(*(person.play_step() for person in people))
    for row in (1, 2):
        await page.wait_for_selector(f"#live-rows tr:nth-child({row}) td:nth-child(4):has-text('1 of 6')")
    await picture(page, "live")

    await page.click("#live-rows tr:nth-child(1) a")
    await page.click("summary:has-text('End the episode')")
    form = "details[open] form"
    await page.fill(f"{form} input[name=reason]", "the journey wants it")
    await page.check(f"{form} input[name=sure]")
    await picture(page, "participant")
    await page.click(f"{form} button")
    await page.wait_for_selector("text=The episode is ended.")
    assert "the journey wants it" in await page.inner_text("main")
    newest = people[1]
    await newest.page.wait_for_selector("#bar[data-phase=over]")
    await newest.go_on()
    await newest.answer()
    await newest.page.wait_for_selector("text=Thank you")
    await page.goto(f"/staff/{slug}/participants/")
    assert "✓ complete" in await page.inner_text("table")
    await picture(page, "participants")
    assert staff.problems == []
    assert [person.problems for person in people] == [[], []]
    for context in contexts:
        await context.close()
