"""Serve the page on which staff watch a study live, and the page that ends an automatic pause of entry.

During such a pause, no new participants are admitted.

A websocket sends changed rows of the live page at most twice a second. Every few seconds it checks all rows
and the viewer's rights. The page also works without scripts. In one server process, a user can have at most
ten such pages open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from channels.auth import AuthMiddlewareStack, get_user
from channels.db import database_sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import path

from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS, ChannelLayerConsumer
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE, connection_drain
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, NewestPerOwner, TokenBucket, TokenBuckets
from kitchen.infra.task_broker import cached_worker_health
from kitchen.play.live.render_page import PONG_HTML
from kitchen.play.turn.page_broadcast import audience_group
from kitchen.uptime.outage_queries import RECENT, recent_outages
from study.design.models import Study
from study.monitor import live_status
from study.monitor.live_measures import live_measures
from study.participants.entry_limits import current_pause, end_pause
from study.participants.participant_counts import study_counts
from study.participants.participant_notifications import live_page_group
from study.researchers.permissions import has_right, rights_in, study_page
from study.researchers.staff_login import is_session_active

SOCKET = "/ws/staff/study/{slug}/"


@study_page("view")
def live_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show all participants who are active or ended recently."""
    codes, number = live_status.live_codes(study), live_status.shown_count(study)
    conceals = not has_right(request.user, study, "results")
    context = {
        "socket_path": SOCKET.format(slug=study.slug),
        "rows": shown_rows(study, codes, conceals=conceals),
        "more": number if number > len(codes) else 0,
        "counts": study_counts(study),
        "outages": recent_outages(),
        "outages_days": RECENT.days,
        "measures": None if conceals else live_measures(study),
        **totals_context(study, conceals=conceals),
    }
    return render(request, "study/monitor/live.html", context)


def shown_rows(study: Study, codes: Iterable[str], *, conceals: bool) -> list[live_status.LiveRow]:
    """Return the page's rows for these participants. If the study `conceals` the conditions from the user,
    the rows do not reveal them."""
    rows = live_status.live_rows(study, codes)
    return [live_status.without_condition(row) for row in rows] if conceals else rows


def totals_context(study: Study, *, conceals: bool = False) -> dict[str, Any]:
    """Return the template context for the page's summary line and totals. If the study `conceals` the
    conditions from the user, the totals do not count them."""
    totals = live_status.live_totals(study)
    if conceals:
        totals = live_status.without_groups(totals)
    last = live_status.ago_words(totals.last_step_at) if totals.last_step_at else ""
    parts = {"health": cached_worker_health(), "pause": current_pause(study)}
    return {"study": study, "totals": totals, "last_step": last, "conceals": conceals, **parts}


def fragment(name: str, study: Study, **context: Any) -> str:
    """Render the template `live_<name>.html`. Return HTML that replaces one element of the open page."""
    return render_to_string(f"study/monitor/live_{name}.html", {"study": study, "oob": True, **context})


log = logging.getLogger(__name__)

GATHER_SECONDS = 0.5
"""Seconds for which events are gathered. A page gets at most two updates a second."""
LOOK_SECONDS = 8.0
"""The seconds between two checks of all rows."""
NOT_ALLOWED = 4403
GONE = 4404
ELSEWHERE = 4409
"""Close codes: the user has no right; the study is deleted; newer pages replaced this one."""
MOST_PAGES = 10
"""The most live pages of one user in one process."""
PINGS = partial(TokenBucket, rate=2.0, most=20)
"""The rate limit for messages of one page."""
CONNECTIONS = partial(TokenBucket, rate=0.5, most=20)
"""The rate limit for connections of one user to one process. People who play have the same process, and each
connection is sent the whole page."""
_connection_buckets = TokenBuckets(CONNECTIONS)

_here: WeakKeyDictionary[asyncio.AbstractEventLoop, NewestPerOwner[LiveConsumer]] = WeakKeyDictionary()


def open_pages() -> NewestPerOwner[LiveConsumer]:
    """Return the registry of open live pages by user, one for each event loop."""
    return _here.setdefault(asyncio.get_running_loop(), NewestPerOwner(MOST_PAGES))


