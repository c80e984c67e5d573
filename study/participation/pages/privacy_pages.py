"""The page that lists which data about participants are stored, and the withdrawal pages."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from study.design.models import Study
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participants.personal_data_register import ERASED_DATA, STORED_BESIDE, STORED_DATA, settings_on
from study.participants.records_after_erasure import NO_REENTRY_STATUSES, PAID_STATUSES
from study.participation.language_choice import activate_language
from study.participation.pages.end_pages import outcome_context
from study.participation.pages.page_context import page_response, plays_with_people


def withdraw_page(request: HttpRequest, person: Participant) -> HttpResponse:
    """Show what a withdrawal erases and keeps, before anything is erased."""
    shared, on = plays_with_people(person), settings_on(person.study)
    erased = [one for one in ERASED_DATA if not one.setting or one.setting in on]
    return page_response(
        request,
        person,
        "withdraw",
        going=[gettext((shared and one.shared) or one.what) for one in erased],
        complete=person.status in PAID_STATUSES,
        shares=shared,
        not_again=person.status in NO_REENTRY_STATUSES and bool(person.label),
    )


def withdrawn_page(request: HttpRequest, person: Participant) -> HttpResponse:
    """Erase everything and show a receipt, with the completion code once more if the participant had
    finished, and what to do at the recruitment platform.

    Raises Participant.DoesNotExist if the data were erased already.
    """
    outcome, leaving = outcome_context(person, person.label), RECRUITMENT_PLACES[person.source].leaving
    context = {
        **outcome,
        "study": person.study,
        "preview": person.preview,
        "receipt": participant_withdraw(participant_id=person.pk),
        "leaving": gettext(leaving) if leaving else "",
    }
    return render(request, "study/participation/withdrawn.html", context)


@never_cache
@require_GET
def stored_data_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show which data a study stores. Open to everybody, before and after consent; shows no participant."""
    study = get_object_or_404(Study, slug=slug)
    activate_language(request, study)
    on = settings_on(study)
    context = {
        "study": study,
        "keeps_devices": "keeps_devices" in on,
        "lines": [line.told() for line in STORED_DATA.values() if not line.setting or line.setting in on],
        "beside": list(map(gettext, STORED_BESIDE.values())),
        "names": settings.KEEP_NAMES_DAYS,
        "everything": settings.KEEP_DAYS,
        "events": settings.KEEP_EVENTS_DAYS,
    }
    return render(request, "study/participation/stored.html", context)
