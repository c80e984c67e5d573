"""Measure how players are affected by hostile files that staff upload (the row `uploads` of the benchmark).

The uploads are sent by a process of its own, `python -m tests.live.uploads URL SESSION COUNT`, until it is
killed. Its threads post a small gzip file with 15 million values at once, every five seconds.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext

from tests.live.http_request import REQUEST_ERRORS, send_request
from tests.live.rows import Bench
from tests.live.stack import background_module
from tests.live.strangers import EVERY, MOST, PEOPLE
from tests.live.table import Figure

UPLOADS = 8
"""Number of files that are uploaded at the same time."""
VALUES = 15_000_000
PAUSE = 5.0
"""Seconds between two uploads of a thread. If an answer takes longer, the next upload follows at once."""
PAGE = "/staff/replay/"
SECRET, BORDER = "a" * 32, "border-of-the-parts"


async def uploads(bench: Bench) -> list[Figure]:
    """Measure six players, first alone and then while eight hostile files are uploaded."""
    session = bench.books.ask("staff_session")
    beside: dict[str, AbstractContextManager[None]] = {
        "": nullcontext(),
        f", {UPLOADS} uploads": background_module(
            "tests.live.uploads", bench.stack.url, session, str(UPLOADS)
        ),
    }
    found = {}
    for name, hostile in beside.items():
        with hostile:
            await asyncio.sleep(1.0)
            keys = bench.keys(PEOPLE, each=3)
            played = await bench.played(
                f"{PEOPLE} players{name}", keys, html=True, every=EVERY, warm=4, seconds=15
            )
            found[name] = played.quantile(0.95), played.quantile(1.0), bench.stack.memory()
    rest = found[""][0]
    figures = []
    for name, (p95, longest, memory) in found.items():
        staff = memory.get("staff", 0.0) + memory.get("helper", 0.0)
        figures += [
            Figure(f"{PEOPLE} players{name}: p95", p95, "ms", MOST * rest if name else None),
            Figure(f"{PEOPLE} players{name}: longest", longest, "ms"),
            Figure(
                f"{PEOPLE} players{name}: memory of the staff process and of child processes",
                staff / 2**20,
                "MiB",
            ),
        ]
    return figures


# In the process


def post_files(url: str, session: str, data: bytes) -> None:
    """Upload this file every few seconds, without end."""
    answers: set[int] = set()
    while True:
        began = time.monotonic()
        try:
            status = upload(url, session, data)
            if status not in answers:
                seconds = time.monotonic() - began
                print(f"an upload was answered with {status} after {seconds:.1f} s", flush=True)
            answers.add(status)
        except REQUEST_ERRORS as error:
            print(f"an upload was not answered: {error}", flush=True)
        time.sleep(max(0.0, began + PAUSE - time.monotonic()))


def upload(url: str, session: str, data: bytes) -> int:
    """Upload a file to the replay page. Return the status. Raises one of `REQUEST_ERRORS`."""
    fields = f'--{BORDER}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{SECRET}\r\n'
    file = f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; filename="episode.json.gz"\r\n\r\n'
    body = (fields + file).encode() + data + f"\r\n--{BORDER}--\r\n".encode()
    headers = {
        "Cookie": f"{session}; csrftoken={SECRET}",
        "Content-Type": f"multipart/form-data; boundary={BORDER}",
    }
    return send_request(url, "POST", PAGE, headers, body).status


def main() -> None:
    """Upload hostile files in some threads."""
    data = gzip.compress(b"[" + b"1," * VALUES + b"1]")
    for _ in range(int(sys.argv[3])):
        threading.Thread(target=post_files, args=(*sys.argv[1:3], data)).start()


if __name__ == "__main__":
    main()
