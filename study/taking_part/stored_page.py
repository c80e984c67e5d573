"""The page that says what is stored about whoever takes part, why, for how long, and who sees it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.words.counting import counted
from study.design.models import Study
from study.people.stored import BESIDE, LINES


@never_cache
@require_GET
def stored(request: HttpRequest, slug: str) -> HttpResponse:
    """For everybody, before they agree and afterwards; about a study, and about nobody in it."""
    context = {
        "study": get_object_or_404(Study, slug=slug),
        "lines": LINES.values(),
        "beside": BESIDE.values(),
        "names": _kept(settings.KEEP_NAMES_DAYS),
        "everything": _kept(settings.KEEP_DAYS),
        "events": _kept(settings.KEEP_EVENTS_DAYS),
    }
    return render(request, "study/taking_part/stored.html", context)


def _kept(days: int | None) -> str:
    """How long, in words; empty for no limit."""
    return counted(days, "day") if days else ""
