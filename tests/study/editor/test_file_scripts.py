"""A form keeps the reason why a file was refused, and drops what was wrong before another check.

A stand-in for the page loads the two scripts, so that no app runs.
"""

from __future__ import annotations

from typing import Any

from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER
HOST = "http://localhost:9"
PAGE = """<!doctype html><div data-error-summary>Nothing was taken</div>
<form id="file-form" action="/sent"><div class="has-error"><p class="field-error">Taken</p>
<input id="slug" name="slug" aria-invalid="true"></div>
<input type="file" id="file" name="file" required data-most-bytes="3"><button>Upload</button></form>
<div id="file-report"></div>
<script src="/static/js/file_size.js"></script><script src="/static/js/file_check.js"></script>"""
CHECK = """const of = (name, detail) => {
  const event = new CustomEvent(name, { bubbles: true, cancelable: true, detail });
  return document.querySelector("button").dispatchEvent(event);
};
const may = of("htmx:configRequest", { elt: document.querySelector("button") });
const errors = () => document.querySelectorAll(
  "[data-error-summary], .has-error, [aria-invalid], .has-error .field-error").length;
const before = errors();
of("htmx:beforeRequest", { target: document.getElementById("file-report") });
return [may, before, errors()];"""


def chosen(text: str) -> Any:
    return {"name": "film.mp4", "mimeType": "video/mp4", "buffer": text.encode()}


async def test_a_refused_file_keeps_its_reason_and_a_new_check_drops_the_old_errors(browser: Any) -> None:
    page = await browser.new_page()
    await page.route(f"{HOST}/**", lambda route: route.fulfill(body="sent", content_type="text/html"))
    await page.route(f"{HOST}/", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    for name in ("file_size", "file_check"):
        path = f"static/js/{name}.js"
        await page.route(f"{HOST}/{path}", lambda route, _, path=path: route.fulfill(path=path))
    await page.goto(f"{HOST}/")
    await page.evaluate("document.forms[0].noValidate = true")
    await page.set_input_files("#file", chosen("large"))
    await page.click("button")
    assert "film.mp4 has" in await page.inner_text("#file-size") and page.url == f"{HOST}/"
    assert await page.evaluate(f"() => {{ {CHECK} }}") == [False, 5, 0]
    await page.set_input_files("#file", chosen("ok"))
    await page.click("button")
    await page.wait_for_url(f"{HOST}/sent*")
    await page.close()
