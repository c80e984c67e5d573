"""Act as a participant in a browser. Each method is one thing that a person does, such as giving consent."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Page, TimeoutError

PREFERENCE = ("activate", "put", "get", "goto", "noop")
"""The order in which a simple cook chooses verbs: first finish something, then carry something, then walk."""

ARROWS = """([from, to]) => {
    const centre = one => { const box = one.getBoundingClientRect();
                            return [box.left + box.width / 2, box.top + box.height / 2]; };
    const [a, b] = [from, to].map(name => centre(document.querySelector(`[data-spot="${name}"]`)));
    const [x, y] = [b[0] - a[0], b[1] - a[1]];
    if (Math.abs(x) > Math.abs(y)) return x > 0 ? "ArrowRight" : "ArrowLeft";
    return y > 0 ? "ArrowDown" : "ArrowUp";
}"""
"""The arrow key that leads from one place of a drawing to another, by the places' names."""

PLACES = """() => ["[data-stage]", "#done-left", ".bar-phase", "[data-submit]"].map(what => {
    const { left, top, right } = document.querySelector(what).getBoundingClientRect();
    return [what, left, top, what === "[data-stage]" ? right : ""].map(one => one.toFixed?.() ?? one).join();
}).join(" ")"""
"""Where parts of the kitchen's page are that stay where they are."""


class Person:
    """A participant who uses this browser page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" and "WebSocket" not in text:
            self.problems.append(text)

    async def agree(self, slug: str) -> str:
        """Open the study's link and consent. Return the personal link."""
        await self.page.goto(f"/s/{slug}/")
        await self.page.click("main button[type=submit]")
        await self.page.check("input[name=agree_0]")
        await self.page.click("main button[type=submit]")
        return self.page.url

    async def read_guide(self) -> None:
        """Read the guide and begin the episode."""
        await self.page.click("main form button[type=submit]")
        await self.connected()

    async def enter(self, address: str) -> None:
        """Open the kitchen at the address that `enter_kitchen` or `enter_loaded` returned."""
        await self.page.goto(address)
        await self.connected()

    async def connected(self) -> None:
        """Wait until the page has connected its websocket."""
        await self.page.wait_for_selector("#connection[data-state=connected]")

    async def step(self) -> int:
        """Return the number of steps taken, as the page shows it."""
        return int(await self.page.get_attribute("#bar", "data-step") or "-1")

    async def offered(self) -> list[Sequence[str]]:
        """Return the commands in the menu."""
        found = await self.page.eval_on_selector_all(
            "#menu input[name=command]:not(:disabled)", "radios => radios.map(radio => radio.value)"
        )
        return [json.loads(value) for value in found]

    async def choose(self, command: Sequence[str]) -> None:
        """Choose this action in the menu."""
        await self.page.eval_on_selector_all(
            "#menu input[name=command]",
            """(radios, wanted) => {
                const same = one => JSON.stringify(JSON.parse(one.value)) === JSON.stringify(wanted);
                const radio = radios.find(same);
                radio.closest("details")?.setAttribute("open", "");
                radio.click();
            }""",
            list(command),
        )

    async def play_step(self, command: Sequence[str] | None = None) -> int:
        """Choose an action, send it, and wait until the step has run. Return the number of steps taken."""
        before = await self.step()
        wanted = command or self.favourite(await self.offered(), before)
        await self.send(wanted)
        try:
            return await self.stepped(before + 1, patience=20_000)
        except TimeoutError:
            print(await self.page.inner_text("#bar"))  # shown with a failure
        if await self.page.get_attribute("#bar", "data-phase") == "choose":
            await self.send(wanted)  # as a person would whose click met a page that was not connected
        return await self.stepped(before + 1)

    async def send(self, command: Sequence[str]) -> None:
        """Choose this action and press the button. On a small screen, choose it in the list of all
        actions."""
        drawer = self.page.locator(".drawer-open [data-drawer-close]")
        if await drawer.is_visible():
            await drawer.click()  # it is in the place of the actions
        fold = self.page.locator("[data-fold=show-actions][aria-expanded=false]")
        if await fold.is_visible():
            await fold.click()
        await self.choose(command)
        await self.page.click("#menu [data-submit]")

    async def stepped(self, number: int, patience: float = 60_000) -> int:
        """Wait until this number of steps is taken and this person must choose, or the episode ends. Wait at
        most this number of milliseconds."""
        turn = f"#bar[data-step='{number}'][data-phase=choose], #bar[data-step='{number}'][data-phase=over]"
        await self.page.wait_for_selector(turn, timeout=patience)
        return number

    def favourite(self, offered: list[Sequence[str]], step: int) -> Sequence[str]:
        """Return the next command of a simple cook, who makes the sushi of level_3 from rice and fish and
        throws nothing away."""
        useful = [one for one in offered if self._is_useful(one)]
        ranked = sorted(useful, key=lambda one: PREFERENCE.index(one[0]))
        best = [one for one in ranked if one[0] == ranked[0][0]]
        return best[step % len(best)]

    @staticmethod
    def _is_useful(command: Sequence[str]) -> bool:
        if command[0] == "get" and command[1] == "storage0":
            return command[2] in {"rice", "salmon", "tuna"}
        return tuple(command) != ("put", "storage0")

    async def play_to_the_end(self) -> set[str]:
        """Play all remaining steps. Return where the drawing, the steps left, whose turn it is and the button
        were: one text, if nothing of it moved."""
        places = set[str]()
        while await self.page.get_attribute("#bar", "data-phase") != "over":
            places.add(await self.page.evaluate(PLACES))
            await self.play_step()
        return places

    async def go_on(self) -> None:
        """Move from the ended episode to the survey."""
        await self.page.click(".over-continue a")
        await self.page.wait_for_selector("[data-page=survey]")

    async def answer(self, points: int = 4) -> None:
        """Answer every scale with the same point, and move to the next page."""
        names = await self.page.eval_on_selector_all(
            "main input[type=radio]", "radios => [...new Set(radios.map(radio => radio.name))]"
        )
        for name in names:
            await self.page.check(f"input[name='{name}'][value='{points}']")
        await self.page.click("main button[type=submit]")


