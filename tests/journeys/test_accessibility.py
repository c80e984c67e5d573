"""Every page passes axe (WCAG 2.2 AA): narrow and wide, light and dark, in a real browser.

Wide and light, every rule is asked. Dark, those about colours are asked again; narrow, those about places,
and every rule where anything shows, hides or has another colour than on the wide page.

`make test` looks at as few pages as have an element of almost every kind, and once at colours that are the
same on several of them; `make test-all` at everything.

Participants' pages are the scenes; the researchers' are every address that shows a page. An address that
takes more than the values below fails the test until it gets an entry.
"""

from __future__ import annotations

import json
import re

import pytest
import pytest_asyncio
from playwright.async_api import APIResponse, Browser, Page, expect

from study.design.page_and_item_order import PAGES
from tests.addresses import addresses
from tests.browser import IN_A_BROWSER
from tests.journeys.axe import Looks, chosen, violations
from tests.journeys.fitting import misfits
from tests.journeys.scenes import CODE, DATASET, EPISODE, IMPORTED, INVITED, PASSWORD, PK, SLUG, STAFF
from tests.nightly import nightly
from tests.servers import Stack
from tests.study.media_samples import NOTES_HASH

pytestmark = IN_A_BROWSER

EVERY = [False, *nightly(True)]
"""Whether every page is looked at."""
ASKED = ("check", "survey", "about", "final")
"""Pages that complain when they are sent empty."""
WORTH = 3
"""A page is looked at for so many kinds of elements that no other page has."""
ACTED_ON = ("survey", "withdraw")
"""Of these one is always looked at, as it is and as it answers."""
VALUES = {
    "slug": SLUG,
    "code": CODE,
    "episode": EPISODE,
    "imported": IMPORTED,
    "dataset": DATASET,
    "name": "participants.csv",
    "media_name": "notes.txt",
    "sha256": NOTES_HASH,
    "measure": "i0",
    "figure": "means",
    "factor": "steps",
    "table": "means.csv",
    "ending": "csv",
    "kind": "check",
    "pk": str(PK),
    "number": "1",
    "act": "delete",
    "secret": INVITED,
    "file": "prolific.txt",
    "language": "es",
}
"""What stands in the researchers' addresses."""
REPORT = (f"/staff/{SLUG}/analysis/report", f"/staff/{SLUG}/analysis/appendix")
"""The starts of the addresses of the report, which a worker draws. Only `make test-all` looks at it."""
DESIGN = f"/staff/{SLUG}/design/"
WRONG = {
    "/staff/logins/": ("#id_name", ""),
    "/staff/new/": ("#id_title", ""),
    "/staff/new/file/": ("#id_slug", "no name"),
    "/staff/policies/": ("#id_settings", "{"),
    "/staff/replay/imported/": ("#id_value", "much"),
    "/staff/tokens/": ("#id_name", ""),
    "/staff/account/password/": ("#id_password", ""),
    f"{DESIGN}media/": ("#id_alt", ""),
    f"{DESIGN}media/{PK}/": ("#id_alt", ""),
    f"{DESIGN}settings/": ("#id_title", ""),
    f"{DESIGN}plan/": ("#id_planned_participants", "0"),
    f"{DESIGN}recruitment/": ("#id_closes_at", "soon"),
    f"{DESIGN}parts/check/": ("#id_attempts", "0"),
    f"{DESIGN}conditions/new/": ("#id_name", ""),
    f"{DESIGN}conditions/{PK}/": ("#id_name", ""),
    f"{DESIGN}factors/steps/": ("#id_name", ""),
    f"{DESIGN}bonus/": ("#id_base", "-1"),
    f"{DESIGN}flow/new/": ("#id_title", ""),
    f"{DESIGN}flow/{PK}/": ("#id_title", ""),
    f"{DESIGN}items/new/": ("#id_text", ""),
    f"{DESIGN}items/list/": ("#id_lines", ""),
    f"{DESIGN}items/rows/": ("#id_rows", "no table"),
    f"{DESIGN}items/{PK}/": ("#id_measure", ""),
    f"{DESIGN}outcomes/": ("#id_complete-url", "nowhere"),
    f"{DESIGN}members/": ("#id_user", "nobody of this name"),
    f"{DESIGN}copy/": ("#id_slug", "no name"),
    f"{DESIGN}dry-run/": ("#id_participants", "0"),
    f"/staff/{SLUG}/participants/annotation/": ("#id_key", "1"),
    f"/staff/{SLUG}/datasets/": ("#id_licence", ""),
    f"/staff/{SLUG}/analysis/i0/means/texts/": ("#id_title", "too long " * 30),
}
"""What makes the form of each of the researchers' pages wrong."""
FEW_FORMS = (f"{DESIGN}recruitment/", f"{DESIGN}members/")
"""Of these, forms that differ: a time, a choice."""
NEVER_WRONG = {
    *(
        f"{DESIGN}{page}/"
        for page in ("orders", "languages", "texts", "texts/es", "factors", "factors/new", "survey-rule")
    ),
    f"{DESIGN}members/hand-over/",
    f"{DESIGN}members/invite/",
    f"{DESIGN}file/",
    f"/staff/{SLUG}/data/",
    f"/staff/{SLUG}/data/publication/",
    f"/invitation/{INVITED}/",  # staff accept with the login they have
}
"""Forms that only offer what is right."""
ADMIN = (  # its tables and forms are Django's, with barriers of their own: the console is the way beside them
    "/admin/",
    "/admin/password_change/",
)
FORM = re.compile(r"<form\b(?=[^>]*\bclass=\"[^\"]*\bdesign-form\b)(?=[^>]*\baria-label)[^>]*>")
"""A form of the design."""
ELSEWHERE = re.compile(r"^(admin/|s/|p/|round-trip/|$)")
"""Addresses that are seen to by name, and one that answers with nothing."""


