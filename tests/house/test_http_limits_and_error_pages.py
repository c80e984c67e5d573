"""The door of the pages: how much it lets in, and that every error has its page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from brigade.asgi import application as whole
from brigade.error_pages import DETAILS, OVERLOADED, PAGES, UNANSWERED, error_page, unavailable_page
from brigade.http_limits import HttpLimits, address_of_form
from brigade.server_limits import LARGEST_BODY, POLICY_FILES
from kitchen.infra import db_retry

FORM = (b"content-type", b"application/x-www-form-urlencoded")
Header = tuple[bytes, bytes]


@pytest.fixture(autouse=True)
def no_lock_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock timeout of an earlier test must not send these requests to the database."""
    monkeypatch.setattr(db_retry, "set_lock_timeout", lambda: None)


class Answered:
    """What comes back of a request."""

    def __init__(self, status: int, headers: Sequence[Header], body: bytes) -> None:
        self.status, self.body = status, body.decode()
        self.headers = {name.decode().lower(): value.decode() for name, value in headers}

    @property
    def is_our_page(self) -> bool:
        """Whether it is a page in our design, under our policy."""
        styled = "css/tokens.css" in self.body and "css/base.css" in self.body
        return styled and "script-src 'self'" in self.headers["content-security-policy"]


async def asked(
    application: Any, *pieces: bytes, path: str = "/admin/login/", headers: Sequence[Header] = (FORM,)
) -> Answered:
    """A POST whose body comes in these pieces."""
    cookie = (b"cookie", b"csrftoken=" + 32 * b"a")
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), cookie, *headers],
    }
    talk = ApplicationCommunicator(application, scope)
    for number, piece in enumerate(pieces, start=1):
        more = number < len(pieces)
        await talk.send_input({"type": "http.request", "body": piece, "more_body": more})
    start, body = await talk.receive_output(timeout=30), await talk.receive_output(timeout=30)
    await talk.wait(timeout=30)
    return Answered(start["status"], start["headers"], body["body"])


