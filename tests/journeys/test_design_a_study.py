"""A new researcher designs a whole study in the browser, with the console alone, and freezes it."""

from __future__ import annotations

import json
import secrets
import tomllib

from playwright.async_api import ConsoleMessage, Page

from tests.browser import NIGHTLY_IN_A_BROWSER, SHOTS
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # the console's forms are tested by request, and in a browser by axe

MAKE = """
from django.contrib.auth.models import User
User.objects.create_user({name!r}, password="a long password", is_staff=True)
"""
ASK = """
import json
from study.design.blueprint import blueprint_of
from study.design.models import Study
print(json.dumps(blueprint_of(Study.objects.get(slug={slug!r})).to_json()))
"""
OVERFLOWS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


class Researcher:
    """Somebody at the console who looks at every page, narrow and wide."""

    def __init__(self, page: Page, slug: str) -> None:
        self.page, self.slug = page, slug
        self.problems: list[str] = []
        page.on("console", self.hears)

    def hears(self, said: ConsoleMessage) -> None:
        """Errors of the page; that a newer request took the place of one on its way is none."""
        if said.type == "error" and not said.text.startswith(("htmx:afterRequest,", "htmx:sendAbort,")):
            self.problems.append(said.text)

    async def log_in(self, name: str) -> None:
        await self.page.goto("/staff/")
        await self.page.fill("#id_username", name)
        await self.page.fill("#id_password", "a long password")
        await self.page.click("[type=submit]")
        await self.page.wait_for_selector("h1:has-text('Studies')")

    async def look(self, name: str) -> None:
        """The page fits at both widths."""
        for width in (360, 1440):
            await self.page.set_viewport_size({"width": width, "height": 900})
            if SHOTS:
                await self.page.screenshot(path=f"{SHOTS}/{name}_{width}.png", full_page=True)
            if await self.page.evaluate(OVERFLOWS):
                self.problems.append(f"{name} is too wide at {width}")

    async def open(self, path: str = "", name: str = "") -> None:
        await self.page.goto(f"/staff/{self.slug}/design/{path}")
        if name:
            await self.look(name)

    async def save(self) -> None:
        """Send the form; back on the design."""
        await self.page.click(".design-form .actions .button:first-child")
        await self.page.wait_for_selector(".messages .success")

    async def save_in_vain(self, why: str) -> None:
        """Send a form that is refused for this reason."""
        await self.page.click(".design-form .actions .button:first-child")
        await self.page.wait_for_selector(f".field-error:has-text('{why}')")
        self.problems = [one for one in self.problems if "status of 422" not in one]

    async def press(self, words: str) -> None:
        """A button by what it says, also to those who do not see its row."""
        await self.page.get_by_role("button", name=words, exact=True).click()
        await self.page.wait_for_selector(".messages .success")

    async def mean(self, words: str) -> None:
        """What destroys is asked once: open the question, tick, press."""
        ask = self.page.locator("details.ask").filter(has=self.page.locator("summary", has_text=words))
        await ask.first.locator("summary").click()
        await ask.first.locator("[name=sure]").check()
        await self.look(words.lower().replace(" ", "_"))
        await ask.first.get_by_role("button", name=words, exact=True).click()
        await self.page.wait_for_selector(".messages .success")


async def a_team_is_put_together(page: Page) -> None:
    """In the form of a condition: its fields come as they are needed, by keyboard, and nothing is lost."""
    await page.click("th a:has-text('4 agents')")
    kind = page.locator("#id_team_kind")
    await kind.focus()
    before = await kind.bounding_box()
    await kind.select_option("tree")
    await page.wait_for_selector("#id_team_leads")
    assert await kind.bounding_box() == before, "the page does not scroll under the field"
    assert "The picture has 4 members." in await page.inner_text("#fields-said")
    assert await page.evaluate("document.activeElement.id") == "id_team_kind"
    await page.fill("#id_label", "Not saved yet")
    await page.focus("#add-coplayer")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#id_team_row_0")
    await page.check("#id_team_row_0_players_1")
    await page.select_option("#id_team_row_0", "random")
    await page.wait_for_selector(".team-picture .who:has-text('Random')")
    assert await page.is_checked("#id_team_row_0_players_1")
    await page.focus("#drop-0")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#id_team_row_0", state="detached")
    assert await page.evaluate("document.activeElement.id") == "team-title"
    assert await page.input_value("#id_label") == "Not saved yet"


