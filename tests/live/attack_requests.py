"""Send the HTTP requests of an attack, in threads: logins, pages, downloads, hostile files, and every
address with every role.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.addresses import is_refused
from tests.live.attack_tally import Tally
from tests.live.hostile_files import HOSTILE_FILES
from tests.live.http_request import REQUEST_ERRORS, send_request
from tests.live.staff_requests import Client
from tests.live.strangers import post_login
from tests.live.uploads import SECRET, upload

Plan = Mapping[str, Any]

BUSY = frozenset({429, 503})
"""Statuses of an app that does not answer everybody at once."""
REST = 0.05
"""Seconds before the next request of a client whose request was not accepted."""
FORM = {"sure": "on", "confirm": "yes", "action": "exclude", "reason": "because", "post": "yes"}
"""The fields of a form that is sent to every address."""
LOADS_OF_PAGE = re.compile(rb'data-loads="(\d+)"')


@dataclass
class Turn:
    """One request of one client. It is the `number`-th of this client."""

    plan: Plan
    client: int
    number: int
    tally: Tally = field(repr=False)

    @property
    def count(self) -> int:
        """Return the number of this request among those of all clients."""
        return self.number * int(self.plan["clients"]) + self.client

    @property
    def staff(self) -> Client:
        """Return the client that has the token and the login of a member of staff."""
        study = self.plan["study"]
        return Client(self.plan["url"], study["slug"], study["token"], study["cookie"])


Act = Callable[[Turn], None]


def request_without_end(act: Act, plan: Plan, client: int, tally: Tally) -> None:
    """Repeat a request without end, or until `most` were sent. A request without an answer is a fault."""
    number = 0
    while True:
        turn = Turn(plan, client, number, tally)
        if turn.count >= plan.get("most", turn.count + 1):
            return
        number += 1
        tally.sent += 1
        try:
            act(turn)
        except REQUEST_ERRORS as error:
            tally.fault(f"not answered: {type(error).__name__} {error}")
            time.sleep(REST)


def judge(turn: Turn, what: str, status: int, expected: set[int]) -> None:
    """Count a response, and wait if the app was busy."""
    turn.tally.answered(what, status, expected | BUSY)
    if status in BUSY:
        time.sleep(REST)


def login(turn: Turn) -> None:
    """Post a wrong login."""
    judge(turn, "login", post_login(turn.plan["url"], turn.client, turn.number), {200, 403})


def staff_page(turn: Turn) -> None:
    """Open a page of staff."""
    slug = turn.plan["study"]["slug"]
    paths = ("", f"{slug}/", f"{slug}/participants/", f"{slug}/live/", f"{slug}/design/", f"{slug}/analysis/")
    path = f"/staff/{paths[turn.count % len(paths)]}"
    judge(turn, path, turn.staff.get(path).status, {200})


def download(turn: Turn) -> None:
    """Download a table or all data."""
    names = ("all.zip", "participants.csv", "steps.csv")
    path = f"/api/studies/{turn.plan['study']['slug']}/files/{names[turn.count % len(names)]}"
    judge(turn, path, turn.staff.get(path).status, {200, 202})


def report(turn: Turn) -> None:
    """Read the report as a PDF."""
    judge(turn, "report.pdf", turn.staff.read_report(), {200, 202})


def api(turn: Turn) -> None:
    """Ask the API how far a study is."""
    judge(turn, "progress", turn.staff.ask_progress(), {200})


def api_without_token(turn: Turn) -> None:
    """Ask the API with no token, or with a wrong one."""
    study, token = turn.plan["study"], ("", "x" * 40, "\t", "null")[turn.count % 4]
    stranger = Client(turn.plan["url"], study["slug"], token, "")
    judge(turn, "progress without a token", stranger.ask_progress(), {401})


def hostile_file(turn: Turn) -> None:
    """Upload a hostile file to the replay page."""
    name = [*HOSTILE_FILES][turn.count % len(HOSTILE_FILES)]
    status = upload(turn.plan["url"], turn.plan["session"], HOSTILE_FILES[name]())
    judge(turn, name, status, {400, 413, 422})


def lobby(turn: Turn) -> None:
    """Open the lobby as a participant, signal as its script does, and leave it."""
    person = turn.plan["people"][turn.client]
    url, path = turn.plan["url"], person["path"]
    cookies = {"Cookie": f"{person['cookie']}; csrftoken={SECRET}"}
    page = send_request(url, "GET", path, cookies)
    judge(turn, "lobby", page.status, {200})
    if not (loads := LOADS_OF_PAGE.search(page.body)):
        turn.tally.fault("the page is no lobby") if page.status == 200 else None
        return
    headers = {**cookies, "Content-Type": "application/x-www-form-urlencoded"}
    for fields in ({}, {"gone": loads[1].decode()}):
        form = urlencode({"csrfmiddlewaretoken": SECRET, **fields})
        judge(turn, "signal", send_request(url, "POST", f"{path}lobby/", headers, form).status, {200})


def visit(turn: Turn) -> None:
    """Open an address with a role, or send a form without the token of its page. Check that the role is let
    in or refused, and that the answer has no texts that the role may not see."""
    visits = turn.plan["visits"]
    asked = visits[turn.count % len(visits)]
    body = urlencode(FORM) if asked["method"] == "POST" else None
    more = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
    answer = send_request(
        turn.plan["url"], asked["method"], asked["path"], {**asked["headers"], **more}, body
    )
    turn.tally.answers[str(answer.status)] += 1
    what = f"{asked['role']}: {asked['method']} {asked['path']}: {answer.status}"
    if answer.status >= 500 and answer.status not in BUSY:
        turn.tally.fault(what)
    refused = is_refused(asked["path"], answer.status, answer.headers.get("Location", ""))
    if answer.status not in BUSY | {405} and wrongly_answered(asked, refused):
        turn.tally.fault(f"{what}, and they are {'' if asked['allowed'] else 'not '}to be let in")
    text = answer.body.decode(errors="replace")
    if told := [word for word in asked["hidden"] if word in text]:
        turn.tally.fault(f"{what} tells {told}")


def wrongly_answered(asked: Mapping[str, Any], refused: bool) -> bool:
    """Return whether somebody was let in who may not enter, or was refused who may. A form without the token
    of its page may be refused to everybody."""
    if asked["allowed"] is None or (asked["method"] == "POST" and asked["allowed"]):
        return False
    return refused is bool(asked["allowed"])


REQUESTS: Mapping[str, Act] = {
    "logins": login,
    "staff-pages": staff_page,
    "downloads": download,
    "reports": report,
    "api": api,
    "api-without-token": api_without_token,
    "files": hostile_file,
    "lobby": lobby,
    "addresses": visit,
}
"""The requests by the name of the attack."""
