"""Requests are answered a few at a time, and each kind has a queue of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, ClassVar

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings

from brigade import http_limits, server_limits
from brigade.asgi import application
from brigade.http_limits import RequestQueues, kind_of_request, sender_of_request
from brigade.middleware import Message, Receive, Send
from kitchen.infra.rate_limits import TokenBucket


class Slow:
    """Pages that are ready when they are told to be."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.most = 0
        self.ready = asyncio.Event()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.now.append(scope["path"])
        self.most = max(self.most, len(self.now))
        await self.ready.wait()
        self.now.remove(scope["path"])
        if scope["path"] == "/p/broken/":
            raise RuntimeError("this page")


async def nothing(*message: object) -> Any:
    return {}


async def asked(pages: RequestQueues, *paths: str) -> list[BaseException | None]:
    """Send all requests at once, and answer them after each had a chance to begin. Return the errors."""
    asking = [asyncio.create_task(pages({"path": path}, nothing, nothing)) for path in paths]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    pages.application.ready.set()
    return await asyncio.gather(*asking, return_exceptions=True)


async def test_the_others_wait_and_all_get_their_page() -> None:
    slow = Slow()
    answers = await asked(
        RequestQueues(slow, {"participants": 2}), "/p/a/", "/p/broken/", "/s/demo/", "/p/c/", "/p/b/"
    )
    assert slow.most == 2 and not slow.now
    assert [type(answer) for answer in answers].count(RuntimeError) == 1


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/s/demo/", "participants"),
        ("POST", "/p/somebody/", "participants"),
        ("GET", "/staff/demo/live/", "staff"),
        ("GET", "/admin/login/", "staff"),
        ("POST", "/admin/login/", "logins"),
        ("POST", "/staff/account/password/", "logins"),
        ("GET", "/staff/demo/data/participants.csv", "downloads"),
        ("GET", "/staff/demo/analysis/report.pdf", "downloads"),
        ("GET", "/api/studies/demo/files/participants.csv", "downloads"),
        ("GET", "/api/", "staff"),
        ("GET", "/static/css/base.css", "static"),
        ("GET", "/health", "health"),
        ("GET", "/ready", "ready"),
        ("GET", "/metrics", "staff"),
    ],
)
def test_each_kind_of_request_has_a_queue(method: str, path: str, kind: str) -> None:
    assert kind_of_request(method, path) == kind


async def test_downloads_and_logins_delay_no_pages() -> None:
    """One that waits in one queue leaves the others free."""
    slow = Slow()
    queues = RequestQueues(slow, {"participants": 1, "staff": 1, "downloads": 1, "logins": 1, "static": 1})
    paths = ["/staff/demo/data/a.csv", "/staff/demo/data/b.csv", "/staff/", "/p/a/", "/static/a.js"]
    await asked(queues, *paths)
    assert slow.most == 4


async def test_nobody_waits_who_asks_whether_the_process_lives() -> None:
    slow = Slow()
    await asked(RequestQueues(slow, {"ready": 1}), "/ready", "/ready", "/health", "/health")
    assert slow.most == 3


class Sent(list[Message]):
    """What was sent to the clients."""

    async def __call__(self, message: Message) -> None:
        self.append(message)

    @property
    def statuses(self) -> list[int]:
        """The statuses of all responses."""
        return [message["status"] for message in self if "status" in message]


