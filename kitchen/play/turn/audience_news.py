"""Define the news about episodes that processes send to staff who watch, over the channel layer.

`page_broadcast.notify_audience` sends them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EpisodeNews:
    """News for staff who watch an episode, sent after each step and at the end, over the channel layer.

    It arrives as a dict of these fields. The consumer's method `episode_news` handles it.
    """

    episode: str
    """The episode's key."""
    step: int
    """Number of steps taken."""
    status: str
    """`Episode.Status`: `playing`, or the kind of ending."""
    fallbacks: int = 0
    """Commands of this step that a fallback gave for an agent."""
    ran_out: int = 0
    """People whose time ran out in this step."""
    type: str = field(default="episode.news", init=False)


@dataclass(frozen=True, slots=True)
class AudienceNews:
    """News of a moment for staff who watch, sent together over the channel layer. The consumer's method
    `audience_news` handles each with the method that its `type` names."""

    news: list[dict[str, Any]]
    """The fields of each, such as those of `EpisodeNews`."""
    type: str = field(default="audience.news", init=False)
