"""Choose the language of a visitor's pages: the language that they chose, or else their browser's language.

A language that the study does not offer is ignored. A participant's choice is stored in the database. Any
other visitor's choice is stored in a cookie.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from study.design.models import Study
from study.design.translations import best_language, language_codes
from study.participants.models import Participant
from study.participation.page_progress import participant_of_key
from study.participation.signed_cookies import set_cookie

COOKIE_SECONDS = 90 * 24 * 3600


def activate_language(request: HttpRequest, study: Study, person: Participant | None = None) -> str:
    """Activate the visitor's language for the rest of this request, and return its code."""
    language = best_language(study.languages, [person.language] if person else _wanted(request))
    translation.activate(language)
    return language


def _wanted(request: HttpRequest) -> list[str]:
    """Return the languages that the visitor prefers, with the most preferred one first."""
    asked = parse_accept_lang_header(request.headers.get("Accept-Language", ""))
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return [chosen, *(language for language, _ in asked)]


@never_cache
@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Store the chosen language in a cookie. If the form has a participant's key, store the language for
    the participant, too."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return HttpResponseBadRequest()
    person = participant_of_key(request.POST.get("key", ""))
    if person and language in language_codes(person.study.languages):
        Participant.objects.filter(pk=person.pk).update(language=language)
    response = redirect(_back(request))
    set_cookie(response, settings.LANGUAGE_COOKIE_NAME, language, max_age=COOKIE_SECONDS)
    return response


def _back(request: HttpRequest) -> str:
    """Return the address of the page on which the visitor chose the language, for the redirect back to it."""
    page = request.POST.get("next", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if ours and page.startswith("/") else "/"
