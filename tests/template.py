"""Make a database with all migrations once in a test run, and copy it for each test that needs its own.

The database is also kept in the user's cache, under a hash of everything that affects the migrations. Later
runs, also in other clones, run no migration until this hash changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from brigade.paths import base_dir

VARIABLE = "TESTS_TEMPLATE"
"""The environment variable that names the run's folder to all its processes."""
MOST_KEPT = 8
"""The maximum number of cached databases; the oldest are deleted."""
IMPORTED = re.compile(r"^(?:from|import) ((?:kitchen|study)[\w.]*)", re.MULTILINE)
"""Modules of the app that a migration imports."""


class Template:
    """The template database: on the server of `DATABASE_URL` (or of the given address), or else an SQLite
    file.

    The first process that needs a copy makes the template. Other processes of the run wait for it.
    """

    def __init__(self, url: str | None = None) -> None:
        if VARIABLE not in os.environ:
            os.environ[VARIABLE] = tempfile.mkdtemp(prefix="brigade-template-")
        self.folder = Path(os.environ[VARIABLE])
        self.file = self.folder / "db.sqlite3"
        given = os.environ.get("DATABASE_URL", "") if url is None else url
        self.server = given if given.startswith("postgres") else ""
        self.made = self.folder / ("made.server" if self.server else "made.file")
        self.name = self.folder.name.replace("-", "_").lower()

    def copy_to_file(self, file: Path) -> None:
        """Copy the template to an SQLite file."""
        with self._made():
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.file, file)

    def copy_to_server(self, name: str) -> str:
        """Copy the template to a database of this name on the server of `DATABASE_URL`, replacing an old one.
        Return its address."""
        drop_database(named(self.server, name))
        with self._made():  # a database can be copied while nobody is connected to it
            at_the_server(self.server, f'CREATE DATABASE "{name}" TEMPLATE "{self.name}"')
        return named(self.server, name)

    def drop(self) -> None:
        """Delete the template."""
        if self.server and self.made.exists():
            drop_database(named(self.server, self.name))
        shutil.rmtree(self.folder, ignore_errors=True)
        del os.environ[VARIABLE]

    @contextmanager
    def _made(self) -> Iterator[None]:
        """Make sure that the template exists, and keep other processes out during this block."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.made.exists():
                self._make()
                self.made.touch()
            yield

    def _make(self) -> None:
        """Fill the template from the user's cache, or run every migration and cache the result."""
        url = named(self.server, self.name) if self.server else ""
        kept = kept_in("template") / f"{digest()}.{'dump' if url else 'sqlite3'}"
        if not (kept.exists() and self._take(kept, url)):
            self._migrate(url)
            self._keep(kept, url)

    def _take(self, kept: Path, url: str) -> bool:
        """Fill the database from a cached file. Return whether this worked."""
        if not url:
            shutil.copyfile(kept, self.file)
            return True
        drop_database(url)
        create_database(url)
        return runs("pg_restore", "--no-owner", "--exit-on-error", "--dbname", url, str(kept))

    def _keep(self, kept: Path, url: str) -> None:
        """Cache the database for later runs. A PostgreSQL database is not cached without `pg_dump`."""
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_name(f"{self.folder.name}.part")
        if not url:
            shutil.copyfile(self.file, part)
        elif not runs("pg_dump", "--no-owner", "--format=custom", "--file", str(part), url):
            part.unlink(missing_ok=True)
            return
        part.replace(kept)
        for old in sorted(kept.parent.iterdir(), key=lambda file: -file.stat().st_mtime)[MOST_KEPT:]:
            old.unlink(missing_ok=True)

    def _migrate(self, url: str) -> None:
        """Run every migration on an empty database. Raises AssertionError, with the output, if this fails."""
        if url:
            drop_database(url)
            create_database(url)
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "-v", "0"],
            cwd=base_dir(),
            env=os.environ | {"BRIGADE_VAR": str(self.folder), "DATABASE_URL": url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def kept_in(name: str) -> Path:
    """Return the cache folder with this name, which all clones of this user share."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "brigade" / name


def digest() -> str:
    """Return a hash of everything that affects the migrations: their files, the modules that they import, the
    packages, and SQLite."""
    base = base_dir()
    migrations = sorted(
        file for app in ("kitchen", "study") for file in (base / app / "migrations").glob("*.py")
    )
    modules = {name for file in migrations for name in IMPORTED.findall(file.read_text(encoding="utf-8"))}
    stems = [base / name.replace(".", "/") for name in sorted(modules)]
    files = [
        file for stem in stems for file in (stem.with_suffix(".py"), stem / "__init__.py") if file.exists()
    ]
    found = hashlib.sha256(f"{sys.version} {sqlite3.sqlite_version}".encode())
    for file in (*migrations, *files, base / "requirements.txt"):
        found.update(f"\0{file.relative_to(base)}\0".encode() + file.read_bytes())
    return found.hexdigest()


def runs(program: str, *arguments: str) -> bool:
    """Run a program, and return whether it exists and succeeds."""
    if shutil.which(program) is None:
        return False
    return subprocess.run([program, *arguments], capture_output=True, check=False).returncode == 0


def named(url: str, name: str) -> str:
    """Return the address of another database on the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def create_database(url: str) -> None:
    """Create the PostgreSQL database at this address. Do nothing if the address is empty."""
    at_the_server(url, 'CREATE DATABASE "{}"')


def drop_database(url: str) -> None:
    """Delete the database, also if somebody is connected."""
    at_the_server(url, 'DROP DATABASE IF EXISTS "{}" WITH (FORCE)')


def at_the_server(url: str, statement: str) -> None:
    """Run an SQL statement about the database at this address."""
    if not url:
        return
    with psycopg.connect(named(url, "postgres"), autocommit=True) as connection:
        connection.execute(statement.format(urlsplit(url).path.lstrip("/")).encode())
