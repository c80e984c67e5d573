"""Send the frames (images) that a world draws of itself to the page of a turn-based episode.

A frame is one binary websocket message: four bytes with the step (big-endian), then the image file. It is
drawn after the step was shown, so that no answer waits for it. A late page gets the newest frame only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from django.db import Error

from kitchen.contract.world import Json
from kitchen.contract.world_errors import WorldError
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.process_pool import ProcessPoolError
from kitchen.opened.frame_drawing import submit_frame
from kitchen.play.live.page_session import OpenPage
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.turn_cache import read_turn
from kitchen.registry.world_registry import get_world

log = logging.getLogger(__name__)

FRAME_ERRORS = (ProcessPoolError, WorldError)
"""Errors of drawing a frame. The page then keeps the frame before."""


def frame_message(step: int, file: bytes) -> bytes:
    """Return the websocket message with the image file of the state after this step."""
    return step.to_bytes(4, "big") + file


def may_see_frames(seat: Seat) -> bool:
    """Return whether the person in this seat may see the world's own images. Everybody with a seat of the
    world may, and a leader who sees a seat."""
    team = seat.episode.team
    return seat.acts or (team is not None and bool(team.seats_seen(seat.number)))


class PageFrames:
    """Sends frames to one page, with `send`. Draws one frame at a time."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send
        self._sent: int | None = None
        """The step of the last frame."""
        self._drawing: asyncio.Task[None] | None = None

    def update(self, page: OpenPage) -> None:
        """Draw and send the frame of the step that the page shows, unless it has that frame. Do nothing if
        the world of the episode draws none, or if the person may not see it."""
        if not self._is_outdated(page) or (self._drawing is not None and not self._drawing.done()):
            return
        if get_world(page.seat.episode.world).draws_frames and may_see_frames(page.seat):
            self._drawing = asyncio.create_task(self._draw(page))

    def _is_outdated(self, page: OpenPage) -> bool:
        """Return whether the page shows a later step than the last frame. A frame can be ahead."""
        return page.stamp is not None and (self._sent is None or page.stamp[0] > self._sent)

    async def _draw(self, page: OpenPage) -> None:
        try:
            while self._is_outdated(page):
                step, kind, state = await run_in_db_thread(_present_state, page.seat.episode_id)
                file = await asyncio.wrap_future(submit_frame(kind, state))
                await self._send(frame_message(step, file))
                self._sent = step
        except (*FRAME_ERRORS, Error, Episode.DoesNotExist) as error:
            log.warning("a frame could not be drawn: %s", error)

    def stop(self) -> None:
        """Stop drawing, because the page is closed."""
        if self._drawing is not None:
            self._drawing.cancel()


def _present_state(episode_id: int) -> tuple[int, str, Mapping[str, Json]]:
    """Return the number of steps taken, the kind of the world, and its state."""
    with read_turn(episode_id) as turn:
        return turn.episode.step, turn.world.kind, turn.world.to_dict()
