"""Telling of errors without their words, in which there might be a key. Plain Python."""

from __future__ import annotations

import traceback
from pathlib import Path


def told(error: BaseException) -> str:
    """Which error and where, in one line: `KeyError in world.py, line 12`."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def traced(error: BaseException) -> str:
    """The same with the whole way to it, for the log."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
