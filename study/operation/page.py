"""The page *Is everything well?*, for all staff: it names nobody, and no study."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from study.operation.lines import summary, worst
from study.operation.well import installation_lines
from study.researchers.permissions import staff_page

AGAIN_SECONDS = 15
"""How often an open page looks again."""


@staff_page()
def well(request: HttpRequest) -> HttpResponse:
    """The whole page; for htmx the lines alone (`?said=`, what the page says in a sentence), and the sentence
    with them if it is another one: only then it is read aloud."""
    lines = installation_lines()
    said = summary(lines)
    context = {"lines": lines, "summary": said, "worst": worst(lines), "now": timezone.now()}
    context["again"] = AGAIN_SECONDS
    if "said" not in request.GET:
        return render(request, "study/operation/well.html", context)
    context["oob"] = said != request.GET["said"]
    return render(request, "study/operation/well_lines.html", context)
