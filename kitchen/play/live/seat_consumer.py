"""The websocket consumer of one seat: reads messages, calls the services, sends what the seat may see.

A page names itself and its language in the address (`?page=…&language=…`). It adds `&take=1` until it has
been heard for the first time. So the newest page plays, and a page that only reconnects never replaces a
newer one. A program without a page name counts as a new page at every connection.

A ping is answered at once, even while an answer is awaited. Otherwise pages would take a busy server for a
dead one, and reconnecting would load it further.

Rate limits that no player reaches: a page's messages are processed one at a time. A message after which the
page shows something new is free, so a program plays as fast as answers come. Any other message (a `sync` that
brings nothing, a `ping`, a refused command) takes a token; a page needs less than one a second. Without a
token the message waits; if more messages follow, the server closes the connection (`brigade.web`). A page has
one connection in a process, the newest. A key opens a few connections at once, then one every two seconds.
Unknown keys are looked up once a second for one network.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from kitchen.infra import prometheus_metrics
from kitchen.infra.client_address import client_network, websocket_client_address
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE, connection_drain
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.log_context import extend_log_context, log_context
from kitchen.infra.rate_limit import RATE_CLOSE_CODE, TokenBucket, TokenBuckets
from kitchen.play.coplayers.instant_decisions import InstantDecisions
from kitchen.play.live import page_session, render_page
from kitchen.play.live.page_session import (
    ELSEWHERE_CLOSE_CODE,
    EPISODE_ERASED,
    NO_SEAT_CLOSE_CODE,
    RETRY_CLOSE_CODE,
    OpenPage,
    PageAnswer,
    open_page,
)
from kitchen.play.live.page_watchdog import LOOK_SECONDS, page_watch
from kitchen.play.models import Episode
from kitchen.play.turn.page_broadcast import CHANNEL_ERRORS, episode_group
from kitchen.play.turn.websocket_messages import (
    ClientMessage,
    CommandMessage,
    MessageError,
    NoticeMessage,
    PingMessage,
    PlanMessage,
    PongMessage,
    SayMessage,
    SceneMessage,
    SyncMessage,
    ViewMessage,
    message_to_json,
    read_message,
)
from kitchen.words.translation import gettext_noop

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

JSON_PROTOCOL = "brigade.json"
"""Subprotocol of clients that want JSON instead of HTML fragments."""
SYNC_LIMIT = partial(TokenBucket, rate=3.0, most=30)
"""Messages of one connection that change nothing for it."""
CONNECTION_LIMIT = partial(TokenBucket, rate=0.5, most=20)
"""Connections of one key."""

UNKNOWN_KEY_LIMIT = partial(TokenBucket, rate=1.0, most=60)
"""Keys from one network that open nothing."""

FAILED_CLOSE_CODE = 1011
"""Close code: something went wrong here; the page connects anew."""

COMMAND_UNSTORED = NoticeMessage(
    "unstored",
    gettext_noop(
        "Nothing can be stored at the moment. Your choice is kept in this page, which sends it again by "
        "itself."
    ),
    "warning",
    again=True,
)
"""The answer to a command that the database could not take."""

MESSAGE_UNSTORED = NoticeMessage(
    "unsent",
    gettext_noop("Nothing can be stored at the moment. Your message is still in its box: send it again."),
    "warning",
)
"""The answer to a message that the database could not take."""

PLAN_UNSTORED = NoticeMessage(
    "unplanned",
    gettext_noop("Nothing can be stored at the moment. Your plan is as it was: change it again."),
    "warning",
)
"""The answer to another plan that the database could not take."""

_connection_buckets, _unknown_key_buckets = TokenBuckets(CONNECTION_LIMIT), TokenBuckets(UNKNOWN_KEY_LIMIT)


async def run_database_visit(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | PageAnswer:
    """What comes of a visit to the database; that there is nothing any more where the episode was erased,
    since its person withdrew."""
    try:
        return await run_in_db_thread(act, *args, **kwargs)
    except Episode.DoesNotExist:
        return EPISODE_ERASED


def log_outage_or_raise(error: Error, what: str) -> None:
    """A line in the log where the database cannot store or read for the time being; any other error is
    raised."""
    if not (trouble := database_problem(error)):
        raise error
    log.warning("%s: %s", what, trouble)


class UnknownAddressConsumer(AsyncWebsocketConsumer):
    """Any other address: closed, without a word."""

    async def connect(self) -> None:
        """Refused."""
        await self.close(NO_SEAT_CLOSE_CODE)


class SeatConsumer(AsyncWebsocketConsumer):
    """`/ws/seat/<key>/`: whoever knows the key of a person's seat plays it."""

    kind_of_page: type[OpenPage] = OpenPage
    only_json = False
    """Browsers are told JSON here, too."""
    page: OpenPage | None = None
    subscribed = False
    closed = False
    subscribing: asyncio.Task[None] | None = None
    doing: asyncio.Task[None] | None = None
    """What the last message asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_turn = asyncio.Lock()  # what a page is sent follows from what it was sent before
        self.tokens = SYNC_LIMIT()

    async def __call__(self, *scope_receive_send: Any) -> None:
        """Until it is over; looked after no more then, even where the server did not let it say goodbye."""
        try:
            await super().__call__(*scope_receive_send)
        finally:
            connection_drain.go(self)
            self.closed = True
            if self.page:
                prometheus_metrics.playing_pages.dec()
                page_watch().discard(self, self.page)

    async def connect(self) -> None:
        """Open for a known seat only, and show the present state at once."""
        key = self.scope["url_route"]["kwargs"]["key"]
        asked = JSON_PROTOCOL in self.scope.get("subprotocols", [])
        self.json = asked or self.only_json
        page, answer = await self.let_in(key)
        await self.accept(JSON_PROTOCOL if asked else None)
        await self.say(answer)
        if page is not None:
            self.page = page
            connection_drain.come(self)
            prometheus_metrics.playing_pages.inc()
            extend_log_context(episode=page.seat.episode_id)
            for older in page_watch().add(self, page):
                await older.close(ELSEWHERE_CLOSE_CODE)
            self.subscribing = asyncio.create_task(self.subscribe())

    async def let_in(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """As `opened`, unless too much was tried with this key, or too many keys that open nothing from this
        network: then the database is not asked."""
        network = self.network()
        if _unknown_key_buckets.is_empty(network) or not _connection_buckets.take(key):
            return None, PageAnswer(close=RATE_CLOSE_CODE)
        page, answer = await self.opened(key)
        if network and answer is EPISODE_ERASED:
            _unknown_key_buckets.take(network)
        return page, answer

    def network(self) -> str:
        """From where the page connects; nothing for programs of this machine, which are not counted."""
        address = websocket_client_address(self.scope)
        return "" if address is None or address.is_loopback else client_network(address)

    async def opened(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """The page that this key opens, by the name that it gives itself, and what it is sent."""
        asked = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        name = page_session.page_name(asked.get("page", [""])[0])
        newest, language = "page" not in asked or "take" in asked, asked.get("language", [""])[0]
        try:
            return await run_in_db_thread(
                open_page,
                key,
                name,
                newest=newest,
                json=self.json,
                language=language,
                kind=self.kind_of_page,
            )
        except Error as error:
            log_outage_or_raise(error, "a page cannot be opened")
            return None, PageAnswer(close=RETRY_CLOSE_CODE)

    async def make_way(self) -> None:
        """This process is to end: it answers what it was asked, then the page connects to another."""
        async with self.in_turn:
            await self.close(RESTART_CLOSE_CODE)

    async def disconnect(self, code: int) -> None:
        """Nobody looks any more; the episode waits."""
        self.closed = True
        await self._unsubscribe()

    async def subscribe(self) -> None:
        """Be nudged from now on. While Redis is away pages are looked at all the same; this is tried
        again."""
        if self.page and not self.subscribed and not self.closed:
            with contextlib.suppress(*CHANNEL_ERRORS):
                group = episode_group(self.page.seat.episode_id)
                await asyncio.wait_for(self.channel_layer.group_add(group, self.channel_name), LOOK_SECONDS)
                self.subscribed = True
            if self.closed:
                await self._unsubscribe()

    async def _unsubscribe(self) -> None:
        if self.page and self.subscribed:
            self.subscribed = False
            with contextlib.suppress(*CHANNEL_ERRORS):
                group = episode_group(self.page.seat.episode_id)
                await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message from the browser, for the method that its type names."""
        if self.page is None:  # it is closed, and the other end does not know it yet
            return
        try:
            message: Any = self.read(text_data)
        except MessageError as error:
            message = NoticeMessage("unreadable", str(error), "warning")
        if isinstance(message, PingMessage):
            await self.on_ping(self.page, message)
            await self.tokens.taken()
            return
        if self.doing is not None:
            await self.doing
        self.doing = asyncio.create_task(self.do(self.page, message))

    def read(self, text: str | None) -> Any:
        """What was sent; MessageError."""
        return read_message(text)

    async def do(self, page: OpenPage, message: ClientMessage | NoticeMessage) -> None:
        """What the message asks for; meanwhile the page hears that somebody is there (`on_ping`). It is
        closed, and connects anew, where this fails."""
        before = page.stamp
        try:
            await getattr(self, f"on_{message.type}")(page, message)
        except Exception:
            log.exception("a message could not be answered")
            await self.close(FAILED_CLOSE_CODE)
        if page.stamp == before:
            await self.tokens.taken()

    async def on_notice(self, page: OpenPage, message: NoticeMessage) -> None:
        """What came could not be read."""
        await self.answer(page.said, message)

    async def on_ping(self, page: OpenPage, message: PingMessage) -> None:
        """Somebody is there."""
        await self.send(text_data=message_to_json(PongMessage()) if self.json else render_page.PONG_HTML)

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """The present state."""
        await self.answer(page.show)

    async def on_scene(self, page: OpenPage, message: SceneMessage) -> None:
        """Note that the person sees it in three dimensions."""
        await self.answer(page.seen_as_scene, message)

    async def on_plan(self, page: OpenPage, message: PlanMessage) -> None:
        """Put another plan in the place of what is left of the person's, and say what came of it."""
        await self._store(page, partial(page.plan, message), PLAN_UNSTORED)

    async def on_view(self, page: OpenPage, message: ViewMessage) -> None:
        """Note what the person saw when they chose."""
        await self.answer(page.seen_in_view, message)

    async def on_command(self, page: OpenPage, message: CommandMessage) -> None:
        """Hand it in, say what came of it, and show the state."""
        began, before = time.monotonic(), page.stamp
        async with self.in_turn:
            try:
                with log_context(step=message.step):
                    answer = await run_database_visit(page.command, message)
                    if isinstance(answer, InstantDecisions):
                        await answer.finish()
                        answer = await run_database_visit(page.decided, message, answer.asked)
            except Error as error:
                log_outage_or_raise(error, "a command cannot be stored")
                answer = page.said(COMMAND_UNSTORED)
            await self.say(answer)
        if page.stamp != before:
            prometheus_metrics.command_seconds.observe(time.monotonic() - began)

    async def on_say(self, page: OpenPage, message: SayMessage) -> None:
        """Send it, and show it."""
        await self._store(page, partial(page.say, message), MESSAGE_UNSTORED)

    async def _store(self, page: OpenPage, act: Callable[[], PageAnswer], failed: NoticeMessage) -> None:
        """Have this stored, or say that it was not."""
        async with self.in_turn:
            try:
                answer = await run_database_visit(act)
            except Error as error:
                log_outage_or_raise(error, f"a message ({failed.code}) cannot be stored")
                answer = page.said(failed)
            await self.say(answer)

    async def episode_changed(self, event: dict[str, Any]) -> None:
        """A nudge from the channel layer, perhaps for what this page shows already."""
        stamp = event.get("stamp")
        if self.page and stamp is None:
            self.page.stamp = None  # something has changed of which a stamp knows nothing
        if self.page and (stamp is None or tuple(stamp) != self.page.stamp):
            await self.look()

    async def look(self) -> None:
        """Show what has changed."""
        if self.page:
            await self.answer(self.page.look)

    async def answer(self, act: Callable[P, PageAnswer], *args: P.args, **kwargs: P.kwargs) -> None:
        """Send what comes of this; nothing while nothing can be read: the next look finds what has
        changed."""
        async with self.in_turn:
            try:
                answer = await run_database_visit(act, *args, **kwargs)
            except Error as error:
                log_outage_or_raise(error, "a page cannot be shown how things stand")
                answer = PageAnswer()
            await self.say(answer)

    async def say(self, answer: PageAnswer) -> None:
        """Send it; a browser gets what belongs together in one message."""
        texts = [text for text in answer.texts if text]
        for text in texts if self.json else ["\n".join(texts)] if texts else []:
            await self.send(text_data=text)
        if answer.close is not None:
            await self.close(answer.close)
