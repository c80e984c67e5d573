"""What Celery workers do for a study."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from kombu.exceptions import OperationalError

from study.models import Study

log = logging.getLogger(__name__)


def ask_analysis(study_id: int, who: str, preregistered: bool = False) -> None:
    """Queue an analysis; if the broker is away, the page asks again later."""
    try:
        compute_analysis.apply_async(args=[study_id, who, preregistered], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker away, the analysis of study %s waits: %s", study_id, error)


@shared_task(name="study.compute_analysis")
def compute_analysis(study_id: int, who: str, preregistered: bool = False) -> None:
    """Analyse a study's present data and keep the result for the page. May run twice."""
    from study.analysing import compute

    if study := Study.objects.filter(pk=study_id).first():
        compute(study, who, preregistered)


def ask_erasing(study_id: int) -> bool:
    """Have a worker erase a study's synthetic participants; False if the broker is away and nobody will."""
    try:
        erase_synthetic.apply_async(args=[study_id], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker away, nothing is erased in study %s: %s", study_id, error)
        return False
    return True


@shared_task(name="study.erase_synthetic")
def erase_synthetic(study_id: int) -> int:
    """Erase every program that took part in a study; how many. May run twice."""
    from study.services.erasing import synthetic_erase

    return synthetic_erase(study_id=study_id)


def ask_dry_run(run_id: int) -> bool:
    """Have a worker walk a dry run; False if the broker is away and nobody will."""
    try:
        dry_run.apply_async(args=[run_id], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker away, dry run %s is not walked: %s", run_id, error)
        return False
    return True


@shared_task(name="study.dry_run", acks_late=False)
def dry_run(run_id: int) -> None:
    """Walk a dry run. The second time nothing is done: it is told to be begun, and so is not begun anew when
    it takes longer than the queue waits, or when its worker dies."""
    from study.dry_work import dry_run_walk

    dry_run_walk(run_id)


SWEEP_SECONDS = 30.0
"""How often a worker looks for participants who do nothing."""


@shared_task(name="study.time_out_idle")
def time_out_idle() -> int:
    """Time out everybody who did nothing for too long; how many. May run twice."""
    from study.services.idling import time_out_idle

    return time_out_idle()


@worker_ready.connect
def look_for_idle(sender: Any, **_: Any) -> None:
    """Every worker has somebody look now and then."""
    sender.timer.call_repeatedly(SWEEP_SECONDS, _queue_sweep)


def _queue_sweep() -> None:
    try:
        time_out_idle.apply_async(retry=False, expires=SWEEP_SECONDS)
    except (OperationalError, OSError) as error:
        log.warning("broker away: %s", error)
