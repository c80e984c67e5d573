"""Check the pages for contributors: their paths, names and commands exist, and the first recipes work.

A recipe is followed to the letter in a copy of the source. A block of code belongs to what was named last
before it: a path (the file is new), `NAME` of a path (lines for that dictionary, put where they sort), the
end of a path. A block of shell is run.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import dedent, indent
from typing import NamedTuple

import pytest

from brigade.paths import base_dir
from tests.nightly import nightly

ROOT = base_dir()
PAGES = (
    "CONTRIBUTING.md",
    "docs/draw-a-world.md",
    "docs/recipes.md",
    "docs/small-recipes.md",
    "docs/study-recipes.md",
    "docs/testing.md",
)
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
RECIPE_PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
SOURCE = ("brigade", "kitchen", "study", "templates", "static", "tests")
"""Folders that are no rooms: their names are Django's, or hold data."""
PYTHON = ".venv/bin/python"
PYTEST = [PYTHON, "-m", "pytest"]
RECIPES = ("Add a world", "Add a co-player", "Add a model provider")

BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
PATH = r"`((?:brigade|docs|kitchen|static|study|templates|tests)/[\w./<>*-]*)`"
NAME_OF_PATH = re.compile(rf"`(\w+)[\w.]*` (?:of|in) {PATH}")
NAMED = re.compile(rf"(?:`(?P<name>\w+)` of |(?P<end>end of ))?{PATH}")


class Step(NamedTuple):
    """A block of a recipe, and what is to be done with it."""

    kind: str
    text: str
    path: str = ""
    name: str = ""
    """Of the dictionary that gets these lines."""
    at_end: bool = False


def section(title: str, text: str = RECIPE_PAGE) -> str:
    """What stands under a heading."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"no recipe is called {title}"
    return found[1]


def steps(recipe: str) -> Iterator[Step]:
    """The blocks in their order."""
    read = 0
    for block in BLOCK.finditer(recipe):
        said = [*NAMED.finditer(recipe, read, block.start())]
        read, text = block.end(), dedent(block["text"])
        if block["kind"] == "sh":
            yield Step("sh", text)
        else:
            assert said, f"nothing says where this belongs:\n{text}"
            yield Step(block["kind"], text, said[-1][3], said[-1]["name"] or "", bool(said[-1]["end"]))


def follow(recipes: Sequence[str], house: Path) -> None:
    """Do all that they say, one after the other; AssertionError where that cannot be done, or a command that
    they run fails. One run of pytest takes the tests of all of them."""
    written: list[Path] = []
    commands: list[list[str]] = []
    for step in (step for recipe in recipes for step in steps(recipe)):
        if step.kind == "sh":
            commands += map(shlex.split, step.text.splitlines())
        else:
            written.append(write(step, house / step.path))
    ruff(written, house)
    tests = [command for command in commands if command[:3] == PYTEST]
    for command in [command for command in commands if command not in tests]:
        run(command, house)
    run(tests[0] if len(tests) == 1 else joined(tests), house)
    assert not missing("\n".join(recipes), house)


def joined(tests: Sequence[list[str]]) -> list[str]:
    """Return one command of pytest that runs all tests of these."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("-k", required=True)
    each = [parser.parse_args(test[3:]) for test in tests]
    paths = dict.fromkeys(path for one in each for path in one.paths)
    ignored = [f"--ignore={path}" for one in each for path in one.ignore]
    return [*PYTEST, *paths, *ignored, "-k", " or ".join(f"({one.k})" for one in each)]


def write(step: Step, file: Path) -> Path:
    """Put the block where it belongs."""
    assert file.exists() == bool(step.name or step.at_end), f"{step.path}: is it there already?"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = enlisted(step, before) if step.name else f"{before}\n{step.text}" if before else step.text
    file.unlink(missing_ok=True)  # of the source it is another name
    file.write_text(after, encoding="utf-8")
    return file


def enlisted(step: Step, source: str) -> str:
    """A module's source with these lines in a dictionary of it, before the first key that sorts later."""
    known = getattr(import_module(step.path.removesuffix(".py").replace("/", ".")), step.name, None)
    assert isinstance(known, dict), f"{step.path} has no dictionary {step.name}"
    (new, *_) = ast.literal_eval(f"{{{step.text}}}")
    written = next(
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == step.name
    )
    assert isinstance(written, ast.Dict) and written.end_lineno
    later = [key.lineno for key, name in zip(written.keys, known, strict=True) if key and name > new]
    at = min(later, default=written.end_lineno) - 1
    lines = source.splitlines(keepends=True)
    return "".join([*lines[:at], indent(step.text, "    "), *lines[at:]])


