"""The page that says what is stored about whoever takes part, why, for how long, and who sees it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from study.design.models import Study
from study.people.stored import BESIDE, LINES, settings_on
from study.taking_part.speaking import speak


@never_cache
@require_GET
def stored(request: HttpRequest, slug: str) -> HttpResponse:
    """For everybody, before they agree and afterwards; about a study, and about nobody in it."""
    study = get_object_or_404(Study, slug=slug)
    speak(request, study)
    on = settings_on(study)
    context = {
        "study": study,
        "keeps_devices": "keeps_devices" in on,
        "lines": [line.told() for line in LINES.values() if not line.setting or line.setting in on],
        "beside": [line.told() for line in BESIDE.values()],
        "names": settings.KEEP_NAMES_DAYS,
        "everything": settings.KEEP_DAYS,
        "events": settings.KEEP_EVENTS_DAYS,
    }
    return render(request, "study/taking_part/stored.html", context)
