"""Processes are killed while people play: what a page showed is stored, and the episodes go on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.live.kills import take_seats, to_the_end
from tests.live.witness import Witness
from tests.servers import PATIENCE, Stack

pytestmark = pytest.mark.servers
MAKE = """
import json
from tests.live.books import table_laid
print(json.dumps(table_laid(steps=60) + table_laid(mates=2, kind="planner", steps=60)))
"""
LOOK = """
import json, pathlib
from tests.live.checking import faults_in
print(json.dumps(faults_in(json.loads(pathlib.Path("{file}").read_text()))))
"""
CUT = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE datname = current_database() AND pid <> pg_backend_pid()")
"""


def asked(stack: Stack, source: str) -> Any:
    return json.loads(stack.manage("shell", "-v", "0", "-c", source))


def blows(stack: Stack) -> list[Callable[[], object]]:
    """What dies here, each by itself, then two at once. The database of all tests lives; what is connected to
    it loses that."""
    found: list[Callable[[], object]] = [stack.kill_daphne, stack.kill_worker]
    if stack.has_own_valkey:
        found.append(stack.kill_valkey)
    if os.environ.get("DATABASE_URL"):
        found.append(lambda: stack.manage("shell", "-v", "0", "-c", CUT))
    return [*found, lambda: [each() for each in (stack.kill_worker, found[-1])]]


async def steps_shown(people: Sequence[Witness], more: int) -> None:
    """Wait until everybody was shown so many steps more, or has come to the end."""
    aims = [person.step + more for person in people]
    async with asyncio.timeout(PATIENCE):
        while any(person.step < aim and not person.done for person, aim in zip(people, aims, strict=True)):
            await asyncio.sleep(0.02)


async def test_whatever_dies_nothing_that_was_shown_is_lost(live_stack: Stack, tmp_path: Path) -> None:
    keys = asked(live_stack, MAKE)
    people = [Witness(live_stack.url, key, as_html=not number, every=0.05) for number, key in enumerate(keys)]
    await take_seats(people)
    for kill in blows(live_stack):
        await steps_shown(people, 5)
        kill()
        live_stack.restart()
    assert await to_the_end(people, PATIENCE)
    assert any(person.reconnects for person in people)
    file = tmp_path / "shown.json"
    file.write_text(json.dumps([person.shown for person in people]))
    assert asked(live_stack, LOOK.format(file=file)) == []
