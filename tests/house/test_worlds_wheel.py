"""The worlds are environments without the web app, and can be built as a package of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from brigade.paths import base_dir
from tests.worlds_wheel import BROUGHT, REQUIRED, build, check, wheel_modules

ROOT = base_dir()
NEEDED = [*REQUIRED, *BROUGHT, "annotated_types", "cloudpickle", "farama_notifications", "kitchen"]
NEEDED += ["typing_extensions", "typing_inspection"]
ALONE = f"""
import sys
from importlib.machinery import PathFinder

KNOWN = {{*sys.stdlib_module_names, *{NEEDED!r}}}

class NeededOnly:
    def find_spec(self, name, path=None, target=None):
        is_needed = name.partition(".")[0] in KNOWN or "sysconfig" in name
        return PathFinder.find_spec(name, path, target) if is_needed else None

sys.meta_path[:] = [*(each for each in sys.meta_path if each is not PathFinder), NeededOnly()]
from kitchen.opened.environments import parallel_env
env = parallel_env("overcooked", partners={{1: ("grid_planner", {{}})}})
env.reset(seed=1)
env.step({{"seat_0": 5}})
"""


def test_an_environment_with_a_partner_inside_needs_nothing_of_the_web_app() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.nightly
def test_the_wheel_has_no_pages_and_passes_the_tests_of_pettingzoo_alone(tmp_path: Path) -> None:
    names = {path.relative_to(ROOT / "kitchen").as_posix() for path in wheel_modules()}
    assert {"opened/environments.py", "worlds/overcooked/world.py"} <= names
    assert not {"worlds/overcooked/page.py", "agents/hourglass/agent.py"} & names
    wheel, modules = build(tmp_path)
    assert modules == len(names)
    assert check(wheel, cycles=10) == 0
