"""How many processes of each kind share the cores of this machine. Plain Python, from the environment.

An empty variable counts as one that is not set; a wrong one is a ValueError of one line.
"""

from __future__ import annotations

import os
import sys

MOST = 64
"""Processes of one kind that may be asked for."""
MOST_WEB = 8
"""Web processes that are started unless more are asked for: each takes memory also where nobody comes."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def web_processes() -> int:
    """`BRIGADE_WEB`: processes that serve pages and websockets on this machine."""
    return _number("BRIGADE_WEB", min(cores(), MOST_WEB))


def ticker_processes() -> int:
    """`BRIGADE_TICKERS`: processes that take the steps of clocks on this machine; unless they are fewer, one
    goes on where another dies."""
    return _number("BRIGADE_TICKERS", min(max(2, cores()), MOST_WEB))


def planners() -> int:
    """`BRIGADE_PLANNERS`: processes in which one web process lets co-players think."""
    return _number("BRIGADE_PLANNERS", max(1, cores() // web_processes()))


def _number(name: str, default: int) -> int:
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= MOST):
        raise ValueError(f"{name}: {given!r} is not a number from 1 to {MOST}")
    return int(given)