@pytest.fixture(scope="module")
def scenes(stack: Stack) -> dict[str, str]:
    """The address of every scene by its name, made once."""
    stack.restart()
    made = stack.manage("shell", "-v", "0", "-c", "from tests.journeys.scenes import scenes; scenes()")
    found: dict[str, str] = json.loads(made.splitlines()[-1])
    return found


BARRIERS = """<html lang="en"><title>x</title><style>
    body { color: black; background: white }
    button { width: 40px; height: 40px; padding: 0; border: 0; margin: 0 }
    .hides { display: none }
    @media (max-width: 40rem) {
        .hides { display: inline }
        .small { width: 10px; height: 10px }
    }
    @media (prefers-color-scheme: dark) {
        .dark { color: #555; background: #333 }
    }
    @media (prefers-color-scheme: dark) and (max-width: 40rem) {
        .both { color: #222; background: #333 }
    }
</style><main>%s</main>"""


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        (  # narrow as it is wide
            "<img src='x.png'><p style='color:#aaa'>pale</p><p class='dark'>dim</p>"
            "<button class='small'>a</button><button class='small'>b</button>",
            [
                "1440 px, light: image-alt",
                "1440 px, light: color-contrast pale",
                "1440 px, dark: color-contrast pale",
                "1440 px, dark: color-contrast dim",
                "360 px, light: target-size a",
                "360 px, light: target-size b",
            ],
        ),
        (  # narrow otherwise
            "<img src='x.png' class='hides'><p class='both'>dim</p><p>nothing</p>",
            ["360 px, light: image-alt", "360 px, dark: color-contrast dim"],
        ),
    ],
)
async def test_a_barrier_is_found_where_it_is(page: Page, html: str, wanted: list[str]) -> None:
    await page.set_content(BARRIERS % html)
    assert sorted(map(in_short, await violations(page, "bad"))) == sorted(wanted)


