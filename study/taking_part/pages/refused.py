"""The label of somebody who refused: it is erased here, so their own browser keeps it until it is closed.

The place that sent them may want it back (`{label}` in the address of this end); nothing else reads it.
"""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from study.people.models import Participant

COOKIE = "brigade_label"
SALT = "brigade.label"


def keep_label(response: HttpResponse, person: Participant) -> HttpResponse:
    """The answer to a refusal; `person` as they were before it."""
    if person.label:
        response.set_cookie(
            COOKIE,
            signing.dumps([person.shown_key, person.label], salt=SALT),
            path=person.get_absolute_url(),
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


def kept_label(request: HttpRequest, person: Participant) -> str:
    """The label that this browser has kept for this participant; empty if none."""
    try:
        key, label = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT)
    except signing.BadSignature:
        return ""
    return str(label) if key == person.shown_key else ""
