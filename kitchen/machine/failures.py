"""Telling of errors without their words, in which there might be a key. Plain Python."""

from __future__ import annotations

import traceback
from pathlib import Path

NOTED = "_noted"
"""The attribute in which an error from another process has what is told of it."""


def noted(error: Exception, like: Exception | None = None) -> Exception:
    """The error, which now says by itself where it (or the one that it stands for) happened: its traceback
    stays behind when it is sent to another process."""
    happened = like or error
    setattr(error, NOTED, (told(happened), traced(happened)))
    return error


def told(error: BaseException) -> str:
    """Which error and where, in one line: `KeyError in world.py, line 12`."""
    if hasattr(error, NOTED):
        return str(getattr(error, NOTED)[0])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def traced(error: BaseException) -> str:
    """The same with the whole way to it, for the log."""
    if hasattr(error, NOTED):
        return str(getattr(error, NOTED)[1])
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