def in_short(barrier: str) -> str:
    """Return where a barrier is, its rule and what the element says."""
    where = re.match(r"bad at (.*?: \S+):", barrier)
    says = re.search(r">(\w+)</", barrier)
    assert where
    return f"{where[1]} {says[1]}" if says else where[1]


async def test_colours_that_were_looked_at_before_are_looked_at_again_where_anything_around_them_differs(
    page: Page,
) -> None:
    pale, before = "<p style='color:#aaa'>pale</p>", Looks()
    await page.set_content(BARRIERS % pale)
    first = [f"1440 px, {scheme}: color-contrast pale" for scheme in ("light", "dark")]
    assert list(map(in_short, await violations(page, "bad", before=before))) == first
    assert await violations(page, "bad", before=before) == []
    await page.set_content(
        BARRIERS % f"{pale}<img src='x.png'><section style='background:#eee'>{pale}</section>"
    )
    again = ["1440 px, light: image-alt", *first]
    assert sorted(map(in_short, await violations(page, "bad", before=before))) == sorted(again)


def test_as_few_pages_are_chosen_as_have_every_kind_of_element() -> None:
    pages = {"a": "<p><b>", "b": "<p><i>", "c": "<p><b><i><u>", "d": "<p class='x'>", "e": "<p>"}
    assert chosen(pages) == ["c", "d"]
    assert chosen(pages, first=["e"]) == ["e", "c", "d"]
    assert chosen(pages, worth=2) == ["c"]


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("<button class='small'>a</button>", ["narrow"]),
        ("<button style='width:20px'>a</button>", ["narrow", "wide"]),
        ("<p style='font-size:11px'>fine print</p>", ["narrow", "wide"]),
        ("<p style='width:330px'>wide</p>", ["zoomed", "spaced"]),
        ("<p style='height:1.2em; overflow:hidden'>low</p>", ["spaced"]),
        ("<a href='/'>a</a><div style='position:fixed; inset:0'></div>", ["narrow", "focused"]),
    ],
)
async def test_a_misfit_is_found_where_it_is(page: Page, html: str, wanted: list[str]) -> None:
    await page.set_content(BARRIERS % html)
    found = await misfits(page, "bad")
    assert {re.match(r"bad, (.*?):", one)[1] for one in found} >= set(wanted)  # type: ignore[index]


@pytest.mark.parametrize("every", EVERY)
async def test_every_page_of_a_participant_is_accessible(
    page: Page, scenes: dict[str, str], every: bool
) -> None:
    assert set(scenes) >= {*PAGES, "welcome", "practised", "withdraw", "closed", "timed_out"}
    pages = {name: await (await page.context.request.get(address)).text() for name, address in scenes.items()}
    found, before = [], None if every else Looks()
    for name in sorted(pages) if every else chosen(pages, ACTED_ON, WORTH):
        response = await page.goto(scenes[name])
        assert response
        assert response.status < 500
        found += await violations(page, name, before=before) + await misfits(page, name)
        if name in ASKED:
            await page.click("main button[type=submit]")
            await page.wait_for_selector("[role=alert]")
            found += await violations(page, f"{name}, not accepted", within="main", before=before)
        if name == "withdraw" and not every:  # once
            await page.click("button[name=confirm]")
            await page.wait_for_selector("[data-page=withdrawn]")
            found += await violations(page, "withdrawn", before=before)
    assert not found, "\n".join(found)


async def test_consent_without_a_tick_and_dialogs_of_the_kitchen_are_accessible(
    page: Page, scenes: dict[str, str]
) -> None:
    await page.goto(scenes["consent"])
    await page.click("main button[type=submit] >> nth=0")
    await page.wait_for_selector("[role=alert]")
    found = await violations(page, "consent, not accepted")
    await page.goto(scenes["play"])
    for name in ("guide", "reference"):
        await page.click(f"[data-open={name}-dialog]")
        await page.wait_for_selector(f"#{name}-dialog[open]")
        found += await violations(page, f"play, {name}", within=f"#{name}-dialog")
        found += await misfits(page, f"play, {name}")
        await page.keyboard.press("Escape")
    assert not found, "\n".join(found)


