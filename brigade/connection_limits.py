"""Limits on request bodies, headers, pages served at once, websocket messages and open files. Plain Python.

One participant's page stays far below each limit.
"""

from __future__ import annotations

import contextlib
import resource

LARGEST_BODY = 2_621_440
"""Bytes of a request's body (2.5 MiB): many times the longest form that there is."""
HEAD_SECONDS = 20.0
"""A connection has so long to bring the first line of a request, and as long for the rest of its head; bytes
alone win no time."""
BODY_SECONDS = 60.0
"""And the body. A connection on which nothing is asked for is kept for as long."""
MOST_PAGES_AT_ONCE = 4
"""Pages of participants that a process makes at the same time; the others wait in line."""
STAFF_AND_API_PATHS = ("/staff/", "/admin/", "/api/", "/health", "/ready", "/metrics")
"""How addresses begin that participants do not see."""
LARGEST_MESSAGE = 65_536
"""Bytes of a websocket's message."""
MOST_UNREAD = 24
"""Messages of one websocket that wait to be read. A page has a few at the worst: it waits for answers, and
asks whether anybody is there once a second at most, for some seconds."""
ODD_FRAMES_PER_SECOND, MOST_ODD_FRAMES = 50, 200
"""Pings, pongs and pieces of messages of one websocket: so many at once, then so many a second. A page sends
a pong every twenty seconds."""
FRESH_SECONDS = 2.0
"""A web process that ends waits so long for the first request of a connection that it has taken."""
CLOSE_SECONDS = 5.0
"""Whoever is told that their websocket is closed has so long to answer, or up to a second less. Then it is
cut, and who had not read why by then never will."""
LAST_SECONDS = 25.0
"""A web process that is asked to end has so long to finish what it does."""
MOST_FILES = 65_536
"""Open files that one program asks for: a connection is one."""


def open_file_limit() -> int:
    """How many open files a program of ours may have here."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)


def raise_open_file_limit() -> None:
    """Let this program, and what it starts, have as many open. Systems allow a program 1,024 unless it asks,
    and as many idle connections would stop everybody."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < open_file_limit():
        with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_file_limit(), hard))
