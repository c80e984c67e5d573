"""README, docs and CONTRIBUTING say what is there: commands, targets, variables, paths, links, rooms."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands

from brigade.paths import base_dir
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.agent_registry import agent_kinds
from study.design.demo_study_files import READY_STUDIES

ROOT = base_dir()
GUIDES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ALL = (*GUIDES, ROOT / "CONTRIBUTING.md")
INDEX = ROOT / "docs" / "index.md"
FOR_CONTRIBUTORS = {
    "index.md",
    "developers.md",
    "follow-a-step.md",
    "licences.md",
    "recipes.md",
    "testing.md",
}
RECIPES = {ROOT / "docs" / name for name in ("recipes.md", "small-recipes.md", "study-recipes.md")}
"""Name files and variables that the reader adds; `test_recipes` checks their paths and names."""
DESCRIPTIONS = tuple(guide for guide in GUIDES if guide not in RECIPES)
"""Guides that name only what is there."""
SOURCES = ("brigade", "kitchen", "study", "tests")

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TICKED = re.compile(r"`([^`\n]+)`")
EXTRAS = {"llama_cpp.server"}
"""Modules that `make model` installs elsewhere."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
PATH = re.compile(r"(?:brigade|docs|kitchen|static|study|templates|tests)/[\w./-]*")

over_descriptions = pytest.mark.parametrize("guide", DESCRIPTIONS, ids=lambda path: path.name)
over_all = pytest.mark.parametrize("guide", ALL, ids=lambda path: path.name)


def code(text: str) -> Iterator[str]:
    """Every block of code, and every piece in backticks."""
    yield from BLOCK.findall(text)
    yield from TICKED.findall(BLOCK.sub("", text))


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    return {anchor(heading) for heading in HEADING.findall(BLOCK.sub("", text))}


@cache
def source() -> str:
    """All Python of the house, and the Makefile."""
    files = (path for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))
    return "\n".join(path.read_text() for path in [*files, ROOT / "Makefile"])


def unread(names: set[str], text: str) -> set[str]:
    """Those that the source names nowhere as a variable: in quotes, or as make writes it."""
    return {name for name in names if f'"{name}"' not in text and f"$({name})" not in text}


def test_the_readme_is_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize(
    ("page", "most"),
    [
        ("CONTRIBUTING.md", 9_000),
        ("docs/testing.md", 8_000),
        ("docs/developers.md", 13_000),
        ("docs/follow-a-step.md", 11_000),
    ],
)
def test_pages_for_contributors_stay_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_bytes()) <= most


def test_the_readme_names_the_two_commands_and_the_first_page_of_the_guides() -> None:
    text = (ROOT / "README.md").read_text()
    assert {"make run", "make test"} <= set(re.findall(r"make (?:run|test)\b", text))
    assert "docs/index.md" in LINK.findall(text)


