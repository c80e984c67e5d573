"""What is one world's own lies under its name: no line elsewhere speaks of CuisineWorld."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("kitchen", "study", "brigade", "templates", "static")
SOURCES = {".py", ".html", ".js", ".css"}
ITS_OWN = re.compile(r"^kitchen/worlds/(blocks|collab_overcooked|cuisine|overcooked)/")
"""Rules, planner, dispatcher, templates, style; and another world, in which one cooks, too."""
ELSEWHERE = re.compile(r"(^|/)(vendor|migrations)/")
"""Stored migrations, and what others wrote."""
REGISTERED = ('    "cuisine": "kitchen.worlds.cuisine.kit:KIT",', 'DEFAULT_WORLD_NAME = "cuisine"')
"""The registry's line, and the one on what old documents mean."""
STORED = re.compile(r"\bsame_dishes\b")
"""The name of a setting in study files, documents and databases; what it is called follows from the world."""
WORDS = re.compile(r"cuisine|dish|recipe|\brobots?\b|\bcook(s|ing)?\b", re.IGNORECASE)
ENDS = r"(served?|expires?|missed|failed|cooked|ran out|run out|stands?)"
ORDERS = re.compile(
    rf"\b(open|standing|served|missed|failed|new|guests?'?s?) orders?\b|\borders? (that |which )?{ENDS}\b",
    re.IGNORECASE,
)
"""Orders of guests; conditions, sequences and lists have another order."""


VERBS = re.compile(r"\.(goto|noop|activate)\b|\.verb[.:]|\b[Kk]itchens?\b(?!/)")
"""Its verbs and its room, in scripts and styles of all worlds."""


def speaks_of_it(line: str) -> bool:
    """Whether a line says what only this world has."""
    rest = STORED.sub("", line)
    return bool(WORDS.search(rest) or ORDERS.search(rest))


def sources() -> Iterator[Path]:
    """Every source that is nobody's own."""
    found = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    for path in found:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in SOURCES and not ITS_OWN.search(name) and not ELSEWHERE.search(name):
            yield path


def test_no_line_elsewhere_speaks_of_it() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line not in REGISTERED and speaks_of_it(line)
    ]
    assert not found, "\n".join(found)


def test_no_script_or_style_of_all_worlds_has_its_verbs_or_its_room() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sources()
        if path.suffix in {".js", ".css"}
        for line in path.read_text(encoding="utf-8").splitlines()
        if VERBS.search(line)
    ]
    assert not found, "\n".join(found)
    assert VERBS.search('radio.closest(".noop")') and VERBS.search(".verb.goto .action-list {")
    assert VERBS.search("this.kitchen.update()") and not VERBS.search("// kitchen/play/live/render_page.py")


def test_its_own_folders_are_where_they_are_left_out() -> None:
    own = ROOT / "kitchen" / "worlds" / "cuisine"
    assert all((own / folder).is_dir() for folder in ("data", "instruments", "templates", "static"))


@pytest.mark.parametrize(
    "line",
    [
        'WORLD = "cuisine"',
        "from kitchen.worlds.cuisine.world import CuisineWorld",
        "<h2>Recipes</h2>",
        "Choose what your robot does",
        "<h1>Cook together</h1>",
        '"Dishes completed"',
        "The orders that expire first come first.",
        "while six stand there are no new orders",
        "Orders served",
    ],
)
def test_the_test_would_see_it(line: str) -> None:
    assert speaks_of_it(line)


@pytest.mark.parametrize(
    "line",
    [
        "Your browser must allow cookies from this site.",
        "same_dishes = models.BooleanField()",
        "from kitchen.contract.data_files import DataError",
        "The orders of conditions that a scheme gives.",
        "orders = balanced(conditions)",
        "They go in the order in which they came.",
    ],
)
def test_other_orders_are_none_of_its(line: str) -> None:
    assert not speaks_of_it(line)
