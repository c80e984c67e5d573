"""Serve the websocket of one player in a real-time episode.

The consumer forwards pressed keys to the clock process that computes the episode. It forwards that process's
updates to the page. A page that misses a step (tick) requests the whole state. `tick_messages` defines the
messages.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from django.utils import translation

from kitchen.contract.world import Json
from kitchen.infra.websocket_rate_limits import TokenBucket
from kitchen.play.live.common_panels import gone_sentences
from kitchen.play.live.page_session import (
    ELSEWHERE_CLOSE_CODE,
    EPISODE_ERASED,
    NO_SEAT_CLOSE_CODE,
    TAKEN_OVER_CLOSE_CODE,
    OpenPage,
    PageAnswer,
)
from kitchen.play.live.seat_consumer import SeatConsumer
from kitchen.play.live.seat_view import seat_view_in_turn
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.page_broadcast import CHANNEL_ERRORS
from kitchen.play.turn.submitted_commands import RECEIPTS
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.websocket_messages import NoticeMessage, SyncMessage, TurnStamp, read_one_of
from kitchen.realtime.tick_messages import (
    TICK_MESSAGE_KINDS,
    KeyMessage,
    keys_group,
    layer_message,
    pages_group,
)

log = logging.getLogger(__name__)

NO_EPISODE_STAMP = "", "", (0, "", "", 0, 0, 0)
"""The stored state (key, page, stamp) of a seat whose episode is erased."""
MESSAGES_PER_SECOND, MAX_MESSAGES = 40.0, 120
"""Messages of a page allowed in a second, and at once."""


class TickPage(OpenPage):
    """One open page of a seat in a real-time episode. It receives every tick from the clock process."""

    is_over = False
    """True once the page was notified that the episode is over."""
    gone = 0
    """Number of seats taken over that the page was last notified of."""

    def shows(self, stored: Mapping[int, tuple[str, str, TurnStamp]]) -> bool:
        """Return whether the page knows the stored state of its seat. Steps are ignored, because the page
        receives them as ticks. `stored` is the result of `seat_view.seat_states`."""
        key, page, (_, status, *_, gone) = stored.get(self.seat.pk, NO_EPISODE_STAMP)
        goes_on = self.is_over or status == Episode.Status.PLAYING
        return (key, page, gone) == (self.seat.key, self.name, self.gone) and goes_on

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
            return self._gone_answer(len(gone or {}))
        self.is_over = True
        return PageAnswer((json.dumps({"type": "over", "status": status, "html": self.end()}),))

    def _gone_answer(self, gone: int) -> PageAnswer:
        """Return an answer with sentences about people who have left. `gone` is their number. The answer is
        empty if the page already shows this."""
        if gone == self.gone:
            return PageAnswer()
        self.gone = gone
        with read_turn(self.seat.episode_id) as turn, translation.override(self.language):
            sentences = gone_sentences(seat_view_in_turn(turn, self.seat.number))
        return PageAnswer((json.dumps({"type": "gone", "said": sentences}),))

    def end(self) -> str:
        """Return the HTML of all panels after the end of the episode."""
        return "".join(OpenPage(self.seat, self.name, json=False, language=self.language).show().texts)


class TickConsumer(SeatConsumer):
    """The consumer of `/ws/ticks/<key>/`. The key belongs to a person's seat. A
    browser that has the key plays this seat."""

    kind_of_page = TickPage
    only_json = True
    shown: int | None = None
    """The last step that the page knows. None if it needs the whole state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tokens = TokenBucket(rate=MESSAGES_PER_SECOND, most=MAX_MESSAGES)

    async def opened(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """Open the page for this key. Return the page and its first answer.

        The page is None, and the answer has a close code, if the page cannot be opened or the episode is
        turn-based.
        """
        page, answer = await super().opened(key)
        if page is not None and not page.seat.episode.tick_ms:
            return None, PageAnswer(close=NO_SEAT_CLOSE_CODE)
        return page, answer

    def read(self, text: str | None) -> Any:
        """Parse a message from the browser. Raises MessageError if it is invalid."""
        return read_one_of(TICK_MESSAGE_KINDS, text)

    async def subscribe(self) -> None:
        """Subscribe to the ticks, and inform the clock process that this page plays the seat."""
        was = self.subscribed
        await super().subscribe()
        if self.page and self.subscribed and not was:
            try:
                await self.channel_layer.group_add(pages_group(self.page.seat.episode_id), self.channel_name)
                await self.notify_owner("keys.sat")
            except CHANNEL_ERRORS:
                self.subscribed = False  # tried again later

    async def disconnect(self, code: int) -> None:
        """Inform the clock process that the connection has closed, so that it releases the page's keys.
        Then unsubscribe."""
        if self.page and self.subscribed:
            try:
                await self.notify_owner("keys.left")
                await self.channel_layer.group_discard(
                    pages_group(self.page.seat.episode_id), self.channel_name
                )
            except CHANNEL_ERRORS as error:
                log.warning("the clock cannot be told: %s", error)
        await super().disconnect(code)

    async def notify_owner(self, kind: str, **more: Json) -> None:
        """Send a message of type `kind` to the clock process that owns the episode. The message is lost if
        no process owns it."""
        if self.page is None:
            return
        seat = self.page.seat
        whose = {"episode": seat.episode_id, "seat": seat.number, "page": self.page.name}
        message = layer_message(kind, **whose, reply=self.channel_name, **more)
        await self.channel_layer.group_send(keys_group(seat.episode_id), message)

    async def on_key(self, page: OpenPage, message: KeyMessage) -> None:
        """Forward a pressed or released key to the clock process that owns the episode."""
        command = list(message.command)
        try:
            await self.notify_owner("keys.pressed", command=command, down=message.down, number=message.number)
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """Send the stored state, then request the present state from the clock process."""
        await super().on_sync(page, message)
        await self.ask()

    async def ask(self) -> None:
        """Request the whole present state from the clock process."""
        self.shown = None
        try:
            await self.notify_owner("keys.asked")
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)

    async def tick_whole(self, event: dict[str, Any]) -> None:
        """Send the whole state, received from the clock process in `event`, to the page."""
        if self.page and (part := event["seats"].get(str(self.page.seat.number))):
            self.shown = event["step"]
            await self.send_part("whole", event, part, "step", "tick_ms", "score", "starts_in_ms", "lost_ms")

    async def tick_shown(self, event: dict[str, Any]) -> None:
        """Send one tick, received from the clock process in `event`, to the page. If ticks are missing
        before it, request the whole state instead."""
        if self.page is None or self.shown is None:
            return
        part = event["seats"].get(str(self.page.seat.number))
        if part is None:  # another player has the seat now
            await self.look()
        elif event["step"] == self.shown + 1:
            self.shown += 1
            await self.send_part("tick", event, part, "step", "score", "lost_ms")
        elif event["step"] > self.shown:
            await self.ask()

    async def send_part(self, kind: str, event: dict[str, Any], part: dict[str, Any], *names: str) -> None:
        """Send the browser a message of type `kind`. It has the values `names` of the event, which all seats
        share, and `part`, which is for this seat only."""
        common = {name: event[name] for name in names}
        await self.send(text_data=json.dumps({"type": kind, **common, **part}))

    async def tick_over(self, event: dict[str, Any]) -> None:
        """Send the stored state to the browser. The clock process has reported that it no longer owns the
        episode, or that the episode is over."""
        await self.look()

    async def tick_unknown(self, event: dict[str, Any]) -> None:
        """Send the notice that the world has no command for the pressed key."""
        if self.page:
            notice = NoticeMessage("not_offered", RECEIPTS["not_offered"], "warning")
            await self.answer(self.page.show_notice, notice)
