"""`make lock`: requirements.in and requirements-dev.in to files with every version pinned, without hosts."""

from __future__ import annotations

import subprocess
import sys

from brigade.places import base_dir

OPTIONS = ["--universal", "--python-version", "3.11", "--no-header", "--no-emit-index-url"]
SHAPE = ["--no-emit-find-links", "--annotation-style", "line", "--quiet"]


def lock(name: str, first_line: str) -> None:
    """Pin the whole closure of `<name>.in` in `<name>.txt`; CalledProcessError if it has no solution."""
    command = [sys.executable, "-m", "uv", "pip", "compile", *OPTIONS, *SHAPE, f"{name}.in"]
    found = subprocess.run(command, cwd=base_dir(), check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    (base_dir() / f"{name}.txt").write_text(first_line + found.stdout)


if __name__ == "__main__":
    lock("requirements", "# Made by `make lock` from requirements.in.\n")
    lock("requirements-dev", "# Made by `make lock` from requirements-dev.in.\n-r requirements.txt\n")
