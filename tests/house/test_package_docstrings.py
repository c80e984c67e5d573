"""A package's own file says what is in it; names are imported from the module that has them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from brigade import paths

APPS = [paths.base_dir() / app for app in ("kitchen", "study")]
FOUND_BY_DJANGO = {"study/design/models/__init__.py"}
"""Django imports these to find the pages of the admin, and a design's models by the usual address."""
PACKAGES = sorted(
    path
    for app in APPS
    for path in app.rglob("__init__.py")
    if str(path.relative_to(paths.base_dir())) not in FOUND_BY_DJANGO
)


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: str(path.relative_to(paths.base_dir()).parent))
def test_a_package_hands_on_no_names(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    assert [ast.unparse(one) for one in body if not is_text(one)] == []


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_the_test_would_see_a_name_that_is_handed_on() -> None:
    source = '"""What is in it."""\n\nfrom study.participants.next_page import current_page\n'
    assert [is_text(one) for one in ast.parse(source).body] == [True, False]