LAYOUT = "#id_world__overcooked__own_layout"


def grid_of(settings: dict[str, str]) -> str:
    """The level or the drawn layout of a condition."""
    return settings["level"] if "level" in settings else tomllib.loads(settings["own_layout"])["title"]


async def a_layout_is_drawn(me: Researcher) -> None:
    """By keyboard and by mouse, checked at each stroke; what is refused stays, what is drawn is stored."""
    page, cell = me.page, "[role=gridcell][tabindex='0']"
    await me.open("conditions/new/")
    await page.click("#fold-data summary")
    for name, value in (("key", "ours"), ("name", "In our grid"), ("label", "Team Q"), ("teammates", "1")):
        await page.fill(f"#id_{name}", value)
    await page.select_option("#id_world", "overcooked")
    await page.wait_for_selector(f"{LAYOUT}_begins", state="attached")
    await page.click("#fold-world summary")
    await page.select_option(f"{LAYOUT}_begin", "empty")
    await page.focus(f"{LAYOUT}_begins")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(f"{LAYOUT}_told:has-text('There are no dishes')")
    assert await page.input_value("#id_world__overcooked__layout") == "own"
    await page.select_option("#id_coplayer", "grid_planner")  # new fields come while one goes on
    await page.fill(f"{LAYOUT}_title", "Our grid")
    await page.focus(cell)
    for key in ("ArrowUp", "p", "ArrowRight", "o", "ArrowRight", "d", "ArrowDown", "ArrowLeft"):
        await page.keyboard.press(key)
    assert await page.get_attribute(cell, "aria-label") == "Row 2, column 3: floor"
    await page.wait_for_selector(f"{LAYOUT}_told:has-text('There is no serving place')")
    await me.save_in_vain("There is no serving place (S).")
    assert await page.input_value(f"{LAYOUT}_title") == "Our grid"
    wide = page.viewport_size or {"width": 1280, "height": 720}
    await page.set_viewport_size({"width": 300, "height": 740})
    await page.wait_for_selector(".drawing-wide", state="visible")
    await page.set_viewport_size(wide)
    await page.wait_for_selector(".drawing-wide", state="hidden")
    await page.click("[data-tile='S']")
    await page.locator("[role=row]").nth(4).locator("[role=gridcell]").nth(3).click()
    await page.wait_for_selector(f"{LAYOUT}_told:has-text('Seat 1 reaches onions, dishes, a pot')")
    assert not await page.locator(":is([data-error-summary], .has-error, .field-error)").count()
    await page.keyboard.press("x")
    await page.wait_for_selector(f"{LAYOUT}_told:has-text('There is no serving place')")
    await page.keyboard.press("Control+z")
    await page.wait_for_selector(f"{LAYOUT}_told:has-text('a serving place')")
    await me.look("drawn")
    await me.save()


