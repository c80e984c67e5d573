"""Define the Celery tasks of the app `study`: analyses, reports, exports, dry runs, erasures and timeouts."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.core.cache import cache

from study.analysis.analysis_results import compute_and_cache
from study.design.models import Study
from study.exports.dataset_jobs import write_dataset
from study.exports.export_files import data_file_pieces
from study.exports.export_table import ExportSelection
from study.monitor.prolific_services import free_all_left_places
from study.participants.stored_exports import StoredExport, make_export, remove_old_exports
from study.participation import idle_timeout
from study.pilot.dry_run_jobs import dry_run_walk
from study.pilot.synthetic.synthetic_participants import synthetic_erase
from study.reporting.report_output import make_cached_report
from study.task_queue import (
    COMPUTE_ANALYSIS,
    DRY_RUN,
    ERASE_SYNTHETIC,
    FREE_PROLIFIC_PLACES,
    MAKE_DATASET,
    MAKE_EXPORT,
    MAKE_REPORT,
    TIME_OUT_IDLE,
    ask_idle_check,
    ask_prolific_check,
)

SWEEP_SECONDS = 30.0
"""The seconds between two checks for idle participants."""


@shared_task(name=COMPUTE_ANALYSIS)
def compute_analysis(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """Analyse a study's current data, and cache the result for the analysis page. Running the task twice
    does no harm."""
    if study := Study.objects.filter(pk=study_id).first():
        compute_and_cache(study, who, preregistered, untouched)


@shared_task(name=MAKE_REPORT)
def report(study_id: int, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """Make the report of a study's current data, and cache it for the report page. Running the task twice
    does no harm."""
    if study := Study.objects.filter(pk=study_id).first():
        make_cached_report(study, who, preregistered, untouched)


@shared_task(name=ERASE_SYNTHETIC)
def erase_synthetic(study_id: int) -> int:
    """Erase all synthetic participants of a study, and return how many. Running the task twice does no
    harm."""
    return synthetic_erase(study_id=study_id)


@shared_task(name=DRY_RUN, acks_late=False)
def dry_run(run_id: int) -> None:
    """Run the dry run with this id: synthetic participants take part in a study as a test. Running the task
    twice has no further effect.

    The broker's message is acknowledged when the task begins. So a long run, or a run whose worker dies,
    is not repeated.
    """
    dry_run_walk(run_id)


@shared_task(name=MAKE_EXPORT, acks_late=False)
def export(study_id: int, name: str, left_out: str, key: str) -> None:
    """Make and store a large export file. Running the task twice does no harm. A request whose worker dies
    makes the file itself, so the task is not repeated."""
    if study := Study.objects.filter(pk=study_id).first():
        kinds = tuple(left_out.split(",")) if left_out else ()
        pieces = data_file_pieces(study, name, ExportSelection.without(kinds))
        make_export(StoredExport(study_id, name, kinds, key), pieces)


@shared_task(name=MAKE_DATASET, acks_late=False)
def dataset(study_id: int, key: str) -> None:
    """Write a dataset that a page has ordered. Running the task twice does no harm. If its worker dies, the
    page asks for the rest."""
    if study := Study.objects.filter(pk=study_id).first():
        write_dataset(study, key)


@shared_task(name=TIME_OUT_IDLE)
def time_out_idle() -> int:
    """Time out all participants who were idle for too long, and return how many. Running the task twice
    does no harm."""
    return idle_timeout.time_out_idle_participants()


@shared_task(name=FREE_PROLIFIC_PLACES)
def free_prolific_places() -> int:
    """End the participations of people who left on Prolific, and return how many. One worker at a time asks
    Prolific, and not more often than every `SWEEP_SECONDS`."""
    if not cache.add(FREE_PROLIFIC_PLACES, True, SWEEP_SECONDS - 5):
        return 0
    return free_all_left_places()


@worker_ready.connect
def look_for_idle(sender: Any, **_: Any) -> None:
    """Make each worker queue a check for idle participants every `SWEEP_SECONDS`, and delete old exports."""
    sender.timer.call_repeatedly(SWEEP_SECONDS, ask_idle_check, (SWEEP_SECONDS,))
    sender.timer.call_repeatedly(SWEEP_SECONDS, remove_old_exports)
    if settings.PROLIFIC_TOKEN:
        sender.timer.call_repeatedly(SWEEP_SECONDS, ask_prolific_check, (SWEEP_SECONDS,))
