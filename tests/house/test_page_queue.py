"""Participants' pages are made a few at a time; what staff look at stands in no line."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from asgiref.sync import sync_to_async

from brigade.asgi import application
from brigade.http_limits import PageQueue
from brigade.middleware import Message, Receive, Send


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


async def asked(pages: PageQueue, *paths: str) -> list[BaseException | None]:
    """What becomes of all of them, who ask at once; they are ready once all of them have had a chance."""
    asking = [asyncio.create_task(pages({"path": path}, nothing, nothing)) for path in paths]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    pages.application.ready.set()
    return await asyncio.gather(*asking, return_exceptions=True)


async def test_the_others_wait_and_all_get_their_page() -> None:
    slow = Slow()
    answers = await asked(PageQueue(slow, 2), "/p/a/", "/p/broken/", "/s/demo/", "/static/x.css", "/p/b/")
    assert slow.most == 2 and not slow.now
    assert [type(answer) for answer in answers].count(RuntimeError) == 1


async def test_staff_stand_in_no_line() -> None:
    slow = Slow()
    await asked(
        PageQueue(slow, 1), *(f"/staff/{number}/" for number in range(3)), "/api/v1/studies", "/admin/"
    )
    assert slow.most == 5


async def test_threads_stay_and_no_two_pages_share_one() -> None:
    made_in: list[int] = []
    together = threading.Barrier(2)

    async def page(scope: Message, receive: Receive, send: Send) -> None:
        made_in.append(await sync_to_async(threading.get_ident)())
        if scope["path"] == "/p/two/":
            await sync_to_async(together.wait)(5)

    pages = PageQueue(page, 2)
    for _ in range(3):
        await pages({"path": "/p/one/"}, nothing, nothing)
    assert len(set(made_in)) == 1
    made_in.clear()
    await asyncio.gather(*(pages({"path": "/p/two/"}, nothing, nothing) for _ in range(2)))
    assert len(set(made_in)) == 2


def test_the_pages_that_are_served_stand_in_line() -> None:
    served = application.application_mapping["http"]
    while not isinstance(served, PageQueue):
        served = served.application
    assert isinstance(served, PageQueue)
