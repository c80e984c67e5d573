"""Every request and websocket has a name for the logs, and is counted."""

from __future__ import annotations

import asyncio
import time
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import pytest
from celery.app.task import Context
from django.conf import settings

from brigade.celery import enter_task_context, leave_task_context
from brigade.middleware import RequestIdPages, RequestIdWebSockets, request_id_of
from kitchen.infra import prometheus_metrics
from kitchen.infra.log_context import current_log_context
from kitchen.infra.task_broker import REQUEST_HEADER, SENT_AT_HEADER


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"0f8fad5b-d9cb-469f-a165-70867728950e", True),
        (b"abcdefgh", True),
        (b"short", False),
        (b"a line\nof a log", False),
        (b"x" * 65, False),
        (b"", False),
    ],
)
def test_a_name_from_outside_is_taken_if_it_is_one(given: bytes, kept: bool) -> None:
    name = request_id_of([(b"host", b"localhost"), (b"X-Request-ID", given)])
    assert (name == given.decode()) is kept
    assert request_id_of([(HEADER, name.encode())]) == name


HEADER = b"x-request-id"


async def test_a_page_is_named_and_its_answer_counted() -> None:
    sent: list[Any] = []
    answered = prometheus_metrics.http_answers.labels("418")
    before = answered._value.get()

    async def page(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body", "body": str(current_log_context()["request"]).encode()})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    await asyncio.create_task(RequestIdPages(page)({"headers": [(HEADER, b"from-the-proxy")]}, receive, send))
    assert sent[0]["headers"] == [(b"a", b"b"), (HEADER, b"from-the-proxy")]
    assert sent[1]["body"] == b"from-the-proxy"
    assert answered._value.get() == before + 1


async def none(message: Any) -> None:
    """Sends nothing anywhere."""


def closed(code: int, *, by_us: bool, accepted: bool = True) -> Any:
    """A websocket that ends with this code."""

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.disconnect", "code": code}

    async def page(scope: Any, receive: Any, send: Any) -> None:
        if accepted:
            await send({"type": "websocket.accept"})
            assert prometheus_metrics.open_websockets.labels("play")._value.get() == 1
        if by_us:
            await send({"type": "websocket.close", "code": code})
        await receive()

    return asyncio.create_task(
        RequestIdWebSockets(page)({"headers": [], "path": "/ws/seat/x/"}, receive, none)
    )


@pytest.mark.parametrize(
    ("code", "by_us", "accepted", "label"),
    [
        (4409, True, True, "4409"),
        (1001, False, True, "1001"),
        (3999, False, True, "other"),
        (1000, True, False, "refused"),
    ],
)
async def test_a_websocket_is_counted_while_it_is_open_and_once_when_it_ends(
    code: int, by_us: bool, accepted: bool, label: str
) -> None:
    prometheus_metrics.open_websockets.labels("play").set(0)
    ended = prometheus_metrics.websocket_closes.labels(label)
    before = ended._value.get()
    await closed(code, by_us=by_us, accepted=accepted)
    assert prometheus_metrics.open_websockets.labels("play")._value.get() == 0
    assert ended._value.get() == before + 1


def test_a_task_knows_its_request_and_how_long_it_waited() -> None:
    headers = {REQUEST_HEADER: "from-a-page", SENT_AT_HEADER: time.time() - 100}
    delivery = {"routing_key": settings.CELERY_TASK_DEFAULT_QUEUE}
    task = SimpleNamespace(request=Context({**headers, "delivery_info": delivery}))
    waited = prometheus_metrics.task_wait_seconds.labels("people")
    before = waited._sum.get()

    def taken_up() -> object:
        enter_task_context(task_id="one", task=task)
        there = dict(current_log_context())
        leave_task_context()
        return there, dict(current_log_context())

    assert copy_context().run(taken_up) == ({"task": "one", "request": "from-a-page"}, {})
    assert waited._sum.get() - before >= 100