async def test_staff_who_find_a_full_queue_get_a_page_that_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_limits, "MOST_IN_QUEUE", 1)
    slow, sent = Slow(), Sent()
    queues = RequestQueues(slow, {"staff": 1})
    scope = {"path": "/staff/é/", "raw_path": b"/staff/%C3%A9/", "query_string": b"a=1", "method": "GET"}
    asking = [asyncio.create_task(queues(scope, nothing, sent)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    slow.ready.set()
    await asyncio.gather(*asking)
    assert sent.statuses == [503]
    assert (b"retry-after", b"5") in sent[0]["headers"]
    assert 'href="/staff/%C3%A9/?a=1" data-again="5"' in sent[1]["body"].decode()


@pytest.mark.parametrize(("kind", "path"), [("participants", "/p/a/"), ("static", "/static/js/again.js")])
async def test_participants_and_files_wait_however_many_they_are(
    kind: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_limits, "MOST_IN_QUEUE", 1)
    slow = Slow()
    assert await asked(RequestQueues(slow, {kind: 1}), *[path] * 9) == [None] * 9
    assert slow.most == 1


def login_from(address: str) -> Message:
    """The scope of a login, as the staff process gets it."""
    head = [(b"x-forwarded-for", address.encode())] if address else []
    return {"method": "POST", "path": "/admin/login/", "headers": head, "client": None}


@pytest.mark.parametrize(
    ("addresses", "refused"),
    [
        (["198.51.100.7"] * 7, 2),  # one is answered, four wait
        ([f"198.51.100.{number}" for number in range(7)], 0),
        ([f"2001:db8:1:2::{number}" for number in range(7)], 2),  # one /64
        ([f"2001:db8:1:{number}::1" for number in range(7)], 2),  # one /48
        ([f"2001:db8:{number}::1" for number in range(7)], 0),
        ([""] * 7, 0),  # a program on this machine
        (["nonsense"] * 7, 2),
    ],
)
async def test_few_logins_of_one_network_wait(addresses: list[str], refused: int) -> None:
    slow, sent = Slow(), Sent()
    queues = RequestQueues(slow, {"logins": 1})
    for _ in range(2):  # those that were answered count no more
        sent.clear()
        asking = [asyncio.create_task(queues(login_from(one), nothing, sent)) for one in addresses]
        for _ in range(3):
            await asyncio.sleep(0)
        other = asyncio.create_task(queues(login_from("203.0.113.9"), nothing, sent))
        await asyncio.sleep(0)
        slow.ready.set()
        await asyncio.gather(*asking, other)
        slow.ready.clear()
        assert sent.statuses == [429] * refused


async def test_threads_stay_and_no_two_pages_share_one() -> None:
    made_in: list[int] = []
    together = threading.Barrier(2)

    async def page(scope: Message, receive: Receive, send: Send) -> None:
        made_in.append(await sync_to_async(threading.get_ident)())
        if scope["path"] == "/p/two/":
            await sync_to_async(together.wait)(5)

    pages = RequestQueues(page, {"participants": 2})
    for _ in range(3):
        await pages({"path": "/p/one/"}, nothing, nothing)
    assert len(set(made_in)) == 1
    made_in.clear()
    await asyncio.gather(*(pages({"path": "/p/two/"}, nothing, nothing) for _ in range(2)))
    assert len(set(made_in)) == 2


def test_the_pages_that_are_served_stand_in_line() -> None:
    served = application.application_mapping["http"]
    while not isinstance(served, RequestQueues):
        served = served.application
    assert isinstance(served, RequestQueues)


class Waiting(TokenBucket):
    """A bucket whose time goes on only while somebody waits."""

    waits: ClassVar[list[float]] = []

    def __init__(self, rate: float, most: float) -> None:
        self.now = 0.0
        super().__init__(rate, most, lambda: self.now, self.wait)

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def staff_cookie(value: str) -> tuple[bytes, bytes]:
    """The header of a browser where somebody of the staff has logged in."""
    return b"cookie", f"a=b; {settings.SESSION_COOKIE_NAME}={value}; c=d".encode()


TOKEN, SESSION = (b"authorization", b"Bearer x"), staff_cookie("x")


@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [
        ("/p/a/lobby/", [], "participants"),
        ("/staff/demo/", [SESSION], "staff"),
        ("/api/studies/demo/files/all.zip", [TOKEN], "downloads"),
    ],
)
async def test_a_sender_of_many_requests_waits_and_others_do_not(
    path: str, headers: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Waiting, "waits", waits := list[float]())
    slow = Slow()
    slow.ready.set()
    queues = RequestQueues(slow, {kind: 1}, new_bucket=Waiting)
    rate, most = server_limits.SENDER_RATE_LIMITS[kind]
    for _ in range(int(most)):
        await queues({"path": path, "headers": headers}, nothing, nothing)
    assert not waits
    await queues({"path": path, "headers": headers}, nothing, nothing)
    assert waits == [1 / rate]
    other = [(name, value.replace(b"x", b"y")) for name, value in headers]
    if kind == "participants":
        path = path.replace("/a/", "/b/")
    await queues({"path": path, "headers": other}, nothing, nothing)
    await queues({"path": "/s/demo/" if kind == "participants" else path}, nothing, nothing)
    assert len(waits) == 1


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel those of the tasks that are not done."""
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("kind", "path", "status"), [("participants", "/p/a/", 429), ("staff", "/staff/demo/", 503)]
)
async def test_few_requests_of_one_sender_wait_and_the_others_are_refused(
    kind: str, path: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_limits, "SENDER_RATE_LIMITS", {kind: (0.001, 1)})
    monkeypatch.setattr(http_limits, "MOST_WAITING_OF_SENDER", {kind: 2})
    slow, sent = Slow(), Sent()
    slow.ready.set()
    queues = RequestQueues(slow, {kind: 1})
    scope = {"path": path, "headers": [SESSION]}
    asking = [asyncio.create_task(queues(scope, nothing, sent)) for _ in range(5)]
    while len(sent.statuses) < 2:
        await asyncio.sleep(0)
    assert sent.statuses == [status] * 2
    assert all((b"retry-after", b"5") in message["headers"] for message in sent if "status" in message)
    assert (queues._waiting_for_rate_limit[kind], queues._waiting[kind]) == (2, 0)
    await end(asking)
    assert queues._waiting_for_rate_limit[kind] == 0


async def test_invented_senders_of_many_requests_do_not_fill_the_queue_of_staff(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_limits, "SENDER_RATE_LIMITS", {"staff": (0.001, 1)})
    monkeypatch.setattr(http_limits, "MOST_WAITING_FOR_RATE_LIMIT", 3)
    slow, sent = Slow(), Sent()
    slow.ready.set()
    queues = RequestQueues(slow, {"staff": 1})

    def ask(sender: str) -> asyncio.Task[None]:
        scope = {"path": "/staff/demo/", "headers": [staff_cookie(sender)]}
        return asyncio.create_task(queues(scope, nothing, sent))

    asking = [ask(f"invented{number % 2}") for number in range(9)]  # each one at once
    while len(sent.statuses) < 4:
        await asyncio.sleep(0)
    assert queues._waiting_for_rate_limit["staff"] == 3
    await ask("honest")
    assert sent.statuses == [503] * 4
    await end(asking)


def test_a_sender_is_named_by_the_credential_that_counts_and_only_its_hash_is_kept() -> None:
    def sender(kind: str, path: str, *headers: tuple[bytes, bytes]) -> str:
        return sender_of_request(kind, {"path": path, "headers": list(headers)})

    cookie = staff_cookie("s")
    token, session = sender("staff", "/api/", TOKEN), sender("staff", "/staff/", cookie)
    assert token != session
    assert [len(name) for name in (token, session, sender("participants", f"/p/{'k' * 9000}/"))] == [32] * 3
    for same in (b"bearer x", b"BEARER  x "):
        assert sender("staff", "/api/", (b"authorization", same)) == token
    for other in (b"Basic eDp5", b"x", b"Bearer", b"Bearer "):
        assert not sender("staff", "/api/", (b"authorization", other))
        assert sender("staff", "/staff/", (b"authorization", other), cookie) == session
    name = settings.SESSION_COOKIE_NAME
    for cookies in (f"x{name}=y;{name}=s", f"{name}=s;x{name}=y", f'{name}=y; {name}="s"'):
        assert sender("staff", "/staff/", (b"cookie", cookies.encode())) == session
    assert not sender("staff", "/staff/", (b"cookie", f"x{name}=x".encode()))
    assert not sender("participants", "/s/demo/", SESSION, TOKEN)
