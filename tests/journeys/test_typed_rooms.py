"""A chef of Collab-Overcooked who types plans and requests in a real browser, beside the stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from kitchen.worlds.collab_overcooked.reference_trajectories import references
from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person, enter_loaded, new_slug
from tests.journeys.test_two_rooms import STUDY, picture
from tests.servers import Stack

pytestmark = [*IN_A_BROWSER, pytest.mark.nightly]
TASK, PLAN, ASKED = "boiled_egg", "#plan-typed", "#ask-typed"


async def send(page: Page, box: str, *lines: str) -> None:
    """Type these lines and press the button of their form."""
    await page.fill(box, "\n".join(lines))
    await page.locator(f"form:has({box}) button:not([type=button]):visible").click()


async def test_a_chef_types_requests_and_plans_and_delivers(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, (pair, *_) = Person(page), references(TASK)
    file, slug = tmp_path / "typed.toml", new_slug()
    study = STUDY.format(slug=slug, task=TASK, people=[0], practice="", one_press="false")
    file.write_text(study.replace("gamma = 3.0", "gamma = 3.0, typed = true"))
    await page.set_viewport_size({"width": 1280, "height": 900})
    await person.enter(enter_loaded(live_stack, file, slug)[0])
    assert await page.locator("[data-macro-picker], #menu [data-submit]:visible").count() == 0
    await send(page, ASKED, "cook(pot0)")
    await page.wait_for_selector("#notice:has-text('this is an action of the other cook')")
    assert await page.input_value(ASKED) == "cook(pot0)", "what was refused stays in its box"
    await send(page, ASKED, *(f"request({macro[0]}({', '.join(macro[1:])}))" for macro in pair.assistant))
    await page.wait_for_selector(".said:not(.is-yours)")
    assert (
        await page.input_value(ASKED) == "" and await page.locator(".request-card.is-yours li").count() == 2
    )
    await send(page, PLAN, "deliver()")
    await page.wait_for_selector("#notice:has-text('hands are empty')")
    await picture(page, "typed-1280")
    assert await page.input_value(PLAN) == "deliver()" and await person.step() == 0
    left = [" ".join(macro) for macro in pair.chef]
    first = True
    while await page.get_attribute("#bar", "data-phase") != "over":
        before = await person.step()
        can = left[0].split() in [list(one) for one in await person.offered()] if left else False
        if can and first:
            await send(page, PLAN, *left[:3])
            left, first = left[3:], False
        else:
            await send(page, PLAN, left.pop(0) if can else "wait(2)")
        await page.wait_for_selector(
            f"#bar[data-phase=choose]:not([data-step='{before}']), #bar[data-phase=over]", timeout=60_000
        )
    assert not left and person.problems == []
