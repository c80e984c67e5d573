"""Pauses of entry for staff: whether one is on, why, and letting people in again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.design.models import Study
from study.people.pauses import pause_end, pause_on
from study.researchers.permissions import may, study_page

SHOWN = 50
"""Pauses on the page, the newest."""


@study_page("view")
def entry(request: HttpRequest, study: Study) -> HttpResponse:
    """What is on, what was before, and a button for who may."""
    context = {
        "study": study,
        "pause": pause_on(study),
        "pauses": study.entry_pauses.all()[:SHOWN],
        "may_edit": may(request.user, study, "edit"),
    }
    return render(request, "study/monitor/entry.html", context)


@study_page("edit", methods=("POST",))
def entry_go_on(request: HttpRequest, study: Study) -> HttpResponse:
    """People are let in again, at once."""
    if pause_end(study_id=study.pk, user=request.user):  # type: ignore[arg-type]
        messages.success(request, "People are let in again. Counting begins anew.")
    else:
        messages.warning(request, "No pause is on: people are let in.")
    return redirect("study:staff-entry", study.slug)
