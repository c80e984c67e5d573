"""Pages for what went wrong. They need their template and nothing else: no database, no session, no cookie,
not even the request. So they can be shown whatever is broken, the request itself included.

Where the database cannot store or read for the time being, the page keeps what was sent and sends it again.
"""

from __future__ import annotations

import sys
from typing import Any

from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import get_template

from brigade.again import to_send_again
from kitchen.machine.patience import locked_too_long
from kitchen.machine.storage import Trouble, trouble_of

PAGES = (400, 403, 404, 413, 429, 500, 503)
"""Statuses that have a page: `templates/<status>.html`."""


AGAIN_SECONDS = 5
"""After so long a page that could not be shown or taken tries again by itself."""


def error_page(status: int, **context: Any) -> HttpResponse:
    """The page of a status, with the policy that all pages have."""
    response = HttpResponse(get_template(f"{status}.html").render(context), status=status)
    response["Content-Security-Policy"] = build_policy()
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


def storage_page(request: HttpRequest, trouble: Trouble) -> HttpResponse:
    """What is said while nothing can be stored or read. It tries again by itself, with all that was filled
    in where that can be sent by a page; programs are told in JSON."""
    locked_too_long(trouble)
    if request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse({"detail": f"Nothing can be read: {trouble}"}, status=503)
    else:
        why = trouble if request.path.startswith(("/staff/", "/admin/")) else ""
        updating, passes = trouble is Trouble.UPDATING, trouble.passes
        told = {"why": why, "updating": updating, "passes": passes, "seconds": AGAIN_SECONDS}
        response = error_page(503, **told, again=to_send_again(request))
    response["Retry-After"] = str(AGAIN_SECONDS)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler400`. Django's own reads the form once more, fails at the same place, and nothing is shown.
    That a session could not be stored comes here, too."""
    trouble = trouble_of(exception)
    return storage_page(request, trouble) if trouble else error_page(400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler403`."""
    return error_page(403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler404`."""
    return error_page(404)


def server_error(request: HttpRequest) -> HttpResponse:
    """`handler500`, called where the error is dealt with."""
    trouble = trouble_of(sys.exc_info()[1])
    return storage_page(request, trouble) if trouble else error_page(500)
