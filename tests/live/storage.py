"""Let people fill in forms and play while the database can store nothing for ten seconds: `python -m
tests.live.storage [--database postgres] [--faults locked,full] [--pictures FOLDER]`.

One person is a browser, the others are programs. Nobody may see an error 500 or lose anything. Sent forms and
chosen commands must be stored by themselves afterwards. Every shown step must be stored, and every log must
replay. Otherwise the exit code is 1.

The faults are real. Another program holds a lock. The disk is full (a small tmpfs for SQLite, which needs
root or `unshare -rm python -m tests.live.storage`; PostgreSQL is made to report it). Writing is forbidden (a
read-only mount, or PostgreSQL's setting). Another version has migrated the database: a column that pages need
is missing, and comes back.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from playwright.async_api import Browser, Page, async_playwright

from brigade.one_line_parser import OneLineParser
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.person import Person, condition, load_study
from tests.live.books import Books
from tests.live.kills import take_seats, to_the_end
from tests.live.options import some_of
from tests.live.stack import Running, running
from tests.live.witness import Witness

FAULTS = ("locked", "full", "readonly", "migrating")
SECONDS = 10.0
"""Seconds in which nothing can be stored."""
SLUG = "storage"
SIZES = ((360, 740), (1440, 900))
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"mates": 1, "kind": "random"},
    {"mates": 1, "kind": "dispatcher", "settings": {"model": "stand-in"}},
)
"""The kinds of episode that programs play. A worker asks the last co-player."""
EVERY = 1.0
"""Seconds between two commands of a program."""

Fault = Callable[[Running], AbstractContextManager[None]]


def main(arguments: Sequence[str]) -> int:
    """Play, cause the faults, and check the result. Return the exit code."""
    asked = parse(arguments)
    with ExitStack() as around:
        variables = {} if asked.database == "postgres" else around.enter_context(small_disk(asked.faults))
        stack = around.enter_context(running(asked.database, **variables))
        books = around.enter_context(Books(stack.environment))
        folder = Path(around.enter_context(tempfile.TemporaryDirectory()))
        load_study(stack, folder, SLUG, condition("alone"), steps=60, items=2)
        print(stack.told, flush=True)
        faults = asyncio.run(watched(stack, books, asked))
    print("\n".join(faults) or "nobody got an error, nothing is missing", flush=True)
    return int(bool(faults))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.storage", description="Play while nothing is stored.")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--faults", type=some_of(FAULTS), default=FAULTS, help=f"of {', '.join(FAULTS)}")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the pages")
    return parser.parse_args(arguments)


async def watched(stack: Running, books: Books, asked: argparse.Namespace) -> list[str]:
    """Cause each fault in turn, while programs play all the time. Return what is wrong then."""
    keys = [books.ask("episodes", count=1, steps=600, **table)[0] for table in TABLES]
    programs = [Witness(stack.url, key, every=EVERY, seed=n) for n, (key,) in enumerate(keys)]
    await take_seats(programs)
    found: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for name in asked.faults:
            found += await one_fault(stack, browser, name, asked.database, asked.pictures)
            found += [f"{name}: a program came no further" for one in programs if not await goes_on(one)]
        await browser.close()
    await to_the_end(programs, 120)
    return found + list(await asyncio.to_thread(books.ask, "faults", shown=[one.shown for one in programs]))


async def goes_on(program: Witness) -> bool:
    """Return whether the page shows another step within twenty seconds."""
    before, end = program.step, time.monotonic() + 20
    while program.step <= before and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return program.step > before or program.done


async def one_fault(
    stack: Running, browser: Browser, name: str, database: str, pictures: Path | None
) -> list[str]:
    """Cause one fault while one person fills in a form and one plays, for each window size. Return what is
    wrong."""
    statuses: Counter[int] = Counter()
    forms = [await at_a_form(stack, browser, size, statuses) for size in SIZES]
    plays = [await at_play(stack, browser, size, statuses) for size in SIZES]
    workers = pids_of(stack, "worker", "experiments")
    with BROKEN[database][name](stack):
        began = time.monotonic()
        for page in forms:
            await page.click("main button[type=submit]", no_wait_after=True)
        for person in plays:
            await person.send(person.favourite(await person.offered(), 0))
        await asyncio.sleep(SECONDS - 1)
        words = [await said(page, f"{name}-form", pictures) for page in forms]
        words += [await said(person.page, f"{name}-play", pictures) for person in plays]
        await asyncio.sleep(max(0.0, began + SECONDS - time.monotonic()))
    back = time.monotonic()
    wrong = [f"{name}: the form did not go in by itself" for page in forms if not await gone_on(page)]
    wrong += [f"{name}: the choice did not go in by itself" for one in plays if not await has_stepped(one)]
    took = time.monotonic() - back
    print(f"{name}: statuses {dict(statuses)}; all was in {took:.1f} s after it was over", flush=True)
    print("\n".join(f"  {line}" for line in words), flush=True)
    if name != "readonly" or database == "postgres":  # else they were killed, to open what is broken anew
        wrong += [f"{name}: a worker died" for _ in workers - pids_of(stack, "worker", "experiments")]
    return wrong + [f"{name}: {status}, {statuses[status]} times" for status in statuses if is_error(status)]


def pids_of(stack: Running, *names: str) -> set[int]:
    """Return the ids of the processes with these names."""
    return {pid for pid, name in stack.processes().items() if name in names}


def is_error(status: int) -> bool:
    """Return whether somebody saw an error page."""
    return status >= 500 and status != 503


async def newcomer(stack: Running, browser: Browser, size: tuple[int, int], statuses: Counter[int]) -> Person:
    """Open a browser window of this size for a new participant, and count the statuses of the responses."""
    viewport: Any = {"width": size[0], "height": size[1]}
    context = await browser.new_context(base_url=stack.url, viewport=viewport)
    context.set_default_timeout(60_000)
    page = await context.new_page()
    page.on("response", lambda response: statuses.update([response.status] if response.status != 304 else []))
    return Person(page)


async def at_a_form(stack: Running, browser: Browser, size: tuple[int, int], statuses: Counter[int]) -> Page:
    """Return a participant who has ticked the box of the consent form."""
    page = (await newcomer(stack, browser, size, statuses)).page
    await page.goto(f"/s/{SLUG}/")
    await page.click("main button[type=submit]")
    await page.check("input[name=agree_0]")
    return page


async def at_play(stack: Running, browser: Browser, size: tuple[int, int], statuses: Counter[int]) -> Person:
    """Return a participant whose first step is open."""
    person = await newcomer(stack, browser, size, statuses)
    await person.agree(SLUG)
    await person.read_guide()
    return person


async def said(page: Page, name: str, pictures: Path | None) -> str:
    """Return the text that a page shows now, and save a picture of it."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=pictures / f"{name}-{width}.png")
    words = "main > .lead, #notice p, #connection [data-text]"
    await page.wait_for_selector(words)  # it may be trying again at this moment
    texts = await page.locator(words).all_inner_texts()
    return f"{name}-{width}: {' / '.join(filter(None, texts))}"


