"""The way of a synthetic participant, against a server of a few lines."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from study.design.page_and_item_order import READY
from study.design.questions.item_fields import ItemPlan
from study.participation.views import PAGES
from study.pilot.bots import http_browser as patience_module
from study.pilot.bots.http_browser import Browser, PatienceError, PatienceLimit, WalkError
from study.pilot.bots.many_walkthroughs import Crowd, CrowdOrder, CrowdReport
from study.pilot.bots.simulated_person import Person
from study.pilot.bots.study_walkthrough import HANDLERS, Arrival, Handler, Walk

LINK = "http://test/s/small/?invitation=abc"
WELCOME = """<main data-page="welcome"><form method="post"><input type="hidden" name="entry" value="e1">
</form></main>"""
CONSENT = """<main data-page="consent"><form method="post"><input type="checkbox" name="agree_0">
<input type="checkbox" name="agree_1"></form></main>"""
GUIDE = """<main data-page="guide"><form method="post"><input type="hidden" name="page" value="guide">
</form></main>"""
SURVEY = """<main data-page="survey"><form method="post"><input type="hidden" name="round" value="1">
<input type="radio" name="trust" value="1"><input type="radio" name="trust" value="2"></form></main>"""
ITEMS = {"trust": ItemPlan(key="trust", measure="Trust", text="Trust?", points=2)}
END = '<main data-page="end"><span id="completion-code">CODE1234</span></main>'
REFUSED = '<main data-page="welcome"><p role="alert">Not today.</p></main>'

Answer = Callable[[httpx2.Request], httpx2.Response]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience_module, "PAUSES", (0.0,))


class Server:
    """Welcome, guide, survey, end; `faults` are given out first, one for each request."""

    def __init__(self, *faults: httpx2.Response | Exception) -> None:
        self.faults = list(faults)
        self.pages = [CONSENT, GUIDE, SURVEY, END]
        self.sent: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, Exception):
                raise fault
            return fault
        if request.url.path.startswith("/s/"):
            return self._enter(request)
        if request.method == "POST":
            self.sent.append(request.content.decode())
            self.pages.pop(0)
        return httpx2.Response(200, text=self.pages[0])

    def _enter(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, text=WELCOME)
        self.sent.append(request.content.decode())
        return httpx2.Response(302, headers={"Location": "/p/key/"})


async def run(server: Answer, *, seconds: float = 60, handlers: dict[str, Handler] | None = None) -> Arrival:
    patience = PatienceLimit(seconds)
    async with Browser(patience, httpx2.MockTransport(server)) as browser:
        return await Walk(Person(1, 1), browser, patience, handlers=handlers, items=ITEMS).run(LINK)


async def test_from_the_link_to_the_completion_code() -> None:
    server = Server()
    arrival = await run(server)
    assert (arrival.code, arrival.home, arrival.retries) == ("CODE1234", "http://test/p/key/", 0)
    assert server.sent[:3] == ["entry=e1", "agree_0=on&agree_1=on", "page=guide"]
    assert server.sent[3] in {"round=1&trust=1", "round=1&trust=2"}


async def test_requests_are_repeated_while_the_server_is_away_for_a_moment() -> None:
    away = httpx2.ConnectError("refused")
    assert (await run(Server(away, httpx2.Response(503), away))).retries == 3


async def test_a_server_that_stays_away_ends_the_walk() -> None:
    with pytest.raises(PatienceError, match=r"nothing moved .* ConnectError refused"):
        await run(Server(*[httpx2.ConnectError("refused")] * 3), seconds=0)


async def test_a_form_that_is_not_accepted_ends_the_walk_with_its_reason() -> None:
    with pytest.raises(WalkError, match=r"not accepted: Not today\."):
        await run(lambda r: _once(r, WELCOME, httpx2.Response(422, text=REFUSED)))


def _once(request: httpx2.Request, page: str, answer: httpx2.Response) -> httpx2.Response:
    return httpx2.Response(200, text=page) if request.method == "GET" else answer


async def test_a_page_of_another_program_ends_the_walk() -> None:
    with pytest.raises(WalkError, match="answered 404"):
        await run(lambda _: httpx2.Response(404, text="<h1>Nothing here</h1>"))
    with pytest.raises(WalkError, match="kind ''"):
        await run(lambda _: httpx2.Response(200, text="<h1>It works!</h1>"))
    with pytest.raises(WalkError, match="kind 'closed'"):
        await run(lambda _: httpx2.Response(403, text='<main data-page="closed"></main>'))


async def test_a_circle_of_pages_ends_the_walk() -> None:
    guide = '<main data-page="guide"><form method="post"></form></main>'
    with pytest.raises(WalkError, match="no end"):
        await run(lambda _: httpx2.Response(200, text=guide))


def test_there_is_something_to_do_on_every_page_that_the_flow_leads_to() -> None:
    assert {*PAGES, READY, "welcome", "own", "own-asked", "break", "screen-out"} == set(HANDLERS)


async def test_a_program_may_be_screened_out_and_has_no_code_then() -> None:
    server = Server()
    server.pages = [CONSENT, '<main data-page="screen-out"></main>']
    arrival = await run(server)
    assert (arrival.code, arrival.where) == ("", "")
    report = CrowdReport(CrowdOrder(1, 0, 1), [arrival])
    assert (report.finished, report.counts.split(", ")[0::5]) == (0, ["0 finished", "1 screened out"])


async def test_other_handlers_make_other_people() -> None:
    async def leave(walk: Walk, page: object) -> None:
        walk.code = "left"

    assert (await run(Server(), handlers={**HANDLERS, "survey": leave})).code == "left"


async def test_a_crowd_tells_who_did_not_finish_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def walk(self: Crowd, number: int) -> Arrival:
        if number == 2:
            raise WalkError("the door was shut")
        if number == 3:
            raise RuntimeError("strange")
        return Arrival(number, f"C{number}", "", (), 0)

    monkeypatch.setattr(Crowd, "_walk", walk)
    lines: list[str] = []
    outcome = await Crowd(CrowdOrder(4, 1, 2, link=LINK), lines.append).walk()
    assert {arrival.code for arrival in outcome.arrived} == {"C1", "C4"}
    assert outcome.failed == {2: "the door was shut", 3: "RuntimeError: strange"}
    assert "participant 2 of 4 did not finish: the door was shut" in lines


async def test_a_crowd_that_is_stopped_sends_nobody_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def walk(self: Crowd, number: int) -> Arrival:
        return Arrival(number, f"C{number}", "", (), 0)

    monkeypatch.setattr(Crowd, "_walk", walk)
    lines: list[str] = []
    crowd = Crowd(CrowdOrder(4, 1, 1, link=LINK), lines.append, stopped=lambda: len(lines) >= 2)
    outcome = await crowd.walk()
    assert [arrival.number for arrival in outcome.arrived] == [1, 2]
    assert not outcome.failed
    assert len(lines) == 2
