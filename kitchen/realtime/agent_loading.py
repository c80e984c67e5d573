"""Let a new real-time episode begin only after this process has loaded its agents.

Loading a network takes some seconds on a busy machine. Until then the episode stays unclaimed, and its pages
say that it begins when everybody has arrived. Another clock process may be ready earlier and claim it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from kitchen.infra.db_retry import run_in_db_thread
from kitchen.realtime.realtime_episode import load_agents
from kitchen.realtime.realtime_storage import ClockEpisode

MAX_LOADING_SECONDS = 30.0
"""Seconds after which an episode begins in any case. Its agents' fallback rules then play until they are
loaded."""


class AgentLoading:
    """The new episodes whose agents this process loads."""

    def __init__(self) -> None:
        self._loads: dict[int, tuple[float, list[Future[Any]]]] = {}
        """When loading began, and what is loaded, by episode id."""

    async def ready(self, new: Sequence[ClockEpisode], now: float) -> list[ClockEpisode]:
        """Return the new episodes whose agents are loaded, or have loaded for too long at the time `now`.
        Begin to load those of the others. `new` are all new episodes: earlier ones are forgotten."""
        ids = {one.episode_id for one in new}
        self._loads = {pk: load for pk, load in self._loads.items() if pk in ids}
        for pk in ids - self._loads.keys():
            self._loads[pk] = now, await run_in_db_thread(load_agents, pk)
        return [one for one in new if self._is_ready(one.episode_id, now)]

    def _is_ready(self, pk: int, now: float) -> bool:
        began, loads = self._loads[pk]
        return now - began > MAX_LOADING_SECONDS or all(load.done() for load in loads)
