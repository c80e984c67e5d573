"""Build the package `brigade-worlds`: the worlds as environments, without Django.

    python -m tests.worlds_wheel --out var/wheels --check

The wheel has the modules of `ROOMS` that need only Python, `REQUIRED` and each other. So it has no pages, and
no agents that call language models. `--check` installs it into a new virtual environment that has nothing
else, and runs PettingZoo's tests there for every world.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from brigade.paths import base_dir

ROOT = base_dir()
ROOMS = ("agents", "contract", "opened", "registry", "words", "worlds")
REQUIRED = {"gymnasium": ">=1.0", "numpy": "", "pettingzoo": ">=1.27", "pydantic": ""}
BROUGHT = {"pydantic_core"}
"""What the required packages bring."""
LEFT_OUT = {"__pycache__", "locale", "static", "templates"}
"""Folders of worlds that only pages need."""
UV = str(Path(sys.executable).with_name("uv"))
PROJECT = """
[project]
name = "brigade-worlds"
version = "{version}"
description = "The worlds of Brigade as environments for programs that learn"
requires-python = ">=3.11"
license = "MIT"
license-files = ["LICENSE"]
dependencies = {needs}

[build-system]
requires = ["uv_build>=0.13,<1"]
build-backend = "uv_build"

[tool.uv.build-backend]
module-name = "kitchen"
module-root = ""
"""
CHECK = """
import sys, warnings
warnings.simplefilter("ignore")
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from kitchen.opened.environments import aec_env, parallel_env, vector_env
from kitchen.registry.world_registry import WORLDS
cycles = int(sys.argv[1])
for world in WORLDS:
    parallel_api_test(parallel_env(world), num_cycles=cycles)
    api_test(aec_env(world), num_cycles=cycles)
    parallel_seed_test(lambda: parallel_env(world), num_cycles=cycles)
    seed_test(lambda: aec_env(world), num_cycles=cycles)
env = vector_env("overcooked", copies=4, partners={1: ("greedy", {})})
env.reset(1)
env.step([[5]] * 4)
foreign = {"channels", "django", "jinja2", "pandas", "scipy"} & sys.modules.keys()
print(f"{len(WORLDS)} worlds pass; {len(foreign)} modules of the web app were loaded")
sys.exit(bool(foreign))
"""


def imported_modules(path: Path) -> Iterator[str]:
    """Yield what a module imports when it is loaded, as names of modules or of what is in them. Imports
    inside functions and those for type checkers are left out."""
    waiting: list[ast.AST] = [*ast.parse(path.read_bytes()).body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def wheel_modules() -> set[Path]:
    """Return the modules of `ROOMS` that need only Python, `REQUIRED` and each other."""
    paths = [path for room in ROOMS for path in (ROOT / "kitchen" / room).rglob("*.py")]
    names = {_name(path): path for path in paths if not LEFT_OUT & {*path.parts}}
    names["kitchen"] = ROOT / "kitchen" / "__init__.py"
    needs = {name: {*imported_modules(path)} for name, path in names.items()}
    while lost := [name for name, used in needs.items() if not all(_is_there(one, needs) for one in used)]:
        for name in lost:
            del needs[name]
    return {names[name] for name in needs}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _is_there(used: str, modules: dict[str, set[str]]) -> bool:
    first = used.partition(".")[0]
    if first != "kitchen":
        return first in sys.stdlib_module_names or first in {*REQUIRED, *BROUGHT}
    return used in modules or used.rpartition(".")[0] in modules


def copy_source(folder: Path) -> int:
    """Copy the package's modules, data and description into `folder`. Return the number of modules."""
    modules = wheel_modules()
    data = {
        path
        for room in ROOMS
        for path in (ROOT / "kitchen" / room).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and not LEFT_OUT & {*path.parts}
    }
    for path in modules | data:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    shutil.copy(ROOT / "LICENSE", folder)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    needs = [f"{name}{least}" for name, least in REQUIRED.items()]
    (folder / "pyproject.toml").write_text(PROJECT.format(version=version, needs=needs), encoding="utf-8")
    return len(modules)


def build(out: Path) -> tuple[Path, int]:
    """Build the wheel in the folder `out`. Return its path, and the number of its modules."""
    with TemporaryDirectory(prefix="worlds-") as folder:
        modules = copy_source(Path(folder))
        subprocess.run([UV, "build", "-q", "--wheel", "--out-dir", str(out.resolve()), folder], check=True)
    return max(out.glob("brigade_worlds-*.whl"), key=lambda path: path.stat().st_mtime), modules


def check(wheel: Path, cycles: int) -> int:
    """Run PettingZoo's tests in a virtual environment that has only the wheel and what it requires. Return
    the exit code."""
    with TemporaryDirectory(prefix="worlds-venv-") as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        subprocess.run([UV, "venv", "-q", "--python", sys.executable, str(python.parents[1])], check=True)
        subprocess.run([UV, "pip", "install", "-q", "--python", str(python), str(wheel)], check=True)
        command = [str(python), "-I", "-c", CHECK, str(cycles)]
        return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    """Build the wheel, say where it is, and check it if asked. Return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "wheels")
    parser.add_argument("--check", action="store_true", help="test it in a new virtual environment")
    parser.add_argument("--cycles", type=int, default=100, help="steps of each test")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    wheel, modules = build(given.out)
    print(f"{wheel}: {modules} modules, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return check(wheel, given.cycles) if given.check else 0


if __name__ == "__main__":
    sys.exit(main())
