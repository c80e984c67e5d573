"""The whole way with every part and every kind of item, as people walk it: with mistakes, by keyboard, in two
browsers; and what a page does when nobody is there any more."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person
from tests.servers import Stack

pytestmark = IN_A_BROWSER

STUDY = """
slug = "{slug}"
title = "Every part"
seed = 5
recruitment = "label"
idle_warning_minutes = 10
idle_minutes = 60
[world]
kind = "cuisine"
settings = {{ level = "level_0", alpha = 2.0, beta = 2.5, max_steps = 2 }}
[parts.welcome]
text = "A small kitchen."
[parts.consent]
text = "What is recorded."
settings = {{ statements = ["I have read this.", "I take part of my own free will."] }}
[parts.about]
[parts.practice.settings.kitchen.settings]
level = "level_0"
alpha = 2.0
beta = 2.5
max_steps = 2
[parts.check]
settings = {{ attempts = 2, on_failure = "end" }}
[parts.final]
[parts.debriefing]
text = "It was about teams."
[[conditions]]
key = "one"
name = "One"
label = "Team A"
[[conditions]]
key = "two"
name = "Two"
label = "Team B"
[[items]]
key = "age"
place = "about"
kind = "number"
measure = "Age"
text = "How old are you?"
minimum = 1
maximum = 120
[[items]]
key = "skill"
place = "about"
kind = "slider"
measure = "Skill"
text = "How well do you cook?"
minimum = 0
maximum = 100
low = "Not at all"
high = "Very well"
required = false
[[items]]
key = "order"
place = "about"
kind = "ranking"
measure = "Order"
text = "What matters in a kitchen?"
options = ["speed", "calm", "taste"]
shuffled = true
required = false
[[items]]
key = "tools"
place = "about"
kind = "best_worst"
measure = "Tools"
text = "Which tools do you like?"
options = ["knife", "pan", "mixer"]
required = false
[[items]]
key = "since"
place = "about"
kind = "date"
measure = "Since"
text = "When did you begin to cook?"
required = false
[[items]]
key = "dishes"
place = "about"
kind = "texts"
measure = "Dishes"
text = "Which dishes?"
options = ["on workdays", "on Sundays"]
required = false
[[items]]
key = "hurry"
place = "about"
measure = "Hurry"
text = "I often cook in a hurry."
table = "At home"
required = false
[[items]]
key = "alone"
place = "about"
measure = "Alone"
text = "I like to cook alone."
table = "At home"
required = false
[[items]]
key = "sure"
place = "check"
kind = "single"
measure = "Sure"
text = "Is the kitchen small?"
options = ["yes", "no"]
correct = "yes"
[[items]]
key = "trust"
measure = "Trust"
text = "I trusted them."
points = 11
[[items]]
key = "good"
kind = "multiple"
measure = "Good"
text = "What was good?"
options = ["food", "pace", "people"]
[[items]]
key = "load"
kind = "number"
measure = "Load"
text = "How demanding was it?"
[[items]]
key = "why"
kind = "text"
measure = "Why"
text = "Why?"
[[items]]
key = "again"
place = "final"
kind = "team"
measure = "Again"
text = "Which team again?"
[[pages]]
key = "rest"
before = "guide"
title = "Before the game"
text = "You are **{{answer:age}}** years old."
[[pages]]
key = "young"
before = "final"
title = "For children"
show_if = {{ match = "all", rules = [{{ what = "answer:age", compares = "at_most", value = "17" }}] }}
[[outcomes]]
kind = "no_consent"
code = "NOTME"
url = "https://example.org/back?cc={{code}}"
[[outcomes]]
kind = "timed_out"
code = "SLOW"
"""
WENT_BY = """
from datetime import timedelta
from django.utils.timezone import now
from kitchen.uptime.outage_queries import lost_seconds
from study.participants.models import Participant
for person in Participant.objects.filter(study__slug="{slug}"):
    then = person.active_at - timedelta(minutes={minutes})
    person.active_at = then - timedelta(seconds=lost_seconds(then, now()))
    person.save(update_fields=["active_at"])
