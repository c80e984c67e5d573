"""A page that sends without end: it is closed, says so in plain words, and comes back by itself."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from tests.browser import IN_A_BROWSER
from tests.journeys.test_page_updates import alone
from tests.servers import Stack

pytestmark = IN_A_BROWSER

WITHIN_REACH = """
    const Real = WebSocket;
    window.WebSocket = class extends Real {
      constructor(...given) {
        super(...given);
        if (window.shutAt) window.away.push(Date.now() - window.shutAt);
        window.line = this;
        this.addEventListener("close", (event) => { if (event.code === 4429) window.shutAt = Date.now(); });
      }
    };
    window.away = [];
    window.told = false;
    new MutationObserver(() => {
      const said = document.getElementById("connection")?.textContent ?? "";
      window.told ||= said.includes("This page sent too much at once. Nothing is lost");
    }).observe(document, { subtree: true, childList: true, characterData: true });
"""
"""The page's websocket can be used by others. `away` has the milliseconds after which it connects anew.
`told` is true once the page has said what happened; a busy page may connect again before anybody looks."""
FLOOD = """() => { for (let message = 0; message < 600; message++) line.send('{"type": "sync"}'); }"""


async def test_the_reader_is_told_and_the_page_connects_again(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.add_init_script(WITHIN_REACH)
    person = await alone(page, live_stack, tmp_path)
    await page.evaluate(FLOOD)
    while not await page.evaluate("told"):
        await page.wait_for_timeout(20)
    await person.connected()
    assert (await page.evaluate("away"))[0] < 2000  # 400 to 800 on an idle machine
    assert await person.play_step(["noop"]) == 1
