"""The chain of an episode's log: every step holds a hash of itself and of all that was before it.

The first link takes in the episode: its key, its world, its settings and its seed. So a step that is changed,
exchanged, left out, put in or moved to another episode no longer fits. What is hashed are values, not their
spelling: databases store JSON each in their own way, and the same log has the same chain in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kitchen.contract.world import text_hash
from kitchen.machine.sealed import plain, same_text
from kitchen.play.models import Episode, Step

FORMAT = "brigade log 1"
"""What a chain begins with; another one if what is hashed changes."""

CHAINED = ("number", "commands", "events", "state_hash", "score", "opened_at", "taken_at")
"""The columns of a step that its link holds."""


def chain_begin(episode: Episode) -> str:
    """The chain of an episode before its first step."""
    facts = [episode.key.hex, episode.world, episode.world_version, episode.settings, episode.seed]
    return text_hash(same_text([FORMAT, *facts]))


def chain_next(before: str, step: Mapping[str, Any]) -> str:
    """The chain with one more step: its columns by name, as they were written or as they were read."""
    return text_hash(same_text([before, *(plain(step[name]) for name in CHAINED)]))


def chain_so_far(episode: Episode) -> str:
    """The chain after the steps that are taken, worked out from the first one on: for an episode that began
    without."""
    chain = chain_begin(episode)
    for row in Step.objects.filter(episode=episode, number__lte=episode.step).order_by("number"):
        chain = chain_next(chain, vars(row))
    return chain
