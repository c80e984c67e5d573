"""A study of before parts and versions goes on after the upgrade: its people, their answers, their pages."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from brigade.paths import base_dir
from tests.study.upgrading import upgrade_first
from tests.template import Template, create_database, drop_database, named

pytestmark = pytest.mark.servers

UPGRADE = "from tests.study.upgrading import upgrade; upgrade()"


def upgraded(var: Path, redis_url: str) -> str:
    """What `tests.study.upgrading` says, on a new database where the other tests have theirs."""
    server = Template().server
    database = named(server, f"brigade_old_{secrets.token_hex(4)}") if server else ""
    create_database(database)
    given = {"DATABASE_URL": database, "BRIGADE_VAR": str(var), "REDIS_URL": redis_url}
    kept = {name: value for name, value in os.environ.items() if name not in given}
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", UPGRADE],
            cwd=base_dir(),
            env=kept | {name: value for name, value in given.items() if value},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        drop_database(database)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


STORED = {
    "texts": {"welcome": "Hello.", "consent": "I *agree*.", "end": "Bye."},
    "statuses": ["active", "active", "active", "complete"],
    "codes": [False, False, False, True],
    "versions": [1],
    "conditions": ["first", "second"],
    "answers": [
        ["plays", 1, "trust", 1],
        ["plays", 1, "fun", 2],
        ["complete", 1, "trust", 1],
        ["complete", 1, "fun", 2],
        ["complete", 2, "trust", 2],
        ["complete", 2, "fun", 3],
    ],
}
"""What the old study has after the upgrade, in other rows than before."""


@pytest.fixture
def empty_database(tmp_path: Path) -> Iterator[None]:
    """The connection leads to a new database without tables."""
    before, server = connection.settings_dict["NAME"], Template().server
    name = f"brigade_old_{secrets.token_hex(4)}" if server else str(tmp_path / "db.sqlite3")
    address = named(server, name) if server else ""
    create_database(address)
    connection.close()
    connection.settings_dict["NAME"] = name
    yield
    connection.close()
    connection.settings_dict["NAME"] = before
    drop_database(address)


@pytest.mark.django_db(transaction=True)
def test_first_migrations_turn_texts_into_parts_and_bind_people_to_versions(
    empty_database: None,
) -> None:
    assert upgrade_first() == STORED


@pytest.mark.nightly  # all the other migrations run on an empty database for each template of the tests
def test_texts_become_parts_answers_keep_their_values_and_everybody_goes_on(
    tmp_path: Path, redis_url: str
) -> None:
    assert json.loads(upgraded(tmp_path, redis_url)) == {
        **STORED,
        "pages": {
            "unread": ["guide", "guide"],
            "plays": ["play", "play"],
            "asked": ["survey", "survey"],
            "complete": ["end", "end"],
        },
        "shown": ["tables", "tables"],
        "asks": [True, False],
        "after": "play",
        "newcomer": [5, 2, "consent"],
    }
