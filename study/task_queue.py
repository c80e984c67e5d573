"""Send the background tasks of the app `study` to Celery workers.

If the message broker is unavailable, each function returns False and the task does not run.
"""

from __future__ import annotations

from kitchen.infra.task_broker import send_task

COMPUTE_ANALYSIS = "study.compute_analysis"
MAKE_REPORT = "study.make_report"
ERASE_SYNTHETIC = "study.erase_synthetic"
DRY_RUN = "study.dry_run"
MAKE_EXPORT = "study.make_export"
TIME_OUT_IDLE = "study.time_out_idle"
"""Names of the tasks."""


def ask_analysis(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue the computation of an analysis, and return whether the message broker accepted the task. If it
    did not, the page asks again later."""
    waits = f"the analysis of study {study_id} waits"
    return send_task(COMPUTE_ANALYSIS, study_id, who, preregistered, untouched, otherwise=waits)


def ask_report(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue the making of a report, and return whether the message broker accepted the task. If it did
    not, the page asks again later."""
    waits = f"the report of study {study_id} waits"
    return send_task(MAKE_REPORT, study_id, who, preregistered, untouched, otherwise=waits)


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
    task is dropped if no worker begins it within `expires` seconds."""
    makes = f"{name} of study {study_id} is made where it is downloaded"
    return send_task(MAKE_EXPORT, study_id, name, left_out, key, otherwise=makes, expires=expires)


def ask_idle_check(expires: float) -> bool:
    """Queue a check for idle participants, and return whether the message broker accepted it. The task is
    dropped if no worker begins it within `expires` seconds."""
    return send_task(TIME_OUT_IDLE, otherwise="nobody is timed out", expires=expires)
