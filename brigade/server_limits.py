"""Define limits of server processes: request size and time, open pages, websocket messages, open files.

`brigade.http_limits`, `brigade.limited_websockets` and `brigade.web` apply these limits. Participants' pages
stay far below each of them. The module does not import Django.
"""

from __future__ import annotations

import contextlib
import re
import resource

from study.design.media.media_limits import UPLOAD_PATH, largest_upload

LARGEST_BODY = 2_621_440
"""Maximum bytes of a request body (2.5 MiB): many times the longest form."""
POLICY_FILES = "/staff/policies/"
"""The address of the page that takes policy files."""
LARGER_BODIES = {POLICY_FILES: 17 * 2**20}
"""Maximum bytes of a request body by the address of a page that takes larger files."""
STUDY_FILES = re.compile(r"/staff/(?:new|[-\w]+/design)/file/(?:take/)?")
"""The addresses of the pages that take the file of a whole study."""
LARGEST_STUDY_FILE = 33 * 2**20
"""Maximum bytes of a request body with the file of a whole study."""
HEAD_SECONDS = 20.0
"""Seconds in which a connection must send the first line of a request, and again the rest of its head. Slow
bytes do not extend the time."""
BODY_SECONDS = 60.0
"""Seconds for the body, and for keeping an idle connection."""
MOST_AT_ONCE = {"participants": 4, "static": 2, "staff": 4, "downloads": 2, "logins": 1, "ready": 1}
"""Maximum number of requests of each kind that a process answers at once; the others wait in queues."""
LIMITED_QUEUES = ("staff", "downloads", "logins")
"""Kinds of requests of which only `MOST_IN_QUEUE` wait. The queues of participants' pages and static files
have no limit: a class may open its pages in the same second."""
MOST_IN_QUEUE = 200
"""Maximum number of requests that wait in one of these queues. Further ones are refused with status 503."""
MOST_LOGINS_OF_NETWORK = 4
"""Maximum number of logins of one network that wait. So strangers do not lock researchers out."""
SENDER_RATE_LIMITS = {"participants": (8.0, 40.0), "staff": (10.0, 60.0), "downloads": (10.0, 60.0)}
"""Requests a second, and at once, of one sender, by kind of request. A sender is a participant, a login of
staff or an API token. Further ones wait before they enter a queue. A person makes two requests a page."""
MOST_WAITING_OF_SENDER = {"participants": 8, "staff": 50, "downloads": 50}
"""Maximum number of requests of one sender that wait for its rate limit, by kind of request. Further ones are
refused: those of participants with status 429, others with status 503."""
MOST_WAITING_FOR_RATE_LIMIT = 100
"""Maximum number of requests of staff, and of downloads, that wait for the rate limits of all senders. They
are not counted in `MOST_IN_QUEUE`, because requests of invented senders would soon fill the queue."""
STAFF_AND_API_PATHS = ("/staff/", "/admin/", "/api/", "/health", "/ready", "/metrics")
"""Prefixes of paths that participants do not see."""
STAFF_PROCESS_PATHS = (b"/staff/", b"/admin/", b"/api/", b"/metrics")
"""Prefixes of paths that the staff process answers, if there is one. Each process reports its own health."""
MOST_FORWARDED = (
    sum(MOST_AT_ONCE[kind] + MOST_IN_QUEUE for kind in LIMITED_QUEUES)
    + sum(MOST_WAITING_FOR_RATE_LIMIT for kind in LIMITED_QUEUES if kind in SENDER_RATE_LIMITS)
    + 100
)
"""Maximum number of requests of one web process that wait for the staff process. That is more than may wait
there, so a full queue does not keep out requests of other kinds."""
FORWARD_SECONDS = 120.0
"""Seconds that a web process waits for the head of a response of the staff process."""
LARGEST_MESSAGE = 65_536
"""Maximum bytes of a websocket message."""
MOST_UNREAD = 24
"""Number of unread messages of one websocket that a page never has for long: it waits for answers, and its
presence checks come at most once a second. After a pause of this process there may be more for a moment."""
UNREAD_SECONDS = 2.0
"""Seconds in which an application must read messages beyond `MOST_UNREAD`, or at least `LEAST_READ` of them.
Otherwise the websocket is closed."""
LEAST_READ = 0.25
"""Part of the unread messages that an application reads in `UNREAD_SECONDS`, if it only has to catch up after
a pause of this process."""
PAUSE_SECONDS = 0.25
"""Seconds of delay after which a timer shows that this process has paused."""
MOST_UNREAD_AT_ONCE = 1000
"""Maximum number of unread messages of one websocket, at any time. A real-time page opens a new connection
after at most 9 s of silence. Until then, 50 pressed and released keys a second may arrive."""
LARGEST_UNREAD = 1024
"""Maximum bytes of an unread message beyond the first `MOST_UNREAD`. A pressed key has a hundred."""
ODD_FRAMES_PER_SECOND, MOST_ODD_FRAMES = 50, 200
"""Pings, pongs and fragments of one websocket a second, and at once. A page pongs every twenty seconds."""
FRESH_SECONDS = 2.0
"""Seconds that an ending web process waits for the first request of an accepted connection."""
OPEN_SECONDS = 15.0
"""Seconds that a busy process has to open a requested websocket, before the connection is cut. A page waits
as long (`play/connection.js`)."""
CLOSE_SECONDS = 5.0
"""Seconds that a browser has to confirm the close of its websocket, before the connection is cut."""
MOST_WEB_MEMORY = 300 * 2**20
"""Bytes of memory of its own from which a web process, or the staff process, is replaced. A web process with
500 episodes and 2,000 pages needs half of it."""
LAST_SECONDS = 25.0
"""Seconds that a web process has to finish when it is asked to end."""
MOST_FILES = 65_536
"""Open files that one program asks for: a connection is one."""


def open_file_limit() -> int:
    """Return how many files a process of this app may have open on this machine."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)


def raise_open_file_limit() -> None:
    """Raise the limit of open files for this process and its children. Most systems allow 1,024 files, so
    1,024 idle connections would block all other users."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < open_file_limit():
        with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_file_limit(), hard))


def largest_body(path: str | bytes, usual: int | None = None) -> int:
    """Return the maximum bytes of a request's body to this path. `usual` is the maximum of most paths; None:
    `LARGEST_BODY`."""
    text = path.decode("latin-1") if isinstance(path, bytes) else path
    address = text.partition("?")[0]
    if STUDY_FILES.fullmatch(address):
        return LARGEST_STUDY_FILE
    if UPLOAD_PATH.fullmatch(address):
        return largest_upload()
    return LARGER_BODIES.get(address, LARGEST_BODY if usual is None else usual)
