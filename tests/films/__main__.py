"""Film ten seconds of each world for the README: `make films` writes docs/film-WORLD.webp.

`python -m tests.films --covers` takes instead the pictures that participants see before a game
(`Page.cover_of`): one for each of a world's rooms.

A program plays on a participant's page in a real browser, in the study of `WORLD.toml`. It gives the commands
that the world's adviser recommends. The browser sends a picture whenever the page has changed.
"""

from __future__ import annotations

import asyncio
import base64
import io
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import django
from PIL import Image
from playwright.async_api import Page, ViewportSize, async_playwright

from brigade.one_line_parser import OneLineParser
from brigade.paths import base_dir
from kitchen.contract.world import Command
from kitchen.registry.world_registry import get_page
from kitchen.worlds.collab_overcooked.room_layout import LAYOUTS
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.person import Person, enter_loaded
from tests.live.stack import Running, running

HERE = Path(__file__).parent
WORLDS = ("kitchen", "grid", "collab", "blocks")
SKIPPED = {"kitchen": 8, "grid": 20, "collab": 0, "blocks": 4}
"""Steps that are played before the film begins."""
PAUSE = {"kitchen": 0.45, "grid": 0.15, "collab": 0.45, "blocks": 0.45}
"""Seconds between two commands."""
VIEW = ViewportSize(width=1180, height=720)
WIDTH = 720
"""Width of the film in pixels."""
SECONDS = 10.0
PER_SECOND = 10
"""Pictures a second."""
QUALITY = 55
WALL, LAWN = "#e3ede6", "#d3e7b4"
COVERS = {
    "grid": ("overcooked", 60, WALL),
    "collab": ("collab_overcooked", 12, WALL),
    "blocks": ("blocks", 40, LAWN),
}
"""The world's folder, the steps that are played before its cover is taken, and the colour beside the drawing.
The kitchen's cover is drawn by hand."""
ROOMS = {"collab": tuple(LAYOUTS)}
"""The rooms of each world that has a cover for each of its rooms."""
COVER = (960, 330)
COVER_VIEW = ViewportSize(width=1280, height=900)
COVER_QUALITY = 72
DRAWING = "[data-board], [data-map]"
KEYS = {
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "space": "Space",
}
"""Playwright's names of keys, by the page's names."""
KEY_OF = """(command) => {
    const same = (one) => JSON.stringify(JSON.parse(one.value)) === JSON.stringify(command);
    const radio = [...document.querySelectorAll("#menu input[name=command]")].find(same);
    return radio?.closest("[data-press]")?.dataset.press.split(" ")[0] || "";
}"""
"""The key of this command, if it has one of its own."""
CHOOSES_AFTER = """(step) => {
    const { dataset } = document.getElementById("bar");
    return dataset.phase === "over" || (dataset.phase === "choose" && Number(dataset.step) > step);
}"""
"""Whether the person chooses again after this step. An action may last several steps."""
UNFOLD = """() => document.querySelectorAll(".col-own details").forEach((fold) => { fold.open = true; })"""
"""Opens all lists of actions."""
WORDS_OF = """(request) => {
    const macros = JSON.parse(document.getElementById("ask").dataset.macros);
    const same = ([value]) => JSON.stringify(JSON.parse(value)) === JSON.stringify(request);
    return macros.find(same)[2].map(([code]) => code);
}"""
"""The words of a requested action, as the lists of the page have them."""


class Camera:
    """The pictures that the browser has sent, with their times in seconds."""

    def __init__(self) -> None:
        self.taken: list[tuple[float, bytes]] = []
        self._answers = set[asyncio.Task[None]]()

    async def begin(self, page: Page) -> None:
        """Ask the browser for a picture of this page at every change."""
        self._session = await page.context.new_cdp_session(page)
        self._session.on("Page.screencastFrame", self._take)
        await self._session.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})

    async def end(self) -> None:
        """Ask for no more pictures."""
        await self._session.send("Page.stopScreencast")
        await asyncio.gather(*self._answers)

    def at(self, moment: float) -> bytes:
        """Return the last picture up to this time."""
        before = [picture for when, picture in self.taken if when <= moment]
        return before[-1] if before else self.taken[0][1]

    def _take(self, frame: Mapping[str, Any]) -> None:
        self.taken.append((frame["metadata"]["timestamp"], base64.b64decode(frame["data"])))
        answer = asyncio.ensure_future(self._answer(frame["sessionId"]))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, number: int) -> None:
        """Tell the browser that a picture has come, so that it sends the next one."""
        await self._session.send("Page.screencastFrameAck", {"sessionId": number})


class AdvisedPlayer:
    """Plays on the page of the only participant of a study, as the world's adviser recommends."""

    def __init__(self, slug: str) -> None:
        from study.pilot.bots import simulated_person  # the app must be loaded first

        person = simulated_person.Person(1, 1)
        person.temper = replace(person.temper, skill=1.0)
        self._player = simulated_person.Player(person, 1)
        self._slug = slug

    async def act(self, person: Person) -> None:
        """Send the next requests and the next command, and wait until the step has run. Do nothing once the
        episode is over."""
        if not (command := await asyncio.to_thread(self._next_command)):
            return
        for draft in self._player.messages({"addressees": True}):
            if requests := draft.data.get("requests"):  # a message may have words alone
                await ask(person.page, requests)
        await person.page.wait_for_selector("#bar[data-phase=choose]")
        before = await person.step()
        if key := await person.page.evaluate(KEY_OF, list(command)):
            await person.page.keyboard.press(KEYS.get(key, key))
        else:
            await person.page.evaluate(UNFOLD)
            await person.send(command)
        await person.page.wait_for_function(CHOOSES_AFTER, arg=before)

    def _next_command(self) -> Command | None:
        """Return the command that the adviser recommends now. Return None if the episode is over."""
        from kitchen.play.live.seat_view import (
            current_seat_view,
            state_message,
        )
        from kitchen.play.models import Seat

        seat = Seat.objects.get(episode__rounds__participant__study__slug=self._slug, mind=None)
        view = current_seat_view(seat)
        if view.phase == "over":
            return None
        state = asdict(state_message(seat.episode.world, view))
        self._player.watch(state)
        return self._player.choose(state)


