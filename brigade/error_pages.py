"""Render error pages, and let the browser repeat a request that failed because the database was unavailable.

An error page needs only its template, so it can be shown during any failure. If the database was unavailable,
the page repeats the request after `RETRY_SECONDS` seconds. It also sends a participant's form again, unless
the form has files or passwords. Staff press a button to send their form again.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from csp.utils import build_policy
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.template.loader import get_template

from kitchen.infra.db_errors import DatabaseProblem, database_problem
from kitchen.infra.db_retry import note_lock_timeout

SECRET_FIELDS = re.compile(r"password|token|otp", re.IGNORECASE)
"""Fields that are never written into a page, except the one that proves that a form comes from this site."""
OURS = "csrfmiddlewaretoken"


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """A request that an error page can send again: its URL and the fields of its form."""

    address: str
    is_form: bool = False
    """True if the request submits a form."""
    fields: tuple[tuple[str, str], ...] = ()
    """The submitted fields; empty where a page cannot send them by itself: a file, a password."""
    by_itself: bool = True
    """True if the page may send it without a click. False for staff, who may have done more."""


def request_to_retry(request: HttpRequest) -> RetryRequest:
    """Return the data that the error page needs to send this request again.

    A participant's form is sent again automatically, because the app accepts each form only once. A form of
    staff is sent again when the user presses a button.
    """
    address = request.get_full_path()
    if request.method != "POST":
        return RetryRequest(address)
    fields = _fields(request)
    of_staff = request.path.startswith(("/staff/", "/admin/"))
    return RetryRequest(address, is_form=True, fields=fields, by_itself=bool(fields) and not of_staff)


def _fields(request: HttpRequest) -> tuple[tuple[str, str], ...]:
    """Return the form fields of the request as (name, value) pairs, in the order of the form. Return no
    fields if the form cannot be read, or if it has a file or a secret."""
    try:
        names, files = list(request.POST), bool(request.FILES)
    except (UnreadablePostError, BadRequest, SuspiciousOperation, ValueError):
        return ()
    if files or any(SECRET_FIELDS.search(name) for name in names if name != OURS):
        return ()
    return tuple((name, str(value)) for name in names for value in request.POST.getlist(name))


PAGES = (400, 403, 404, 413, 429, 500, 503)
"""Statuses that have a page: `templates/<status>.html`."""


RETRY_SECONDS = 5
"""Seconds until a page that failed tries again by itself."""


def error_page(status: int, **context: Any) -> HttpResponse:
    """Return the error page for an HTTP status, with the security headers of all pages. `context` are the
    template's variables."""
    response = HttpResponse(get_template(f"{status}.html").render(context), status=status)
    response["Content-Security-Policy"] = build_policy()
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


OVERLOADED = "overloaded"
"""The reason why a request was refused: too many others are waiting."""
UNANSWERED = "unanswered"
"""The reason why a request failed: the process that should answer ended, or took too long."""
DETAILS = {
    OVERLOADED: "The server has too many requests right now. Send the request again later.",
    UNANSWERED: "The server did not answer. Check whether your change was saved before you send it again.",
}
"""What API clients read, by reason."""


def unavailable_page(reason: str, method: str, address: str) -> HttpResponse:
    """Return the response (status 503) for a request that the server could not answer. `reason` is one of
    `DETAILS`. `address` is the URL without scheme and host.

    If the request changed nothing, the page sends it again after `RETRY_SECONDS`. API clients get JSON.
    """
    if unquote(address).startswith("/api/"):
        response: HttpResponse = JsonResponse({"detail": DETAILS[reason]}, status=503)
    else:
        again = None
        if method in {"GET", "HEAD"}:
            again = RetryRequest(address)
        elif reason == OVERLOADED:  # it was not even read, so the user can send it again
            again = RetryRequest(address, is_form=True, by_itself=False)
        response = error_page(503, reason=reason, passes=True, seconds=RETRY_SECONDS, again=again)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def storage_page(request: HttpRequest, trouble: DatabaseProblem) -> HttpResponse:
    """Return the error page (status 503) for a request that failed because of the database. If possible, the
    page sends the request again after `RETRY_SECONDS`. API clients get JSON instead. `trouble` is the kind of
    database problem."""
    note_lock_timeout(trouble)
    if request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse({"detail": f"Nothing can be read: {trouble}"}, status=503)
    else:
        why = trouble if request.path.startswith(("/staff/", "/admin/")) else ""
        updating, passes = trouble is DatabaseProblem.UPDATING, trouble.passes
        told = {"why": why, "updating": updating, "passes": passes, "seconds": RETRY_SECONDS}
        response = error_page(503, database=True, **told, again=request_to_retry(request))
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for status 400 (`handler400`). If the database caused the error, return `storage_page`
    instead. Django's own handler would read the broken form again and fail."""
    trouble = database_problem(exception)
    return storage_page(request, trouble) if trouble else error_page(400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for status 403 (`handler403`). It tells users who are logged in that their role does
    not allow the page."""
    return error_page(
        403, logged_in=getattr(request, "user", None) is not None and request.user.is_authenticated
    )


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for status 404 (`handler404`)."""
    return error_page(404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for status 500 (`handler500`). If the database caused the error, return the
    `storage_page` instead."""
    trouble = database_problem(sys.exc_info()[1])
    return storage_page(request, trouble) if trouble else error_page(500)
