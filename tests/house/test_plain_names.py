"""Module names are unique and say what the module holds; module docstrings are in plain English."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from brigade.paths import base_dir

FAMILIES = {
    *("admin", "apps", "forms", "models", "tasks", "urls", "views"),  # of a Django app
    *("agent", "prompt", "settings"),  # of a co-player
    *("kit", "page", "world"),  # of a world
    *("display_text", "metrics", "reference_traces", "saved_state", "skills"),
}
"""File names that several folders may have: each holds the same part of what its folder is about."""
BANNED_NAMES = {
    *("about", "again", "ahead", "apart", "asking", "behind", "belonging", "come", "crew", "door", "doors"),
    *("go", "going", "heeding", "hops", "kept", "known", "looks", "pace", "patience", "past", "places"),
    *("said", "saying", "settling", "squeezed", "standing", "stands", "stretches", "sure", "telling"),
    *("told", "tried"),
}
"""Names that tell a reader nothing."""
BANNED_PHRASES = re.compile(
    r"\b(whoever|as ever|as it came|once more|is told of|are told of|said of|by and by|of theirs"
    r"|the house|at the door|front door)\b",
    re.IGNORECASE,
)
"""Turns of phrase that nobody searches for."""


def modules() -> list[Path]:
    """Return the product's modules, without migrations and management commands, whose names are fixed."""
    paths = (path for app in ("brigade", "kitchen", "study") for path in (base_dir() / app).rglob("*.py"))
    return sorted(path for path in paths if not {"migrations", "commands"} & set(path.parts))


def relative(path: Path) -> str:
    """Return a module's path from the folder of the project on."""
    return str(path.relative_to(base_dir()))


def test_no_two_modules_share_a_file_name_but_for_families() -> None:
    found = defaultdict(list)
    for path in modules():
        if path.stem not in FAMILIES | {"__init__"}:
            found[path.stem].append(relative(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [relative(path) for path in modules() if path.stem in BANNED_NAMES] == []


def test_no_public_name_says_nothing() -> None:
    assert [
        name for path in modules() for name in public_names(path) if name.rpartition(".")[2] in BANNED_NAMES
    ] == []


@cache
def parsed(path: Path) -> ast.Module:
    """Parse a module, once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def public_names(path: Path) -> list[str]:
    """Return the classes and functions that a module defines, each behind the module's path."""
    body = parsed(path).body
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [f"{relative(path)}.{one.name}" for one in body if isinstance(one, kinds) and one.name[0] != "_"]


@pytest.mark.parametrize("app", ["brigade", "kitchen", "study"])
def test_every_module_docstring_is_in_plain_english(app: str) -> None:
    found = {}
    for path in modules():
        text = ast.get_docstring(parsed(path)) or ""
        if relative(path).startswith(app) and (phrase := BANNED_PHRASES.search(text)):
            found[relative(path)] = phrase[0]
    assert found == {}


def test_a_phrase_is_found() -> None:
    assert BANNED_PHRASES.search("Nobody is told of it.") and not BANNED_PHRASES.search("Rename a module.")