def says(status: int, body: bytes = b"", *more: Header, reads: bool = False) -> Any:
    """An application that answers so."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while reads and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": status, "headers": [*more]})
        await send({"type": "http.response.body", "body": body})

    return application


async def test_a_body_that_says_that_it_is_too_large_is_refused_unread() -> None:
    length = (b"content-length", str(LARGEST_BODY + 1).encode())
    answered = await asked(whole, headers=(FORM, length))
    assert (answered.status, answered.is_our_page) == (413, True)
    assert "shorten the text" in answered.body and "A file" not in answered.body


async def test_a_file_that_is_too_large_is_told_how_large_one_may_be() -> None:
    length = (b"content-length", str(LARGEST_BODY + 1).encode())
    form = (b"content-type", b"multipart/form-data; boundary=b")
    answered = await asked(whole, path="/staff/replay/", headers=(form, length))
    assert (answered.status, answered.is_our_page) == (413, True)
    assert f"A file may have at most {LARGEST_BODY / 2**20:g} MB" in answered.body
    assert "shorten the text" not in answered.body
    assert 'href="/staff/"' in answered.body, "the first page of staff, as the browser names no other"
    length = (b"content-length", str(20 * 2**20).encode())
    answered = await asked(whole, path=POLICY_FILES, headers=(form, length))
    assert "too_large" in answered.body and "16 MiB" in answered.body
    assert "episode" not in answered.body


@pytest.mark.parametrize(
    ("sender", "back"),
    [
        (b"http://localhost/staff/a/design/flow/3/?b=1", "/staff/a/design/flow/3/?b=1"),
        (b"http://elsewhere.example/staff/a/", "/staff/"),
        (b"//", "/staff/"),
    ],
)
def test_the_page_that_refuses_leads_back_to_its_form(sender: bytes, back: str) -> None:
    head = {b"host": b"localhost", b"referer": sender}
    assert address_of_form({"path": "/staff/a/design/media/"}, head) == back
    assert address_of_form({"path": "/p/key/"}, {b"host": b"localhost"}) == ""


async def test_a_body_that_grows_too_large_is_refused_then() -> None:
    answered = await asked(whole, *3 * [bytes(LARGEST_BODY // 2)], b"never read")
    assert (answered.status, answered.is_our_page) == (413, True)


async def test_a_body_as_large_as_is_allowed_comes_in() -> None:
    answered = await asked(HttpLimits(says(200, b"thanks", reads=True), largest=6), b"123", b"456")
    assert (answered.status, answered.body) == (200, "thanks")


@pytest.mark.parametrize(
    ("charset", "status"), [(b"utf-7", 400), (b"utf-16", 400), (b"idna", 400), (b"nonsense\xff", 403)]
)
async def test_a_form_in_a_strange_charset_is_refused_with_a_page(charset: bytes, status: int) -> None:
    answered = await asked(whole, b"a=1", headers=((FORM[0], FORM[1] + b"; charset=" + charset),))
    assert (answered.status, answered.is_our_page) == (status, True)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (((b"content-type", b"multipart/form-data"),), b"a=1"),
        ((FORM,), b"&".join(b"%d=" % number for number in range(2000))),
        ((FORM, (b"host", b"elsewhere.example")), b""),
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_page(headers: Sequence[Header], body: bytes) -> None:
    answered = await asked(whole, body, headers=headers)
    assert (answered.status, answered.is_our_page) == (400, True)
    assert "Load the page again" in answered.body


@pytest.mark.parametrize("status", PAGES)
async def test_an_error_without_a_word_gets_its_page_and_keeps_its_head(status: int) -> None:
    bare = says(status, b"", (b"retry-after", b"60"), (b"Content-Length", b"0"))
    answered = await asked(HttpLimits(bare))
    assert (answered.status, answered.is_our_page) == (status, True)
    assert answered.headers["retry-after"] == "60"
    assert answered.headers["content-length"] == str(len(answered.body.encode()))


async def test_an_error_that_says_something_is_left_as_it_is() -> None:
    answered = await asked(HttpLimits(says(403, b'{"detail": "no"}', (b"content-type", b"application/json"))))
    assert (answered.status, answered.body) == (403, '{"detail": "no"}')


async def test_an_application_that_fails_is_a_page_too() -> None:
    async def fails(*_: Any) -> None:
        raise RuntimeError("why")

    answered = await asked(HttpLimits(fails))
    assert (answered.status, answered.is_our_page) == (500, True)
    assert "why" not in answered.body


@pytest.mark.parametrize("status", PAGES)
def test_a_page_of_an_error_asks_nothing_of_the_database(
    status: int, django_assert_num_queries: Any, db: None
) -> None:
    with django_assert_num_queries(0):
        page = error_page(status)
    assert page.status_code == status
    assert "<h1>" in page.content.decode()
    assert "<script" not in page.content.decode()


LOST = "Nothing that you typed or chose is lost"


@pytest.mark.parametrize(
    ("reason", "method", "says", "not_said"),
    [
        (OVERLOADED, "GET", ("too many requests", LOST, "data-again", 'href="/staff/?a=1&amp;b=2"'), "saved"),
        (OVERLOADED, "POST", ("too many requests", LOST, "Go back in your browser"), "data-again"),
        (UNANSWERED, "GET", ("did not answer", LOST, "data-again"), "saved"),
        (UNANSWERED, "POST", ("did not answer", "Check whether your change was saved"), LOST),
    ],
)
def test_a_request_that_was_not_answered_is_told_why(
    reason: str, method: str, says: Sequence[str], not_said: str
) -> None:
    page = unavailable_page(reason, method, "/staff/?a=1&b=2")
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    text = page.content.decode()
    assert [words for words in says if words not in text] == []
    assert not_said not in text and "Load the page again" not in text


@pytest.mark.parametrize(("reason", "detail"), DETAILS.items())
def test_api_clients_are_told_in_json_why_they_got_no_answer(reason: str, detail: str) -> None:
    answered = unavailable_page(reason, "POST", "/%61pi/studies")
    assert json.loads(answered.content) == {"detail": detail}
    assert (answered.status_code, answered["Retry-After"]) == (503, "5")


def test_whatever_breaks_while_the_database_is_away_has_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> HttpResponse:
        raise OSError("no database")

    monkeypatch.setattr(connection, "ensure_connection", away)
    found = Client(raise_request_exception=False).get("/s/demo/")
    assert found.status_code == 500
    assert "Something broke on our side" in found.content.decode()
    assert Client().get("/nothing/").status_code == 404
