"""What all tests share: databases of their own, a Valkey, the whole app running, a browser's page."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import kombu.pools
import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, settings
from playwright.async_api import Browser, Page, async_playwright

from brigade.celery import app
from brigade.places import broker_url
from kitchen.worlds.registry import VARIABLE, folders
from tests.browser import ARGUMENTS, find_chromium
from tests.servers import Stack, Valkey
from tests.worlds.beacon import LINE

SERVERS = {"db", "transactional_db", "redis_url", "valkey", "stack", "live_stack"}
"""Fixtures whose tests have to do with a database or a broker."""

settings.register_profile("brigade", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("brigade")  # a busy machine is no fault of the code


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--servers`, for a second run of the same tests elsewhere."""
    parser.addoption("--servers", action="store_true", help="only tests that need a database or a broker")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--servers`, leave out what would be the same on every database and broker."""
    if config.getoption("--servers"):
        chosen = [item for item in items if needs_servers(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def needs_servers(item: pytest.Item) -> bool:
    """Whether a test asks for a database or a broker, by its mark or its fixtures."""
    asked = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(asked & SERVERS)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """SQLite's test database is a file of this run, so that two runs in one folder do not meet."""
    database = django_settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey]:
    """A Valkey for the whole run; `valkey` is what tests want."""
    with Valkey() as server:
        yield server


@pytest.fixture
def beacon(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """In this test there is a second world, `tests.worlds.beacon`, found as an installation's own are."""
    monkeypatch.setenv(VARIABLE, LINE)
    (engine,) = settings.TEMPLATES
    settings.TEMPLATES = [{**engine, "DIRS": [settings.BASE_DIR / "templates", *folders("templates")]}]
    settings.STATICFILES_DIRS = [settings.BASE_DIR / "static", *folders("static")]


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """The server of `REDIS_URL`, or the run's own Valkey."""
    given = os.environ.get("REDIS_URL")
    return given or request.getfixturevalue("valkey_server").url


@pytest.fixture
def valkey(redis_url: str, settings: Any) -> Iterator[str]:
    """In this test the channel layer and Celery's broker are a real server; its address."""
    layer: dict[str, Any] = django_settings.CHANNEL_LAYERS["default"]
    hosts = [{"address": redis_url, "socket_timeout": None}]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": hosts}}}
    before = app.conf.broker_url
    _use_broker(broker_url(redis_url))
    yield redis_url
    _use_broker(before)


def _use_broker(url: str) -> None:
    """Have Celery connect there from now on."""
    app.conf.update(broker_url=url, broker_read_url=url, broker_write_url=url)
    kombu.pools.reset()  # type: ignore[no-untyped-call]
    app._pool = None
    app.amqp._producer_pool = None


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole app, once for the run, with a second world; `live_stack` is what tests want."""
    with Stack(tmp_path_factory.mktemp("var"), {VARIABLE: LINE}) as running:
        yield running


@pytest.fixture
def live_stack(stack: Stack) -> Iterator[Stack]:
    """The whole app, all of it running; what another test killed is started again. Its database goes on
    from test to test: make a study or participant of your own."""
    stack.restart()
    yield stack
    print(stack.last_words())  # shown with a failure


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path. Without one the test is skipped, and on CI it fails."""
    found = find_chromium()
    if found is None and os.environ.get("CI"):
        pytest.fail("no Chromium on the path and none named by CHROMIUM: `make test` as root installs one")
    if found is None:
        pytest.skip("no Chromium on the path and none named by CHROMIUM")
    return found


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """A browser; `await browser.new_context()` is one more person at a computer of their own."""
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield found
        await found.close()


@pytest.fixture
async def page(browser: Browser, live_stack: Stack) -> AsyncIterator[Page]:
    """An empty page whose addresses are relative to the running app: `await page.goto("/s/demo/")`."""
    context = await browser.new_context(base_url=live_stack.url)
    context.set_default_timeout(60_000)
    yield await context.new_page()
    await context.close()


@pytest.fixture
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `var` folder of this test's own."""
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path / "var"))
    return tmp_path / "var"
