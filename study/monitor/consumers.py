"""The websocket of a study's live page: staff who may see its participants are sent the rows that change.

News (`kitchen.play.told.EpisodeNews`, `study.people.news.ParticipantNews`) only say who has changed. They
are gathered for half a second, then those rows are read and, if they look different, sent. Every few seconds
everything is looked at, for the times since when somebody is idle, and in case news were lost; and so are the
rights of whoever watches.

Limits: a page asks every five seconds whether anybody is there; one that asks more often than twice a second
is answered late, and closed by the server if it goes on (`brigade.web`). Each page is told by itself, so one
person has ten of them in a process, the newest.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from kitchen.machine.draining import RESTART, house
from kitchen.machine.health import health_known
from kitchen.machine.pace import Bucket, Newest
from kitchen.play.render import PONG
from kitchen.play.stream import AWAY, audience_group
from study.design.models import Study
from study.monitor import live, live_page
from study.people.news import audience_of
from study.researchers.logins import session_is_on
from study.researchers.permissions import may

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.5
"""News are gathered for so long: no page is sent more than two updates a second."""
LOOK_SECONDS = 8.0
"""How often everything is looked at."""
NOT_ALLOWED = 4403
GONE = 4404
ELSEWHERE = 4409
"""Close codes: whoever watches may not, or no longer; the study is gone; they watch on newer pages."""
MOST_PAGES = 10
"""Live pages of one person in one process."""
PINGS = partial(Bucket, rate=2.0, most=20)
"""Messages of one page."""

_here: WeakKeyDictionary[asyncio.AbstractEventLoop, Newest[LiveConsumer]] = WeakKeyDictionary()


def here() -> Newest[LiveConsumer]:
    """Who watches, by user, in the running event loop."""
    return _here.setdefault(asyncio.get_running_loop(), Newest(MOST_PAGES))


class LiveConsumer(AsyncWebsocketConsumer):
    """`/ws/staff/study/<slug>/`: only sends; what comes in is not read."""

    study: Study | None = None
    user: int | None = None
    subscribed = False
    working: asyncio.Task[None] | None = None

    async def __call__(self, *scope_receive_send: Any) -> None:
        """Until it is over; nothing goes on then, even where the server did not let it say goodbye."""
        try:
            await super().__call__(*scope_receive_send)
        finally:
            house.go(self)
            here().go(self.user, self)
            if self.working:
                self.working.cancel()

    async def connect(self) -> None:
        """Open for staff who may see this study's participants; for others it closes, and says nothing."""
        self.people: set[str] = set()
        self.episodes: set[str] = set()
        self.changed = asyncio.Event()
        self.tokens = PINGS()
        self.sent: dict[str, str] = {}
        self.codes: list[str] | None = None
        slug = self.scope["url_route"]["kwargs"]["slug"]
        self.study = await database_sync_to_async(Study.objects.filter(slug=slug).first)()
        await self.accept()
        if not await self._may_watch():
            await self.close(NOT_ALLOWED)
        else:
            self.user = self.scope["user"].pk
            house.come(self)
            for older in here().come(self.user, self):
                await older.close(ELSEWHERE)
            self.working = asyncio.create_task(self._keep_telling())

    async def make_way(self) -> None:
        """This process is to end: the page connects to another."""
        await self.close(RESTART)

    async def _may_watch(self) -> bool:
        """Whether the session still belongs to somebody who may; asked of the database each time."""
        session = self.scope["session"]
        is_on = database_sync_to_async(session_is_on)
        if self.study is None or not await is_on(session.session_key or ""):
            return False
        user = await get_user(self.scope)
        allowed: bool = await database_sync_to_async(may)(user, self.study, "view")
        return allowed

    async def disconnect(self, code: int) -> None:
        """Nobody watches any more."""
        if self.study and self.subscribed:
            with contextlib.suppress(*AWAY):
                await self.channel_layer.group_discard(
                    audience_group(audience_of(self.study)), self.channel_name
                )

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The page asks whether anybody is there, whatever it says; news go to the methods that they name."""
        await self.send(text_data=PONG)
        await self.tokens.taken()

    async def participant_news(self, event: dict[str, Any]) -> None:
        """Somebody has come, gone on or gone."""
        self.people.add(event["participant"])
        self.changed.set()

    async def episode_news(self, event: dict[str, Any]) -> None:
        """A step was taken, or an episode has ended."""
        self.episodes.add(event["episode"])
        self.changed.set()

    async def _keep_telling(self) -> None:
        while True:
            try:
                await self._subscribe()
                if not await self._may_watch():
                    await self.close(NOT_ALLOWED)
                    return
                await self._tell(everything=True)
                await self._tell_changes()
            except Exception:  # whatever it was, the next look may succeed
                log.exception("a live page could not be told")
                await asyncio.sleep(LOOK_SECONDS)

    async def _tell_changes(self) -> None:
        """News as they come, until it is time to look at everything."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                while True:
                    await self.changed.wait()
                    await asyncio.sleep(GATHER_SECONDS)
                    await asyncio.shield(self._tell())

    async def _subscribe(self) -> None:
        """Hear the news from now on. While Redis is away the page is told at every look; it tries again."""
        assert self.study is not None  # noqa: S101 - a socket without a study is closed in connect
        if not self.subscribed:
            with contextlib.suppress(*AWAY):
                group = audience_group(audience_of(self.study))
                await asyncio.wait_for(self.channel_layer.group_add(group, self.channel_name), 2)
                self.subscribed = True

    async def _tell(self, *, everything: bool = False) -> None:
        self.changed.clear()
        people, episodes = self.people, self.episodes
        self.people, self.episodes = set(), set()
        texts = await database_sync_to_async(self._changes)(None if everything else (people, episodes))
        if texts is None:
            await self.close(GONE)
            return
        for text in texts or [PONG]:
            await self.send(text_data=text)

    def _changes(self, news: tuple[set[str], set[str]] | None) -> list[str] | None:
        """The fragments that differ from what was sent; None if the study is gone. `news` are codes of
        participants and keys of episodes; None to look at everything.

        Parts of the table come in a message of their own: behind anything else browsers drop their tags.
        """
        study = Study.objects.filter(pk=self.study.pk).first() if self.study else None
        if study is None:
            return None
        codes = live.live_codes(study)
        whose = set(codes) if news is None else set(codes) & (news[0] | live.players_of(study, news[1]))
        fresh = codes != self.codes
        rows = live.live_rows(study, codes if fresh else whose)
        summary, totals = live_page.totals_fragments(study, health_known())
        around, table = {"summary": summary, "totals": totals}, live_page.rows_fragments(study, rows)
        changed = live_page.body_fragment(study, rows) if fresh else self._unsent(table)
        fragments = [text for text in (self._unsent(around), changed) if text]
        self.codes, self.sent = codes, ({} if fresh else self.sent) | around | table
        return fragments

    def _unsent(self, parts: dict[str, str]) -> str:
        """Those that differ from what was sent under their names."""
        return "\n".join(text for name, text in parts.items() if self.sent.get(name) != text)
