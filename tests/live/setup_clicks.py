"""Count the clicks, fields and pages that it takes to set up a study in the console:
`python -m tests.live.setup_clicks`.

A program sets the study up in a real browser, with the controls that a person sees. A click is a press on a
link, button, fold, checkbox or file field, or a choice in a list. A field is a text that is typed. What is
chosen, checked or uploaded is counted apart: it is a click already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from playwright.sync_api import Page, sync_playwright

from tests.browser import ARGUMENTS, find_chromium
from tests.live.stack import Running, running
from tests.live.table import Figure, table
from tests.study.media_samples import png

MAKE = """
from django.contrib.auth.models import User
User.objects.create_user("setup", password="a long password", is_staff=True)
"""
TRUST = """I could rely on my team.
I knew what my team would do next.
My team did what I expected.
I had to watch my team. (R)
My team helped me.
I would play with this team again.
My team was competent.
smooth = How smooth was the work? [slider: not smooth | very smooth]"""
PROBE = "every 10 steps, 30 seconds\ntrust = How much trust? [slider: not at all | completely]"


@dataclass(slots=True)
class Section:
    """What one section of the set-up took."""

    name: str
    clicks: int = 0
    typed: int = 0
    chosen: int = 0
    pages: int = 0


class Researcher:
    """A person at the console, whose clicks and fields are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.sections = page, list[Section]()
        page.on("load", lambda _: self._loaded())

    def _loaded(self) -> None:
        if self.sections:
            self.sections[-1].pages += 1

    def begin(self, name: str) -> None:
        """Count in a section of this name from now on."""
        self.sections.append(Section(name))

    def press(self, selector: str) -> None:
        """Press the first control that fits."""
        self.sections[-1].clicks += 1
        self.page.locator(selector).first.click()
        self.page.wait_for_load_state()

    def choose(self, selector: str, value: str) -> None:
        """Choose in a list."""
        self.sections[-1].clicks += 1
        self.sections[-1].chosen += 1
        self.page.select_option(selector, value)

    def check(self, selector: str) -> None:
        """Check a box."""
        self.sections[-1].chosen += 1
        self.press(selector)

    def upload(self, selector: str, name: str, data: bytes) -> None:
        """Choose an image."""
        self.sections[-1].clicks += 1
        self.sections[-1].chosen += 1
        self.page.set_input_files(selector, {"name": name, "mimeType": "image/png", "buffer": data})

    def write(self, **texts: str) -> None:
        """Type texts into fields, by the fields' names."""
        for name, text in texts.items():
            self.sections[-1].typed += 1
            self.page.fill(f"#id_{name}", text)

    def save(self, button: str = ":first-child") -> None:
        """Send the form. Raises RuntimeError if it is refused."""
        self.press(f".design-form .actions button{button}")
        if self.page.locator(".error-summary").count():
            raise RuntimeError(self.page.locator(".error-summary").inner_text())


def set_up(person: Researcher) -> None:
    """Set up a study with two conditions, two own pages, questions, a probe, a bonus and two languages."""
    _begin(person)
    _own_pages(person)
    _spanish(person)


def _begin(person: Researcher) -> None:
    person.begin("The new study")
    person.press("a:text-is('A new study')")
    person.check("#id_others input[value=es]")
    person.choose("#id_world", "cuisine")
    for name in ("planner", "planners"):
        person.check(f"#id_set_ups input[value={name}]")
    person.check("#id_instruments input[value=nasa_tlx]")
    person.choose("#id_think_aloud", "optional")
    person.write(probes=PROBE, rating_slider="Trust in your team: none | complete")
    consent = "You play four rounds. We record your voice if you agree. Only we hear it, for one year."
    person.write(title="Trust in teams", consent=consent, lines=TRUST, list_name="Trust", points="7")
    person.write(low="not at all", high="completely", table="Your team")
    person.press("#fold-bonus summary")
    person.choose("#id_bonus_currency", "USD")
    person.choose("#id_bonus_figure", "completed")
    person.write(bonus_most="3", bonus_each="0.5")
    person.save()


def _own_pages(person: Researcher) -> None:
    person.begin("Two own pages")
    person.press("main a:text-is('Flow and own pages')")
    person.press(".flow-add")
    person.write(title="The table", text="This is the table at which you work.")
    person.press(".media-insert summary")
    person.upload("#id_upload-file", "table.png", png())
    person.write(**{"upload-alt": "A table with two places"})
    person.save("[name=_another]")
    person.write(title="Tell us more", text="You relied on your team. Please think about why.", value_0="5")
    person.choose("#id_before", "final")
    person.choose("#id_what_0", "answer:trust_1")
    person.choose("#id_compares_0", "at_least")
    person.save()


def _spanish(person: Researcher) -> None:
    person.begin("Spanish")
    person.press(".messages a:has-text('not translated')")
    fields = person.page.locator(".design-form [name^=text-]")
    for number in range(fields.count()):
        person.sections[-1].typed += 1
        fields.nth(number).fill(f"Texto número {number}")
    person.save()


def figures(sections: Sequence[Section]) -> Iterable[Figure]:
    """Yield the clicks, fields and pages of each section and of the whole, and the clicks for a field: with
    the typed ones alone, and with those that are chosen."""
    names = ("clicks", "typed", "chosen", "pages")
    whole = Section("Whole study", *(sum(getattr(one, name) for one in sections) for name in names))
    for one in (*sections, whole):
        for name in names:
            yield Figure(f"{one.name}: {name}", getattr(one, name), "")
    yield Figure("clicks for a typed field", whole.clicks / whole.typed, "", aim=0.37)
    yield Figure("clicks for a typed or chosen field", whole.clicks / (whole.typed + whole.chosen), "")


def counted(stack: Running) -> list[Section]:
    """Set the study up in a browser, and return what each section took."""
    stack.manage("shell", "-v", "0", "-c", MAKE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page(base_url=stack.url, viewport={"width": 1440, "height": 900})
        page.set_default_timeout(15_000)
        page.goto("/staff/")
        page.fill("#id_username", "setup")
        page.fill("#id_password", "a long password")
        page.click("[type=submit]")
        person = Researcher(page)
        set_up(person)
        browser.close()
    return person.sections


def main() -> int:
    """Set the study up, and print what it took."""
    with running("sqlite") as stack:
        sections = counted(stack)
    print(f"\n{table(figures(sections))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
