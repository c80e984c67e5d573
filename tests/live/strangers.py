"""Measure how players are affected by strangers who post logins without pause (the row `logins` of the
benchmark).

The strangers run in a process of their own, `python -m tests.live.strangers URL COUNT`, until it is killed.
Each request comes from another address, as from many computers, so no limit of an address stops it.
"""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from contextlib import suppress
from itertools import count
from urllib.parse import urlencode

from tests.live.http_request import REQUEST_ERRORS, send_request
from tests.live.rows import Bench
from tests.live.stack import background_module
from tests.live.table import Figure

PEOPLE, STRANGERS = 6, 12
EVERY = 0.5
"""Seconds between two commands of a person."""
MOST = 2.0
"""The largest ratio of players' p95 with strangers to that without."""
LOGIN = "/admin/login/?next=/staff/"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


async def logins(bench: Bench) -> list[Figure]:
    """Measure six players, first alone and then with twelve strangers who post logins."""
    p95 = []
    for strangers in (0, STRANGERS):
        what = f"{PEOPLE} players, {strangers} strangers who post logins"
        with background_module("tests.live.strangers", bench.stack.url, str(strangers)):
            await asyncio.sleep(1.0)
            keys = bench.keys(PEOPLE, each=3)
            played = await bench.played(what, keys, html=True, every=EVERY, warm=4, seconds=15)
        p95.append(played.quantile(0.95))
    return [
        Figure(f"{PEOPLE} players alone: p95", p95[0], "ms"),
        Figure(f"{PEOPLE} players, {STRANGERS} strangers: p95", p95[1], "ms", MOST * p95[0]),
    ]


# In the process


def post_login(url: str, stranger: int, number: int) -> int:
    """Open the login page and post a wrong login, from an address of its own. Return the status. Raises
    one of `REQUEST_ERRORS`."""
    address = {"X-Forwarded-For": f"198.18.{stranger}.{number % 250}", "Referer": url}
    page = send_request(url, "GET", LOGIN, address)
    found = TOKEN.search(page.body.decode())
    fields = {"username": f"nobody-{stranger}-{number}", "password": "wrong", "next": "/staff/"}
    fields["csrfmiddlewaretoken"] = found[1] if found else ""
    form = {
        "Cookie": page.headers.get("Set-Cookie", "").partition(";")[0],
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return send_request(url, "POST", LOGIN, {**address, **form}, urlencode(fields)).status


def post_logins(url: str, stranger: int) -> None:
    """Post wrong logins without end."""
    for number in count():
        with suppress(*REQUEST_ERRORS):
            post_login(url, stranger, number)


if __name__ == "__main__":
    all_of_them = [
        threading.Thread(target=post_logins, args=(sys.argv[1], number)) for number in range(int(sys.argv[2]))
    ]
    for thread in all_of_them:
        thread.start()
