"""Provide the fixtures that all tests share: test databases, a Valkey, the whole running app, and a page in a
browser.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
from base64 import b64decode
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import kombu.pools
import pytest
import pytest_asyncio
from django.conf import settings as django_settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from django.test import client as django_client
from hypothesis import HealthCheck, settings
from jinja2 import Environment
from playwright.async_api import Browser, Page, async_playwright

from brigade.celery import app
from brigade.middleware import CompressedStaticMiddleware
from brigade.paths import broker_url
from kitchen.infra.append_only import erasure_allowed
from kitchen.llm import circuit_breaker
from kitchen.llm import provider_registry as llm_registry
from kitchen.llm.model_wrappers import RetryPolicy
from kitchen.registry.world_registry import WORLDS_VARIABLE, world_folders
from tests.browser import ARGUMENTS, find_chromium
from tests.servers import Stack, Valkey
from tests.template import Template, drop_database
from tests.worlds.beacon.kit import LINE as BEACON_LINE
from tests.worlds.boulders import LINE as BOULDERS_LINE
from tests.worlds.vault.kit import LINE as VAULT_LINE

Once = Callable[[], AbstractContextManager[None]]
"""The type of the fixture `once`."""
PROGRAMS = {"stack", "live_stack", "running"}
"""Fixtures that start the app."""

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
settings.register_profile("nightly", patient)
settings.register_profile("brigade", patient, max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of the run share one template database, use fast password hashes, and allow servers
    more time to start on a busy machine."""
    settings.load_profile("brigade" if "not nightly" in config.option.markexpr else "nightly")
    gc.disable()  # while all is imported: until `pytest_collection_finish`
    options = django_settings.DATABASES["default"]["OPTIONS"]
    options.update({"connect_timeout": 60} if "connect_timeout" in options else {})
    Template()
    logging.getLogger("brigade.security").handlers.clear()  # its file is not the tests'
    for handler in logging.getLogger().handlers:
        handler.filters.clear()  # tests that lose a broker read each line
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_sessionfinish() -> None:
    """Remove the run's files in the process that started the run."""
    Template().drop()


@pytest.fixture(autouse=True)
def no_pauses_of_models() -> None:
    """Let each test begin with models that are not paused, and share pauses with no other process."""
    circuit_breaker.forget_pauses()


@pytest.fixture(scope="session", autouse=True)
def static_files_looked_at_once() -> Iterator[None]:
    """List the static files only once. Django's test client would list them again in every test."""
    look, found = CompressedStaticMiddleware.add_files_from_finders, {}

    def look_once(middleware: CompressedStaticMiddleware) -> None:
        folders = tuple(map(str, django_settings.STATICFILES_DIRS))
        if folders not in found:
            look(middleware)
            found[folders] = dict(middleware.files)
        middleware.files.update(found[folders])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CompressedStaticMiddleware, "add_files_from_finders", look_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def panels_compiled_once() -> Iterator[None]:
    """Compile each template of a panel only once. Tests that add a world create a new Jinja2 environment,
    which would compile all of them again."""
    compile_, found = Environment.compile, {}

    def compile_once(environment: Environment, source: Any, *more: Any, **options: Any) -> Any:
        key = (source, more, tuple(options.items())) if isinstance(source, str) else None
        if key not in found or key is None:
            found[key] = compile_(environment, source, *more, **options)
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "compile", compile_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def signal_handlers_not_written_out() -> Iterator[None]:
    """Compare only numbers with the names of signal handlers, as Python 3.12 does.

    Python 3.11 formats the whole result of a coroutine for an error message whenever `asyncio.run` ends.
    """
    to_name: Callable[[Any, Any], Any] = vars(signal)["_int_to_enum"]

    def name_numbers(value: Any, kinds: Any) -> Any:
        return to_name(value, kinds) if isinstance(value, int) else value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal, "_int_to_enum", name_numbers)
        yield


