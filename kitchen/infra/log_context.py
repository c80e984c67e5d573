"""Keep the context of log lines, and describe errors without secrets. No Django.

The context names the request, the episode and its step, or the worker's task. Pass it to a thread of your own
by `with_log_context(…)`. An error is described by type and location: its message might contain a key.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Facts = Mapping[str, str | int]

_known: ContextVar[Facts] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced


def current_log_context() -> Facts:
    """Return the present context: those of `request`, `episode`, `step` and `task` that are known."""
    return _known.get()


def extend_log_context(**facts: str | int) -> None:
    """Add facts to the context until this request, page or task ends."""
    _known.set({**_known.get(), **facts})


def clear_log_context() -> None:
    """Clear the context, because a thread starts other work."""
    _known.set({})


@contextmanager
def log_context(**facts: str | int) -> Iterator[None]:
    """Add facts to the context within this block."""
    token = _known.set({**_known.get(), **facts})
    try:
        yield
    finally:
        _known.reset(token)


def with_log_context(act: Callable[[], T]) -> Callable[[], T]:
    """Return a function that runs `act` once in another thread with the present context."""
    return partial(copy_context().run, act)


LOCATION_ATTRIBUTE = "_noted"
"""Attribute of an error from another process that holds its location and traceback."""


def with_location(error: Exception, like: Exception | None = None) -> Exception:
    """Store the location and traceback of the error (or of `like`) in the error itself, and return it.

    A traceback is lost when an error is sent to another process.
    """
    happened = like or error
    setattr(error, LOCATION_ATTRIBUTE, (error_location(happened), error_traceback(happened)))
    return error


def error_location(error: BaseException) -> str:
    """Return the type and location of an error in one line: `KeyError in world.py, line 12`."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[0])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def error_traceback(error: BaseException) -> str:
    """Return the type of an error with its whole traceback, for the log."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[1])
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
