"""A study of before parts and versions goes on after the upgrade: its people, their answers, their pages."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from brigade.places import base_dir
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


def test_texts_become_parts_answers_keep_their_values_and_everybody_goes_on(
    tmp_path: Path, redis_url: str
) -> None:
    assert json.loads(upgraded(tmp_path, redis_url)) == {
        "texts": {"welcome": "Hello.", "consent": "I *agree*.", "end": "Bye."},
        "pages": {
            "unread": ["guide", "guide"],
            "plays": ["play", "play"],
            "asked": ["survey", "survey"],
            "complete": ["end", "end"],
        },
        "shown": ["tables", "tables"],
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
        "asks": [True, False],
        "after": "play",
        "newcomer": [5, 2, "consent"],
    }