@pytest.fixture(scope="session", autouse=True)
def contexts_of_pages_alone() -> Iterator[None]:
    """Record only the template contexts of whole pages. Django's test client would also copy the context of
    every part and form field, which no test reads."""
    note = django_client.store_rendered_templates  # type: ignore[attr-defined]

    def note_first(store: dict[str, Any], *drawn: Any, **more: Any) -> None:
        if "context" not in store:
            note(store, *drawn, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_client, "store_rendered_templates", note_first)
        yield


@pytest.fixture(scope="session", autouse=True)
def full_tables_emptied_alone() -> Iterator[None]:
    """Empty only tables that have rows after a test with `transaction=True`.

    Django truncates every table, and creates all content types and permissions again. This takes 0.15 s of
    PostgreSQL and as much of Python.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_full_tables())
        yield


def empty_full_tables() -> None:
    """Delete all rows, except what a migration leaves in an empty database."""
    quote, left_by_migrations = connection.ops.quote_name, {"auth_permission", "django_content_type"}
    tables = sorted(set(connection.introspection.django_table_names()) - left_by_migrations)
    asked = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {quote(table)})" for table in tables)  # noqa: S608
    with erasure_allowed(), connection.cursor() as cursor:  # foreign keys are checked at the end
        cursor.execute(" UNION ALL ".join(asked))
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {quote(table)}")  # noqa: S608


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Order the tests by file. Files whose tests start most programs come first, because they take
    longest."""
    yield
    starts = Counter(item.path for item in items if PROGRAMS & set(getattr(item, "fixturenames", ())))
    items.sort(key=lambda item: (-starts[item.path], item.path))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude all objects that are loaded by now from garbage collection, and run it less often. If the tests
    run in forked processes, load the largest package of those that the app loads late only once, before
    they are forked."""
    if session.config.getoption("processes", 0):
        import_module("anthropic")
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 50, 50)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Use the existing test database, which is a copy of the template."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, django_db_modify_db_settings_parallel_suffix: None
) -> Iterator[None]:
    """Use a database of this process alone, so that two runs in one folder or on one server do not share
    one."""
    database, template = django_settings.DATABASES["default"], Template()
    if template.server:
        name = f"test_{template.name}_{os.getpid()}"
        database["TEST"]["NAME"] = name
        address = template.copy_to_server(name)
        yield
        drop_database(address)
    else:
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database["TEST"]["NAME"] = str(file)
        template.copy_to_file(file)
        yield


@pytest.fixture(scope="module")
def once(
    django_db_setup: None, django_db_blocker: Any
) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Return a context manager for module fixtures: all tests of the module find the rows that are written
    inside it.

    No test sees what another test does to these rows. Do not use it with `transaction=True`.
    """
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
    yield django_db_blocker.unblock
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey]:
    """Start one Valkey for the whole run. Tests use the fixture `valkey`."""
    with Valkey() as server:
        yield server