class Managed(Protocol):
    """An app whose `manage.py` commands tests can run."""

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` with these arguments, and return its output."""


ENTER = """
from io import StringIO
from django.core.management import call_command
from study.design.models import Study
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import finish_page
call_command("load_study", "{file}", stdout=StringIO())
study = Study.objects.get(slug="{slug}")
for number in range({people}):
    person = participant_enter(study_id=study.pk, entry=f"{slug}-{{number}}")
    consent_given(participant_id=person.pk)
    if "{page}" != "guide":
        finish_page(participant_id=person.pk, page="guide")
    print(person.get_absolute_url())
"""


def load_study(stack: Managed, folder: Path, slug: str, conditions: str, **more: Any) -> None:
    """Load a study from a file of `write_study` into the running app."""
    stack.manage("load_study", str(write_study(folder, slug, conditions, **more)))


def enter_kitchen(stack: Managed, folder: Path, conditions: str, **more: Any) -> str:
    """Create a participant in the first kitchen of a study, and return the address.

    The participant has consented and read the guide already. test_participant.py tests both steps in a
    browser.
    """
    slug = new_slug()
    return enter_loaded(stack, write_study(folder, slug, conditions, **more), slug)[0]


def enter_loaded(stack: Managed, file: Path, slug: str, people: int = 1, page: str = "play") -> list[str]:
    """Load the study of this file. Return the addresses of this number of participants who are on its guide
    or in its kitchen."""
    code = ENTER.format(file=file, slug=slug, people=people, page=page)
    return stack.manage("shell", "-v", "0", "-c", code).split()


def new_slug() -> str:
    """Return a slug (the study's name in addresses) that no other study has."""
    return f"journey-{secrets.token_hex(3)}"


def write_study(
    folder: Path, slug: str, conditions: str, *, steps: int, items: int = 1, more: str = ""
) -> Path:
    """Write the file of a study with these conditions (TOML) on level_3, and return it. `more` has further
    fields of the study."""
    questions = "\n".join(
        f'[[items]]\nkey = "i{number}"\nmeasure = "M{number}"\ntext = "Item {number}."'
        for number in range(items)
    )
    text = f"""slug = "{slug}"
title = "Journey {slug}"
seed = 5
{more}
[world]
kind = "cuisine"
settings = {{ level = "level_3", alpha = 2.0, beta = 2.5, max_steps = {steps} }}
[parts.consent]
text = "I agree."
{conditions}
{questions}
"""
    file = folder / f"{slug}.toml"
    file.write_text(text)
    return file


def asked_by_a_worker(teammates: int) -> str:
    """Return a condition whose co-players are asked by a worker."""
    turns = '[conditions.coplayer_settings]\nmodel = "stand-in"\n'
    return condition("asked", "dispatcher", teammates) + turns


def condition(key: str, coplayer: str = "none", teammates: int = 0, **settings: Any) -> str:
    """Return one condition as TOML."""
    lines = [f'{name} = "{value}"' for name, value in settings.items()]
    table = "\n[conditions.settings]\n" + "\n".join(lines) if lines else ""
    return (
        f'[[conditions]]\nkey = "{key}"\nname = "{key}"\nlabel = "Team {key}"\n'
        f'coplayer = "{coplayer}"\nteammates = {teammates}\n{table}'
    )
