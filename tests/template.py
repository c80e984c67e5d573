"""A database with all migrations, made once in a run and copied for whoever needs one of its own."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from brigade.places import base_dir

VARIABLE = "TESTS_TEMPLATE"
"""Names the run's folder to all of its processes."""


class Template:
    """Where `DATABASE_URL` names a PostgreSQL, or this address does, a database on that server; else a file
    of SQLite.

    Whoever wants a copy first makes it; the run's other processes wait for that.
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
        """A copy for SQLite."""
        with self._made():
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.file, file)

    def copy_to_server(self, name: str) -> str:
        """A copy of this name on the server of `DATABASE_URL`, in the place of one that was left there; its
        address."""
        drop_database(named(self.server, name))
        with self._made():  # a database can be copied while nobody is connected to it
            at_the_server(self.server, f'CREATE DATABASE "{name}" TEMPLATE "{self.name}"')
        return named(self.server, name)

    def drop(self) -> None:
        """Leave nothing behind."""
        if self.server and self.made.exists():
            drop_database(named(self.server, self.name))
        shutil.rmtree(self.folder, ignore_errors=True)
        del os.environ[VARIABLE]

    @contextmanager
    def _made(self) -> Iterator[None]:
        """It is there, and nobody else in this block."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.made.exists():
                self._make()
                self.made.touch()
            yield

    def _make(self) -> None:
        """Run every migration on an empty database; AssertionError with what was said where that fails."""
        url = named(self.server, self.name) if self.server else ""
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


def named(url: str, name: str) -> str:
    """The address of another database on the server of this one."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def create_database(url: str) -> None:
    """Make the PostgreSQL database that this address names; nothing where it is empty."""
    at_the_server(url, 'CREATE DATABASE "{}"')


def drop_database(url: str) -> None:
    """Remove it, whoever is connected."""
    at_the_server(url, 'DROP DATABASE IF EXISTS "{}" WITH (FORCE)')


def at_the_server(url: str, statement: str) -> None:
    """Run a statement about the database that this address names."""
    if not url:
        return
    with psycopg.connect(named(url, "postgres"), autocommit=True) as connection:
        connection.execute(statement.format(urlsplit(url).path.lstrip("/")).encode())
