"""Count the clicks that a dish takes on the drawing and in the menu, and measure the time from a click to the
new state on the screen: `python -m tests.live.clicks [--steps 60]`.

A program clicks in a real browser. The world's adviser, which sees the same episode, tells it what to do. All
clicks of the pointer count, also those that only open a choice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from brigade.one_line_parser import OneLineParser
from kitchen.contract.agent import Situation
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Command, World
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.world_registry import get_world
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.person import Person, condition, load_study
from tests.live.crowd import Played
from tests.live.options import number
from tests.live.stack import Running, running
from tests.live.table import Figure, table

SEED = 5
"""The seed of the study that `load_study` creates."""
TIMES = (2.0, 2.5)
WATCH = """
(() => {
  const times = window.paintedTimes = [];
  window.pointed = 0;
  let clicked = null, step = null;
  const shown = () => document.getElementById("bar")?.dataset.step;
  document.addEventListener("click", (event) => {
    if (!event.detail) return;
    window.pointed += 1;
    clicked = event.timeStamp;
    step = shown();
  }, true);
  new MutationObserver(() => {
    if (clicked === null || shown() === step || !shown()) return;
    const since = clicked;
    clicked = null;
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => times.push(performance.now() - since);
      after.port2.postMessage(null);
    });
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-step"] });
})();
"""
"""A script that counts clicks, and records the milliseconds from the last click before a step to the frame
after it."""
SINGLE = """spot => {
    const at = [...document.querySelectorAll("#menu input[name=command]:not(:disabled)")]
        .filter(one => JSON.parse(one.value)[1] === spot);
    const doing = at.filter(one => !one.closest("[data-stays]"));
    const found = doing.length ? doing : at;
    return found.length === 1 && !found[0].closest("[data-ask]");
}"""
"""A script that returns whether a click on a place sends the command at once."""


@dataclass(frozen=True, slots=True)
class Cooked:
    """The result of one episode, played on the drawing or in the menu."""

    way: str
    clicks: int
    steps: int
    dishes: int
    times: tuple[float, ...]

    def figures(self) -> list[Figure]:
        """Return the results in the form of the table."""
        played = Played(1.0, self.times)
        return [
            Figure(f"{self.way}: clicks a dish", self.clicks / max(1, self.dishes), "clicks"),
            Figure(f"{self.way}: clicks a step", self.clicks / self.steps, "clicks"),
            Figure(f"{self.way}: dishes served in {self.steps} steps", self.dishes, ""),
            Figure(f"{self.way}: click to painted state, p50", played.p50 / 1000, "s"),
            Figure(f"{self.way}: click to painted state, p95", played.quantile(0.95) / 1000, "s"),
        ]


def main(arguments: Sequence[str]) -> int:
    """Play an episode on the drawing and one in the menu, and print the measured values."""
    asked = parse(arguments)
    with running("sqlite") as stack:
        cooked = asyncio.run(in_a_browser(stack, asked))
    print(f"\n{table([figure for one in cooked for figure in one.figures()])}", flush=True)
    return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.clicks", description="Clicks a dish.")
    parser.add_argument("--steps", type=number(1, 100_000), default=60)
    return parser.parse_args(arguments)


async def in_a_browser(stack: Running, asked: argparse.Namespace) -> list[Cooked]:
    """Play one episode after another in a browser, each in a study of its own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        cooked = [
            await episode(browser, stack, asked.steps, way, act)
            for way, act in (("drawing", on_drawing), ("menu", in_menu))
        ]
        await browser.close()
    return cooked


async def episode(
    browser: Browser, stack: Running, steps: int, way: str, act: Callable[[Page, Command], Awaitable[None]]
) -> Cooked:
    """Enter a study as a participant, and follow the adviser until the episode is over."""
    slug = f"clicks-{secrets.token_hex(3)}"
    with tempfile.TemporaryDirectory() as folder:
        load_study(stack, Path(folder), slug, condition("one"), steps=steps)
    page = await browser.new_page(base_url=stack.url, viewport={"width": 1440, "height": 900})
    await page.add_init_script(WATCH)
    person, world = Person(page), twin(steps)
    await person.agree(slug)
    await person.read_guide()
    while not world.over:
        command = advised(world)
        await act(page, command)
        world.step({0: command})
        await person.stepped(world.clock)
        if await page.evaluate(f"document.querySelector('#past-{world.clock} .refused') !== null"):
            raise RuntimeError(f"{command} was refused: the episode is not the one that is played beside it")
    await page.wait_for_timeout(200)
    clicks, times = await page.evaluate("window.pointed"), await page.evaluate("window.paintedTimes")
    await page.close()
    return Cooked(way, clicks, world.clock, int(world.score()["completed"]), tuple(times))


def twin(steps: int) -> World:
    """Create the episode of a study's first participant, with the settings of `load_study`."""
    alpha, beta = TIMES
    settings = {"level": "level_3", "alpha": alpha, "beta": beta, "max_steps": steps}
    world = get_world("cuisine").create(seats=1, settings=settings)
    world.reset(derived_seed(SEED, "episode", 1, "one"))
    return world


def advised(world: World) -> Command:
    """Return the command that the adviser recommends now, or waiting if it recommends none."""
    advice = get_adviser(world.kind).advise(
        Situation(
            world=world.kind,
            step=world.clock,
            seats=(0,),
            briefs={0: world.brief(0)},
            observations={0: world.observe(0)},
            legal={0: world.legal_actions(0)},
            people=(0,),
            seed=world.clock,
        )
    )
    legal = world.legal_actions(0)
    return advice.command if advice and advice.command in legal else world.idle


async def on_drawing(page: Page, command: Command) -> None:
    """Click the place on the drawing. If several actions are possible there, also click the intended one.
    None means waiting."""
    if len(command) < 2:
        return await in_menu(page, command)
    single = await page.evaluate(SINGLE, command[1])
    await page.click(f'[data-spot="{command[1]}"]')
    if not single:
        words = await page.evaluate(
            """value => { const radio = [...document.querySelectorAll("#menu input[name=command]")]
                              .find(one => one.value === value);
                          return radio.dataset.text || radio.closest("label").querySelector(".action-text")
                              .firstChild.textContent.trim(); }""",
            json.dumps(list(command), separators=(",", ":")),
        )
        await page.click(f'[data-spot-menu] button:text-is("{words}")')
    return None


async def in_menu(page: Page, command: Command) -> None:
    """Click the action in the menu."""
    await page.click(f"#do-{'-'.join(command)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