async def test_a_new_researcher_designs_and_freezes_a_study_without_code(
    page: Page, live_stack: Stack
) -> None:
    name, slug = f"new-{secrets.token_hex(3)}", f"mine-{secrets.token_hex(3)}"
    live_stack.manage("shell", "-c", MAKE.format(name=name))
    me = Researcher(page, slug)
    await me.log_in(name)
    await me.look("index")
    await page.click("a:has-text('copy it')")
    await page.fill("#id_title", "Three teams")
    await page.fill("#id_slug", slug)
    await me.save()

    for gone in ("One dispatched", "Two dispatched", "Three dispatched", "Three at random"):
        if await page.get_by_role("button", name=f"Preview {gone}", exact=True).count():
            await me.mean(f"Delete {gone}")
    left = page.locator("[aria-labelledby=conditions-title] tbody tr")
    while await left.count() > 1:
        await me.mean(f"Delete {await left.last.locator('th').inner_text()}")
    await left.first.locator("th a").click()
    await page.select_option("#id_world__cuisine__level", "level_0")
    await me.save()
    for teammates, level in ((1, "level_1"), (3, "level_1")):
        await me.open("conditions/new/", f"condition_{teammates}")
        await page.click("#fold-data summary")
        await page.fill("#id_key", f"agents_{teammates + 1}")
        await page.fill("#id_name", f"{teammates + 1} agents")
        await page.fill("#id_label", f"Team {'ABCDEFGHIJ'[teammates + 5]}")
        await page.select_option("#id_coplayer", "planner")
        await page.fill("#id_teammates", str(teammates))
        await page.wait_for_selector("#id_coplayer__planner__tries")
        await page.select_option("#id_world__cuisine__level", level)
        await me.save()
    await a_team_is_put_together(page)
    await a_layout_is_drawn(me)

    await me.open("parts/consent/", "consent")
    await page.fill("#id_text", "**Our** consent.")
    await page.fill("#id_statements", "I am 18 or older.\nI agree to take part.")
    await page.click("[name=_preview]")
    assert await page.inner_text("[aria-labelledby=shown-title] strong") == "Our"
    await me.save()
    for kind in ("practice", "check"):
        await me.open(f"parts/{kind}/", kind)

    await me.open()
    await page.click("text=Add an attention check")
    await me.look("attention")
    await me.save()
    await me.open("items/shipped/", "shipped")
    await page.click("#instrument-nasa_tlx summary")
    await page.click("#instrument-nasa_tlx button")
    await page.wait_for_selector(".messages .success")

    await me.open("plan/", "plan")
    await page.fill("#id_planned_contrasts", "")  # those of the demo are of conditions that are gone
    await me.save()
    await me.open("recruitment/", "recruitment")
    await page.select_option("#id_recruitment", "prolific")
    await me.save()
    await page.click("text=Set Prolific codes")
    await me.look("outcomes")
    for kind in ("complete", "no_consent", "failed_check", "timed_out", "technical"):
        await page.fill(f"#id_{kind}-code", f"C-{kind}")
    await me.save()

    for path, called in (("orders/", "orders"), ("settings/", "settings"), ("members/", "members")):
        await me.open(path, called)
    await me.open("", "design")
    await page.click("a:has-text('Preregistration')")
    await me.mean("Freeze the design as it is now")
    await page.wait_for_selector("h2:has-text('Frozen')")
    await me.look("frozen")
    await page.click("text=Read and print")
    await page.wait_for_selector("text=and it is the same")
    await me.look("readable")

    await me.open("settings/")
    await page.fill("#id_title", "Four teams")
    await me.save()
    await page.goto(f"/staff/{slug}/preregistration/")
    await page.wait_for_selector("h2:has-text('Changed since the frozen version')")
    await me.look("changed")

    await me.open()
    await page.get_by_role("button", name="Preview 4 agents", exact=True).click()
    await page.wait_for_selector("#connection[data-state=connected]")
    await page.wait_for_timeout(300)  # a picture writes styles of its own: nothing is to be swapped meanwhile
    await me.look("preview")

    design = json.loads(live_stack.manage("shell", "-c", ASK.format(slug=slug)).strip().splitlines()[-1])
    played = [(one["teammates"] + 1, grid_of(one["settings"])) for one in design["conditions"]]
    assert played == [(1, "level_0"), (2, "level_1"), (4, "level_1"), (2, "Our grid")]
    keys = {one["key"] for one in design["items"]}
    assert "tlx_mental" in keys
    assert any(key.startswith("attention") for key in keys)
    assert me.problems == []
