"""Check the mark `servers` on tests of what PostgreSQL or Redis decides, or SQLite decides otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from brigade.paths import base_dir

APPS = ("kitchen", "study")
SPEAKS = re.compile(
    r"\b(select_for_update|IntegrityError|RawSQL|Func|Cast|Subquery|OuterRef|Exists|cursor|"
    r"ignore_conflicts|update_conflicts|get_or_create|update_or_create)\b|\.iterator\(|connection\.vendor"
)
"""Words of a source that locks, that reckons with losing a race, or that writes SQL of its own."""
VENDOR = re.compile(r"\.vendor\b")
"""Where it is asked which database there is."""
COMMAND = re.compile(r'(?:call_command|\.manage|walk)\(\s*"(\w+)"')
"""A test that runs a command by its name."""


def sources() -> dict[str, Path]:
    """The modules of both apps, by name; migrations speak for themselves in the upgrade's test."""
    paths = (path.relative_to(base_dir()) for app in APPS for path in (base_dir() / app).rglob("*.py"))
    return {name_of(path): base_dir() / path for path in paths if "migrations" not in path.parts}


def name_of(path: Path) -> str:
    """`study.participation.services` of `study/participation/services.py`."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def room_of(path: Path) -> str:
    """The folder of a module."""
    return str(path.parent.relative_to(base_dir()))


def imports(path: Path) -> Iterator[str]:
    """Names of modules that a source imports, and of what may be one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_with(words: re.Pattern[str]) -> list[str]:
    """Those with a module that has such words."""
    return sorted({room_of(path) for path in sources().values() if words.search(path.read_text())})


@lru_cache
def rooms_of_tests_with(mark: str) -> set[str]:
    """Those that the folder of a file with marked tests mirrors, or that it or a command that it runs imports
    from."""
    there, found = sources(), set()
    for test in (base_dir() / "tests").rglob("test_*.py"):
        if f"mark.{mark}" not in (text := test.read_text()):
            continue
        run = {f"{app}.management.commands.{name}" for name in COMMAND.findall(text) for app in APPS}
        asked = {*imports(test), *(name for one in run & there.keys() for name in imports(there[one]))}
        found |= {room_of(there[name]) for name in asked & there.keys()}
        found.add(str(test.parent.relative_to(base_dir() / "tests")))
    return found


@pytest.mark.parametrize("room", rooms_with(SPEAKS))
def test_a_room_that_speaks_to_the_database_is_tested_on_the_servers(room: str) -> None:
    assert room in rooms_of_tests_with("servers"), f"mark a test of {room} with pytest.mark.servers"


@pytest.mark.parametrize("room", rooms_with(VENDOR))
def test_a_room_that_does_otherwise_on_sqlite_is_tested_there_too(room: str) -> None:
    assert room in rooms_of_tests_with("sqlite"), f"mark a test of {room} with pytest.mark.sqlite"


def test_whoever_commits_for_real_or_has_a_real_broker_is_marked(request: pytest.FixtureRequest) -> None:
    forgotten = [
        item.nodeid
        for item in request.session.items
        if item.get_closest_marker("servers") is None and item.get_closest_marker("browser") is None
        if is_for_real(item)
    ]
    assert forgotten == []


def is_for_real(item: pytest.Item) -> bool:
    """Whether what a test writes is committed, or what it sends goes over a broker."""
    database = item.get_closest_marker("django_db")
    commits = database is not None and database.kwargs.get("transaction", False)
    return commits or bool({"transactional_db", "valkey"} & set(getattr(item, "fixturenames", ())))
