"""Send the background tasks of the app `study` to Celery workers.

If the message broker is unavailable, each function returns False and the task does not run.
"""

from __future__ import annotations

from django.conf import settings

from kitchen.infra.task_broker import cached_worker_health, send_task

COMPUTE_ANALYSIS = "study.compute_analysis"
MAKE_REPORT = "study.make_report"
ERASE_SYNTHETIC = "study.erase_synthetic"
DRY_RUN = "study.dry_run"
MAKE_DATASET = "study.make_dataset"
MAKE_EXPORT = "study.make_export"
TIME_OUT_IDLE = "study.time_out_idle"
FREE_PROLIFIC_PLACES = "study.free_prolific_places"
"""Names of the tasks."""
SPARED_SECONDS = 2.0
"""Seconds for which workers of people leave a long computation to the workers of experiments."""


def ask_analysis(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue the computation of an analysis, and return whether the message broker accepted the task. If it
    did not, the page asks again later."""
    waits = f"the analysis of study {study_id} waits"
    return _send_sparing(COMPUTE_ANALYSIS, study_id, who, preregistered, untouched, otherwise=waits)


def ask_report(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue the making of a report, and return whether the message broker accepted the task. If it did
    not, the page asks again later."""
    waits = f"the report of study {study_id} waits"
    return _send_sparing(MAKE_REPORT, study_id, who, preregistered, untouched, otherwise=waits)


def _send_sparing(task: str, *arguments: int | str, otherwise: str) -> bool:
    """Queue a long computation for the workers of experiments, whose priority is low. If none of them begins
    soon, a worker of people does it: the task is queued for both, and the second one finds it begun or
    done."""
    if _is_sure_that_none_is_there():
        return send_task(task, *arguments, otherwise=otherwise)
    queue, soon = settings.EXPERIMENTS_QUEUE, SPARED_SECONDS
    return send_task(task, *arguments, otherwise=otherwise, queue=queue, expires=soon) and send_task(
        task, *arguments, otherwise=otherwise, countdown=soon
    )


def _is_sure_that_none_is_there() -> bool:
    """Return whether no worker of experiments answered lately. Tasks for them would pile up."""
    return cached_worker_health().experimenters == 0


def ask_synthetic_erasure(study_id: int) -> bool:
    """Queue the erasure of a study's synthetic participants, and return whether the message broker
    accepted it."""
    return send_task(ERASE_SYNTHETIC, study_id, otherwise=f"nothing is erased in study {study_id}")


def ask_dry_run(run_id: int) -> bool:
    """Queue the dry run with this id (a test of a study with synthetic participants). Return whether the
    message broker accepted it."""
    return send_task(DRY_RUN, run_id, otherwise=f"dry run {run_id} is not walked")


def ask_export(study_id: int, name: str, left_out: str, key: str, expires: float) -> bool:
    """Queue the making of a large export file, and return whether the message broker accepted the task. The
    task is dropped if no worker begins it within `expires` seconds. Return False if there is no worker."""
    if _is_sure_that_none_is_there():
        return False
    makes = f"{name} of study {study_id} is made where it is downloaded"
    return send_task(MAKE_EXPORT, study_id, name, left_out, key, otherwise=makes, expires=expires)


def ask_dataset(study_id: int, key: str) -> bool:
    """Queue the writing of an ordered dataset, and return whether the message broker accepted the task."""
    waits = f"dataset {key} of study {study_id} waits"
    return _send_sparing(MAKE_DATASET, study_id, key, otherwise=waits)


def ask_idle_check(expires: float) -> bool:
    """Queue a check for idle participants, and return whether the message broker accepted it. The task is
    dropped if no worker begins it within `expires` seconds."""
    return send_task(TIME_OUT_IDLE, otherwise="nobody is timed out", is_frequent=True, expires=expires)


def ask_prolific_check(expires: float) -> bool:
    """Queue a check for people who left on Prolific, and return whether the message broker accepted it. The
    task is dropped if no worker begins it within `expires` seconds."""
    otherwise = "no place on Prolific is freed"
    return send_task(FREE_PROLIFIC_PLACES, otherwise=otherwise, is_frequent=True, expires=expires)
