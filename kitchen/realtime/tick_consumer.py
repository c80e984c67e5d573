"""Serve the websocket of one player in a real-time episode.

The consumer forwards pressed keys to the clock process that computes the episode. It forwards that process's
updates to the page. A page that misses a step (tick) requests the whole state. `tick_messages` defines the
messages.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS
from kitchen.infra.rate_limits import TokenBucket
from kitchen.play.coplayers.answer_messages import MessageReceipt
from kitchen.play.episode.advance_episode import answer_probes
from kitchen.play.live.common_panels import away_sentences, gone_sentences, talk_panel
from kitchen.play.live.page_frames import frame_message, may_see_frames
from kitchen.play.live.page_session import (
    ELSEWHERE_CLOSE_CODE,
    EPISODE_ERASED,
    NO_SEAT_CLOSE_CODE,
    TAKEN_OVER_CLOSE_CODE,
    OpenPage,
    PageAnswer,
)
from kitchen.play.live.page_watchdog import page_watch
from kitchen.play.live.probe_panel import probe_panel
from kitchen.play.live.render_page import render_panel
from kitchen.play.live.seat_consumer import MESSAGE_UNSTORED, SLIDER_UNSTORED, SeatConsumer
from kitchen.play.live.seat_view import MESSAGES_SHOWN, probe_message, seat_view_in_turn
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.submitted_commands import RECEIPTS
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn
from kitchen.play.turn.websocket_messages import (
    NoticeMessage,
    PingMessage,
    ProbeMessage,
    SayMessage,
    SliderMessage,
    SyncMessage,
    TurnStamp,
    read_one_of,
    seat_changes,
)
from kitchen.realtime.tick_messages import (
    MAX_REMEMBERED_LOSS_MS,
    TICK_MESSAGE_KINDS,
    KeyMessage,
    SeenSteps,
    TickSource,
    keys_group,
    layer_message,
    pages_group,
    read_said,
    source_of,
)
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_language

log = logging.getLogger(__name__)

NO_EPISODE_STAMP = "", "", (0, "", "", 0, 0, 0)
"""The stored state (key, page, stamp) of a seat whose episode is erased."""
MESSAGES_PER_SECOND, MAX_MESSAGES = 200.0, 1000
"""Keys and pings of a page that are read in a second, and at once. At once are those that come while this
process pauses. That is more than the fastest player sends, so that no keys wait after a pause."""
FORWARDED_PER_SECOND, MAX_FORWARDED = 40.0, 240
"""Keys of a page that are forwarded in a second, and at once. Of the keys that wait, only the newest states
are kept."""
MAX_WAITING_KEYS = 16
"""Maximum number of keys whose messages wait to be forwarded."""
ASK_AGAIN_SECONDS = 1.0
"""Seconds after which a page that receives ticks and no answer asks again for the whole state."""


class WaitingKeys:
    """The key messages of one page that are not forwarded yet. Of each key, only the newest state waits.

    If a key was pressed and then released, both messages wait, because a short press counts in a tick.
    """

    def __init__(self) -> None:
        self._waiting: dict[Command, list[KeyMessage]] = {}

    def add(self, message: KeyMessage) -> None:
        """Add a message, in place of older ones of its key."""
        pressed = [one for one in self._waiting.pop(message.command, ()) if one.down]
        self._waiting[message.command] = [message] if message.down else [*pressed, message]
        if len(self._waiting) > MAX_WAITING_KEYS:
            del self._waiting[next(iter(self._waiting))]

    def take(self) -> list[KeyMessage]:
        """Remove and return the messages of the key that waits longest. Empty if no key waits."""
        return self._waiting.pop(next(iter(self._waiting))) if self._waiting else []

    def clear(self) -> None:
        """Remove all messages."""
        self._waiting.clear()


class TickPage(OpenPage):
    """One open page of a seat in a real-time episode. It receives every tick from the clock process."""

    is_over = False
    """True once the page was notified that the episode is over."""
    gone = 0
    """Number of seats taken over that the page was last notified of."""
    is_late_told = False
    """True if the page was last told that news is late."""
    away_told: frozenset[int] = frozenset()
    """Seats of the people who are away, as the page was last told."""

    probe_told: tuple[object, ...] | None = None
    """The questions that hold the game, as the page was last told. None before the first time."""
    held_at = ""
    """The time in the seat's stamp when the page was last told of them."""

    def shows(self, stored: Mapping[int, tuple[str, str, TurnStamp]]) -> bool:
        """Return whether the page knows the stored state of its seat. Steps are ignored, because the page
        receives them as ticks. `stored` is the result of `seat_view.seat_states`."""
        key, page, (_, status, time, *_, gone) = stored.get(self.seat.pk, NO_EPISODE_STAMP)
        goes_on = self.is_over or status == Episode.Status.PLAYING
        is_told = not self.seat.episode.probes or time == self.held_at
        self.held_at = time
        return (key, page, gone) == (self.seat.key, self.name, self.gone) and goes_on and is_told

    def look(self) -> PageAnswer:
        """Return an answer with changes that ticks do not report: the episode is over, people have left, or
        this page no longer plays the seat."""
        rows = Seat.objects.filter(pk=self.seat.pk)
        stands = rows.values_list("key", "page", "mind", "episode__status", "episode__gone").first()
        if stands is None or stands[0] != self.seat.key:
            return EPISODE_ERASED
        _, page, mind, status, gone = stands
        if mind is not None or page != self.name:
            return PageAnswer(close=ELSEWHERE_CLOSE_CODE if mind is None else TAKEN_OVER_CLOSE_CODE)
        if status == Episode.Status.PLAYING or self.is_over:
            return PageAnswer(
                (
                    *self._late_texts(),
                    *self._gone_texts(seat_changes(gone)),
                    *self._away_texts(),
                    *self._probe_texts(),
                )
            )
        self.is_over = True
        return PageAnswer((json.dumps({"type": "over", "status": status, "html": self.end()}),))

    def _late_texts(self) -> tuple[str, ...]:
        """Return the message that ticks cannot arrive at the moment, or that they can again. Empty if the
        page already shows this."""
        if self.news_is_late == self.is_late_told:
            return ()
        self.is_late_told = self.news_is_late
        return (json.dumps({"type": "late", "late": self.news_is_late}),)

    def _gone_texts(self, gone: int) -> tuple[str, ...]:
        """Return the message with sentences about people who have left. `gone` is their number. Empty if the
        page already shows this."""
        if gone == self.gone:
            return ()
        self.gone = gone
        with read_turn(self.seat.episode_id) as turn, in_language(self.language):
            sentences = gone_sentences(seat_view_in_turn(turn, self.seat.number))
        return (json.dumps({"type": "gone", "said": sentences}),)

    def _probe_texts(self) -> tuple[str, ...]:
        """Return the message with the questions that hold the game, or that it goes on. Empty if the page
        already shows this, or the episode has no questions."""
        if not self.seat.episode.probes:
            return ()
        with read_turn(self.seat.episode_id) as turn, in_language(self.language):
            told = turn.is_probing, turn.episode.step, tuple(sorted(turn.probed_seats))
            if told == self.probe_told or (self.probe_told is None and not turn.is_probing):
                return ()
            self.probe_told = told
            view = seat_view_in_turn(turn, self.seat.number)
            html = render_panel(probe_panel(view))
        content = {"html": html, "probe": probe_message(view), "on": turn.is_probing}
        return (json.dumps({"type": "probe", **content}),)

    def answer(self, message: ProbeMessage) -> PageAnswer:
        """Store the person's answers to the probes that hold the game, and return what has changed."""
        with exclusive_turn(self.seat.episode_id) as turn:
            receipt = answer_probes(
                turn, seat=self.seat.number, step=message.step, answers=message.answers, page=self.name
            )
        looked = self.look()
        if receipt.code in ("accepted", "repeated", "probe_over"):
            return looked
        notice = self._notice(NoticeMessage(receipt.code, receipt.text, "warning"))
        return PageAnswer((notice, *looked.texts), looked.close)

    def _away_texts(self) -> tuple[str, ...]:
        """Return the message with sentences about people who are away. Empty if the page already shows
        this."""
        away = self.away | self.turned_away
        if away == self.away_told:
            return ()
        self.away_told = away
        with read_turn(self.seat.episode_id) as turn, in_language(self.language):
            sentences = away_sentences(seat_view_in_turn(turn, self.seat.number), away)
        return (json.dumps({"type": "away", "said": sentences, "seats": sorted(away)}),)

    def talk(self, said: Sequence[TeamMessage]) -> PageAnswer:
        """Return the message that shows these messages, which may not be stored yet."""
        with read_turn(self.seat.episode_id) as turn, in_language(self.language):
            view = seat_view_in_turn(turn, self.seat.number)
            shown = replace(view, talk=replace(view.talk, messages=tuple(said)))
            html = render_panel(talk_panel(get_page(turn.episode.world), shown))
        return PageAnswer((json.dumps({"type": "talk", "html": html}),))

    def end(self) -> str:
        """Return the HTML of all panels after the end of the episode."""
        return "".join(OpenPage(self.seat, self.name, json=False, language=self.language).show().texts)


