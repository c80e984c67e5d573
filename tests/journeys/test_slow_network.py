"""300 ms there and back, every fiftieth packet lost: what such a line carries, and what is said of it."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser

from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person, condition, enter_kitchen
from tests.journeys.slow_line import SlowLine
from tests.servers import Stack

pytestmark = IN_A_BROWSER

FIRST_PAGE = 214_000
STEP = 10_000
PHASE = """() => document.querySelector("#phase").innerText.trim()"""
BROKEN = "[object Event]"
"""What htmx notes of a websocket that the browser broke off."""
SAID = "#wait-said:not(:empty)"


async def test_a_slow_line_carries_the_page_and_each_step_and_a_dead_one_is_told(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    path = enter_kitchen(live_stack, tmp_path, condition("two", "planner", 2), steps=4)
    context = await browser.new_context()  # with nothing kept of any page
    slow = Person(await context.new_page())
    async with SlowLine(live_stack.url, round_trip=0.3, loss=0.02) as line:
        await slow.page.goto(line.url + path, wait_until="load")
        await slow.connected()
        await slow.page.evaluate("document.fonts.ready.then(() => true)")
        assert line.down < FIRST_PAGE
        print(f"the first page: {line.down} bytes")
        for _ in range(3):
            before = line.down
            await slow.play_step()
            assert line.down - before < STEP
            print(f"a step: {line.down - before} bytes")
        line.cut()
        await slow.send(slow.favourite(await slow.offered(), 3))
        await slow.page.wait_for_selector(SAID, state="attached")
        assert await slow.page.inner_text("#wait-said") == "Waiting for Robot 2, Robot 3"
        assert "Waiting for Robot 2, Robot 3" in await slow.page.evaluate(PHASE)
        await slow.page.wait_for_selector("#connection:has-text('Waiting for the connection')")
        await context.set_offline(True)
        await slow.page.wait_for_selector("#connection[data-state=offline]")
        await context.set_offline(False)
        line.mend()
        await slow.stepped(4)
        await slow.connected()
    assert {*slow.problems} <= {BROKEN}
