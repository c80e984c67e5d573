"""Dry runs that the console asked for: asked for, taken by a worker, told of, stopped, ended.

Conditional updates instead of locks: a task may come twice, a worker may die, somebody may stop a run that
has just ended. The state says who was first.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from study.design.errors import DesignError
from study.queue import ask_dry_run
from study.trying_out.models import DryRun
from study.trying_out.walk.plans import Shares

State = DryRun.State

SILENT = "Nothing was heard of it for 10 minutes: its worker is gone, or there was none."
AWAY = "Nothing was started: Redis, which hands work to the workers, does not answer."
ANOTHER = "A dry run of this study is on already: wait until it has finished, or stop it."


def dry_run_ask(*, study_id: int, user: Any, **wish: Any) -> None:
    """Have a worker walk a dry run as `dry_run_create` makes it; DesignError, and nothing is kept of it, if
    none can be asked."""
    run = dry_run_create(study_id=study_id, user=user, **wish)
    if not ask_dry_run(run.pk):
        run.delete()
        raise DesignError(AWAY)


def dry_run_create(
    *, study_id: int, user: Any, participants: int, seed: int, at_once: int, shares: Shares
) -> DryRun:
    """A dry run that waits for a worker. DesignError while another one of the study is on; one of which
    nothing was heard for too long is given up first."""
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
                )
        except IntegrityError as error:
            raise DesignError(ANOTHER) from error


def _silent(runs: QuerySet[DryRun]) -> QuerySet[DryRun]:
    """Those that are silent, as `DryRun.is_silent` says of each."""
    return runs.filter(state__in=DryRun.ON, news_at__lt=timezone.now() - DryRun.SILENT_AFTER)


def _still(run_id: int, *states: str) -> QuerySet[DryRun]:
    """The run, if it is in one of these states."""
    return DryRun.objects.filter(pk=run_id, state__in=states)


def _end(state: str, line: str) -> dict[str, Any]:
    return {"state": state, "line": line, "ended_at": timezone.now()}


def dry_run_take(*, run_id: int) -> DryRun | None:
    """Begin to walk it; None if it does not wait (any more): somebody has taken, stopped or deleted it."""
    if not _still(run_id, State.WAITING).update(state=State.RUNNING, news_at=timezone.now()):
        return None
    return DryRun.objects.select_related("study").get(pk=run_id)


def dry_run_heard(*, run_id: int, done: int) -> bool:
    """So many have come to an end; whether others are to be sent."""
    running = _still(run_id, State.RUNNING)
    running.update(done=done, news_at=timezone.now())
    return running.filter(stopped_by="").exists()


def dry_run_end(*, run_id: int, state: str, line: str, done: int) -> None:
    """It is over, whoever gave it up meanwhile."""
    now = timezone.now()
    _still(run_id, State.RUNNING).update(
        **_end(state, line[: DryRun._meta.get_field("line").max_length]), done=done, news_at=now
    )


def dry_run_stop(*, run: DryRun, user: Any) -> None:
    """Send nobody more. DesignError if it is over. Where no worker is at it, it is over at once."""
    who, mine = user.get_username(), DryRun.objects.filter(pk=run.pk)
    if _silent(mine).update(**_end(State.STOPPED, SILENT), stopped_by=who):
        return
    if _still(run.pk, State.WAITING).update(**_end(State.STOPPED, "Nobody was sent."), stopped_by=who):
        return
    if not _still(run.pk, State.RUNNING).update(stopped_by=who):
        raise DesignError("This dry run was over already.")
