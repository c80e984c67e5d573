"""Show the last steps of an episode again, as one seat's page showed them.

The first picture has the whole layout. Each later one has only the panels that have changed. The episode is
replayed once, from its seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from kitchen.contract.page import Page
from kitchen.contract.page_view import SeatView
from kitchen.play.live import render_page
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import seat_layout, world_panels
from kitchen.play.live.seat_view import seat_view_in_turn
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_page
from kitchen.replay.episode_record import EpisodeRecord
from kitchen.replay.step_replay import PastTurn, replay_step, world_after_steps

TURN_MS = 1000
"""Milliseconds for which a step of a turn-based episode is shown."""
MOST_PICTURES = 60
"""Maximum number of pictures after the first one. If there are more steps, some are left out."""


@dataclass(frozen=True, slots=True)
class LastSteps:
    """The end of an episode as a series of pictures."""

    page: Page
    view: SeatView
    layout: SafeString
    """The first picture: all panels in the world's layout."""
    first: SafeString
    """All panels of the first picture, without a layout."""
    later: tuple[SafeString, ...]
    """The changed panels of each later picture."""
    picture_ms: int
    """Milliseconds for which each picture is shown."""


def steps_within(episode: Episode, seconds: int) -> int:
    """Return how many steps of the episode are shown as its last `seconds`."""
    return min(episode.step, max(1, seconds * 1000 // (episode.tick_ms or TURN_MS)))


def last_steps(record: EpisodeRecord, seat: int, seconds: int) -> LastSteps:
    """Return the pictures of the last `seconds` of an episode for this seat. Raises WorldError or
    UnknownNameError if the world is not available."""
    step_ms, steps = record.episode.tick_ms or TURN_MS, steps_within(record.episode, seconds)
    every = -(-steps // MOST_PICTURES)
    first = record.episode.step - steps
    world, page = world_after_steps(record, first), get_page(record.episode.world)
    view = seat_view_in_turn(PastTurn(record, first, world), seat)
    shown = _panels(page, view)
    layout, all_panels, later = seat_layout(page, view, shown), _changed({}, shown), []
    for number in range(first + 1, record.episode.step + 1):
        replay_step(world, record.steps[number - 1])
        if (record.episode.step - number) % every:
            continue
        now = _panels(page, seat_view_in_turn(PastTurn(record, number, world), seat))
        later.append(_changed(shown, now))
        shown = now
    return LastSteps(page, view, layout, all_panels, tuple(later), step_ms * every)


def _panels(page: Page, view: SeatView) -> dict[str, SafeString]:
    """Return the rendered panels of this view by id: the world's, and those that a layout may contain."""
    panels = (*shared_panels(page, view), *world_panels(page, view))
    return {panel.id: render_page.render_panel(panel) for panel in panels}


def _changed(before: Mapping[str, SafeString], now: Mapping[str, SafeString]) -> SafeString:
    html = "".join(panel for name, panel in now.items() if before.get(name) != panel)
    return mark_safe(html)  # noqa: S308 - drawn by templates that escape
