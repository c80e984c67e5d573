"""Which room may know which: the contracts of pyproject.toml hold, and a wrong import breaks them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brigade.paths import base_dir
from tests.run import CHECKS

LINT = next(command for command in CHECKS if "importlinter" in " ".join(command))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source, for wrong imports to be added to."""
    copy = tmp_path_factory.mktemp("house")
    for name in ("brigade", "kitchen", "study"):
        shutil.copytree(base_dir() / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(base_dir() / "pyproject.toml", copy)
    return copy


@pytest.fixture
def spoilt(house: Path) -> Iterator[list[Path]]:
    """Files that are put back as they were."""
    files: list[Path] = []
    yield files
    for path in files:
        shutil.copy(base_dir() / path.relative_to(house), path)


WRONG = [
    (
        "kitchen/play/turn/step_timer.py",
        "from study.participants import next_page",
        "kitchen never imports study",
    ),
    (
        "kitchen/llm/call_costs.py",
        "def later():\n    import django",
        "plain Python: no Django, no channels, no Celery",
    ),
    (
        "kitchen/contract/world.py",
        "import kitchen.play.models",
        "kitchen: a room imports only what lies below it",
    ),
    (
        "study/design/naming_rules.py",
        "from study.participants import participant_counts",
        "study: a room imports only what lies below it",
    ),
    (
        "study/editor/design_forms.py",
        "def f():\n    from study.admin import StudyAdmin",
        "the console never imports the admin",
    ),
    ("study/participants/models.py", "from study.participants import next_page", "no circle, in no room"),
    (
        "study/participants/next_page.py",
        "from brigade import paths",
        "the apps never import what starts them",
    ),
    (
        "study/participation/views.py",
        "from kitchen.worlds.cuisine import world",
        "a world is known by its line in the registry only",
    ),
    (
        "study/exports/export_table.py",
        "from kitchen.tasks import decide",
        "study knows the kitchen's rooms, not its doors",
    ),
    ("study/exports/export_table.py", "from kitchen import models", "models are imported from their rooms"),
]
"""A file, what is written at its end, and the contract that this breaks."""


def broken(house: Path) -> dict[str, str]:
    """The contracts that do not hold, each with why."""
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    found = subprocess.run(
        [sys.executable, *LINT], cwd=house, env=plain, capture_output=True, text=True, check=False
    )
    names = [line.partition(" BROKEN")[0] for line in found.stdout.splitlines() if " BROKEN" in line]
    assert bool(names) == bool(found.returncode), found.stdout + found.stderr
    return {name: why(found.stdout, name) for name in names}


def why(said: str, name: str) -> str:
    """What stands under the heading of a contract."""
    heading = f"\n{name}\n{'-' * len(name)}\n"
    assert heading in said
    return re.split(r"\n[^\n]+\n-{3,}\n", said.partition(heading)[2])[0]


def write(house: Path, spoilt: list[Path], file: str, line: str) -> None:
    """Add a line to a file, which is put back later."""
    spoilt.append(house / file)
    with (house / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")


def test_wrong_imports_break_the_contracts_and_are_named(house: Path, spoilt: list[Path]) -> None:
    """That all is well without them is what `make check` finds."""
    for file, line, _ in WRONG:
        write(house, spoilt, file, line)
    found = broken(house)
    for file, _, contract in WRONG:
        module = file.removesuffix(".py").replace("/", ".")
        assert module in found[contract] or short(module) in found[contract], (contract, found[contract])


def short(module: str) -> str:
    """A module as the contract about circles writes it: from its room on."""
    return module.partition(".")[2].partition(".")[2]


@pytest.mark.nightly
def test_the_house_keeps_its_contracts(house: Path) -> None:
    assert broken(house) == {}


@pytest.mark.nightly
@pytest.mark.parametrize(("file", "line", "contract"), WRONG)
def test_a_wrong_import_alone_breaks_a_contract(
    house: Path, spoilt: list[Path], file: str, line: str, contract: str
) -> None:
    write(house, spoilt, file, line)
    assert contract in broken(house)


BY_NAME = ("import_module", "__import__", "look_up", "load")
"""What imports by a name that is text, which import-linter does not see."""


def imported_by_name(source: str) -> set[str]:
    """Names of the house that a source imports as text."""
    if not any(name in source for name in BY_NAME):
        return set()
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    by_name = (call for call in calls if ast.unparse(call.func).rpartition(".")[2] in BY_NAME)
    texts = (part.value for call in by_name for part in call.args if isinstance(part, ast.Constant))
    return {text for text in texts if isinstance(text, str) and text.split(".")[0] in {"kitchen", "study"}}


def test_nothing_is_imported_by_name_behind_the_contracts_back() -> None:
    sources = [path for app in ("kitchen", "study") for path in (base_dir() / app).rglob("*.py")]
    assert {path.name: names for path in sources if (names := imported_by_name(path.read_text()))} == {}
    assert imported_by_name('importlib.import_module("study.participants.next_page")') == {
        "study.participants.next_page"
    }


def test_a_room_without_a_floor_breaks_the_contract(house: Path) -> None:
    (house / "kitchen" / "attic.py").touch()
    try:
        assert "kitchen: a room imports only what lies below it" in broken(house)
    finally:
        (house / "kitchen" / "attic.py").unlink()
