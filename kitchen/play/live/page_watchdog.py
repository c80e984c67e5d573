"""Compare all open pages of a process with the database every few seconds, and rescue stranded steps.

This catches lost nudges. Every other look searches for stranded steps: all workers hang, or the broker does,
or there is too much to do.

The promise: a step's agents have `Episode.decision_seconds`, then the condition's fallback plays. A worker
that was asked keeps it. If no worker was asked, a web process with an open page does: no agent is asked any
more, the fallbacks command, and the log says so. A worker that wakes up later finds the step taken.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import closing
from datetime import timedelta
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

from django.db import connection

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.rate_limit import NewestPerOwner
from kitchen.play.coplayers.agent_decisions import LateCallback, decide_step, fallback_outcome
from kitchen.play.coplayers.ask_agents import MindOutcome
from kitchen.play.episode.change_episode import close_expired_turn
from kitchen.play.live.page_session import OpenPage
from kitchen.play.live.seat_view import seat_states
from kitchen.play.turn.turn_claims import (
    claim_decision,
    minds_asked_separately,
    overdue_turns,
    undecided_turns,
)

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""Seconds that workers have beyond the time of the co-players, or of the person: they look every second."""
TurnList = list[tuple[int, int]]
"""(episode, step) of each."""


def stranded_turns() -> tuple[TurnList, TurnList]:
    """Turns whose co-players had their time since the last person commanded, and whom nobody is asking; and
    turns that should have been closed."""
    beyond = timedelta(seconds=GRACE_SECONDS)
    return undecided_turns(beyond, free=True), overdue_turns(beyond)


def rescue_turns(undecided: TurnList, unclosed: TurnList) -> None:
    """Have the fallbacks command in those, and close these; one that cannot be played keeps nobody from the
    others. For a thread of its own, whose connection is closed."""
    with closing(connection):
        for act, turns in ((close_expired_turn, unclosed), (_fall_back, undecided)):
            for episode_id, step in turns:
                _try(act, episode_id, step)


def _fall_back(*, episode_id: int, step: int) -> None:
    apart: list[int | None] = [*minds_asked_separately(episode_id, step)]
    for party in apart or [None]:
        if claim := claim_decision(episode_id=episode_id, step=step, mind=party):
            decide_step(episode_id=episode_id, step=step, claim=claim, ask=fallback_instead, mind=party)


def _try(act: Callable[..., object], episode_id: int, step: int) -> None:
    """Storage trouble ends the round: it is the same for all."""
    try:
        act(episode_id=episode_id, step=step)
    except Exception as error:
        if database_problem(error):
            raise
        log.exception("episode %s cannot go on", episode_id)


def fallback_instead(
    kind: str, settings: dict[str, Json], situation: Situation, late: LateCallback
) -> MindOutcome:
    """What the mind's fallback commands, as after its time."""
    return MindOutcome(
        fallback_outcome(kind, settings, situation, "timeout"), "timeout", "no worker asked it in time"
    )


LOOK_SECONDS = 2.0
"""How often it looks."""
LOOKS_PER_RESCUE = 2
"""Every so many looks it looks for steps that no worker sees to."""
SEATS_PER_QUERY = 500
"""Pages that one question asks for."""


class WatchedPage(Protocol):
    """Who shows an open page."""

    page: OpenPage | None
    subscribed: bool

    async def look(self) -> None:
        """Show what has changed."""

    async def subscribe(self) -> None:
        """Be nudged from now on, if that can be had."""

    async def close(self, code: int) -> None:
        """End the connection."""


class PageWatch:
    """The pages of one event loop; it looks as long as there are any."""

    def __init__(self) -> None:
        self._pages: WeakSet[WatchedPage] = WeakSet()
        self._newest: NewestPerOwner[WatchedPage] = NewestPerOwner(1)
        self._looking: asyncio.Task[None] | None = None
        self._seeing_to: asyncio.Task[None] | None = None

    def add(self, one: WatchedPage, page: OpenPage) -> list[WatchedPage]:
        """Look after this one, too; older connections of the same page are to be closed."""
        self._pages.add(one)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        return self._newest.come((page.seat.pk, page.name), one)

    def discard(self, one: WatchedPage, page: OpenPage) -> None:
        """It is closed."""
        self._pages.discard(one)
        self._newest.go((page.seat.pk, page.name), one)

    async def _keep_looking(self) -> None:
        for look in count(1):
            await asyncio.sleep(LOOK_SECONDS)
            pages = list(self._pages)
            try:
                for first in range(0, len(pages), SEATS_PER_QUERY):
                    await self._look(pages[first : first + SEATS_PER_QUERY])
                if look % LOOKS_PER_RESCUE == 0:
                    await self._see_to_stranded()
            except Exception as error:  # whatever it was, the next look may succeed
                if trouble := database_problem(error):
                    log.warning("pages could not be looked after: %s", trouble)
                else:
                    log.exception("pages could not be looked after")
            if not self._pages:
                return

    async def _see_to_stranded(self) -> None:
        """In a thread of its own, for fallbacks may take a moment; one after the other."""
        if self._seeing_to is not None and not self._seeing_to.done():
            return
        if self._seeing_to is not None:
            self._seeing_to.result()  # what went wrong the last time is said where looks say it
            self._seeing_to = None
        undecided, unclosed = await run_in_db_thread(stranded_turns)
        if undecided or unclosed:
            log.warning("%s steps wait for workers in vain", len(undecided) + len(unclosed))
            self._seeing_to = asyncio.create_task(asyncio.to_thread(rescue_turns, undecided, unclosed))

    async def _look(self, pages: list[WatchedPage]) -> None:
        """Have those look that show something else than what is stored, and those subscribe that are not."""
        stored = await run_in_db_thread(seat_states, [each.page.seat.pk for each in pages if each.page])
        await _all(each.look() for each in pages if each.page and not each.page.shows(stored))
        await _all(each.subscribe() for each in pages if not each.subscribed and each in self._pages)


async def _all(doing: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All of them, whatever becomes of one."""
    for failure in await asyncio.gather(*doing, return_exceptions=True):
        if isinstance(failure, Exception):
            log.error("a page could not be looked after", exc_info=failure)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, PageWatch] = WeakKeyDictionary()


def page_watch() -> PageWatch:
    """That of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), PageWatch())
