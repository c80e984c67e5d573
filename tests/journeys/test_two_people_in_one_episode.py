"""Two people and two robots, in two browsers: they meet in the lobby, one leaves, and the other goes on."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.person import Person, condition, enter_loaded, new_slug, write_study
from tests.servers import Stack

pytestmark = IN_A_BROWSER

TOGETHER = '[conditions.organisation]\nkind = "pairwise"\npeople = [0, 1]\n'
FACTS = """
from kitchen.play.models import Episode, Step
from study.participants.models import Participant
one = Participant.objects.get(study__slug="{slug}")
episode = Episode.objects.get(rounds__participant=one)
by = [[row["chosen_by"] for row in step.commands if row["seat"] == 1] for step in episode.steps.all()]
print(one.status, episode.status, episode.gone["1"]["step"], episode.gone["1"]["why"], by)
"""


async def arrive(person: Person, guide: str) -> None:
    """Read the guide at this address, and come to the lobby."""
    await person.page.goto(guide)
    await person.page.wait_for_selector("text=You play with other people")
    await person.page.click("main form button[type=submit]")


async def test_two_meet_play_and_one_leaves(
    page: Page, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    slug = new_slug()
    file = write_study(tmp_path, slug, condition("pair", "planner", 3) + TOGETHER, steps=4)
    first, second = enter_loaded(live_stack, file, slug, people=2, page="guide")
    context = await browser.new_context(base_url=live_stack.url, viewport={"width": 360, "height": 740})
    try:
        other = Person(await context.new_page())
        await arrive(person := Person(page), first)
        await page.wait_for_selector("[data-page=lobby]")
        assert "1 of 2 people has arrived." in await page.inner_text("[data-lobby-come][role=status]")
        assert await violations(page, "lobby") == []
        await page.reload()
        assert "1 of 2 people has arrived." in await page.inner_text("[data-lobby-come]")
        await arrive(other, second)
        await other.connected()
        await person.connected()  # the lobby led on by itself
        await other.send(["noop"])
        assert await person.play_step(["noop"]) == await other.stepped(1)
        await talk(person, other)
        await hesitate(person, other)
        await leave(other.page)
        await page.wait_for_selector("text=The person who played Robot 2 has left. The conversation is over.")
        assert "You are not talking with anybody." in await page.inner_text("#partner")
        await page.wait_for_selector("#gone p")
        assert await page.inner_text("#gone") == (
            "From step 2 on, a program plays Robot 2 because the person has left."
        )
        assert await page.evaluate("document.querySelector('#gone').closest('[role=status]') !== null")
        await page.set_viewport_size({"width": 360, "height": 740})
        assert await page.evaluate("document.documentElement.scrollWidth <= 360")
        for step in (2, 3, 4):
            told = await page.inner_text("#replaced")  # also when it stands over the page no more
            assert told == "From step 2 on, a program plays Robot 2 because the person has left."
            assert await person.play_step(["noop"]) == step
        await person.go_on()
        await person.answer()
        await page.wait_for_selector("[data-page=end]")
    finally:
        await context.close()
    said = live_stack.manage("shell", "-c", FACTS.format(slug=slug))
    by = [["person"], ["planner"], ["planner"], ["planner"]]
    assert f"complete over 2 left {by}" in said
    assert person.problems == other.problems == []


async def talk(person: Person, other: Person) -> None:
    """One of them talks with a robot, which is busy for the other, and then with the other."""
    await write(person.page, "Robot 3", "hello")
    await person.page.wait_for_selector("text=You are talking with Robot 3.")
    await write(other.page, "Robot 3", "hello, too")
    await other.page.wait_for_selector(".said >> text=Robot 3 is talking with somebody else")
    assert await other.page.locator(".said.is-yours").count() == 0
    await person.page.click("#talk-end")
    await person.page.wait_for_selector("text=You are not talking with anybody.")
    await write(person.page, "Robot 2", "shall we?")
    await other.page.wait_for_selector("text=You are talking with Robot 1.")


async def hesitate(person: Person, other: Person) -> None:
    """One of them opens the question whether to leave, and stays: the other is told so all the while."""
    await other.page.fill("#talk-text", "half a sentence")
    await other.page.click("a.leave")
    await person.page.wait_for_selector("#away p >> text=Robot 2 is away from the game")
    assert await person.page.evaluate("document.querySelector('#away').closest('[role=status]') !== null")
    await other.page.keyboard.press("Escape")
    await person.page.wait_for_selector("#away:not(:has(p))", state="attached")
    assert await other.page.input_value("#talk-text") == "half a sentence"
    await other.page.fill("#talk-text", "")


async def write(page: Page, to: str, text: str) -> None:
    """A message to one of the others."""
    if await page.locator("#drawer").is_hidden():
        await page.click("[data-drawer-toggle]")
    await page.select_option("#talk-to", label=to)
    await page.fill("#talk-text", text)
    await page.click("#talk-form [data-send]")


async def leave(page: Page) -> None:
    """Leave the study, by the two clicks."""
    await page.click("a.leave")
    await page.click("button[name=confirm]")
    await page.wait_for_selector("[data-page=withdrawn]")
