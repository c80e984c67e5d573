"""A worker's side of a dry run: walk it as the command does, and keep its row true meanwhile.

Into the row go counts only: what the walk says of one participant (codes, addresses) is not kept.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Coroutine
from contextlib import suppress

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import Error

from kitchen.machine.outage import outlast
from study.trying_out.dry_run_asking import (
    AskError,
    DryRunRequest,
    Report,
    UnreachableError,
    order_of,
    walked,
)
from study.trying_out.dry_run_runs import dry_run_end, dry_run_heard, dry_run_take
from study.trying_out.models import DryRun
from study.trying_out.walk.plans import Shares

log = logging.getLogger(__name__)

State = DryRun.State

NEWS_SECONDS = 2.0
"""How often the row is told of, and asked whether to go on."""
LONGEST = 3 * 3600.0
"""Seconds after which nobody more is sent: 200 who play three minutes each, four at once, are through."""
ADDRESS = re.compile(r"(?:https?|wss?)://\S+")
NUMBER = re.compile(r"^number \d+ ")


class Watch:
    """What is known of a run while it is walked."""

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self.done = 0
        self.stop = False
        self.began = time.monotonic()

    @property
    def late(self) -> bool:
        """Whether it takes too long."""
        return time.monotonic() - self.began > LONGEST

    def say(self, line: str) -> None:
        """One more has come to an end."""
        self.done += 1

    def stopped(self) -> bool:
        """Whether nobody more is to be sent."""
        return self.stop or self.late

    async def over(self, walk: Coroutine[object, object, Report]) -> Report:
        """What the walk returns; as long as it takes, the row gets the news."""
        news = asyncio.create_task(self._tell())
        try:
            return await walk
        finally:
            news.cancel()
            with suppress(asyncio.CancelledError):
                await news

    async def _tell(self) -> None:
        heard = database_sync_to_async(dry_run_heard)
        while True:
            try:
                self.stop = not await heard(run_id=self.run_id, done=self.done)
            except Error as error:
                log.warning("no news of dry run %s: %s", self.run_id, type(error).__name__)
            await asyncio.sleep(NEWS_SECONDS)


def dry_run_walk(run_id: int) -> None:
    """Walk a run that waits. What does not wait is somebody else's, or over: nothing is done."""
    run = outlast(lambda: dry_run_take(run_id=run_id), f"dry run {run_id}")
    if run is None:
        return
    watch = Watch(run_id)
    try:
        state, line = _walk(run, watch)
    except Exception as error:
        log.exception("dry run %s", run_id)
        state, line = State.FAILED, f"An error ended it ({type(error).__name__}): the worker's log says more."
    outlast(lambda: dry_run_end(run_id=run_id, state=state, line=line, done=watch.done), f"dry run {run_id}")


def _walk(run: DryRun, watch: Watch) -> tuple[State, str]:
    """The state in which it ends, and what became of it in a line."""
    try:
        order = order_of(run.study, wish_of(run), url=settings.PUBLIC_URL)
        report = asyncio.run(watch.over(walked(run.study, order, watch.say, watch.stopped)))
    except (AskError, UnreachableError) as error:
        return State.FAILED, f"Nobody was sent: {error}"
    return ending(report, watch)


def wish_of(run: DryRun) -> DryRunRequest:
    """What was asked for."""
    return DryRunRequest(run.participants, run.seed, run.at_once, Shares(**run.shares))


def ending(report: Report, watch: Watch) -> tuple[State, str]:
    """How a walk has ended: badly, if anybody did not do what was planned or is not stored so."""
    failed, unlike = list(report.outcome.failed.values()), report.unlike
    if failed:
        words = f"{len(failed)} did not do what was planned, the first because: {plain(failed[0])}"
        return State.FAILED, f"{report.counts}. {words}"
    if unlike:
        return State.FAILED, f"{report.counts}. {len(unlike)} not stored as planned: {plain(unlike[0])}"
    if not report.unsent:
        return State.FINISHED, report.counts
    if watch.stop:
        return State.STOPPED, report.counts
    return State.FAILED, f"{report.counts}. It took too long: nobody was sent after {LONGEST / 3600:g} h."


def plain(why: str) -> str:
    """A reason without addresses, which hold keys, and without who it was."""
    return NUMBER.sub("one that ", ADDRESS.sub("a page", why))
