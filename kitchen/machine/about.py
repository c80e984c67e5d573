"""What the lines of a log are about: the request, the episode and its step, the worker's task. Plain Python.

It is known wherever a request, a page or a task leads: tasks of the event loop and Django's threads take it
with them. Whoever starts a thread of their own hands over `carried(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TypeVar

T = TypeVar("T")
Facts = Mapping[str, str | int]

_known: ContextVar[Facts] = ContextVar("about", default={})  # noqa: B039 - never changed, only replaced


def known() -> Facts:
    """All that is known here: `request`, `episode`, `step`, `task`, as far as there is one."""
    return _known.get()


def note(**facts: str | int) -> None:
    """Know this, too, until this request, page or task is over."""
    _known.set({**_known.get(), **facts})


def forget() -> None:
    """Know nothing: a thread goes on to something else."""
    _known.set({})


@contextmanager
def about(**facts: str | int) -> Iterator[None]:
    """Know this, too, in this block."""
    token = _known.set({**_known.get(), **facts})
    try:
        yield
    finally:
        _known.reset(token)


def carried(act: Callable[[], T]) -> Callable[[], T]:
    """The same, to be called once in another thread: it knows there what is known here."""
    return partial(copy_context().run, act)