def researchers() -> list[str]:
    """The addresses of the researchers' pages and files; AssertionError for one that takes unknown values."""
    found = []
    for address in addresses():
        if ELSEWHERE.match(address.written):
            continue
        unknown = set(address.takes) - VALUES.keys()
        assert not unknown, f"{address.written} takes {unknown}: give VALUES of this test an entry"
        found.append(address.filled(VALUES))
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def staff(browser: Browser, live_stack: Stack, scenes: dict[str, str]) -> Page:
    """A researcher's page, logged in."""
    context = await browser.new_context(base_url=live_stack.url)
    context.set_default_timeout(60_000)
    page = await context.new_page()
    await page.goto("/admin/login/?next=/staff/")
    await page.fill("[name=username]", STAFF)
    await page.fill("[name=password]", PASSWORD)
    await page.click("[type=submit]")
    await page.wait_for_selector("main, #content-main, #main")
    return page


@pytest.mark.parametrize("every", EVERY)
async def test_every_page_of_a_researcher_is_accessible_and_no_form_is_forgotten(
    staff: Page, every: bool
) -> None:
    asked = [address for address in researchers() if every or not address.startswith(REPORT)]
    pages = {address: html for address in asked if (html := await text_of_page(staff, address))}
    found, before = [], None if every else Looks()
    looked_at = list(pages) if every else chosen(pages, worth=WORTH)
    for address in looked_at:
        await staff.goto(address)
        found += await violations(staff, address, before=before)
    assert len(looked_at) >= 5
    assert not found, "\n".join(found)
    forms, known = (
        {address for address, html in pages.items() if FORM.search(html)},
        WRONG.keys() | NEVER_WRONG,
    )
    assert forms == known, "\n".join(sorted(forms ^ known))


async def test_a_replay_is_gone_through_by_keys_and_plays_by_itself(staff: Page) -> None:
    await staff.goto(f"/staff/{SLUG}/replay/{EPISODE}/")
    at, step = staff.locator("#replay-at"), staff.locator("#bar")
    await staff.focus("#replay-step")
    for key, number in (("ArrowRight", 1), ("ArrowRight", 2), ("End", 20), ("ArrowLeft", 19)):
        await staff.keyboard.press(key)
        await expect(at).to_have_text(f"{number} of 20")
        await expect(step).to_have_attribute("data-step", str(number))
    await staff.focus("[data-play-on]")  # anywhere but where arrows mean something else
    for key, number in (("ArrowLeft", 18), ("ArrowRight", 19)):
        await staff.keyboard.press(key)
        await expect(at).to_have_text(f"{number} of 20")
    for key in (",", "ArrowLeft", "h"):  # marks the steps from one to the other
        await staff.keyboard.press(key)
    mark = staff.locator("[data-annotated=first]")
    await expect(staff.locator("#annotation-said")).to_have_text("Marked: helps, step 19 to 20.")
    await staff.keyboard.press("Backspace")
    await expect(staff.locator("#annotation-said")).to_have_text("Removed: helps, step 19 to 20.")
    await expect(mark).to_have_value("19")
    await staff.keyboard.press("ArrowRight")
    await expect(mark).to_have_value("20")
    await staff.select_option("#replay-speed", "12")
    await staff.focus("#replay-speed")
    await staff.keyboard.press("ArrowLeft")  # of the select
    await staff.select_option("#replay-speed", "12")
    await expect(at).to_have_text("19 of 20")
    await staff.click("[data-play-on]")
    await expect(at).to_have_text("20 of 20")
    await expect(staff.locator("#told-title")).to_have_text("After the last step")
    await expect(staff.locator("[data-play-on]")).to_have_attribute("aria-pressed", "false")
    assert await staff.locator(".replay-seen form :is(input, button):enabled").count() == 0
    async with staff.expect_navigation():  # there is one seat: as if another had been chosen
        await staff.dispatch_event("#replay-seat", "change")
    await expect(staff.locator("#replay-seat")).to_be_focused()


