"""What Celery workers do for a study."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from study.models import Study

log = logging.getLogger(__name__)


def ask_analysis(study_id: int, who: str) -> None:
    """Queue an analysis; if the broker is away, the page asks again later."""
    try:
        compute_analysis.apply_async(args=[study_id, who], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker away, the analysis of study %s waits: %s", study_id, error)


@shared_task(name="study.compute_analysis")
def compute_analysis(study_id: int, who: str) -> None:
    """Analyse a study's present data and keep the result for the page. May run twice."""
    from study.analysing import compute

    if study := Study.objects.filter(pk=study_id).first():
        compute(study, who)
