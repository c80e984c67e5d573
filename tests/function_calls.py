"""The work of a piece of code, counted in function calls: equal on every machine, as its time is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def count_calls(work: Callable[[], object]) -> int:
    """The calls of Python and built-in functions while *work* runs in this thread."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
