"""The threat model names tests, and they are there."""

from __future__ import annotations

import ast
import re

import pytest

from brigade.paths import base_dir
from study.editor.flow_pages import own_page_edit
from study.editor.media_pages import media
from study.editor.policy_file_pages import policy_files
from study.editor.study_file_pages import new_from_file
from study.editor.text_table import text_table
from study.monitor.import_pages import imports
from study.monitor.replay_page import replay_opened
from study.researchers.permissions import STAFF

ROOT = base_dir()
ROWS = [
    line
    for page in sorted((ROOT / "docs").glob("threats*.md"))
    for line in page.read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| threat")
]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_threat_says_what_is_done_and_names_a_test_that_is_there(row: str) -> None:
    threat, done, _, test = (cell.strip() for cell in row.strip("|").split("|"))
    assert threat and done
    found = TEST.fullmatch(test)
    assert found, f"name one test as `tests/….py::test_…`, not {test!r}"
    tree = ast.parse((ROOT / found[1]).read_text())
    assert found[2] in {node.name for node in tree.body if hasattr(node, "name")}, test


def test_few_pages_take_a_file_and_they_are_for_staff() -> None:
    sources = [path for app in ("kitchen", "study") for path in (ROOT / app).rglob("*.py")]
    takes = re.compile(r"request\.FILES|FileField|ImageField|FileInput")
    found = [path.relative_to(ROOT) for path in sources if takes.search(path.read_text())]
    pages = {
        "study/editor/policy_file_pages.py": policy_files,
        "study/editor/study_file_pages.py": new_from_file,
        "study/monitor/import_pages.py": imports,
        "study/monitor/replay_page.py": replay_opened,
    }
    of_studies = {
        "study/editor/media_pages.py",
        "study/editor/media_form.py",
        "study/editor/text_table.py",
    }
    assert {str(path) for path in found} == pages.keys() | of_studies
    assert {page.opens_for for page in pages.values()} == {STAFF}  # type: ignore[attr-defined]
    taken_from = {page.taken_from for page in (media, own_page_edit, text_table)}  # type: ignore[attr-defined]
    assert taken_from == {"edit"}
