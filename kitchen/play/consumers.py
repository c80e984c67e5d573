"""The websocket of one seat: reads messages, has the services called in one hop, sends what the seat may see.

A page names itself and its language in the address (`?page=…&language=…`) and says `&take=1` until it has
been heard for the first time: so the page that was opened last plays, and one that only connects anew never
pushes out a newer one. Whoever names no page (a program) is one of its own at every connection.

Whoever waits for an answer, however long, and asks whether anybody is there, hears so at once: a server that
has too much to do is not one that died, and pages that connect anew would give it more to do.

Limits that whoever plays never meets. What a page is sent is worked out for one of its messages at a time. A
message after which it shows something new (a command that was taken, a state that had changed) costs nothing,
so a program plays as fast as answers come. Any other one (a `sync` that brings nothing, a `ping`, a command
that is refused) takes a token; a page asks for less than one a second. Without a token the next message
waits, and whoever sends on meanwhile is closed by the server (`brigade.web`). A page has one connection in a
process, the newest; a key opens a few at once, and then one every two seconds. Keys that open nothing are
looked up once a second for one network.
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

from kitchen.machine import metrics
from kitchen.machine.about import about, note
from kitchen.machine.client_address import network_of, socket_address
from kitchen.machine.draining import RESTART, house
from kitchen.machine.hops import in_database
from kitchen.machine.pace import TOO_MUCH, Bucket, Buckets
from kitchen.machine.storage import trouble_of
from kitchen.play import render, seating
from kitchen.play.at_once import Deciding
from kitchen.play.messages import (
    CommandMessage,
    Message,
    MessageError,
    PingMessage,
    PlanMessage,
    SayMessage,
    SceneMessage,
    SyncMessage,
    ViewMessage,
    read_message,
)
from kitchen.play.models import Episode
from kitchen.play.open_page import ELSEWHERE, GONE, LATER, NO_SUCH_SEAT, Answer, OpenPage, page_opened
from kitchen.play.stream import AWAY, episode_group
from kitchen.play.told import NoticeMessage, PongMessage, to_json
from kitchen.play.watch import LOOK_SECONDS, watch
from kitchen.words.speech import marked

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

JSON_PROTOCOL = "brigade.json"
"""Subprotocol of clients that want JSON instead of HTML fragments."""
SYNCS = partial(Bucket, rate=3.0, most=30)
"""Messages of one connection that change nothing for it."""
CONNECTIONS = partial(Bucket, rate=0.5, most=20)
"""Connections of one key."""

MISSES = partial(Bucket, rate=1.0, most=60)
"""Keys from one network that open nothing."""

FAILED = 1011
"""Close code: something went wrong here; the page connects anew."""

UNSTORED = NoticeMessage(
    "unstored",
    marked(
        "Nothing can be stored at the moment. Your choice is kept in this page, which sends it again by "
        "itself."
    ),
    "warning",
    again=True,
)
"""The answer to a command that the database could not take."""

UNSENT = NoticeMessage(
    "unsent",
    marked("Nothing can be stored at the moment. Your message is still in its box: send it again."),
    "warning",
)
"""The answer to a message that the database could not take."""

UNPLANNED = NoticeMessage(
    "unplanned",
    marked("Nothing can be stored at the moment. Your plan is as it was: change it again."),
    "warning",
)
"""The answer to another plan that the database could not take."""

_knocks, _misses = Buckets(CONNECTIONS), Buckets(MISSES)


async def visited(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | Answer:
    """What comes of a visit to the database; that there is nothing any more where the episode was erased,
    since its person withdrew."""
    try:
        return await in_database(act, *args, **kwargs)
    except Episode.DoesNotExist:
        return GONE


def pass_over(error: Error, what: str) -> None:
    """A line in the log where the database cannot store or read for the time being; any other error is
    raised."""
    if not (trouble := trouble_of(error)):
        raise error
    log.warning("%s: %s", what, trouble)


class NowhereConsumer(AsyncWebsocketConsumer):
    """Any other address: closed, without a word."""

    async def connect(self) -> None:
        """Refused."""
        await self.close(NO_SUCH_SEAT)


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
        self.tokens = SYNCS()

    async def __call__(self, *scope_receive_send: Any) -> None:
        """Until it is over; looked after no more then, even where the server did not let it say goodbye."""
        try:
            await super().__call__(*scope_receive_send)
        finally:
            house.go(self)
            self.closed = True
            if self.page:
                metrics.pages.dec()
                watch().discard(self, self.page)

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
            house.come(self)
            metrics.pages.inc()
            note(episode=page.seat.episode_id)
            for older in watch().add(self, page):
                await older.close(ELSEWHERE)
            self.subscribing = asyncio.create_task(self.subscribe())

    async def let_in(self, key: str) -> tuple[OpenPage | None, Answer]:
        """As `opened`, unless too much was tried with this key, or too many keys that open nothing from this
        network: then the database is not asked."""
        network = self.network()
        if _misses.is_empty(network) or not _knocks.take(key):
            return None, Answer(close=TOO_MUCH)
        page, answer = await self.opened(key)
        if network and answer is GONE:
            _misses.take(network)
        return page, answer

    def network(self) -> str:
        """From where the page connects; nothing for programs of this machine, which are not counted."""
        address = socket_address(self.scope)
        return "" if address is None or address.is_loopback else network_of(address)

    async def opened(self, key: str) -> tuple[OpenPage | None, Answer]:
        """The page that this key opens, by the name that it gives itself, and what it is sent."""
        asked = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        name = seating.page_name(asked.get("page", [""])[0])
        newest, language = "page" not in asked or "take" in asked, asked.get("language", [""])[0]
        try:
            return await in_database(
                page_opened,
                key,
                name,
                newest=newest,
                json=self.json,
                language=language,
                kind=self.kind_of_page,
            )
        except Error as error:
            pass_over(error, "a page cannot be opened")
            return None, Answer(close=LATER)

    async def make_way(self) -> None:
        """This process is to end: it answers what it was asked, then the page connects to another."""
        async with self.in_turn:
            await self.close(RESTART)

    async def disconnect(self, code: int) -> None:
        """Nobody looks any more; the episode waits."""
        self.closed = True
        await self._unsubscribe()

    async def subscribe(self) -> None:
        """Be nudged from now on. While Redis is away pages are looked at all the same; this is tried
        again."""
        if self.page and not self.subscribed and not self.closed:
            with contextlib.suppress(*AWAY):
                group = episode_group(self.page.seat.episode_id)
                await asyncio.wait_for(self.channel_layer.group_add(group, self.channel_name), LOOK_SECONDS)
                self.subscribed = True
            if self.closed:
                await self._unsubscribe()

    async def _unsubscribe(self) -> None:
        if self.page and self.subscribed:
            self.subscribed = False
            with contextlib.suppress(*AWAY):
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

    async def do(self, page: OpenPage, message: Message | NoticeMessage) -> None:
        """What the message asks for; meanwhile the page hears that somebody is there (`on_ping`). It is
        closed, and connects anew, where this fails."""
        before = page.stamp
        try:
            await getattr(self, f"on_{message.type}")(page, message)
        except Exception:
            log.exception("a message could not be answered")
            await self.close(FAILED)
        if page.stamp == before:
            await self.tokens.taken()

    async def on_notice(self, page: OpenPage, message: NoticeMessage) -> None:
        """What came could not be read."""
        await self.answer(page.said, message)

    async def on_ping(self, page: OpenPage, message: PingMessage) -> None:
        """Somebody is there."""
        await self.send(text_data=to_json(PongMessage()) if self.json else render.PONG)

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """The present state."""
        await self.answer(page.show)

    async def on_scene(self, page: OpenPage, message: SceneMessage) -> None:
        """Note that the person sees it in three dimensions."""
        await self.answer(page.seen_as_scene, message)

    async def on_plan(self, page: OpenPage, message: PlanMessage) -> None:
        """Put another plan in the place of what is left of the person's, and say what came of it."""
        await self._store(page, partial(page.plan, message), UNPLANNED)

    async def on_view(self, page: OpenPage, message: ViewMessage) -> None:
        """Note what the person saw when they chose."""
        await self.answer(page.seen_in_view, message)

    async def on_command(self, page: OpenPage, message: CommandMessage) -> None:
        """Hand it in, say what came of it, and show the state."""
        began, before = time.monotonic(), page.stamp
        async with self.in_turn:
            try:
                with about(step=message.step):
                    answer = await visited(page.command, message)
                    if isinstance(answer, Deciding):
                        await answer.finish()
                        answer = await visited(page.decided, message, answer.asked)
            except Error as error:
                pass_over(error, "a command cannot be stored")
                answer = page.said(UNSTORED)
            await self.say(answer)
        if page.stamp != before:
            metrics.command_seconds.observe(time.monotonic() - began)

    async def on_say(self, page: OpenPage, message: SayMessage) -> None:
        """Send it, and show it."""
        await self._store(page, partial(page.say, message), UNSENT)

    async def _store(self, page: OpenPage, act: Callable[[], Answer], failed: NoticeMessage) -> None:
        """Have this stored, or say that it was not."""
        async with self.in_turn:
            try:
                answer = await visited(act)
            except Error as error:
                pass_over(error, f"a message ({failed.code}) cannot be stored")
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

    async def answer(self, act: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs) -> None:
        """Send what comes of this; nothing while nothing can be read: the next look finds what has
        changed."""
        async with self.in_turn:
            try:
                answer = await visited(act, *args, **kwargs)
            except Error as error:
                pass_over(error, "a page cannot be shown how things stand")
                answer = Answer()
            await self.say(answer)

    async def say(self, answer: Answer) -> None:
        """Send it; a browser gets what belongs together in one message."""
        texts = [text for text in answer.texts if text]
        for text in texts if self.json else ["\n".join(texts)] if texts else []:
            await self.send(text_data=text)
        if answer.close is not None:
            await self.close(answer.close)
