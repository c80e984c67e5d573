"""Somebody takes part in a language of their own, and changes it in the middle of play."""

from __future__ import annotations

import secrets
from pathlib import Path

from playwright.async_api import Browser, Page

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.person import Person, condition, load_study
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # tests/study/participation/test_every_word has every page by request

SUBMIT = "[data-submit]"


async def spoken(page: Page) -> str:
    return str(await page.evaluate("document.documentElement.lang"))


async def test_from_the_welcome_to_play_in_spanish_and_on_in_chinese(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = f"journey-{secrets.token_hex(3)}"
    load_study(
        live_stack, tmp_path, slug, condition("alone"), steps=9, more='languages = ["en", "es", "zh-hans"]'
    )
    context = await browser.new_context(base_url=live_stack.url, locale="es-ES")
    page = await context.new_page()
    person = Person(page)
    await person.agree(slug)
    assert await spoken(page) == "es"
    assert await page.inner_text("h1") == "Cómo se juega"
    await person.read_guide()
    assert "Te toca" in await page.inner_text("#phase")
    assert await page.inner_text(SUBMIT) == "Pulsa una acción: se hace enseguida"
    assert await person.play_step(["goto", "storage0"]) == 1
    assert "Paso 2 de 9" in await page.inner_text("#bar")
    await page.click("[data-open=guide-dialog]")
    await page.click("dialog[open] .languages button[lang=zh-hans]")
    await person.connected()
    assert await spoken(page) == "zh-hans"
    assert await person.step() == 1
    assert (await page.inner_text(SUBMIT)).startswith("按一个操作")
    assert await person.play_step(["noop"]) == 2
    assert "第3步" in await page.inner_text("#bar")
    assert "轮到你了" in await page.inner_text("#phase")
    await page.context.set_offline(True)
    await page.wait_for_selector("#connection[data-state=offline]")
    assert "你已离线" in await page.inner_text("#connection")
    assert await page.inner_text(SUBMIT) == "未连接"
    assert person.problems == []
