"""Measure how players are affected by staff and programs who request data without pause (the rows
`downloads`, `reports` and `api` of the benchmark).

The clients run in a process of their own, `python -m tests.live.staff_requests KIND COUNT URL SLUG TOKEN
COOKIE`, until it is killed. It prints how many requests were answered, by status.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count

from tests.live.books import Books
from tests.live.http_request import REQUEST_ERRORS, Answer, send_request
from tests.live.rows import Bench
from tests.live.stack import background_module
from tests.live.strangers import EVERY, MOST, PEOPLE
from tests.live.table import Figure

PARTICIPANTS = 300
"""Synthetic participants of the study whose data are requested; each played two episodes of 20 steps."""
PAUSE = 1.0
"""Seconds after which a client asks again for something that is not ready."""
SAY_SECONDS = 4.0
CLIENTS = {"downloads": 10, "reports": 4, "api": 10}


async def downloads(bench: Bench) -> list[Figure]:
    """Measure six players, first alone and then beside ten downloads of all data."""
    return await beside(bench, "downloads", "downloads of all.zip")


async def reports(bench: Bench) -> list[Figure]:
    """Measure six players, first alone and then beside four clients who read reports of data that change."""
    return await beside(bench, "reports", "readers of new reports")


async def api(bench: Bench) -> list[Figure]:
    """Measure six players, first alone and then beside ten programs that ask for a study's progress."""
    return await beside(bench, "api", "programs that ask for progress")


async def beside(bench: Bench, kind: str, words: str) -> list[Figure]:
    """Measure six players alone, and beside clients of this kind."""
    study = bench.books.ask("staff_study", participants=PARTICIPANTS)
    alone = await measured(bench, f"{PEOPLE} players alone")
    what = f"{PEOPLE} players, {CLIENTS[kind]} {words}"
    given = (kind, str(CLIENTS[kind]), bench.stack.url, study["slug"], study["token"], study["cookie"])
    with background_module("tests.live.staff_requests", *given, environment=bench.stack.environment):
        await asyncio.sleep(2.0)
        beside_them = await measured(bench, what)
    return [
        Figure(f"{what}: p95 alone", alone, "ms"),
        Figure(f"{what}: p95", beside_them, "ms", MOST * alone),
    ]


async def measured(bench: Bench, what: str) -> float:
    """Return the milliseconds that 95 of 100 steps of the players did not exceed."""
    keys = bench.keys(PEOPLE, each=3)
    played = await bench.played(what, keys, html=True, every=EVERY, warm=4, seconds=15)
    return played.quantile(0.95)


# In the process


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a running app who requests data of one study."""

    url: str
    slug: str
    token: str
    cookie: str

    def get(self, path: str) -> Answer:
        """Return a response. Token and cookie are sent unless they are empty. Raises one of
        `REQUEST_ERRORS`."""
        headers = {"Authorization": f"Bearer {self.token}", "Cookie": self.cookie}
        given = {name: value for name, value in headers.items() if value.removeprefix("Bearer ")}
        return send_request(self.url, "GET", path, given)

    def download(self) -> int:
        """Download all data through the API. Return the status."""
        status, headers, _ = self.get(f"/api/studies/{self.slug}/files/all.zip")
        if "Retry-After" in headers:
            time.sleep(PAUSE)
        return status

    def read_report(self) -> int:
        """Read the report. Return its status; 503 if it is not ready."""
        status = self.get(f"/staff/{self.slug}/analysis/report.pdf?who=synthetic").status
        if status != HTTPStatus.OK:
            time.sleep(PAUSE)
        return status

    def ask_progress(self) -> int:
        """Ask the API how far the study is. Return the status."""
        return self.get(f"/api/studies/{self.slug}/progress")[0]


ACTS: Mapping[str, Callable[[Client], int]] = {
    "downloads": Client.download,
    "reports": Client.read_report,
    "api": Client.ask_progress,
}


def request_without_end(client: Client, act: Callable[[Client], int], answered: Counter[str]) -> None:
    """Repeat a request without end, and count the statuses."""
    while True:
        try:
            answered[str(act(client))] += 1
        except REQUEST_ERRORS as error:
            answered[type(error).__name__] += 1


def change_texts(slug: str, answered: Counter[str]) -> None:
    """Change the study so that its report must be made again, each time that it was read."""
    with Books(os.environ) as books:
        for number in count():
            books.ask("retitle", slug=slug, title=f"Title {number}")
            before = answered["200"]
            while answered["200"] == before:
                time.sleep(PAUSE / 10)


def main(kind: str, clients: str, *given: str) -> None:
    """Let clients of this kind request data, and print what was answered every few seconds."""
    client, answered = Client(*given), Counter[str]()
    asked = [(request_without_end, (client, ACTS[kind], answered))] * int(clients)
    for act, arguments in asked:
        threading.Thread(target=act, args=arguments, daemon=True).start()
    if kind == "reports":
        threading.Thread(target=change_texts, args=(client.slug, answered), daemon=True).start()
    while True:
        time.sleep(SAY_SECONDS)
        print(f"        {kind}: {dict(answered)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