async def ask(page: Page, requests: Sequence[Command]) -> None:
    """Request these actions of the teammate, with the lists of the page, and wait for the answer."""
    form, heard = page.locator("#ask-form"), await page.locator(".said:not(.is-yours)").count()
    await page.evaluate("document.getElementById('ask-fold').open = true")
    for request in requests:
        for number, word in enumerate(await page.evaluate(WORDS_OF, list(request))):
            await form.locator("[data-macro-picker] select").nth(number).select_option(word)
        await form.locator("[data-add-request]").click()
    await form.locator("[data-send]").click()
    await page.wait_for_selector("[data-request-list]:empty", state="attached")
    await page.wait_for_selector(f".said:not(.is-yours) >> nth={heard}", state="attached")
    await page.wait_for_selector("#bar[data-phase=choose]")


def main(arguments: Sequence[str]) -> int:
    """Film the worlds asked for, or all of them."""
    parser = OneLineParser(prog="python -m tests.films", description="Film each world for the README.")
    parser.add_argument("worlds", nargs="*", choices=[*WORLDS, []], default=[])
    parser.add_argument("--to", type=Path, default=base_dir() / "docs", help="the folder for the films")
    parser.add_argument("--covers", action="store_true", help="take the covers of the worlds instead")
    asked = parser.parse_args(arguments)
    with running("sqlite") as stack:
        os.environ.update(stack.environment)
        django.setup()
        for world in asked.worlds or (COVERS if asked.covers else WORLDS):
            if asked.covers:
                for slug, study, out in covers_of(world):
                    asyncio.run(take_cover(stack, world, slug, study, out))
                continue
            camera = asyncio.run(filmed(stack, world))
            out = asked.to / f"film-{world}.webp"
            save(camera, out)
            print(f"{out}: {out.stat().st_size // 1000} kB", flush=True)
    return 0


def covers_of(world: str) -> Iterator[tuple[str, str, Path]]:
    """Yield for each cover of this world: the slug of a study, the study as TOML, and the file of the cover.
    A world with several rooms has one for each."""
    name, _, _ = COVERS[world]
    static, text = base_dir() / "kitchen" / "worlds" / name / "static", (HERE / f"{world}.toml").read_text()
    if world not in ROOMS:
        yield f"film-{world}", text, static / get_page(name).cover
    for room in ROOMS.get(world, ()):
        slug, settings = f"film-{world}-{room}", f'settings = {{ layout = "{room}",'
        study = text.replace("settings = {", settings, 1).replace(f"film-{world}", slug, 1)
        yield slug, study, static / get_page(name).cover_of({"layout": room})


async def take_cover(stack: Running, world: str, slug: str, study: str, out: Path) -> None:
    """Play this study of the world for a while, and write the picture of it into the file `out`."""
    _, steps, beside = COVERS[world]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = await browser.new_page(base_url=stack.url, viewport=COVER_VIEW, device_scale_factor=2)
        person, player = Person(page), AdvisedPlayer(slug)
        with NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(study)
            file.flush()
            await person.enter(enter_loaded(stack, Path(file.name), slug)[0])
        await page.wait_for_selector("#bar[data-phase=choose]")
        for _ in range(steps):
            await player.act(person)
        await asyncio.sleep(1)
        picture = await page.locator(DRAWING).first.screenshot()
        await browser.close()
    centred(Image.open(io.BytesIO(picture)).convert("RGB"), beside).save(out, quality=COVER_QUALITY, method=6)
    print(f"{out}: {out.stat().st_size // 1000} kB", flush=True)


def centred(whole: Image.Image, beside: str) -> Image.Image:
    """Return the picture in the middle of a cover of this colour."""
    wide, high = COVER
    whole = whole.resize((round(high * whole.width / whole.height), high), Image.Resampling.LANCZOS)
    cover = Image.new("RGB", COVER, beside)
    cover.paste(whole, ((wide - whole.width) // 2, 0))
    return cover


async def filmed(stack: Running, world: str) -> Camera:
    """Play the study of this world, and return the pictures."""
    camera, slug = Camera(), f"film-{world}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = await browser.new_page(base_url=stack.url, viewport=VIEW)
        person, player = Person(page), AdvisedPlayer(slug)
        await person.enter(enter_loaded(stack, HERE / f"{world}.toml", slug)[0])
        await page.wait_for_selector("#bar[data-phase=choose]")
        for _ in range(SKIPPED[world]):
            await player.act(person)
        await camera.begin(page)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            await asyncio.sleep(PAUSE[world])
            await player.act(person)
        await camera.end()
        await browser.close()
    return camera


def save(camera: Camera, out: Path) -> None:
    """Write the first ten seconds as a film."""
    began = camera.taken[0][0]
    moments = [began + number / PER_SECOND for number in range(int(SECONDS * PER_SECOND))]
    first, *others = [scaled(camera.at(moment)) for moment in moments]
    lasts = 1000 // PER_SECOND
    first.save(out, save_all=True, append_images=others, duration=lasts, loop=0, quality=QUALITY, method=4)


def scaled(picture: bytes) -> Image.Image:
    """Return the picture in the size of the film."""
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    return whole.resize((WIDTH, round(WIDTH * whole.height / whole.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
