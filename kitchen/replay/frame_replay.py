"""Draw the frame (image) of a world after any step of an episode, again from its log."""

from __future__ import annotations

import logging

from kitchen.contract.world import World
from kitchen.contract.world_errors import WorldError
from kitchen.opened.frame_drawing import submit_frame
from kitchen.play.live.page_frames import FRAME_ERRORS
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_record import EpisodeRecord
from kitchen.replay.step_replay import world_after_steps

log = logging.getLogger(__name__)


def frame_after(record: EpisodeRecord, steps: int) -> bytes | None:
    """Return the image of the world after `steps` steps as a file, drawn in the child process that draws all
    frames. None if the world draws none, or if it cannot be drawn now."""
    try:
        world = _drawn_world(record, steps)
        return None if world is None else submit_frame(world.kind, world.to_dict()).result()
    except (*FRAME_ERRORS, UnknownNameError) as error:
        log.warning("a frame could not be drawn: %s", error)
        return None


def frame_of_file_after(record: EpisodeRecord, steps: int) -> bytes | None:
    """Return the same for an episode from a file, drawn in this process: call it in a child process with
    limits (`episode_file.replay_content`)."""
    try:
        world = _drawn_world(record, steps)
        return None if world is None else world.frame()
    except (WorldError, UnknownNameError) as error:
        log.warning("a frame could not be drawn: %s", error)
        return None


def _drawn_world(record: EpisodeRecord, steps: int) -> World | None:
    """Return the episode's world after `steps` steps. None if it draws no frames."""
    return world_after_steps(record, steps) if get_world(record.episode.world).draws_frames else None
