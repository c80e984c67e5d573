"""Queue, run, stop and finish the dry runs (studies played by programs) that staff request in the console.

Each update first checks the state of the run in the database. So nothing goes wrong if a task runs twice, a
worker dies, or somebody stops a finished run. The database row of a run stores counts only. It has no
participants' codes or addresses.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import Error, IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from kitchen.infra.db_retry import retry_while_unreachable
from study.design.study_errors import DesignError
from study.participants.simulated_effects import KnownEffects
from study.pilot.bots.many_walkthroughs import CrowdOrder, CrowdReport
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.dry_run_execution import (
    DryRunRequestError,
    UnreachableError,
    completed_crowd_settings,
    walked,
)
from study.pilot.fit_people import people_digest, people_of_study
from study.pilot.models import DryRun
from study.task_queue import ask_dry_run

State = DryRun.State

SILENT = "It sent no news for 10 minutes: its worker has stopped, or there was none."
AWAY = "Nothing was started: Redis, which hands work to the workers, does not answer."
NOBODY_TO_PLAY_LIKE = "no finished episode of people can be played again, so nobody can be played like."
ANOTHER = "A dry run of this study is already running: wait until it has finished, or stop it."


def request_dry_run(*, study_id: int, user: Any, **chosen: Any) -> None:
    """Create a dry run (see `dry_run_create`) and queue it for a worker.

    If no worker can be reached, raise DesignError and store nothing.
    """
    run = dry_run_create(study_id=study_id, user=user, **chosen)
    if not ask_dry_run(run.pk):
        run.delete()
        raise DesignError(AWAY)


def dry_run_create(
    *,
    study_id: int,
    user: Any,
    participants: int,
    seed: int,
    at_once: int,
    shares: OutcomeShares,
    known: KnownEffects | None = None,
    like_people: bool = False,
) -> DryRun:
    """Create a dry run in the state WAITING, and return it. Raises DesignError if another run of the study is
    active.

    Before that, an active run that has not reported for too long is marked as failed.
    """
    with transaction.atomic():
        _silent(DryRun.objects.filter(study=study_id)).update(**_end(State.FAILED, SILENT))
        try:
            with transaction.atomic():
                return DryRun.objects.create(
                    study_id=study_id,
                    user=user,
                    user_name=user.get_username(),
                    participants=participants,
                    seed=seed,
                    at_once=at_once,
                    shares=asdict(shares),
                    known=known or {},
                    like_people=like_people,
                )
        except IntegrityError as error:
            raise DesignError(ANOTHER) from error


def _silent(runs: QuerySet[DryRun]) -> QuerySet[DryRun]:
    """Return those of the given dry runs that have not reported for too long (see `DryRun.is_silent`)."""
    return runs.filter(state__in=DryRun.ON, news_at__lt=timezone.now() - DryRun.SILENT_AFTER)


def _still(run_id: int, *states: str) -> QuerySet[DryRun]:
    """Return a query for the dry run with this id. It is empty if the run's state is not one of `states`."""
    return DryRun.objects.filter(pk=run_id, state__in=states)


def _end(state: str, line: str) -> dict[str, Any]:
    return {"state": state, "line": line, "ended_at": timezone.now()}


def claim_dry_run(*, run_id: int) -> DryRun | None:
    """Set a waiting run to RUNNING and return it. Return None if the run does not wait any more (claimed,
    stopped or deleted)."""
    if not _still(run_id, State.WAITING).update(state=State.RUNNING, news_at=timezone.now()):
        return None
    return DryRun.objects.select_related("study").get(pk=run_id)


def report_dry_run_progress(*, run_id: int, done: int) -> bool:
    """Store the number of ended walkthroughs. Return whether the run should start more participants."""
    running = _still(run_id, State.RUNNING)
    running.update(done=done, news_at=timezone.now())
    return running.filter(stopped_by="").exists()


def dry_run_end(*, run_id: int, state: str, line: str, done: int) -> None:
    """Store the final state, one line about the result, and the number of ended walkthroughs.

    Nothing is stored if the run has already ended.
    """
    now = timezone.now()
    _still(run_id, State.RUNNING).update(
        **_end(state, line[: DryRun._meta.get_field("line").max_length]), done=done, news_at=now
    )


def dry_run_stop(*, run: DryRun, user: Any) -> None:
    """Stop a dry run: no more participants are started. A run that no worker executes ends at once.

    Raises DesignError if the run is already over.
    """
    who, this_run = user.get_username(), DryRun.objects.filter(pk=run.pk)
    if _silent(this_run).update(**_end(State.STOPPED, SILENT), stopped_by=who):
        return
    if _still(run.pk, State.WAITING).update(**_end(State.STOPPED, "Nobody was sent."), stopped_by=who):
        return
    if not _still(run.pk, State.RUNNING).update(stopped_by=who):
        raise DesignError("This dry run was already over.")


