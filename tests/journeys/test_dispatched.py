"""A person cooks beside robots whose model fails in many ways: the episode goes on, all of it named."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.journeys.person import Person, condition, load_study
from tests.servers import Stack
from tests.stand_in_server import StandInServer, reply, status

pytestmark = pytest.mark.browser

GO = "Let us see. goto_agent1_storage0 and goto(agent2, pot0); goto_agent3_mixer0."
NONSENSE = "I am sorry, as a kitchen I cannot say."
TURNS = '[conditions.coplayer_settings]\nmodel = "anthropic:claude-haiku-4-5"\n'


@pytest.fixture
def server() -> Iterator[StandInServer]:
    busy = [status(529), status(529), status(529), reply(NONSENSE)]
    with StandInServer([reply(GO), *busy, reply(GO)]) as running:
        yield running


@pytest.fixture
def stack(tmp_path: Path, server: StandInServer) -> Iterator[Stack]:
    address = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "sk-not-a-real-key"}
    with Stack(tmp_path / "var", address) as running:
        yield running


async def test_the_model_is_busy_and_writes_nonsense_and_the_worker_dies_and_the_episode_goes_on(
    browser: Browser, stack: Stack, tmp_path: Path
) -> None:
    slug = f"dispatched-{secrets.token_hex(3)}"
    load_study(stack, tmp_path, slug, condition("three", "dispatcher", 3) + TURNS, steps=5)
    context = await browser.new_context(base_url=stack.url)
    context.set_default_timeout(40_000)
    person = Person(await context.new_page())
    await person.agree(slug)
    await person.read_guide()
    await person.play_step()
    await person.play_step()
    stack.kill_worker()
    await person.choose(person.favourite(await person.offered(), 2))
    await person.page.click("#menu [data-submit]")
    await person.page.wait_for_selector("#bar[data-phase=thinking]")
    stack.restart()
    await person.stepped(3)
    await person.play_to_the_end()
    assert await person.step() == 5
    await person.go_on()
    assert person.problems == []
    check_export(stack, slug, tmp_path / "out")


def check_export(stack: Stack, slug: str, folder: Path) -> None:
    """Every decision is there with what was asked, answered and tried, and no key anywhere."""
    stack.manage("export_study", slug, "--out", str(folder))
    with (folder / "decisions.csv").open(newline="") as stream:
        rows = {int(row["step"]): row for row in csv.DictReader(stream)}
    assert sorted(rows) == [1, 2, 3, 4, 5]
    assert {row["played_by"] for row in rows.values()} == {"dispatcher"}
    tried = [attempt["outcome"] for attempt in json.loads(rows[2]["attempts"])]
    assert tried == ["529", "529", "529", "ok"]
    assert json.loads(rows[2]["reply"]) == NONSENSE
    assert "no_command" in rows[2]["note"]
    assert all(float(row["cost"]) > 0 for row in rows.values())
    everything = "".join(path.read_text() for path in folder.iterdir())
    assert "sk-not-a-real-key" not in everything