async def gone_on(page: Page) -> bool:
    """Return whether the consent was stored, so that the guide is shown."""
    return await is_there(page, "[data-page=guide]")


async def has_stepped(person: Person) -> bool:
    """Return whether the first step was stored, and the page shows no storage problem any more."""
    return await is_there(person.page, "#bar[data-step='1']")


async def is_there(page: Page, selector: str) -> bool:
    """Return whether the condition becomes true within half a minute."""
    try:
        await page.wait_for_selector(selector, timeout=30_000)
    except Exception as error:
        print(f"{page.url}: {str(error).splitlines()[0]}", flush=True)
        return False
    return True


# SQLite


@contextmanager
def small_disk(faults: Sequence[str]) -> Iterator[dict[str, str]]:
    """Mount a small disk for the database, if a fault needs a disk that is soon full."""
    if not {"full", "readonly"} & set(faults):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="brigade-disk-") as folder:
        run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder)
        try:
            yield {"DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
        finally:
            run("umount", "--lazy", folder)


def run(*command: str) -> None:
    """Run a command. Raises CalledProcessError."""
    subprocess.run(command, check=True)


def file_of(stack: Running) -> Path:
    """Return the path of the database file."""
    given = stack.environment.get("DATABASE_URL", "").removeprefix("sqlite:///")
    return Path(given or f"{stack.environment['BRIGADE_VAR']}/db.sqlite3")


@contextmanager
def sqlite_locked(stack: Running) -> Iterator[None]:
    other = sqlite3.connect(file_of(stack), timeout=5, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def sqlite_full(stack: Running) -> Iterator[None]:
    sqlite_does(file_of(stack), "PRAGMA wal_checkpoint(TRUNCATE)")  # so that the next write needs room
    block = file_of(stack).parent / "block"
    with block.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    try:
        yield
    finally:
        block.unlink()


@contextmanager
def sqlite_readonly(stack: Running) -> Iterator[None]:
    folder = str(file_of(stack).parent)
    run("mount", "--bind", folder, folder)
    run("mount", "-o", "remount,bind,ro", folder)
    for pid, name in stack.processes().items():  # what they have open already can still be written to
        if name in {"web", "worker", "experiments"}:
            os.kill(pid, signal.SIGKILL)
    time.sleep(4)
    try:
        yield
    finally:
        run("umount", "--lazy", folder)


@contextmanager
def sqlite_migrating(stack: Running) -> Iterator[None]:
    with renamed(lambda statement: sqlite_does(file_of(stack), statement)):
        yield


def sqlite_does(file: Path, statement: str) -> None:
    """Run SQL on the SQLite file from another connection."""
    other = sqlite3.connect(file, timeout=30, isolation_level=None)
    other.execute(statement)
    other.close()


# PostgreSQL


@contextmanager
def connected(stack: Running) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(stack.environment["DATABASE_URL"], autocommit=True) as other:
        yield other


@contextmanager
def postgres_locked(stack: Running) -> Iterator[None]:
    with connected(stack) as other, other.transaction():
        other.execute("LOCK TABLE study_participant, kitchen_episode, kitchen_step IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def postgres_full(stack: Running) -> Iterator[None]:
    tables = ("kitchen_step", "kitchen_seatcommand", "study_pagevisit")
    with connected(stack) as other:
        other.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        for table in tables:
            other.execute(
                f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} "
                "EXECUTE FUNCTION full_disk()".encode()
            )
        try:
            yield
        finally:
            other.execute("DROP FUNCTION full_disk CASCADE")


@contextmanager
def postgres_readonly(stack: Running) -> Iterator[None]:
    with connected(stack) as other:
        other.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        other.execute("SELECT pg_reload_conf()")
        time.sleep(0.5)
        try:
            yield
        finally:
            other.execute("ALTER SYSTEM RESET default_transaction_read_only")
            other.execute("SELECT pg_reload_conf()")


@contextmanager
def postgres_migrating(stack: Running) -> Iterator[None]:
    with connected(stack) as other, renamed(lambda statement: other.execute(statement.encode())):
        yield


@contextmanager
def renamed(do: Callable[[str], object]) -> Iterator[None]:
    """Rename a column that pages need, as if another version of the app had migrated the database."""
    columns = (("kitchen_seatcommand", "received_at"), ("study_participant", "consented_at"))
    for table, name in columns:
        do(f"ALTER TABLE {table} RENAME COLUMN {name} TO {name}_of_another_version")
    try:
        yield
    finally:
        for table, name in columns:
            do(f"ALTER TABLE {table} RENAME COLUMN {name}_of_another_version TO {name}")


BROKEN: dict[str, dict[str, Fault]] = {
    "sqlite": {
        "locked": sqlite_locked,
        "full": sqlite_full,
        "readonly": sqlite_readonly,
        "migrating": sqlite_migrating,
    },
    "postgres": {
        "locked": postgres_locked,
        "full": postgres_full,
        "readonly": postgres_readonly,
        "migrating": postgres_migrating,
    },
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
