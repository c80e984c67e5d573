"""What the app loads before anybody asks for anything."""

from __future__ import annotations

from tests.servers import Stack

SLOW = (
    "anthropic",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "pyreadstat",
    "scipy",
    "statsmodels",
    "vl_convert",
)
"""Libraries that some commands and pages need, and that take longer to import than all of the app."""
LOAD = f"""
import sys
from brigade.celery import app
app.loader.import_default_modules()
import brigade.asgi
print([name for name in {SLOW} if name in sys.modules])
"""


def test_pages_commands_and_workers_start_without_what_only_some_of_them_need(live_stack: Stack) -> None:
    """The fork server has loaded what every program needs, and nothing else."""
    assert live_stack.manage("shell", "-v", "0", "-c", LOAD) == "[]\n"
