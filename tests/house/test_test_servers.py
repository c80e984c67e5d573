"""The servers that other tests rely on: a real broker, the whole app, a page of it in a browser."""

from __future__ import annotations

import subprocess
import sys
import urllib.request

import pytest
from channels.layers import get_channel_layer
from playwright.async_api import Page

from brigade.celery import app
from brigade.paths import base_dir
from tests.nightly import nightly
from tests.servers import Stack

SERVERS = pytest.mark.servers


@SERVERS
async def test_the_channel_layer_is_a_real_server(valkey: str) -> None:
    layer = get_channel_layer()
    assert layer
    channel = await layer.new_channel()
    await layer.group_add("cooks", channel)
    await layer.group_send("cooks", {"type": "order.up"})
    assert (await layer.receive(channel))["type"] == "order.up"
    await layer.flush()


@SERVERS
def test_celerys_broker_is_a_real_server(valkey: str) -> None:
    app.send_task("house.nothing", queue="house")
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue("house")
        assert queue.get(timeout=30).headers["task"] == "house.nothing"
        queue.close()


def status(stack: Stack) -> int:
    with urllib.request.urlopen(f"{stack.url}/s/demo/", timeout=60) as answer:  # noqa: S310 - our own server
        return int(answer.status)


@SERVERS
def test_the_app_serves_the_demo_study(live_stack: Stack) -> None:
    assert status(live_stack) == 200


@SERVERS
@pytest.mark.nightly  # journeys and tests/live/test_kills.py rely on it
def test_what_was_killed_comes_back_at_the_same_address(live_stack: Stack) -> None:
    live_stack.kill_daphne()
    live_stack.kill_worker()
    if live_stack.has_own_valkey:
        live_stack.kill_valkey()
    live_stack.restart()
    assert status(live_stack) == 200


@pytest.mark.parametrize("arguments", [["export_study", "nowhere"], *nightly(["check"], ["dance"])])
def test_a_command_that_is_forked_ends_and_speaks_as_manage_py_does(
    live_stack: Stack, arguments: list[str]
) -> None:
    alone = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=base_dir(),
        env=live_stack.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = live_stack.command(*arguments)
    for one in ("returncode", "stdout", "stderr"):
        assert getattr(forked, one) == getattr(alone, one)


@SERVERS
@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_browser_shows_the_demo_study(page: Page) -> None:
    answer = await page.goto("/s/demo/")
    assert answer
    assert answer.ok
    assert await page.title()
