"""Check every few seconds that open play pages are up to date and that the workers continue the steps.

A page that missed a notification is updated, and shows which awaited people are not connected. It also shows
that notifications are late while the channel layer (Redis) is unreachable. If the workers
do not respond, this web process continues the step in their place. It uses the agents' fallback commands, and
closes turns whose deadline has passed. The log records this.
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
from kitchen.infra.channel_layer_consumer import is_channel_layer_reachable
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import run_in_db_thread
from kitchen.infra.rate_limits import NewestPerOwner
from kitchen.play.coplayers.agent_decisions import LateCallback, decide_step, fallback_outcome
from kitchen.play.coplayers.agent_situations import MindOutcome
from kitchen.play.coplayers.answer_messages import (
    decide_answer,
    finish_answer,
    minds_to_speak,
    overdue_answers,
)
from kitchen.play.coplayers.later_decisions import decide_later
from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.live.page_presence import AbsentPeople
from kitchen.play.live.page_session import OpenPage
from kitchen.play.live.seat_view import seat_states
from kitchen.play.turn.turn_claims import claim_decision, release_claim
from kitchen.play.turn.turn_searches import (
    awaited_questions,
    minds_asked_separately,
    overdue_turns,
    undecided_turns,
)

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""Seconds that workers have beyond the time limit of the agents or the person. Workers check every second."""
TurnList = list[tuple[int, int]]
"""(episode id, step) pairs."""


def stranded_turns() -> tuple[TurnList, TurnList]:
    """Return the turns that need help, as two lists of (episode id, step). In the first, agents are late and
    no worker is asking them. In the second, the turn is still open after its deadline."""
    beyond = timedelta(seconds=GRACE_SECONDS)
    return [*undecided_turns(beyond, free=True), *overdue_answers(beyond)], overdue_turns(beyond)


def rescue_turns(undecided: TurnList, unclosed: TurnList) -> None:
    """Continue turns that are stuck. In `undecided` turns, the agents' fallbacks answer instead of the
    agents. `unclosed` turns are closed. Both are lists of (episode id, step).

    An error in one episode is logged and does not affect the others. Run this in a separate thread: it closes
    the thread's database connection.
    """
    with closing(connection):
        for act, turns in ((close_expired_turn, unclosed), (_fall_back, undecided)):
            for episode_id, step in turns:
                _try(act, episode_id, step)


def _fall_back(*, episode_id: int, step: int) -> None:
    for asked_step, mind in awaited_questions(episode_id, step):
        decide_later(episode_id=episode_id, step=asked_step, mind=mind, ask=fallback_instead)
    for number in minds_to_speak(episode_id, step):
        if claim := claim_decision(episode_id=episode_id, step=step, mind=number):
            try:
                decide_answer(episode_id=episode_id, step=step, mind=number, ask=fallback_instead)
            finally:
                release_claim(claim)
            finish_answer(episode_id=episode_id, step=step)
        return
    apart: list[int | None] = [*minds_asked_separately(episode_id, step)]
    for party in apart or [None]:
        if claim := claim_decision(episode_id=episode_id, step=step, mind=party):
            decide_step(episode_id=episode_id, step=step, claim=claim, ask=fallback_instead, mind=party)


def _try(act: Callable[..., object], episode_id: int, step: int) -> None:
    """Run `act`, and only log its error. An outage of the database is raised, because it affects all
    episodes."""
    try:
        act(episode_id=episode_id, step=step)
    except Exception as error:
        if database_problem(error):
            raise
        log.exception("episode %s cannot go on", episode_id)


def fallback_instead(
    kind: str, settings: dict[str, Json], situation: Situation, late: LateCallback | None = None
) -> MindOutcome:
    """Return the commands of the agent's fallback without asking the agent. The outcome is recorded as a
    timeout. `late` is ignored."""
    return MindOutcome(
        fallback_outcome(kind, settings, situation, "timeout"), "timeout", "no worker asked it in time"
    )


LOOK_SECONDS = 2.0
"""Seconds between two checks of all pages."""
LOOKS_PER_RESCUE = 2
"""Number of checks of all pages for each search for stranded steps."""
SEATS_PER_QUERY = 500
"""Number of pages that one query covers."""


class WatchedPage(Protocol):
    """A websocket consumer that serves an open page, as `PageWatch` uses it."""

    page: OpenPage | None
    subscribed: bool

    @property
    def is_answering(self) -> bool:
        """Return True while an answer to the page is being made. Other answers have to wait for it."""

    async def look(self) -> None:
        """Send the page everything that has changed since the last answer."""

    async def subscribe(self) -> None:
        """Subscribe to notifications of the episode, if the channel layer is reachable."""

    async def close(self, code: int) -> None:
        """Close the connection."""


