"""Read the arguments of the training examples. What would fail after the training is refused before it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from brigade.one_line_parser import OneLineParser
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.world_registry import get_world

PACKAGE = "onnx"


def read_arguments(
    about: str | None, arguments: Sequence[str] | None, *, steps: int, meaning: str, seed: int
) -> argparse.Namespace:
    """Return the layout, the steps, the seed, and the files to write. A wrong argument or a missing package
    ends the program with one line and exit code 2. `steps` and `seed` are defaults; `meaning` describes the
    steps."""
    parser = OneLineParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", default="cramped_room")
    parser.add_argument("--steps", type=int, default=steps, help=meaning)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.onnx")
    parser.add_argument("--curve", type=Path, metavar="FILE.csv")
    given = parser.parse_args(arguments)
    if find_spec(PACKAGE) is None:
        parser.error(
            f"the package {PACKAGE} is missing, which writes the policy file: `make open` installs it"
        )
    if given.steps < 1:
        parser.error(f"--steps: {given.steps} is not 1 or more")
    if given.seed < 0:
        parser.error(f"--seed: {given.seed} is not 0 or more")
    if why := layout_problem(given.layout):
        parser.error(f"--{why}")
    for name, path in (("--out", given.out), ("--curve", given.curve)):
        if path and (why := file_problem(path)):
            parser.error(f"{name}: {why}")
    return given


def layout_problem(layout: str) -> str:
    """Return why nobody can play this layout of Overcooked; empty if it can be played."""
    try:
        get_world("overcooked").create(seats=2, settings={"layout": layout})
    except SettingsError as error:
        return str(error)
    return ""


def file_problem(path: Path) -> str:
    """Return why this file cannot be written; empty if it can."""
    if path.is_dir():
        return f"{path} is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return f"{path} cannot be written"
    return ""
