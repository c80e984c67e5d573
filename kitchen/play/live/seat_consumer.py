"""Serve the websocket of one player's page: read its messages, and send what the player may see.

A websocket also opens while the channel layer (Redis) is unreachable. Its page then says that news may be
late, and is updated by the periodic check of `page_watchdog` until it has subscribed to notifications.

The websocket's address has the page's id and language (`?page=…&language=…`). A newly opened page adds
`&take=1` and then replaces older pages of the same seat (player's place). Messages and connections are
limited in rate. People never reach these limits.
"""

# The address has the page's id and language (`?page=…&language=…`), and `&take=1` until the first connection
# succeeds. So a newly opened page replaces older ones, and a page that only reconnects does not. A ping is
# answered at once, even while another answer is awaited.
#
# Messages that bring the page nothing new are limited in rate: beyond the limit they wait. A key that sends
# unreadable messages without end is closed, and each time its next connections are postponed. Connections are
# limited by key, and connections with an unknown key by network. People never reach these limits.

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qs

from django.db import Error

from kitchen.infra import prometheus_metrics
from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS, ChannelLayerConsumer
from kitchen.infra.client_address import client_network, scope_client_address
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE, connection_drain
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.log_context import extend_log_context, log_context
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, TokenBucket, TokenBuckets
from kitchen.play.coplayers.instant_decisions import InstantDecisions
from kitchen.play.live import page_session, render_page
from kitchen.play.live.page_frames import PageFrames
from kitchen.play.live.page_presence import find_turned_away, record_turned_away
from kitchen.play.live.page_session import (
    ELSEWHERE_CLOSE_CODE,
    EPISODE_ERASED,
    NO_SEAT_CLOSE_CODE,
    RETRY_CLOSE_CODE,
    OpenPage,
    PageAnswer,
    open_page,
)
from kitchen.play.live.page_watchdog import page_watch
from kitchen.play.live.round_trips import RoundTrips, store_round_trips
from kitchen.play.models import Episode
from kitchen.play.turn.page_broadcast import episode_group
from kitchen.play.turn.websocket_messages import (
    AwayMessage,
    ClientMessage,
    CommandMessage,
    MessageError,
    NoticeMessage,
    PingMessage,
    PlanMessage,
    PongMessage,
    ProbeMessage,
    SayMessage,
    SceneMessage,
    SliderMessage,
    SoundMessage,
    SyncMessage,
    ViewMessage,
    message_to_json,
    read_message,
)
from kitchen.words.gettext_without_django import gettext_noop

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

JSON_PROTOCOL = "brigade.json"
"""Subprotocol of clients that want JSON instead of HTML fragments."""
SYNC_LIMIT = partial(TokenBucket, rate=3.0, most=30)
"""Limit for messages with one key that change nothing for their page. A new connection does not renew it."""
SLIDER_LIMIT = partial(TokenBucket, rate=1.0, most=5)
"""Limit for values of the slider from one page. Others wait."""
CONNECTION_LIMIT = partial(TokenBucket, rate=0.5, most=20)
"""Limit for connections with one key."""

UNREADABLE_LIMIT = partial(TokenBucket, rate=1.0, most=20)
"""Limit for unreadable messages with one key. Beyond it, the connection is closed."""
FLOOD_COST = 8
"""Tokens of `CONNECTION_LIMIT` that a key loses when the web server closes its page for too many messages.
After one or two such floods, the page may still return at once."""
UNREADABLE_COST = 20
"""Tokens of `CONNECTION_LIMIT` that a key loses when its page is closed for too many unreadable messages. The
page may return after 4 s at the earliest."""

UNKNOWN_KEY_LIMIT = partial(TokenBucket, rate=1.0, most=60)
"""Limit for unknown keys from one network."""

FAILED_CLOSE_CODE = 1011
"""Close code: the server failed, and the page reconnects."""

COMMAND_UNSTORED = NoticeMessage(
    "unstored",
    gettext_noop(
        "Nothing can be stored at the moment. Your choice is kept in this page, which sends it again by "
        "itself."
    ),
    "warning",
    again=True,
)
"""The answer to a command that the database could not store."""