def test_the_first_page_lists_every_page_once() -> None:
    """The navigation of the site is made of its links."""
    listed = [(INDEX.parent / link).resolve() for link in LINK.findall(INDEX.read_text())]
    pages = {*GUIDES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"} - {INDEX}
    assert sorted(listed) == sorted(pages)


def test_pages_for_researchers_and_operators_are_short_and_lead_to_the_next() -> None:
    pages = [path for path in GUIDES[1:] if path.name not in FOR_CONTRIBUTORS]
    assert [path.name for path in pages if len(path.read_text().split()) > 1_200] == []
    last = {path.name: path.read_text().rstrip().splitlines()[-1] for path in pages}
    assert [name for name, line in last.items() if not re.match(r"Next: \[.+\]\(.+\)$", line)] == []


@pytest.mark.nightly
def test_the_site_is_built_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "html"
    build = (sys.executable, "-m", "sphinx", "-M", "html", ROOT, tmp_path, "-c", ROOT / "docs", "-q", "-W")
    subprocess.run(build, check=True)
    pages = {str(path.relative_to(site)): path.read_text() for path in site.glob("**/*.html")}
    assert {f"docs/{guide.stem}.html" for guide in GUIDES[1:]} <= pages.keys()
    inside = re.compile(r"<style| style=|<script>|(?:src|<link[^>]* href)=\"https?:")
    assert [name for name, text in pages.items() if inside.search(text)] == []
    assert all("researchers.html" in text or name == "docs/researchers.html" for name, text in pages.items())


@over_all
def test_links_and_pictures_lead_somewhere(guide: Path) -> None:
    for link in LINK.findall(guide.read_text()):
        if "://" in link or link.startswith("media:"):
            continue
        name, _, part = link.partition("#")
        target = guide.parent / name if name else guide
        assert target.exists(), link
        assert not part or part in anchors(target.read_text()), link


def test_every_picture_is_shown_and_small() -> None:
    shown = {(guide.parent / link).resolve() for guide in ALL for link in LINK.findall(guide.read_text())}
    pictures = set((ROOT / "docs").glob("*.png"))
    assert pictures <= shown
    assert [path.name for path in pictures if path.stat().st_size > 150_000] == []


@over_all
def test_commands_exist(guide: Path) -> None:
    named = {name for piece in code(guide.read_text()) for name in re.findall(r"manage\.py (\w+)", piece)}
    assert named <= get_commands().keys()


def test_every_command_of_ours_for_people_is_told() -> None:
    told = " ".join(piece for guide in GUIDES for piece in code(guide.read_text()))
    theirs = {"ensure_admin", "migrate", "seed_demo"}  # what `prepare` does
    ours = {name for name, app in get_commands().items() if app in {"kitchen", "study"}}
    assert {name for name in ours if not re.search(rf"\b{name}\b", told)} <= theirs


@over_all
def test_targets_of_make_exist(guide: Path) -> None:
    targets = set(re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    named = {name for piece in code(guide.read_text()) for name in re.findall(r"\bmake (\w[\w-]*)", piece)}
    assert named <= known


@over_all
def test_modules_that_are_run_exist(guide: Path) -> None:
    named = {name for piece in code(guide.read_text()) for name in re.findall(r"-m ([a-z_.]+)", piece)}
    assert {name for name in named - EXTRAS if find_spec(name) is None} == set()


@over_descriptions
def test_variables_are_read_by_the_source(guide: Path) -> None:
    named = {name for piece in code(guide.read_text()) for name in VARIABLE.findall(piece)}
    assert unread(named, source()) == set()


def test_every_variable_of_ours_is_told_to_operators() -> None:
    files = (path for folder in SOURCES[:3] for path in (ROOT / folder).rglob("*.py"))
    read = {name for path in files for name in re.findall(r'"(BRIGADE_[A-Z_]+)"', path.read_text())}
    read |= set(re.findall(r"\$\((BRIGADE_[A-Z_]+)\)", (ROOT / "Makefile").read_text()))
    assert read
    assert read <= set(VARIABLE.findall((ROOT / "docs" / "variables.md").read_text()))


@over_descriptions
def test_paths_exist(guide: Path) -> None:
    pieces = TICKED.findall(BLOCK.sub("", guide.read_text()))
    named = {piece for piece in pieces if PATH.fullmatch(piece)}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_room_is_told_with_its_floor() -> None:
    """As the import contracts of pyproject.toml have it."""
    rows = re.findall(
        r"^\| (\d+) \| `(\w+)/(\w+)/`", (ROOT / "docs" / "developers.md").read_text(), re.MULTILINE
    )
    told = {(app, room): int(floor) for floor, app, room in rows}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    held = {
        (contract["containers"][0], room): floor
        for contract in contracts
        if contract["type"] == "layers"
        for floor, rooms in enumerate(reversed(contract["layers"]), 1)
        for room in rooms.split(" | ")
    }
    assert told == {key: floor for key, floor in held.items() if ROOT.joinpath(*key).is_dir()}


def test_ready_studies_are_named_with_the_button_that_the_console_has() -> None:
    console = (ROOT / "templates/study/console/index.html").read_text()
    button = re.findall(r"staff-new' %}\">([^<]+)<", console)[0]
    told = {path.name: " ".join(path.read_text().split()) for path in GUIDES}
    for page in ("README.md", "design.md", "collab-overcooked.md"):
        assert f"*{button}*" in told[page] and "Collab-Overcooked" in told[page]
    assert READY_STUDIES["collab_overcooked"][0] in told["collab-overcooked.md"]
    assert not [page for page, text in told.items() if "*New study*" in text]


def test_every_co_player_of_the_grids_is_told_to_researchers() -> None:
    told = " ".join((ROOT / "docs/co-players.md").read_text(encoding="utf-8").casefold().split())
    assert not [
        kind for kind in agent_kinds("overcooked") if f"*{readable_name(kind).casefold()}*" not in told
    ]


@over_all
def test_a_table_is_whole(guide: Path) -> None:
    """Every row has as many cells as its heading."""
    for table in re.findall(r"(?:^\|.*\n)+", BLOCK.sub("", guide.read_text()), re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1, table.splitlines()[0]