class PageWatch:
    """All open pages of one event loop. While there are any, they are checked every few seconds.

    A page that is being answered is left out, so that the other pages need not wait for it. Its answer shows
    the news, or the next check does.
    """

    is_layer_away = False
    """True if the channel layer was unreachable at the last check."""

    def __init__(self) -> None:
        self._pages: WeakSet[WatchedPage] = WeakSet()
        self._newest: NewestPerOwner[WatchedPage] = NewestPerOwner(1)
        self._looking: asyncio.Task[None] | None = None
        self._rescue: asyncio.Task[None] | None = None
        self._absent = AbsentPeople()
        self._finding: asyncio.Task[None] | None = None

    def add(self, watched: WatchedPage, page: OpenPage) -> list[WatchedPage]:
        """Watch the connection `watched` of this page. Returns older connections of the same page; the
        caller must close them."""
        self._pages.add(watched)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        return self._newest.add((page.seat.pk, page.name), watched)

    def discard(self, watched: WatchedPage, page: OpenPage) -> None:
        """Stop watching the connection `watched` of this page, because it is closed."""
        self._pages.discard(watched)
        self._newest.remove((page.seat.pk, page.name), watched)

    async def _keep_looking(self) -> None:
        for look in count(1):
            await asyncio.sleep(LOOK_SECONDS)
            pages = list(self._pages)
            try:
                for first in range(0, len(pages), SEATS_PER_QUERY):
                    await self._look(pages[first : first + SEATS_PER_QUERY])
                if look % LOOKS_PER_RESCUE == 0:
                    await self._rescue_stranded()
                self._find_missing(pages)
            except Exception as error:  # the next check may succeed, whatever failed
                if trouble := database_problem(error):
                    log.warning("pages could not be looked after: %s", trouble)
                else:
                    log.exception("pages could not be looked after")
            if not self._pages:
                self.is_layer_away = False
                return

    def _find_missing(self, pages: list[WatchedPage]) -> None:
        """Start to find out whether the channel layer and the people are there, and to show this on the
        pages. Pages that are not subscribed to notifications try again. One search runs at a time, because
        Redis may not answer for a while."""
        if self._finding is not None and not self._finding.done():
            return
        finished, self._finding = self._finding, asyncio.create_task(self._show_missing(pages))
        if finished is not None:
            finished.result()  # raises the error of the last search, which the caller logs

    async def _show_missing(self, pages: list[WatchedPage]) -> None:
        self.is_layer_away = not await is_channel_layer_reachable()
        changed = []
        for each in pages:
            known = self.is_layer_away or each.subscribed  # else it is only about to subscribe
            if not (each.page and known) or each.is_answering:
                continue
            if each.page.news_is_late != self.is_layer_away:
                each.page.news_is_late = self.is_layer_away
                changed.append(each)
        await _all(each.look() for each in changed)
        if not self.is_layer_away:
            free = [each for each in pages if each in self._pages and not each.is_answering]
            await _all(each.subscribe() for each in free if not each.subscribed)
            await self._show_absent(pages)

    async def _show_absent(self, pages: list[WatchedPage]) -> None:
        """Find the people who are away, and show this on the pages that may wait for them."""
        shared = [(each, each.page) for each in pages if each.page and each.page.others]
        own = {page.seat.pk for _, page in shared if not page.is_away}
        others = {one for _, page in shared for one in page.others}
        if not shared:
            self._absent = AbsentPeople()
            return
        away = await asyncio.to_thread(self._absent.update, own, others)
        if away is None:
            return
        changed = []
        for each, page in shared:
            seats = frozenset(number for one, number in page.others.items() if one in away)
            if seats != page.away and not each.is_answering:
                page.away = seats
                changed.append(each)
        await _all(each.look() for each in changed)

    async def _rescue_stranded(self) -> None:
        """Continue turns that are stuck, in a separate thread and one turn after another. Fallbacks of agents
        may take a moment."""
        if self._rescue is not None and not self._rescue.done():
            return
        if self._rescue is not None:
            self._rescue.result()  # raises the error of the last rescue, which the caller logs
            self._rescue = None
        undecided, unclosed = await run_in_db_thread(stranded_turns)
        if undecided or unclosed:
            log.warning("%s steps wait for workers in vain", len(undecided) + len(unclosed))
            self._rescue = asyncio.create_task(asyncio.to_thread(rescue_turns, undecided, unclosed))

    async def _look(self, pages: list[WatchedPage]) -> None:
        """Update the pages that do not show the stored state."""
        stored = await run_in_db_thread(seat_states, [each.page.seat.pk for each in pages if each.page])
        outdated = [each for each in pages if each.page and not each.page.shows(stored)]
        await _all(each.look() for each in outdated if not each.is_answering)


async def _all(doing: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all these coroutines. If one fails, log its error and continue with the others."""
    for failure in await asyncio.gather(*doing, return_exceptions=True):
        if isinstance(failure, Exception):
            log.error("a page could not be looked after", exc_info=failure)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, PageWatch] = WeakKeyDictionary()


def page_watch() -> PageWatch:
    """Return the `PageWatch` of the running event loop. It is created at the first call."""
    return _watches.setdefault(asyncio.get_running_loop(), PageWatch())
