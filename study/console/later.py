"""The page in place of a file that a worker is still making."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.design.models import Study
from study.people.counts import study_counts

WAIT_SECONDS = 2
"""How often a page that waits for a worker looks again."""
TITLES = {
    "report": "The report is being made",
    "analysis": "The analysis is being computed",
    "figure": "The figure cannot be drawn now",
    "nothing": "Nothing to download",
}


def later(request: HttpRequest, study: Study, what: str, problem: str = "") -> HttpResponse:
    """What is not there yet (one of `TITLES`), or never will be for this `problem`, and what to do; 503."""
    context = {
        "study": study,
        "counts": study_counts(study),
        "title": TITLES[what],
        "what": what,
        "problem": problem,
    }
    response = render(request, "study/console/later.html", context, status=503)
    response["Retry-After"] = str(WAIT_SECONDS)
    return response
