"""Send the study's tasks to Celery workers. Functions return False if the broker is away and the task will
not run.
"""

from __future__ import annotations

from kitchen.infra.task_broker import send_task

COMPUTE_ANALYSIS = "study.compute_analysis"
MAKE_REPORT = "study.make_report"
ERASE_SYNTHETIC = "study.erase_synthetic"
DRY_RUN = "study.dry_run"
TIME_OUT_IDLE = "study.time_out_idle"
"""Names of the tasks."""


def ask_analysis(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue an analysis; if the broker is away, the page asks again later."""
    waits = f"the analysis of study {study_id} waits"
    return send_task(COMPUTE_ANALYSIS, study_id, who, preregistered, untouched, otherwise=waits)


def ask_report(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> bool:
    """Queue a report; if the broker is away, the page asks again later."""
    waits = f"the report of study {study_id} waits"
    return send_task(MAKE_REPORT, study_id, who, preregistered, untouched, otherwise=waits)


def ask_synthetic_erasure(study_id: int) -> bool:
    """Have a worker erase a study's synthetic participants."""
    return send_task(ERASE_SYNTHETIC, study_id, otherwise=f"nothing is erased in study {study_id}")


def ask_dry_run(run_id: int) -> bool:
    """Have a worker walk a dry run."""
    return send_task(DRY_RUN, run_id, otherwise=f"dry run {run_id} is not walked")


def ask_idle_check(expires: float) -> bool:
    """Queue a look for people who do nothing, forgotten if nobody has begun it after so many seconds."""
    return send_task(TIME_OUT_IDLE, otherwise="nobody is timed out", expires=expires)