def ruff(files: list[Path], house: Path) -> None:
    """What is to be copied is as tidy as the house."""
    python = [str(file) for file in files if file.suffix == ".py"]
    run([PYTHON, "-m", "ruff", "check", "--no-cache", *python], house)
    run([PYTHON, "-m", "ruff", "format", "--no-cache", "--check", *python], house)


def run(command: list[str], house: Path) -> None:
    """Run a command of the recipe in the copy, and nothing of ours with it."""
    assert command[0] == PYTHON, f"{command}: a recipe runs {PYTHON}"
    own = {
        "PATH": os.environ["PATH"],
        "BRIGADE_VAR": str(house / "var"),
        "PYTEST_ADDOPTS": "-q -p no:cacheprovider",
    }
    done = subprocess.run(
        [sys.executable, *command[1:]], cwd=house, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"


def link(source: str, copy: str) -> None:
    """Give a file another name, or copy it where that cannot be."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the source, with its bytecode, but for what is being written: other names for its files."""
    for name in SOURCE:
        ignored = shutil.ignore_patterns("*.pyc.*")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored, copy_function=link)
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize("titles", nightly(list(RECIPES), *([title] for title in RECIPES)))
def test_recipes_that_are_followed_to_the_letter_work(titles: Sequence[str], house: Path) -> None:
    follow([section(title) for title in titles], house)


def test_a_command_of_a_recipe_that_fails_is_told_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"-c .*\n *FAILED"):
        run([PYTHON, "-c", "print('FAILED'); exit(1)"], tmp_path)


@pytest.mark.nightly
def test_a_recipe_with_a_promise_that_is_broken_fails(house: Path) -> None:
    recipe = spoilt("Add a co-player", "): list(command)", "): set(command)")
    with pytest.raises(AssertionError, match=r"FAILED .*test_memory_and_note_are_json"):
        follow([recipe], house)


@pytest.mark.parametrize(
    ("title", "right", "wrong", "complaint"),
    [
        ("Add a world", "lamps/kit.py`", "cuisine/kit.py`", "is it there already"),
        ("Add a world", "`WORLDS` of", "`PAGES` of", "has no dictionary PAGES"),
        (
            "Add a co-player",
            "`AGENTS` of `kitchen/registry/agent_registry.py`",
            "its registry",
            "nothing says where",
        ),
        ("Add a model provider", "llm/provider_registry.py`", "llm/providers.py`", "is it there already"),
        ("Add a model provider", "the end of `", "`", "is it there already"),
    ],
)
def test_a_recipe_that_names_another_place_fails(
    title: str, right: str, wrong: str, complaint: str, house: Path
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        follow([spoilt(title, right, wrong)], house)


def spoilt(title: str, right: str, wrong: str) -> str:
    """A recipe that says something else."""
    assert right in section(title)
    return section(title).replace(right, wrong)


# What all of the text says


def missing(text: str, house: Path = ROOT) -> list[str]:
    """The paths that a text names and that are not there, and the names that are not in the file it says.
    `<name>` in a path stands for anything."""
    plain = BLOCK.sub("", text)
    paths = {path for path in re.findall(PATH, plain) if not there(house, path)}
    named = NAME_OF_PATH.findall(plain)
    return sorted(paths | {f"{name} in {path}" for name, path in named if not defines(house, path, name)})


def there(house: Path, path: str) -> list[Path]:
    """What a path means."""
    return [*house.glob(re.sub(r"<\w+>", "*", path))]


def defines(house: Path, path: str, name: str) -> bool:
    """Whether one of these files has the name on the left of a line: a class, a function, a value, a key."""
    defined = re.compile(rf"^\s*(class |def |async def |\[)?{name}\b", re.MULTILINE)
    return any(defined.search(file.read_text(encoding="utf-8")) for file in there(house, path))


def test_paths_and_names_on_the_pages_for_contributors_exist() -> None:
    new = {step.path for title in RECIPES for step in steps(section(title))}
    assert set(missing(TEXT)) <= new


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("`kitchen/worlds/base.py`", "kitchen/worlds/base.py"),
        ("`study/data/instruments/<code>.json`", "study/data/instruments/<code>.json"),
        (
            "a line in `PAGES` of `kitchen/registry/world_registry.py`",
            "PAGES in kitchen/registry/world_registry.py",
        ),
    ],
)
def test_a_path_or_name_that_is_not_there_is_told(text: str, complaint: str) -> None:
    assert missing(text) == [complaint]


def test_commands_and_variables_on_the_pages_for_contributors_exist() -> None:
    targets = set(re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known = {target for line in targets for target in line.split()}
    assert set(re.findall(r"make ([\w-]+)(?=`|  )", TEXT)) <= known
    settings = (ROOT / "docs" / "variables.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(BRIGADE_[A-Z]+)", TEXT)) <= set(re.findall(r"`(BRIGADE_[A-Z]+)`", settings))
