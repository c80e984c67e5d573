"""Add context, such as request, episode, step and task, to log lines, and describe errors without secrets.

The context belongs to a thread, and `with_log_context` passes it on to another thread. An error is described
by its type and location. Its message is left out, because it might contain a secret key. Imports no Django.
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
    """Return the facts that are now added to log lines. Possible names are `request`, `episode`, `step`
    and `task`."""
    return _known.get()


def extend_log_context(**facts: str | int) -> None:
    """Add facts to all later log lines of this request, websocket or task."""
    _known.set({**_known.get(), **facts})


def clear_log_context() -> None:
    """Remove all facts. Call this when a thread starts other work."""
    _known.set({})


@contextmanager
def log_context(**facts: str | int) -> Iterator[None]:
    """Add facts to the log lines within the block."""
    token = _known.set({**_known.get(), **facts})
    try:
        yield
    finally:
        _known.reset(token)


def with_log_context(act: Callable[[], T]) -> Callable[[], T]:
    """Return a function that calls `act` with the present log context, for use in another thread. Call it
    only once."""
    return partial(copy_context().run, act)


LOCATION_ATTRIBUTE = "_noted"
"""Attribute of an error from another process that holds its location and traceback."""


def with_location(error: Exception, like: Exception | None = None) -> Exception:
    """Store an error's location and traceback in an attribute of `error`, and return `error`. With `like`,
    those of `like` are stored instead.

    Use this before an error is sent to another process, because pickling loses its traceback.
    """
    happened = like or error
    setattr(error, LOCATION_ATTRIBUTE, (error_location(happened), error_traceback(happened)))
    return error


def error_location(error: BaseException) -> str:
    """Return the type and the location of an error in one line, without its message: `KeyError in
    world.py, line 12`."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[0])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def error_traceback(error: BaseException) -> str:
    """Return the type and the traceback of an error as text, without its message."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[1])
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
