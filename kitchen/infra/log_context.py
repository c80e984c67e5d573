"""Context of log lines, and descriptions of errors that hold no secrets. Plain Python.

The context names the request, the episode and its step, or the worker's task. Event loop tasks and Django's
threads inherit it. If you start a thread of your own, pass it `with_log_context(…)`.

An error is described by its type and location. Its message is left out, because it might contain a key.
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
    """All that is known here: `request`, `episode`, `step`, `task`, as far as there is one."""
    return _known.get()


def extend_log_context(**facts: str | int) -> None:
    """Know this, too, until this request, page or task is over."""
    _known.set({**_known.get(), **facts})


def clear_log_context() -> None:
    """Know nothing: a thread goes on to something else."""
    _known.set({})


@contextmanager
def log_context(**facts: str | int) -> Iterator[None]:
    """Know this, too, in this block."""
    token = _known.set({**_known.get(), **facts})
    try:
        yield
    finally:
        _known.reset(token)


def with_log_context(act: Callable[[], T]) -> Callable[[], T]:
    """The same, to be called once in another thread: it knows there what is known here."""
    return partial(copy_context().run, act)


LOCATION_ATTRIBUTE = "_noted"
"""The attribute in which an error from another process has what is told of it."""


def with_location(error: Exception, like: Exception | None = None) -> Exception:
    """The error, which now says by itself where it (or the one that it stands for) happened: its traceback
    stays behind when it is sent to another process."""
    happened = like or error
    setattr(error, LOCATION_ATTRIBUTE, (error_location(happened), error_traceback(happened)))
    return error


def error_location(error: BaseException) -> str:
    """Which error and where, in one line: `KeyError in world.py, line 12`."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[0])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def error_traceback(error: BaseException) -> str:
    """The same with the whole way to it, for the log."""
    if hasattr(error, LOCATION_ATTRIBUTE):
        return str(getattr(error, LOCATION_ATTRIBUTE)[1])
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