class TickConsumer(SeatConsumer):
    """The consumer of `/ws/ticks/<key>/`. The key belongs to a person's seat. A
    browser that has the key plays this seat."""

    kind_of_page = TickPage
    only_json = True
    read_at_once = (PingMessage, KeyMessage)
    shown: int | None = None
    """The last step that the page knows. None if it needs the whole state."""
    newest = 0
    """The last step that was sent to the page, as part of `source`."""
    source: TickSource | None = None
    """The clock process and the run of it from which the page's steps come. None before the first one."""
    is_remembered = False
    """True while `source` and `newest` are what the page remembers of an earlier connection."""
    asked_at = 0.0
    """Time of the event loop at which the whole state was last requested."""
    forwarding: asyncio.Task[None] | None = None
    """The task that forwards keys."""
    key_read: tuple[int, float] | None = None
    """Number of the newest key message since the last tick, and the time of the event loop at which it was
    read. None without one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = WaitingKeys()
        self.said: dict[int, TeamMessage] = {}
        """The newest messages of the person's team, by number."""
        self.tokens_at_once = TokenBucket(rate=MESSAGES_PER_SECOND, most=MAX_MESSAGES)
        self.forward_tokens = TokenBucket(rate=FORWARDED_PER_SECOND, most=MAX_FORWARDED)

    async def opened(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """Open the page for this key. Return the page and its first answer.

        The page is None, and the answer has a close code, if the page cannot be opened or the episode is
        turn-based.
        """
        page, answer = await super().opened(key)
        if page is not None and not page.seat.episode.tick_ms:
            return None, PageAnswer(close=NO_SEAT_CLOSE_CODE)
        if page is not None and (seen := SeenSteps.read(self.address_parameter("seen"))):
            self.source, self.newest, self.is_remembered = *seen, True
        return page, answer

    def read(self, text: str | None) -> Any:
        """Parse a message from the browser. Raises MessageError if it is invalid."""
        return read_one_of(TICK_MESSAGE_KINDS, text)

    async def join(self, page: OpenPage) -> None:
        """Subscribe to the ticks, and inform the clock process that this page plays the seat. Raises one of
        `CHANNEL_ERRORS` if the channel layer is unreachable."""
        await super().join(page)
        await self.join_group(pages_group(page.seat.episode_id))
        self.asked_at = asyncio.get_running_loop().time()
        await self.notify_owner("keys.sat")

    async def disconnect(self, code: int) -> None:
        """Inform the clock process that the connection has closed, so that it releases the page's keys.
        Then unsubscribe."""
        self.keys.clear()
        if self.page and self.channel_name:
            try:
                await self.notify_owner("keys.left")
                await self.leave_group(pages_group(self.page.seat.episode_id))
            except CHANNEL_ERRORS as error:
                log.warning("the clock cannot be told: %s", error)
        await super().disconnect(code)

    async def notify_owner(self, kind: str, **more: Json) -> None:
        """Send a message of type `kind` to the clock process that owns the episode. The message is lost if
        no process owns it, or if the channel layer was unreachable a moment ago. Raises one of
        `CHANNEL_ERRORS` if it is unreachable since."""
        if self.page is None or page_watch().is_layer_away:
            return
        seat = self.page.seat
        whose = {"episode": seat.episode_id, "seat": seat.number, "page": self.page.name}
        message = layer_message(kind, **whose, reply=self.channel_name, **more)
        await self.send_to_group(keys_group(seat.episode_id), message)

    async def on_key(self, page: OpenPage, message: KeyMessage) -> None:
        """Forward a pressed or released key to the clock process that owns the episode. While earlier keys
        are being forwarded, or too many were, only the newest state of each key waits."""
        self.round_trips.add(message.trip)
        self.key_read = message.number, asyncio.get_running_loop().time()
        self.keys.add(message)
        if self.forwarding is None or self.forwarding.done():
            self.forwarding = asyncio.create_task(self._forward_keys())

    async def _forward_keys(self) -> None:
        try:
            while messages := self.keys.take():
                for one in messages:
                    key = {"command": list(one.command), "down": one.down, "number": one.number}
                    await self.notify_owner("keys.pressed", **key)
                    await self.forward_tokens.taken()
        except CHANNEL_ERRORS as error:
            self.keys.clear()
            log.warning("the clock cannot be told: %s", error)

    async def on_say(self, page: OpenPage, message: SayMessage) -> None:
        """Forward a person's message to the clock process that owns the episode. The next tick shows it. It
        stays in its box until then."""
        say = {"text": message.text, "to": list(message.to), "kind": message.kind, "data": dict(message.data)}
        try:
            await self.notify_owner("keys.said", say=say, after=message.after)
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)
            await self.answer(page.show_notice, MESSAGE_UNSTORED)

    async def tick_refused(self, event: dict[str, Any]) -> None:
        """Send the notice why a message was not sent."""
        if self.page:
            notice = NoticeMessage(event["code"], MessageReceipt(event["code"]).text, "warning")
            await self.answer(self.page.show_notice, notice)

    async def show_said(self, new: Sequence[TeamMessage]) -> None:
        """Show new messages on the page. Call this after the step with which they came, so that the step does
        not wait for it."""
        if new:
            self.said |= {one.number: one for one in new}
            self.said = dict(sorted(self.said.items())[-MESSAGES_SHOWN:])
            if isinstance(self.page, TickPage):
                await self.answer(self.page.talk, list(self.said.values()))

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """Send the stored state, then request the present state from the clock process."""
        await super().on_sync(page, message)
        await self.ask()

    async def ask(self) -> None:
        """Request the whole present state from the clock process."""
        self.shown, self.asked_at = None, asyncio.get_running_loop().time()
        try:
            await self.notify_owner("keys.asked")
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)

    async def tick_whole(self, event: dict[str, Any]) -> None:
        """Send the whole state, received from the clock process in `event`, to the page."""
        if self.page and (part := event["seats"].get(str(self.page.seat.number))):
            lost = await self._take_source(source_of(event), event["tick_ms"])
            self.shown = self.newest = event["step"]
            names = "step", "tick_ms", "score", "starts_in_ms", "lost_ms"
            said = read_said(part := dict(part))
            await self.send_part("whole", event, {**part, "lost_steps": lost}, *names, "source")
            await self.show_said(said)
            if self.page.seat.episode.probes:
                await self.look()

    async def _take_source(self, source: TickSource, tick_ms: int) -> int:
        """Record that the page's steps come from this clock process from now on. Return how many steps the
        page was shown before that are lost, because they were never stored. Inform the process of them.

        A page that reconnects may report a wrong last step. If the loss would be longer than
        `MAX_REMEMBERED_LOSS_MS`, ignore it.
        """
        before, self.source = self.source, source
        remembered, self.is_remembered = self.is_remembered, False
        lost = self.newest - source.since
        is_too_much = remembered and lost > max(1, MAX_REMEMBERED_LOSS_MS // tick_ms)
        if before in (None, source) or lost <= 0 or is_too_much:
            return 0
        content = {"source": list(source), "newest": self.newest, "remembered": remembered}
        try:
            await self.notify_owner("keys.lost", **content)
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)
        return lost

    async def tick_shown(self, event: dict[str, Any]) -> None:
        """Send one tick, received from the clock process in `event`, to the page. If it does not follow the
        page's last one, or if another process computed it, request the whole state instead."""
        if self.page is None:
            return
        part, step = event["seats"].get(str(self.page.seat.number)), event["step"]
        if part is None:  # another player has the seat now
            await self.look()
        elif self.shown is None:
            if asyncio.get_running_loop().time() - self.asked_at > ASK_AGAIN_SECONDS:
                await self.ask()
        elif source_of(event) != self.source or step not in (self.shown, self.shown + 1):
            await self.ask()
        elif step > self.shown:
            self.shown = self.newest = step
            said = read_said(part := dict(part))
            await self.send_part("tick", event, part | self._take_heard(), "step", "score", "lost_ms")
            await self.show_said(said)

    def _take_heard(self) -> dict[str, Json]:
        """Return the field `heard` of a tick, if a key message was read since the last one."""
        if self.key_read is None:
            return {}
        (number, at), self.key_read = self.key_read, None
        return {"heard": [number, round(1000 * (asyncio.get_running_loop().time() - at))]}

    async def send_part(self, kind: str, event: dict[str, Any], part: dict[str, Any], *names: str) -> None:
        """Send the browser a message of type `kind`. It has the values `names` of the event, which all seats
        share, and `part`, which is for this seat only."""
        common = {name: event[name] for name in names}
        await self.send(text_data=json.dumps({"type": kind, **common, **part}))

    async def tick_frame(self, event: dict[str, Any]) -> None:
        """Send the browser an image of the world, as one binary message, if the person may see it."""
        if self.page and may_see_frames(self.page.seat):
            await self.send(bytes_data=frame_message(event["step"], event["file"]))

    async def on_slider(self, page: OpenPage, message: SliderMessage) -> None:
        """Store the value of the slider with the step that the page shows, at most about one in a second."""
        await self.slider_tokens.taken()
        await self._store(page, partial(page.rate, message, self.newest), SLIDER_UNSTORED)

    async def tick_probed(self, event: dict[str, Any]) -> None:
        """Show the questions that hold the game, or that it goes on."""
        await self.look()

    async def tick_over(self, event: dict[str, Any]) -> None:
        """Send the stored state to the browser. The clock process has reported that it no longer owns the
        episode, or that the episode is over."""
        await self.look()

    async def tick_waits(self, event: dict[str, Any]) -> None:
        """Send the browser the message that the game begins when a clock process has room."""
        await self.send(text_data=json.dumps({"type": "waits"}))

    async def tick_unknown(self, event: dict[str, Any]) -> None:
        """Send the notice that the world has no command for the pressed key."""
        if self.page:
            notice = NoticeMessage("not_offered", RECEIPTS["not_offered"], "warning")
            await self.answer(self.page.show_notice, notice)
