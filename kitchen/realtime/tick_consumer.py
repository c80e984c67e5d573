"""The websocket consumer of one seat in an episode in real time (`tick_messages` defines its messages).

It is the consumer of every seat (`kitchen.play.live.seat_consumer`) with other messages: it forwards keys to
the owner of the episode, and sends the owner's updates for this seat to the page.

A page that misses a tick asks for the whole state. Its messages are rate-limited far above human speed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from django.utils import translation

from kitchen.contract.world import Json
from kitchen.infra.rate_limit import TokenBucket
from kitchen.play.episode.change_episode import RECEIPTS
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
from kitchen.play.live.shared_panels import gone_sentences
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.page_broadcast import CHANNEL_ERRORS
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
"""How the seat of an episode stands that is erased."""
MESSAGES_PER_SECOND, MAX_MESSAGES = 40.0, 120
"""Words of a page in a second, and at once."""


class TickPage(OpenPage):
    """A page of a seat that hears of every tick."""

    is_over = False
    """It was told that the episode is."""
    gone = 0
    """Seats that others had taken over when it looked last, and was told so."""

    def shows(self, stored: Mapping[int, tuple[str, str, TurnStamp]]) -> bool:
        """Steps alone are no reason to look: it is told of them."""
        key, page, (_, status, *_, gone) = stored.get(self.seat.pk, NO_EPISODE_STAMP)
        goes_on = self.is_over or status == Episode.Status.PLAYING
        return (key, page, gone) == (self.seat.key, self.name, self.gone) and goes_on

    def look(self) -> PageAnswer:
        """Why it is to be closed, who is gone, or that the episode is over; it hears of all else."""
        rows = Seat.objects.filter(pk=self.seat.pk)
        stands = rows.values_list("key", "page", "mind", "episode__status", "episode__gone").first()
        if stands is None or stands[0] != self.seat.key:
            return EPISODE_ERASED
        _, page, mind, status, gone = stands
        if mind is not None or page != self.name:
            return PageAnswer(close=ELSEWHERE_CLOSE_CODE if mind is None else TAKEN_OVER_CLOSE_CODE)
        if status == Episode.Status.PLAYING or self.is_over:
            return self._told_who_is_gone(len(gone or {}))
        self.is_over = True
        return PageAnswer((json.dumps({"type": "over", "status": status, "html": self.end()}),))

    def _told_who_is_gone(self, gone: int) -> PageAnswer:
        """Where others have taken over more seats than it was told of."""
        if gone == self.gone:
            return PageAnswer()
        self.gone = gone
        with read_turn(self.seat.episode_id) as turn, translation.override(self.language):
            said = gone_sentences(seat_view_in_turn(turn, self.seat.number))
        return PageAnswer((json.dumps({"type": "gone", "said": said}),))

    def end(self) -> str:
        """All panels as a browser shows them at the end."""
        return "".join(OpenPage(self.seat, self.name, json=False, language=self.language).show().texts)


class TickConsumer(SeatConsumer):
    """`/ws/ticks/<key>/`: whoever knows the key of a person's seat plays it."""

    kind_of_page = TickPage
    only_json = True
    shown: int | None = None
    """The last step that the page knows; None where it has to be told everything."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tokens = TokenBucket(rate=MESSAGES_PER_SECOND, most=MAX_MESSAGES)

    async def opened(self, key: str) -> tuple[OpenPage | None, PageAnswer]:
        """As every page; only where there is a clock."""
        page, answer = await super().opened(key)
        if page is not None and not page.seat.episode.tick_ms:
            return None, PageAnswer(close=NO_SEAT_CLOSE_CODE)
        return page, answer

    def read(self, text: str | None) -> Any:
        """What was sent; MessageError."""
        return read_one_of(TICK_MESSAGE_KINDS, text)

    async def subscribe(self) -> None:
        """Hear of every tick, and say who plays now."""
        was = self.subscribed
        await super().subscribe()
        if self.page and self.subscribed and not was:
            try:
                await self.channel_layer.group_add(pages_group(self.page.seat.episode_id), self.channel_name)
                await self.tell_owner("keys.sat")
            except CHANNEL_ERRORS:
                self.subscribed = False  # it is tried again

    async def disconnect(self, code: int) -> None:
        """No key is down any more."""
        if self.page and self.subscribed:
            try:
                await self.tell_owner("keys.left")
                await self.channel_layer.group_discard(
                    pages_group(self.page.seat.episode_id), self.channel_name
                )
            except CHANNEL_ERRORS as error:
                log.warning("the clock cannot be told: %s", error)
        await super().disconnect(code)

    async def tell_owner(self, kind: str, **more: Json) -> None:
        """Tell whoever takes the ticks; nobody hears it while nobody does."""
        if self.page is None:
            return
        seat = self.page.seat
        whose = {"episode": seat.episode_id, "seat": seat.number, "page": self.page.name}
        message = layer_message(kind, **whose, reply=self.channel_name, **more)
        await self.channel_layer.group_send(keys_group(seat.episode_id), message)

    async def on_key(self, page: OpenPage, message: KeyMessage) -> None:
        """It goes on to the owner."""
        command = list(message.command)
        try:
            await self.tell_owner("keys.pressed", command=command, down=message.down, number=message.number)
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)

    async def on_sync(self, page: OpenPage, message: SyncMessage) -> None:
        """What is stored, and then how things are."""
        await super().on_sync(page, message)
        await self.ask()

    async def ask(self) -> None:
        """Have the owner tell everything."""
        self.shown = None
        try:
            await self.tell_owner("keys.asked")
        except CHANNEL_ERRORS as error:
            log.warning("the clock cannot be told: %s", error)

    async def tick_whole(self, event: dict[str, Any]) -> None:
        """How things are."""
        if self.page and (part := event["seats"].get(str(self.page.seat.number))):
            self.shown = event["step"]
            await self.tell("whole", event, part, "step", "tick_ms", "score", "starts_in_ms", "lost_ms")

    async def tick_shown(self, event: dict[str, Any]) -> None:
        """One more step, if the page knows the one before it."""
        if self.page is None or self.shown is None:
            return
        part = event["seats"].get(str(self.page.seat.number))
        if part is None:  # somebody else has the seat now
            await self.look()
        elif event["step"] == self.shown + 1:
            self.shown += 1
            await self.tell("tick", event, part, "step", "score", "lost_ms")
        elif event["step"] > self.shown:
            await self.ask()

    async def tell(self, kind: str, event: dict[str, Any], part: dict[str, Any], *names: str) -> None:
        """Send the browser what is its own of what all are told."""
        told = {name: event[name] for name in names}
        await self.send(text_data=json.dumps({"type": kind, **told, **part}))

    async def tick_over(self, event: dict[str, Any]) -> None:
        """Nobody here takes its ticks any more: it is over, or somebody else does."""
        await self.look()

    async def tick_unknown(self, event: dict[str, Any]) -> None:
        """There is no such key."""
        if self.page:
            notice = NoticeMessage("not_offered", RECEIPTS["not_offered"], "warning")
            await self.answer(self.page.said, notice)