"""
"""What was away meanwhile counts for nobody, and other tests kill here."""
SUBMIT = "main form:not([method=dialog]) button[type=submit]"
PATIENCE = 30_000
"""Milliseconds, however busy the machine is."""


@pytest.fixture
def slug(live_stack: Stack, tmp_path: Path) -> str:
    name = f"whole-{secrets.token_hex(3)}"
    file = tmp_path / "whole.toml"
    file.write_text(STUDY.format(slug=name))
    live_stack.manage("load_study", str(file))
    return name


async def at(page: Page, kind: str) -> None:
    """Wait until this kind of page is on, and its scripts are."""
    await page.wait_for_selector(f"main[data-page={kind}]")
    await page.wait_for_load_state()


async def cook(person: Person) -> None:
    """Wait out every step, then on."""
    await person.connected()
    while await person.page.get_attribute("#bar", "data-phase") != "over":
        await person.play_step(["noop"])
    await person.page.click(".over-continue a")


async def begin(page: Page, slug: str, label: str) -> None:
    await page.goto(f"/s/{slug}/?label={label}")
    await page.click(SUBMIT)
    await at(page, "consent")


async def agree(page: Page) -> None:
    for number in (0, 1):
        await page.check(f"[name=agree_{number}]")
    await page.click(SUBMIT)
    await at(page, "about")


@pytest.mark.nightly  # axe opens each page, as it is and as it complains; test_acceptance walks all parts
async def test_every_part_and_kind_of_item_with_mistakes_and_in_two_browsers(
    page: Page, browser: Browser, live_stack: Stack, slug: str
) -> None:
    await page.set_viewport_size({"width": 360, "height": 740})
    await begin(page, slug, "w1")
    await consent_by_keyboard(page)
    await about_with_a_mistake(page)
    await at(page, "own")
    assert "You are 30 years old." in await page.inner_text("main")
    await page.click(SUBMIT)
    await at(page, "guide")
    await page.click(SUBMIT)
    person = Person(page)
    await person.connected()
    assert "Try this: " in await page.inner_text("#hint")
    hinted = json.loads(await page.get_attribute("#hint", "data-try") or "[]")
    assert await page.get_attribute("[data-spot][data-hinted]", "data-spot") == hinted[1]
    await cook(person)
    await at(page, "practice")
    await page.click(SUBMIT)
    await check_failed_once(page)
    await person.connected()
    await person.play_step(["noop"])
    context = await browser.new_context(base_url=live_stack.url)
    context.set_default_timeout(20_000)
    other = Person(await context.new_page())
    await other.page.goto(page.url)
    await other.connected()
    assert (other.page.url, await other.step()) == (page.url, 1)
    await cook(other)
    await survey_with_a_reload(other.page)
    await other.connected()
    await cook(other)
    await answer(other.page)
    await other.page.check("[name=item_again] >> nth=1")
    await other.page.click(SUBMIT)
    await at(other.page, "debriefing")
    await other.page.click(SUBMIT)
    await at(other.page, "end")
    assert len(await other.page.inner_text("#completion-code")) == 8
    await leave(other.page)
    assert (await page.goto(page.url) or pytest.fail("no answer")).status == 404
    assert [one for one in (*person.problems, *other.problems) if "422" not in one and "404" not in one] == []
    await context.close()


async def consent_by_keyboard(page: Page) -> None:
    await page.focus("[name=agree_0]")
    await page.keyboard.press("Space")
    await page.reload()
    assert await page.is_checked("[name=agree_0]")
    await page.focus("[name=agree_0]")
    await page.keyboard.press("Enter")
    await expect(page.locator("[data-error-summary]")).to_be_focused(timeout=PATIENCE)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("[name=agree_1]")).to_be_focused(timeout=PATIENCE)
    await page.keyboard.press("Space")
    await page.keyboard.press("Enter")
    await at(page, "about")


async def about_with_a_mistake(page: Page) -> None:
    await page.fill("[name=item_age]", "0")
    await move_the_slider(page)
    await page.select_option("[name='item_tools_.1']", "pan")
    await page.select_option("[name='item_tools_.2']", "pan")
    await page.fill("[name=item_since]", "2001-02-03")
    await page.check("[name=item_hurry][value='4']")
    await page.reload()
    assert await page.input_value("[name=item_skill]") == "51"
    await page.click(SUBMIT)
    assert "two different ones" in await page.inner_text(".best_worst .field-error")
    await page.select_option("[name='item_tools_.2']", "knife")
    assert await page.input_value("[name=item_since]") == "2001-02-03"
    assert "at least 1" in await page.inner_text(".number .field-error")
    await page.fill("[name=item_age]", "30")
    await page.click(SUBMIT)


async def move_the_slider(page: Page) -> None:
    """By its first click, which counts where it was, and by keyboard. It has no answer before."""
    slider = page.get_by_label("How well do you cook?")
    assert await page.input_value("[name=item_skill]") == ""
    assert await slider.get_attribute("aria-valuetext") == "not answered yet"
    await slider.click()
    assert await page.input_value("[name=item_skill]") == "50"
    await slider.press("ArrowRight")
    assert await page.input_value("[name=item_skill]") == "51"


async def check_failed_once(page: Page) -> None:
    await at(page, "check")
    await page.check("[name=item_sure][value=no]")
    await page.click(SUBMIT)
    await page.wait_for_selector("text=Some answers were not correct")
    await page.click("[data-open=guide-dialog]")
    await page.wait_for_selector("dialog[open] >> text=How to win")
    await page.keyboard.press("Escape")
    await page.check("[name=item_sure][value=yes]")
    await page.click(SUBMIT)
    await at(page, "play")


async def survey_with_a_reload(page: Page) -> None:
    await at(page, "survey")
    for value in ("food", "people"):
        await page.check(f"[name=item_good][value={value}]")
    await page.fill("[name=item_load]", "2.5")
    await page.fill("[name=item_why]", "Because.\nTwo lines.")
    await page.check("[name=item_trust][value='11']")
    await page.uncheck("[name=item_good][value=food]")
    await page.reload()
    ticked = await page.eval_on_selector_all("[name=item_good]:checked", "all => all.map(one => one.value)")
    assert ticked == ["people"]
    assert await page.input_value("[name=item_load]") == "2.5"
    assert await page.input_value("[name=item_why]") == "Because.\nTwo lines."
    assert await page.is_checked("[name=item_trust][value='11']")
    assert "Part 7 of 11" in await page.inner_text(".site-header")
    await page.click(SUBMIT)


async def answer(page: Page) -> None:
    await at(page, "survey")
    assert await page.input_value("[name=item_why]") == ""
    await page.check("[name=item_good][value=food]")
    await page.fill("[name=item_load]", "1")
    await page.fill("[name=item_why]", "So.")
    await page.check("[name=item_trust][value='1']")
    await page.click(SUBMIT)
    await at(page, "final")


async def leave(page: Page) -> None:
    await page.click("text=Leave the study")
    await page.click("text=Leave and erase my data")
    await at(page, "withdrawn")
    receipt = await page.inner_text("#receipt-code")
    assert re.fullmatch(r"[\w-]+:\d{8}T\d{6}Z:[0-9a-f]{6}:\S{43}", receipt)


async def test_who_does_not_agree_gets_the_code_for_it_and_the_way_back(page: Page, slug: str) -> None:
    await begin(page, slug, "w2")
    await page.click("text=I do not agree")
    await at(page, "end")
    assert await page.inner_text("#completion-code") == "NOTME"
    assert await page.get_attribute("main a.button", "href") == "https://example.org/back?cc=NOTME"


async def test_a_page_asks_whether_somebody_is_there_and_leads_on_when_nobody_is(
    page: Page, live_stack: Stack, slug: str
) -> None:
    await page.clock.install()
    await begin(page, slug, "w3")
    await agree(page)
    await move_the_slider(page)
    await page.fill("[name=item_age]", "30")
    live_stack.manage("shell", "-c", WENT_BY.format(slug=slug, minutes=15))
    await page.clock.fast_forward("15:00")
    await expect(page.locator("[data-idle-here]")).to_be_focused(timeout=PATIENCE)
    told = await page.inner_text("#idle")
    assert re.search(r"about 4[5-9] min", told)
    await page.keyboard.press("Enter")
    await expect(page.locator("#idle")).to_be_hidden(timeout=PATIENCE)
    await expect(page.locator("[name=item_age]")).to_be_focused(timeout=PATIENCE)
    live_stack.manage("shell", "-c", WENT_BY.format(slug=slug, minutes=65))
    await page.clock.fast_forward("01:05:00")
    await at(page, "end")
    assert "SLOW" in await page.inner_text("main")


async def test_the_kitchen_asks_too_and_closes(page: Page, live_stack: Stack, slug: str) -> None:
    await page.clock.install()
    await begin(page, slug, "w4")
    await agree(page)
    await page.click(SUBMIT + " >> nth=0")
    await at(page, "about")
    await page.fill("[name=item_age]", "30")
    await page.click(SUBMIT)
    await at(page, "own")
    await page.click(SUBMIT)
    await at(page, "guide")
    await page.click(SUBMIT)
    await Person(page).connected()
    live_stack.manage("shell", "-c", WENT_BY.format(slug=slug, minutes=15))
    await page.clock.fast_forward("15:00")
    await expect(page.locator("[data-idle-here]")).to_be_visible(timeout=PATIENCE)
    live_stack.manage("shell", "-c", WENT_BY.format(slug=slug, minutes=65))
    await page.clock.fast_forward("01:05:00")
    await at(page, "end")
    assert "SLOW" in await page.inner_text("main")
