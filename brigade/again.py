"""What a page that could not be shown or taken is to ask for once more."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, UnreadablePostError

SECRET = re.compile(r"password|token|otp", re.IGNORECASE)
"""Fields that are not written into a page; but for that by which a form is known to be ours."""
OURS = "csrfmiddlewaretoken"


@dataclass(frozen=True, slots=True)
class Again:
    """A request to be made again."""

    address: str
    is_form: bool = False
    """Whether something was filled in."""
    fields: tuple[tuple[str, str], ...] = ()
    """What was filled in; nothing where a page cannot send it by itself: a file, a password."""
    by_itself: bool = True
    """False where somebody should look first: staff may have done more than the form says."""


def to_send_again(request: HttpRequest) -> Again:
    """The same request. What takes part can be sent twice and is taken once; what staff send waits for a
    button."""
    address = request.get_full_path()
    if request.method != "POST":
        return Again(address)
    fields = _fields(request)
    of_staff = request.path.startswith(("/staff/", "/admin/"))
    return Again(address, is_form=True, fields=fields, by_itself=bool(fields) and not of_staff)


def _fields(request: HttpRequest) -> tuple[tuple[str, str], ...]:
    """What was filled in, in its order."""
    try:
        names, files = list(request.POST), bool(request.FILES)
    except (UnreadablePostError, BadRequest, SuspiciousOperation, ValueError):
        return ()
    if files or any(SECRET.search(name) for name in names if name != OURS):
        return ()
    return tuple((name, str(value)) for name in names for value in request.POST.getlist(name))