log = logging.getLogger(__name__)

NEWS_SECONDS = 2.0
"""Seconds between two progress reports, which also check whether to stop."""
LONGEST = 3 * 3600.0
"""Seconds after which no more participants are sent. 200 who play three minutes each, four at once, finish in
this time."""
ADDRESS = re.compile(r"(?:https?|wss?)://\S+")
NUMBER = re.compile(r"^number \d+ ")


class DryRunProgress:
    """The progress of a run while a worker executes it."""

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self.done = 0
        self.stop = False
        self.began = time.monotonic()

    @property
    def late(self) -> bool:
        """Return whether the run has taken longer than its time limit."""
        return time.monotonic() - self.began > LONGEST

    def say(self, line: str) -> None:
        """Count a walkthrough that has ended. `line` is ignored."""
        self.done += 1

    def stopped(self) -> bool:
        """Return whether no further participants should be started."""
        return self.stop or self.late

    async def over(self, walk: Coroutine[object, object, CrowdReport]) -> CrowdReport:
        """Wait for the coroutine `walk` to finish, and return its report. Meanwhile, store the progress
        every few seconds."""
        news = asyncio.create_task(self._tell())
        try:
            return await walk
        finally:
            news.cancel()
            with suppress(asyncio.CancelledError):
                await news

    async def _tell(self) -> None:
        heard = database_sync_to_async(report_dry_run_progress)
        while True:
            try:
                self.stop = not await heard(run_id=self.run_id, done=self.done)
            except Error as error:
                log.warning("no news of dry run %s: %s", self.run_id, type(error).__name__)
            await asyncio.sleep(NEWS_SECONDS)


def dry_run_walk(run_id: int) -> None:
    """Execute a waiting dry run, and store its result. Do nothing if the run no longer waits."""
    run = retry_while_unreachable(lambda: claim_dry_run(run_id=run_id), f"dry run {run_id}")
    if run is None:
        return
    watch = DryRunProgress(run_id)
    try:
        state, line = _walk(run, watch)
    except Exception as error:
        log.exception("dry run %s", run_id)
        state, line = State.FAILED, f"An error ended it ({type(error).__name__}): the worker's log says more."
    retry_while_unreachable(
        lambda: dry_run_end(run_id=run_id, state=state, line=line, done=watch.done), f"dry run {run_id}"
    )


def _walk(run: DryRun, watch: DryRunProgress) -> tuple[State, str]:
    """Run the synthetic participants of a dry run. Return the dry run's final state and one line about its
    result."""
    try:
        order = completed_crowd_settings(run.study, request_of_run(run), url=settings.PUBLIC_URL)
        report = asyncio.run(watch.over(walked(run.study, order, watch.say, watch.stopped)))
    except (DryRunRequestError, UnreachableError) as error:
        return State.FAILED, f"Nobody was sent: {error}"
    return end_state(report, watch)


def request_of_run(run: DryRun) -> CrowdOrder:
    """Return the settings of the dry run that are stored in this row. Store what people were fitted, if any.

    Raises DryRunRequestError if the programs shall play like people, and no episode of people can be played
    again.
    """
    shares = OutcomeShares(**run.shares)
    people = people_of_study(run.study) if run.like_people else ()
    if run.like_people and not people:
        raise DryRunRequestError(NOBODY_TO_PLAY_LIKE, "like_people")
    if people:
        DryRun.objects.filter(pk=run.pk).update(people_fitted=people_digest(people))
    return CrowdOrder(run.participants, run.seed, run.at_once, shares, known=run.known, people=people)


def end_state(report: CrowdReport, watch: DryRunProgress) -> tuple[State, str]:
    """Return the final state of a run, and one line about its result.

    The state is FAILED in three cases: a participant did not do what was planned, is not stored as
    planned, or was not started in time.
    """
    failed, unlike = list(report.failed.values()), report.unlike
    if failed:
        words = f"{len(failed)} did not do what was planned, the first because: {redacted_reason(failed[0])}"
        return State.FAILED, f"{report.counts}. {words}"
    if unlike:
        return (
            State.FAILED,
            f"{report.counts}. {len(unlike)} not stored as planned: {redacted_reason(unlike[0])}",
        )
    if not report.unsent:
        return State.FINISHED, report.counts
    if watch.stop:
        return State.STOPPED, report.counts
    return State.FAILED, f"{report.counts}. It took too long: nobody was sent after {LONGEST / 3600:g} h."


def redacted_reason(why: str) -> str:
    """Return the reason without web addresses (they contain secret keys) and without the participant's
    number."""
    return NUMBER.sub("one that ", ADDRESS.sub("a page", why))