@pytest.fixture
def beacon(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Add the test world `tests.worlds.beacon` in this test, in the same manner as an installation adds its
    own worlds."""
    add_world(monkeypatch, settings, BEACON_LINE)


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Add the test world `tests.worlds.vault` in this test, in which three keepers talk."""
    add_world(monkeypatch, settings, VAULT_LINE)


def add_world(monkeypatch: pytest.MonkeyPatch, settings: Any, line: str) -> None:
    """Add a world to those of this installation, with its templates and static files."""
    monkeypatch.setenv(WORLDS_VARIABLE, ",".join(filter(None, (os.environ.get(WORLDS_VARIABLE), line))))
    pages, panels = settings.TEMPLATES
    panels = {**panels, "DIRS": [settings.BASE_DIR / "templates", *world_folders("templates")]}
    settings.TEMPLATES = [pages, panels]
    settings.STATICFILES_DIRS = [settings.BASE_DIR / "static", *world_folders("static")]


@pytest.fixture
def boulders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the test world `tests.worlds.boulders` in this test, whose state has a large part."""
    monkeypatch.setenv(
        WORLDS_VARIABLE, ",".join(filter(None, [os.environ.get(WORLDS_VARIABLE), BOULDERS_LINE]))
    )


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """Return the address of the server in `REDIS_URL`, or else of the run's own Valkey."""
    given = os.environ.get("REDIS_URL")
    return given or request.getfixturevalue("valkey_server").url


@pytest.fixture
def valkey(redis_url: str, settings: Any) -> Iterator[str]:
    """Use a real server for the channel layer and Celery's broker in this test, and return its address."""
    layer: dict[str, Any] = django_settings.CHANNEL_LAYERS["default"]
    hosts = [{"address": redis_url, "socket_timeout": None}]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": hosts}}}
    before = app.conf.broker_url
    _use_broker(broker_url(redis_url))
    yield redis_url
    _use_broker(before)


def _use_broker(url: str) -> None:
    """Let Celery use the broker at this address from now on."""
    app.conf.update(broker_url=url, broker_read_url=url, broker_write_url=url)
    kombu.pools.reset()  # type: ignore[no-untyped-call]
    app._pool = None
    app.amqp._producer_pool = None


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Start the whole app once for the run, with a second world. Tests use the fixture `live_stack`."""
    with Stack(tmp_path_factory.mktemp("var"), {WORLDS_VARIABLE: f"{BEACON_LINE},{VAULT_LINE}"}) as running:
        yield running


@pytest.fixture(scope="module")
def left(stack: Stack) -> Iterator[None]:
    """End all play after these tests."""
    yield
    stack.leave()


@pytest.fixture
def live_stack(stack: Stack, left: None) -> Iterator[Stack]:
    """Return the whole app with all processes running. Processes that another test killed are started again.

    The database keeps its rows from test to test; episodes end after each test file. Create a study or
    participant of your own.
    """
    stack.restart()
    yield stack
    print(stack.last_words())  # shown with a failure


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the browser's path. Without a browser, skip the test, or fail on CI."""
    found = find_chromium()
    if found is None and os.environ.get("CI"):
        pytest.fail("no Chromium on the path and none named by CHROMIUM: `make test` as root installs one")
    if found is None:
        pytest.skip("no Chromium on the path and none named by CHROMIUM")
    return found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_browser(chromium: str) -> AsyncIterator[Browser]:
    """Start one browser for the run. Tests use the fixture `browser`."""
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)


@pytest_asyncio.fixture(loop_scope="session")
async def browser(running_browser: Browser) -> AsyncIterator[Browser]:
    """Return a browser. `await browser.new_context()` opens a separate session, like another person's
    computer, with animations reduced. It is closed after the test."""
    with pytest.MonkeyPatch.context() as patch:
        calm = partial(running_browser.new_context, reduced_motion="reduce")
        patch.setattr(running_browser, "new_context", calm)
        yield running_browser
    for context in list(running_browser.contexts):
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, live_stack: Stack) -> AsyncIterator[Page]:
    """Return an empty page whose addresses are relative to the running app: `await page.goto("/s/demo/")`."""
    context = await browser.new_context(base_url=live_stack.url)
    context.set_default_timeout(60_000)
    yield await context.new_page()


@pytest.fixture
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a `var` folder for this test alone."""
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path / "var"))
    return tmp_path / "var"


@pytest.fixture
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the readable report of `analyse_study`, for tests of its other files."""
    nothing = SimpleNamespace(html="", pdf=b"", appendix=b"")
    monkeypatch.setattr("study.reporting.report_output.rendered", lambda *_: nothing)


BLANK = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="
"""A PNG of one white pixel."""


def _blank(_: object, kind: str = "svg", **__: object) -> bytes:
    return b"<svg/>" if kind == "svg" else b64decode(BLANK)


@pytest.fixture
def blank_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every figure of an analysis by a small blank picture."""
    monkeypatch.setattr("kitchen.charts.chart_drawing.draw_chart", _blank)


@pytest.fixture
def without_drawings(blank_drawings: None, without_report: None) -> None:
    """Skip figures and the report of an analysis, for tests of its numbers."""


class AtOnce(RetryPolicy):
    """A retry wrapper that repeats calls as often as usual, but without waiting."""

    def wait(self, failed: int, asked: float | None, rng: Random) -> float:
        return 0.0


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call a failed model again at once."""
    monkeypatch.setattr(llm_registry, "RetryPolicy", AtOnce)
