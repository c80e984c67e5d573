"""Processes of the server are exchanged one after the other while somebody plays: the page shows nothing."""

from __future__ import annotations

import signal
from pathlib import Path

from playwright.async_api import Page

from tests.browser import IN_A_BROWSER
from tests.journeys.test_page_updates import alone
from tests.servers import Stack, wait_until

pytestmark = IN_A_BROWSER

WATCHED = """
    const [Real, later] = [WebSocket, setTimeout];
    window.setTimeout = (act, wait) => later(act, wait === 1000 ? 60000 : wait);
    window.lines = 0;
    window.codes = [];
    window.WebSocket = class extends Real {
      constructor(...given) {
        super(...given);
        window.lines += 1;
        this.addEventListener("close", (event) => window.codes.push(event.code));
      }
    };
"""
"""How many websockets the page has opened, and with which codes they were closed. The second in which a page
is calm takes a minute: this machine may be busy."""
WORDS = """() => {
    const box = document.getElementById("connection");
    window.said = [];
    new MutationObserver(() => window.said.push(box.textContent.trim()))
      .observe(box, { subtree: true, childList: true, characterData: true, attributes: true });
}"""
"""What it says about its connection from now on."""


async def test_who_plays_is_taken_by_another_process_and_reads_nothing_of_it(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    await page.add_init_script(WATCHED)
    person = await alone(page, live_stack, tmp_path)
    await page.evaluate(WORDS)
    opened, ended = await page.evaluate("lines"), []
    for web in live_stack.webs:
        web.tell(signal.SIGTERM)
        assert web.process is not None
        ended.append(web.process.wait(30))
        if await page.evaluate("lines") > opened:
            break
        live_stack.restart()
        wait_until(lambda web=web: web.running, "it runs again")  # type: ignore[misc]
    await page.wait_for_function(f"lines > {opened}")
    assert await person.play_step(["noop"]) == 1
    assert set(ended) == {0}
    assert await page.evaluate("codes") == [1012]
    assert [text for text in await page.evaluate("said") if text != "Connected"] == []