MESSAGE_UNSTORED = NoticeMessage(
    "unsent",
    gettext_noop("Nothing can be stored at the moment. Your message is still in its box: send it again."),
    "warning",
)
"""The answer to a message that the database could not store."""

PLAN_UNSTORED = NoticeMessage(
    "unplanned",
    gettext_noop("Nothing can be stored at the moment. Your plan has not changed: try again."),
    "warning",
)
"""The answer to a plan that the database could not store."""

ANSWER_UNSTORED = NoticeMessage(
    "unstored_answer",
    gettext_noop("Nothing can be stored at the moment. Your answer is still in its place: send it again."),
    "warning",
)
"""The answer to a probe's answer that the database could not store."""
SLIDER_UNSTORED = NoticeMessage(
    "unrated",
    gettext_noop("Nothing can be stored at the moment. Move the slider again in a moment."),
    "warning",
)
"""The answer to a value of the slider that the database could not store."""

_connection_buckets, _unknown_key_buckets = TokenBuckets(CONNECTION_LIMIT), TokenBuckets(UNKNOWN_KEY_LIMIT)
_unreadable_buckets, _sync_buckets = TokenBuckets(UNREADABLE_LIMIT), TokenBuckets(SYNC_LIMIT)


async def run_database_visit(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | PageAnswer:
    """Run `act` in a database thread and return its result. If the episode was erased, return
    `EPISODE_ERASED`, an answer that closes the page."""
    try:
        return await run_in_db_thread(act, *args, **kwargs)
    except Episode.DoesNotExist:
        return EPISODE_ERASED


def log_outage_or_raise(error: Error, what: str) -> None:
    """Log a warning that begins with `what` if the error means that the database is unavailable. Otherwise
    raise the error."""
    if not (trouble := database_problem(error)):
        raise error
    log.warning("%s: %s", what, trouble)


class UnknownAddressConsumer(ChannelLayerConsumer):
    """Close every websocket connection to an address that is no seat's."""

    async def connect(self) -> None:
        """Refuse the connection."""
        await self.close(NO_SEAT_CLOSE_CODE)


class SeatConsumer(ChannelLayerConsumer):
    """The consumer of `/ws/seat/<key>/`. The key belongs to a person's seat. A
    browser that has the key plays this seat."""

    kind_of_page: type[OpenPage] = OpenPage
    only_json = False
    """True if browsers receive JSON here, too."""
    read_at_once: tuple[type[Any], ...] = (PingMessage,)
    """Types of messages that are handled although an earlier message is still being handled."""
    key = ""
    page: OpenPage | None = None
    tokens_at_once: TokenBucket | None = None
    """Limit for messages of the types `read_at_once`. None if they count as other messages."""
    subscribed = False
    closed = False
    subscribing: asyncio.Task[None] | None = None
    doing: asyncio.Task[None] | None = None
    """The task that handles the last message."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_turn = asyncio.Lock()  # what a page is sent depends on what it was sent before
        self.round_trips = RoundTrips()
        self.slider_tokens = SLIDER_LIMIT()
        self.frames = PageFrames(lambda file: self.send(bytes_data=file))

    @property
    def is_answering(self) -> bool:
        """Return True while an answer to the page is being made."""
        return self.in_turn.locked()

    async def __call__(self, *scope_receive_send: Any) -> None:
        """Serve the connection until it ends. Afterwards the connection is no longer watched, even if
        `disconnect` was never called."""
        try:
            await super().__call__(*scope_receive_send)
        finally:
            connection_drain.remove(self)
            self.closed = True
            self.frames.stop()
            if self.page:
                prometheus_metrics.playing_pages.dec()
                page_watch().discard(self, self.page)

    async def connect(self) -> None:
        """Accept the connection, and send the present state. If the key is unknown, close the connection
        with a close code."""
        self.key = key = self.scope["url_route"]["kwargs"]["key"]
        asked = JSON_PROTOCOL in self.scope.get("subprotocols", [])
        self.json = asked or self.only_json
        page, answer = await self.let_in(key)
        await self.accept(JSON_PROTOCOL if asked else None)
        await self.say(answer)
        if page is not None:
            self.page = page
            connection_drain.add(self)
            prometheus_metrics.playing_pages.inc()
            extend_log_context(episode=page.seat.episode_id)
            for older in page_watch().add(self, page):
                await older.close(ELSEWHERE_CLOSE_CODE)
            self.subscribing = asyncio.create_task(self.subscribe())
            self.show_frame()

    async def let_in(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """Open the page for this key (see `opened`) if the rate limits for the key and for the client's
        network allow it. Return the page and its first answer. Without a page, the answer has a close
        code."""
        network = self.network()
        is_limited = _unknown_key_buckets.is_empty(network) or _unreadable_buckets.is_empty(key)
        if is_limited or not _connection_buckets.take(key):
            return None, PageAnswer(close=RATE_CLOSE_CODE)
        page, answer = await self.opened(key)
        if network and answer is EPISODE_ERASED:
            _unknown_key_buckets.take(network)
        return page, answer

    def network(self) -> str:
        """Return the network of the client as text, for rate limits. Empty for programs on this machine,
        which have no limit."""
        address = scope_client_address(self.scope)
        return "" if address is None or address.is_loopback else client_network(address)

    async def opened(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """Open the page for this key, with the id and language in its address. Return the page and its first
        answer. If the page cannot be opened, it is None, and the answer has a close code."""
        asked = self.address_parameters()
        name = page_session.page_name(self.address_parameter("page"))
        newest, language = "page" not in asked or "take" in asked, self.address_parameter("language")
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

    def address_parameters(self) -> dict[str, list[str]]:
        """Return the parameters in the websocket's address."""
        return parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))

    def address_parameter(self, name: str) -> str:
        """Return the value of this parameter in the websocket's address. Empty if it is missing."""
        return self.address_parameters().get(name, [""])[0]

    async def close_for_restart(self) -> None:
        """Close the connection because this process ends. The answer in progress is sent first. The page then
        reconnects."""
        async with self.in_turn:
            await self.close(RESTART_CLOSE_CODE)

    async def disconnect(self, code: int) -> None:
        """Unsubscribe from notifications, and store the round trips. The episode is not changed."""
        if code == RATE_CLOSE_CODE and self.page and not self.closed:  # the web server has closed it
            _connection_buckets.charge(self.key, FLOOD_COST)
        self.closed = True
        await self._unsubscribe()
        await self._store_round_trips()

    async def _store_round_trips(self) -> None:
        """Store the round trips of this connection. They are lost if the database is unavailable."""
        if self.page and (counts := self.round_trips.take()):
            try:
                await run_in_db_thread(store_round_trips, self.page.seat.pk, counts)
            except Error as error:
                log_outage_or_raise(error, "round trips cannot be stored")

    async def subscribe(self) -> None:
        """Subscribe to notifications of the episode. If the channel layer is unreachable, the page says that
        news may be late, and the next periodic check tries again."""
        if self.page is None or self.subscribed or self.closed:
            return
        if not page_watch().is_layer_away:
            with contextlib.suppress(*CHANNEL_ERRORS):
                await self.join(self.page)
                self.subscribed = True
                await self._meet_others(self.page)
        if self.closed:
            await self._unsubscribe()
        elif self.page.news_is_late == self.subscribed:
            self.page.news_is_late = not self.subscribed
            await self.look()

    async def _meet_others(self, page: OpenPage) -> None:
        """Show on this page which of the others have turned away, and tell them that this person has come.
        Raises one of `CHANNEL_ERRORS`."""
        if not page.others:
            return
        away = await asyncio.to_thread(find_turned_away, list(page.others))
        page.turned_away = frozenset(page.others[one] for one in away)
        await self._report_away(page)
        if away:
            await self.look()

    async def _report_away(self, page: OpenPage) -> None:
        """Tell the pages of the others whether this person has turned away. Raises one of
        `CHANNEL_ERRORS`."""
        await asyncio.to_thread(record_turned_away, page.seat.pk, away=page.is_away)
        message = {"type": "person.away", "seat": page.seat.number, "away": page.is_away}
        await self.send_to_group(episode_group(page.seat.episode_id), message)

    async def person_away(self, event: dict[str, Any]) -> None:
        """Handle the report that somebody has turned away from the game, or is back: show it."""
        if self.page and self.page.note_away(event["seat"], away=event["away"]):
            await self.look()

    async def join(self, page: OpenPage) -> None:
        """Join the channel-layer groups of the page's episode. Raises one of `CHANNEL_ERRORS` if the layer is
        unreachable."""
        await self.join_group(episode_group(page.seat.episode_id))

    async def _unsubscribe(self) -> None:
        if self.page:
            self.subscribed = False
            with contextlib.suppress(*CHANNEL_ERRORS):
                await self.leave_group(episode_group(self.page.seat.episode_id))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Read one message from the browser, and start the `on_…` method of its type. Unless the type is one
        of `read_at_once`, wait until the message before it is handled."""
        if self.page is None or self.closed:  # the connection is closed; the browser does not know it yet
            return
        try:
            message: Any = self.read(text_data)
        except MessageError as error:
            if not _unreadable_buckets.take(self.key):
                await self.refuse_unreadable()
                return
            message = NoticeMessage("unreadable", str(error), "warning")
        if isinstance(message, self.read_at_once):
            await getattr(self, f"on_{message.type}")(self.page, message)
            await (self.tokens_at_once or _sync_buckets.bucket(self.key)).taken()
            return
        if self.doing is not None:
            await self.doing
        self.doing = asyncio.create_task(self.do(self.page, message))

    async def refuse_unreadable(self) -> None:
        """Close the connection because too many messages with its key were unreadable. Later messages of it
        are not even read."""
        self.closed = True
        _connection_buckets.charge(self.key, UNREADABLE_COST)
        await self.close(RATE_CLOSE_CODE)

    def read(self, text: str | None) -> Any:
        """Parse a message from the browser. Raises MessageError if it is invalid."""
        return read_message(text)

    async def do(self, page: OpenPage, message: ClientMessage | NoticeMessage) -> None:
        """Handle one message with the `on_…` method of its type. If this fails, close the connection, so
        that the page reconnects."""
        before = page.stamp
        try:
            await getattr(self, f"on_{message.type}")(page, message)
        except Exception:
            log.exception("a message could not be answered")
            await self.close(FAILED_CLOSE_CODE)
        if page.stamp == before:
            await _sync_buckets.taken(self.key)

    async def on_notice(self, page: OpenPage, message: NoticeMessage) -> None:
        """Send the notice that the person's message could not be read. It needs no database, so no thread."""
        async with self.in_turn:
            await self.say(page.show_notice(message))

    async def on_ping(self, page: OpenPage, message: PingMessage) -> None:
        """Send the answer to a ping, and record the round trip of an earlier one."""
        self.round_trips.add(message.trip)
        await self.send(text_data=message_to_json(PongMessage()) if self.json else render_page.PONG_HTML)

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """Send everything that the seat may see now."""
        await self.answer(page.show)

    async def on_scene(self, page: OpenPage, message: SceneMessage) -> None:
        """Record that the person uses the 3D view."""
        await self.answer(page.seen_as_scene, message)

    async def on_sound(self, page: OpenPage, message: SoundMessage) -> None:
        """Record whether the person hears sounds."""
        await self.answer(page.heard_sound, message)

    async def on_plan(self, page: OpenPage, message: PlanMessage) -> None:
        """Replace the commands that the person has planned, and send the answer."""
        await self._store(page, partial(page.plan, message), PLAN_UNSTORED)

    async def on_probe(self, page: OpenPage, message: ProbeMessage) -> None:
        """Store the person's answers to the probes that hold the game, and send the new state."""
        await self._store(page, partial(page.answer, message), ANSWER_UNSTORED)

    async def on_slider(self, page: OpenPage, message: SliderMessage) -> None:
        """Store the value of the slider, at most about one in a second."""
        await self.slider_tokens.taken()
        await self._store(page, partial(page.rate, message), SLIDER_UNSTORED)

    async def on_view(self, page: OpenPage, message: ViewMessage) -> None:
        """Record the view (drawing or tables) that the person used when choosing."""
        await self.answer(page.seen_in_view, message)

    async def on_away(self, page: OpenPage, message: AwayMessage) -> None:
        """Tell the others that the person has turned away from this page, or is back. The page itself is
        updated as before."""
        page.is_away = message.away
        if not page.others:
            return
        try:
            await self._report_away(page)
        except CHANNEL_ERRORS as error:
            log.warning("the others cannot be told who is away: %s", error)

    async def on_command(self, page: OpenPage, message: CommandMessage) -> None:
        """Submit the person's command, and send the new state, or the reason of a refusal."""
        began, before = time.monotonic(), page.stamp
        async with self.in_turn:
            try:
                with log_context(step=message.step):
                    answer = await self._commanded(page, message)
            except Error as error:
                log_outage_or_raise(error, "a command cannot be stored")
                answer = page.show_notice(COMMAND_UNSTORED)
            await self.say(answer)
        if page.stamp != before:
            prometheus_metrics.command_seconds.observe(time.monotonic() - began)

    async def _commanded(self, page: OpenPage, message: CommandMessage) -> PageAnswer:
        read = await run_database_visit(page.read_typed, message) if message.typed else message
        if isinstance(read, PageAnswer):
            return read
        answer = await run_database_visit(page.command, read)
        if isinstance(answer, InstantDecisions):
            await answer.finish()
            answer = await run_database_visit(page.decided, read, answer.asked)
        return answer

    async def on_say(self, page: OpenPage, message: SayMessage) -> None:
        """Send the person's message to other members, and show it on the person's page."""
        await self._store(page, partial(page.say, message), MESSAGE_UNSTORED)

    async def _store(self, page: OpenPage, act: Callable[[], PageAnswer], failed: NoticeMessage) -> None:
        """Run the function `act` and send its answer to the page. If the database is unavailable, send the
        notice `failed` instead."""
        async with self.in_turn:
            try:
                answer = await run_database_visit(act)
            except Error as error:
                log_outage_or_raise(error, f"a message ({failed.code}) cannot be stored")
                answer = page.show_notice(failed)
            await self.say(answer)

    async def episode_changed(self, event: dict[str, Any]) -> None:
        """Handle a notification that the episode has changed: send the changes, unless the page already
        shows this version."""
        stamp = event.get("stamp")
        if self.page and stamp is None:
            self.page.stamp = None  # something outside the stamp has changed
        if self.page and (stamp is None or tuple(stamp) != self.page.stamp):
            await self.look()

    async def look(self) -> None:
        """Send the page everything that has changed since the last answer."""
        if self.page:
            await self.answer(self.page.look)

    async def answer(self, act: Callable[P, PageAnswer], *args: P.args, **kwargs: P.kwargs) -> None:
        """Run `act` in a database thread and send its answer. Nothing is sent while the database is
        unavailable; the next periodic check then sends the state."""
        async with self.in_turn:
            try:
                answer = await run_database_visit(act, *args, **kwargs)
            except Error as error:
                log_outage_or_raise(error, "a page cannot be shown how things stand")
                answer = PageAnswer()
            await self.say(answer)

    async def say(self, answer: PageAnswer) -> None:
        """Send the texts of the answer; a browser receives them in one message. If the answer has a close
        code, close the connection."""
        texts = [text for text in answer.texts if text]
        for text in texts if self.json else ["\n".join(texts)] if texts else []:
            await self.send(text_data=text)
        if answer.close is not None:
            await self.close(answer.close)
        else:
            self.show_frame()

    def show_frame(self) -> None:
        """Send a browser the image of the step that it shows, if the world of the episode draws itself."""
        if self.page and not self.json:
            self.frames.update(self.page)
