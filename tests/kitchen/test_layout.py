"""Which room may know which: what an import anywhere in the source would break."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kitchen

KITCHEN = Path(kitchen.__file__).parent
FILES = sorted(KITCHEN.rglob("*.py"))


def imported(source: str) -> Iterator[str]:
    """Names of modules that a source imports, inside functions and by name (`import_module`) too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(part.value) for part in node.args if isinstance(part, ast.Constant))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(KITCHEN)))
def test_the_kitchen_never_imports_the_study(path: Path) -> None:
    found = imported(path.read_text(encoding="utf-8"))
    assert [name for name in found if name.split(".")[0] == "study"] == []


@pytest.mark.parametrize(
    "source",
    [
        "import study",
        "import os, study.design.models as m",
        "from study.design.models import Study",
        "def f():\n    from study import flow",
        "import importlib\nimportlib.import_module('study.people.flow')",
    ],
)
def test_the_test_would_see_it(source: str) -> None:
    assert any(name.split(".")[0] == "study" for name in imported(source))