CUT_OFF = """one => [...one.querySelectorAll("svg text")].map(text => text.getBoundingClientRect().right)
    .filter(right => right > one.getBoundingClientRect().right)"""
"""Where texts of a drawing end that leave it."""


async def test_figures_are_drawn_by_the_browser_and_say_what_is_pointed_at(staff: Page) -> None:
    address = f"/staff/{SLUG}/analysis/{VALUES['measure']}/"
    while await is_being_made(await staff.context.request.get(address)):
        await staff.wait_for_timeout(100)
    await staff.goto(address)
    assert not await staff.locator("#replication [data-chart]").is_visible(), "it is shown on request"
    await staff.click("#replication > summary")
    for chart in await staff.locator("[data-chart]").all():
        await chart.scroll_into_view_if_needed()
        await chart.locator("xpath=self::*[@data-drawn]//*[name()='svg']").wait_for()
    await staff.set_viewport_size({"width": 360, "height": 740})
    await staff.reload()
    chart = staff.locator("[data-chart]").first
    await chart.scroll_into_view_if_needed()
    await chart.locator("xpath=self::*[@data-drawn]//*[name()='svg']").wait_for()
    assert await chart.evaluate("one => one.scrollWidth") <= 360
    assert await chart.evaluate(CUT_OFF) == []
    await staff.locator("[data-chart] svg .mark-symbol path").first.hover(force=True)
    await staff.wait_for_selector(".chart-tip:not([hidden])")


async def test_the_way_in_is_accessible(page: Page) -> None:
    assert await opened(page, "/admin/login/?next=/staff/") == []


@pytest.mark.nightly  # templates of Django's
async def test_the_admins_first_pages_are_accessible(staff: Page) -> None:
    for address in ADMIN:
        assert await opened(staff, address) == []


async def opened(page: Page, address: str) -> list[str]:
    """What axe finds on the page at this address."""
    assert await text_of_page(page, address), address
    await page.goto(address)
    return await violations(page, address)


async def is_being_made(answer: APIResponse) -> bool:
    """Whether the page loads itself again, because an analysis waits for a worker."""
    return "text/html" in answer.headers.get("content-type", "") and "js/waiting" in await answer.text()


async def text_of_page(page: Page, address: str) -> str:
    """The page's HTML; nothing where the address takes forms only, or gives a file."""
    answer = await page.context.request.get(address)
    while await is_being_made(answer):
        await page.wait_for_timeout(500)
        answer = await page.context.request.get(address)
    if answer.status == 405 or "text/html" not in answer.headers.get("content-type", ""):
        return ""
    assert answer.status == 200, f"{address}: {answer.status}; it may need an entry in VALUES"
    return await answer.text()


@pytest.mark.parametrize("forms", [FEW_FORMS, *nightly((tuple(WRONG),))], ids=["few", "every"])
async def test_every_form_of_a_researcher_that_is_not_accepted_is_accessible(
    staff: Page, page: Page, forms: tuple[str, ...]
) -> None:
    found = []
    for address in forms:
        # an invitation asks for a new login only somebody who is not logged in
        sender = page if address.startswith("/invitation/") else staff
        if "/analysis/" in address:  # its form needs the analysis
            await text_of_page(sender, f"/staff/{SLUG}/analysis/")
        selector, value = WRONG[address]
        await sender.goto(address)
        await sender.fill(selector, value)
        async with sender.expect_response(lambda answer: answer.request.method == "POST") as caught:
            await sender.click(".design-form .actions button[type=submit] >> nth=0")
        assert (address, (await caught.value).status) == (address, 422)
        await sender.wait_for_selector(".error-summary[role=alert]")
        assert await sender.locator(f".error-summary a[href='{selector}']").count(), address
        found += await violations(sender, f"{address}, not accepted", within="main")
    assert not found, "\n".join(found)
