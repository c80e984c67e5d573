"""A person cooks beside robots whose model fails in many ways: the episode goes on, all of it named."""

from __future__ import annotations

import asyncio
import csv
import json
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Error, Page, Response, WebSocket

from tests.browser import IN_A_BROWSER
from tests.journeys.person import Person, condition, load_study
from tests.servers import Stack, wait_until
from tests.stand_in_server import StandInServer, reply, status

pytestmark = IN_A_BROWSER

GO = "Let us see. goto_agent1_storage0 and goto(agent2, pot0); goto_agent3_mixer0."
NONSENSE = "I am sorry, as a kitchen I cannot say."
KEY = "sk-not-a-real-key"
TURNS = '[conditions.coplayer_settings]\nmodel = "anthropic:claude-haiku-4-5"\n'


@pytest.fixture
def server() -> Iterator[StandInServer]:
    busy = [status(529), status(529), status(529), reply(NONSENSE)]
    with StandInServer([reply(GO), *busy, reply(GO, delay=60), reply(GO)]) as running:
        yield running


@pytest.fixture
def asking_stack(live_stack: Stack, server: StandInServer) -> Iterator[Stack]:
    """Yield the app with programs that ask this server."""
    address = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
    with pytest.MonkeyPatch.context() as patch:
        for program in (*live_stack.webs, live_stack.worker):
            patch.setattr(program, "environment", {**program.environment, **address})
        start_anew(live_stack)
        yield live_stack
    start_anew(live_stack)


def start_anew(stack: Stack) -> None:
    """Start daphne and the worker again, with the environment that they have now."""
    stack.kill_daphne()
    stack.kill_worker()
    stack.restart()


SEARCH = """
from django.db import connection
from kitchen.money.models import Spending
from study.design.models import Study
with connection.cursor() as cursor:
    for table in connection.introspection.table_names(cursor):
        cursor.execute(f'SELECT * FROM "{{table}}"')
        for row in cursor.fetchall():
            print(table, row)
budget = Study.objects.get(slug="{slug}").budget
print("unsettled", Spending.objects.filter(budget=budget, spent=None).count())
"""
"""Prints every value of every row of the database, and how many calls of a study were never settled."""


@pytest.mark.nightly  # `tests/live/test_kills` kills workers, the dispatcher's tests have the rest
async def test_the_model_is_busy_and_writes_nonsense_and_the_worker_dies_and_the_episode_goes_on(
    page: Page, asking_stack: Stack, server: StandInServer, tmp_path: Path
) -> None:
    stack, slug = asking_stack, f"dispatched-{secrets.token_hex(3)}"
    load_study(stack, tmp_path, slug, condition("three", "dispatcher", 3) + TURNS, steps=5)
    page.set_default_timeout(120_000)
    person = Person(page)
    seen = record(person.page)
    await person.agree(slug)
    await person.read_guide()
    await person.play_step()
    await person.play_step()
    asked = len(server.asked)
    await person.choose(person.favourite(await person.offered(), 2))
    await person.page.click("#menu [data-submit]")
    await asyncio.to_thread(wait_until, lambda: len(server.asked) > asked, "a call that is pending")
    stack.kill_worker()
    await person.page.wait_for_selector("#bar[data-phase=thinking]")
    stack.restart()
    await person.stepped(3)
    assert len(server.asked) == asked + 2, "the call that died with its worker, and the one after it"
    await person.play_to_the_end()
    assert await person.step() == 5
    await person.go_on()
    assert person.problems == []
    await visit_staff_pages(person.page, stack, slug)
    check_export(stack, slug, tmp_path / "out")
    check_database(stack, slug)
    assert len(seen) > 10
    assert not [where for where, text in seen if KEY in text]


def record(page: Page) -> list[tuple[str, str]]:
    """What this page is sent, as it comes: documents by address, and every frame of its websockets."""
    seen: list[tuple[str, str]] = []

    async def read(response: Response) -> None:
        if response.request.resource_type == "document" and response.ok:
            with suppress(Error):  # left for another page before it was read
                seen.append((response.url, await response.text()))

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: seen.append((socket.url, str(frame))))

    page.on("response", read)
    page.on("websocket", listen)
    return seen


async def visit_staff_pages(page: Page, stack: Stack, slug: str) -> None:
    """The study, its data, and the episode with every call beside its step."""
    make = (
        "from django.contrib.auth.models import User; User.objects.create_superuser('look', '', 'look-here')"
    )
    stack.manage("shell", "-c", make)
    await page.goto("/admin/")
    await page.fill("#id_username", "look")
    await page.fill("#id_password", "look-here")
    await page.click("[type=submit]")
    for address in (f"/staff/{slug}/", f"/staff/{slug}/data/", "/admin/kitchen/episode/"):
        found = await page.goto(address)
        assert found and found.ok, address
    await page.click("#result_list tbody th a")
    await page.wait_for_url("**/change/**")
    assert "claude-haiku-4-5-20261121" in await page.content()


def check_database(stack: Stack, slug: str) -> None:
    """No key in any table, nor in any file of the app (database, logs); one call was never settled."""
    found = stack.manage("shell", "-c", SEARCH.format(slug=slug))
    assert "claude-haiku-4-5" in found
    assert "unsettled 1" in found.splitlines()
    assert KEY not in found
    for path in stack.var.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


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
    assert [attempt["outcome"] for attempt in json.loads(rows[3]["attempts"])] == ["ok"]
    assert {row["fallback"] for row in rows.values()} == {""}
    assert "no_command" in rows[2]["note"]
    assert all(float(row["cost"]) > 0 for row in rows.values())
    everything = "".join(path.read_text() for path in folder.iterdir())
    assert KEY not in everything
