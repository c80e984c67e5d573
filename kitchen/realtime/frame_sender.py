"""Draw the frames (images) of real-time episodes in a child process, and send them to the pages.

The clock never waits for a frame. While one is drawn, further steps are taken, and the next frame is that of
the newest step. So slow drawing costs frames, but no ticks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from channels.exceptions import ChannelFull

from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS
from kitchen.opened.frame_drawing import submit_frame, warm_up
from kitchen.play.live.page_frames import FRAME_ERRORS
from kitchen.realtime.clock_handover import OwnedEpisode
from kitchen.realtime.tick_messages import layer_message, pages_group

log = logging.getLogger(__name__)

SEND_SECONDS = 1.0
"""Maximum seconds to wait for Redis."""


class FrameSender:
    """Draws and sends frames. `layer` is the channel layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def draw(self, played: OwnedEpisode) -> None:
        """Draw the frame of the present step, and send it to all pages of the episode. Do nothing if the
        world draws none, if only programs play, or if an earlier frame is being drawn: the newest one then
        follows it."""
        turn, is_drawing = played.game.turn, played.drawing is not None and not played.drawing.done()
        if turn.world.draws_frames and (turn.people or turn.leaders) and not is_drawing:
            played.drawing = asyncio.create_task(self._draw(played))

    def prepare(self, kinds: Iterable[str]) -> None:
        """Let the child process load what frames of these worlds need, although another clock process may
        compute their episodes: it can fail."""
        for kind in set(kinds):
            warm_up(kind)

    async def _draw(self, played: OwnedEpisode) -> None:
        episode, drawn = played.game.episode, -1
        try:
            while drawn != episode.step:
                world, drawn = played.game.turn.world, episode.step
                file = await asyncio.wrap_future(submit_frame(world.kind, world.to_dict()))
                played.frame = layer_message("tick.frame", step=drawn, file=file)
                async with asyncio.timeout(SEND_SECONDS):
                    await self._layer.group_send(pages_group(episode.pk), played.frame)
        except (ChannelFull, *FRAME_ERRORS, *CHANNEL_ERRORS) as error:
            log.warning("a frame could not be sent: %s", error or type(error).__name__)
