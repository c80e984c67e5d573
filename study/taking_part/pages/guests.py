"""What a guest takes away: the code is for who came to the end, and whoever knows a label can be a guest.

A browser in which a guest did the last page remembers it, in a signed cookie of that person's address.
"""

from __future__ import annotations

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from study.people.models import Participant

COOKIE = "brigade_finished"
SALT = "brigade.finished"


def finished(response: HttpResponse, request: HttpRequest, person: Participant) -> HttpResponse:
    """The answer to a page of this person, who took part when it was sent; a guest's browser is told that
    this was the last one, if it was."""
    active = Participant.Status.ACTIVE
    if not (person.as_guest and request.method == "POST" and person.status == active):
        return response
    if not Participant.objects.filter(pk=person.pk, status=active).exists():
        response.set_cookie(
            COOKIE,
            signing.dumps(person.shown_key, salt=SALT),
            path=person.get_absolute_url(),
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


def finished_here(request: HttpRequest, person: Participant) -> bool:
    """Whether what this person takes away may be shown to this browser."""
    if not person.as_guest:
        return True
    try:
        return bool(signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT) == person.shown_key)
    except signing.BadSignature:
        return False
