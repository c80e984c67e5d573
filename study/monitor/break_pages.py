"""Serve the staff page that lists who is on a break between sessions, with a reminder to copy for each."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.design.models import Study
from study.monitor.break_reminders import (
    BreakRow,
    has_breaks,
    people_on_breaks,
    people_who_came_late,
    reminder_text,
)
from study.monitor.live_status import kind_of
from study.participants.participant_counts import study_counts
from study.researchers.permissions import has_right, study_page

MOST_ROWS = 300
"""The most people that the page lists."""


@study_page("view")
def breaks(request: HttpRequest, study: Study) -> HttpResponse:
    """Show who is on a break, who may come back now, and who did not come back in time.

    The link in a reminder opens the person's pages but cannot erase their data. It is there for users who may
    edit the study and to whom it conceals no conditions; others see the study's own link.
    """
    rows = people_on_breaks(study)
    shows_links = has_right(request.user, study, "edit") and has_right(request.user, study, "results")
    context = {
        "study": study,
        "counts": study_counts(study),
        "rows": [
            (row, kind_of(row.person), _reminder(request, study, row, shows_links))
            for row in rows[:MOST_ROWS]
        ],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "due": sum(row.state == "due" for row in rows),
        "resting": sum(row.state == "resting" for row in rows),
        "late": people_who_came_late(study)[:MOST_ROWS],
        "has_breaks": has_breaks(study),
        "shows_links": shows_links,
    }
    return render(request, "study/monitor/breaks.html", context)


def _reminder(request: HttpRequest, study: Study, row: BreakRow, shows_links: bool) -> str:
    row.person.as_guest = True
    place = row.person if shows_links else study
    return reminder_text(row, study.title, request.build_absolute_uri(place.get_absolute_url()))
