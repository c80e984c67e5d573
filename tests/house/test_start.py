"""What the app loads before anybody asks for anything."""

from __future__ import annotations

import subprocess
import sys

from brigade.places import base_dir

SLOW = ("anthropic", "matplotlib", "networkx", "numpy", "openai", "pandas", "pyarrow", "scipy", "statsmodels")
"""Libraries that some commands and pages need, and that take longer to import than all of the app."""
LOAD = f"""
import sys
from brigade.celery import app
from tests.commands import load
load()
app.loader.import_default_modules()
import brigade.asgi
print([name for name in {SLOW} if name in sys.modules])
"""


def test_pages_commands_and_workers_start_without_what_only_some_of_them_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=base_dir(), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