class LiveConsumer(ChannelLayerConsumer):
    """The websocket `/ws/staff/study/<slug>/` of a live page. It sends changes and ignores the content of
    received messages."""

    study: Study | None = None
    user: int | None = None
    subscribed = False
    conceals = False
    """True if the study conceals the conditions from the user."""
    working: asyncio.Task[None] | None = None

    async def __call__(self, *scope_receive_send: Any) -> None:
        """Run the connection, and stop all work at its end, even if the server skipped `disconnect`."""
        try:
            await super().__call__(*scope_receive_send)
        finally:
            connection_drain.remove(self)
            open_pages().remove(self.user, self)
            if self.working:
                self.working.cancel()

    async def connect(self) -> None:
        """Accept the connection of a staff user who may see this study's participants. Close any other
        connection, and one of a user who connects too often, without sending anything."""
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
        elif not _connection_buckets.take(str(self.scope["user"].pk)):
            await self.close(RATE_CLOSE_CODE)
        else:
            self.user = self.scope["user"].pk
            connection_drain.add(self)
            for older in open_pages().add(self.user, self):
                await older.close(ELSEWHERE)
            self.working = asyncio.create_task(self._keep_telling())

    async def close_for_restart(self) -> None:
        """Close the connection because this process ends. The page then reconnects to another process."""
        await self.close(RESTART_CLOSE_CODE)

    async def _may_watch(self) -> bool:
        """Return True if the user's session is still active and the user may see the study. This queries
        the database."""
        key = self.scope["session"].session_key or ""
        if self.study is None or not await database_sync_to_async(is_session_active)(key):
            return False
        user = await get_user(self.scope)
        rights: frozenset[str] = await database_sync_to_async(rights_in)(user, self.study)
        self.conceals = "results" not in rights
        return "view" in rights

    async def disconnect(self, code: int) -> None:
        """Stop receiving the study's messages, after the connection was closed."""
        if self.study:
            with contextlib.suppress(*CHANNEL_ERRORS):
                await self.leave_group(audience_group(live_page_group(self.study)))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer a ping of the page. Every received message is treated as a ping."""
        await self.send(text_data=PONG_HTML)
        await self.tokens.taken()

    async def audience_news(self, event: dict[str, Any]) -> None:
        """Record all news that arrive together, each with the method for its type."""
        for news in event["news"]:
            await self.dispatch(news)

    async def participant_news(self, event: dict[str, Any]) -> None:
        """Record that a participant has entered, moved on or left, so that their row is read again."""
        self.people.add(event["participant"])
        self.changed.set()

    async def episode_news(self, event: dict[str, Any]) -> None:
        """Record that an episode had a step or ended, so that its players' rows are read again."""
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
            except Exception:  # the next check may succeed, whatever the error was
                log.exception("a live page could not be told")
                await asyncio.sleep(LOOK_SECONDS)

    async def _tell_changes(self) -> None:
        """Send changes to the page as the study's events arrive. Return when it is time to check
        all rows."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                while True:
                    await self.changed.wait()
                    await asyncio.sleep(GATHER_SECONDS)
                    await asyncio.shield(self._tell())

    async def _subscribe(self) -> None:
        """Subscribe to the study's events. Without Redis, the page is updated only at regular checks, each of
        which tries to subscribe again."""
        assert self.study is not None  # noqa: S101 - a socket without a study is closed in connect
        if not self.subscribed:
            with contextlib.suppress(*CHANNEL_ERRORS):
                await self.join_group(audience_group(live_page_group(self.study)))
                self.subscribed = True

    async def _tell(self, *, everything: bool = False) -> None:
        self.changed.clear()
        people, episodes = self.people, self.episodes
        self.people, self.episodes = set(), set()
        texts = await database_sync_to_async(self._changes)(None if everything else (people, episodes))
        if texts is None:
            await self.close(GONE)
            return
        for text in texts or [PONG_HTML]:
            await self.send(text_data=text)

    def _changes(self, news: tuple[set[str], set[str]] | None) -> list[str] | None:
        """Return the HTML fragments that differ from those sent before. Return None if the study was deleted.

        `news` are the participants' codes and the episodes' keys that may have changed; None means that
        everything is checked. Table rows are a fragment of their own, because browsers drop their tags after
        other elements.
        """
        study = Study.objects.filter(pk=self.study.pk).first() if self.study else None
        if study is None:
            return None
        codes = live_status.live_codes(study)
        whose = set(codes)
        if news:
            whose &= news[0] | live_status.players_of(study, news[1])
        fresh = codes != self.codes
        rows = shown_rows(study, codes if fresh else whose, conceals=self.conceals)
        totals = totals_context(study, conceals=self.conceals)
        around = {name: fragment(name, **totals) for name in ("summary", "totals")}
        if news is None and not self.conceals:
            around["measures"] = fragment("measures", study, measures=live_measures(study))
        table = {row.code: fragment("row", study, row=row) for row in rows}
        changed = fragment("rows", study, rows=rows) if fresh else self._unsent(table)
        fragments = [text for text in (self._unsent(around), changed) if text]
        self.codes, self.sent = codes, ({} if fresh else self.sent) | around | table
        return fragments

    def _unsent(self, parts: dict[str, str]) -> str:
        """Return those fragments that differ from the last fragment sent under the same name."""
        return "\n".join(text for name, text in parts.items() if self.sent.get(name) != text)


SHOWN = 50
"""The most pauses on the page; the newest are shown."""


@study_page("view")
def entry(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the current pause of entry and earlier pauses. Users who may end the pause see a button."""
    context = {
        "study": study,
        "pause": current_pause(study),
        "pauses": study.entry_pauses.all()[:SHOWN],
        "may_edit": has_right(request.user, study, "edit"),
    }
    return render(request, "study/monitor/entry.html", context)


@study_page("edit", methods=("POST",))
def entry_go_on(request: HttpRequest, study: Study) -> HttpResponse:
    """End the pause of entry, so that people can enter again at once."""
    if end_pause(study_id=study.pk, user=request.user):  # type: ignore[arg-type]
        messages.success(request, "People can enter again. The count starts from zero.")
    else:
        messages.warning(request, "Entry is not paused: people can enter.")
    return redirect("study:staff-entry", study.slug)


websocket_urlpatterns = [
    path("ws/staff/study/<slug:slug>/", AuthMiddlewareStack(LiveConsumer.as_asgi())),
]
