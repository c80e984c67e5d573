"""Pages for what went wrong. They need their template and nothing else: no database, no session, no cookie,
not even the request. So they can be shown whatever is broken, the request itself included.
"""

from __future__ import annotations

from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template

PAGES = (400, 403, 404, 413, 429, 500)
"""Statuses that have a page: `templates/<status>.html`."""


def error_page(status: int) -> HttpResponse:
    """The page of a status, with the policy that all pages have."""
    response = HttpResponse(get_template(f"{status}.html").render(), status=status)
    response["Content-Security-Policy"] = build_policy()
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler400`. Django's own reads the form once more, fails at the same place, and nothing is shown."""
    return error_page(400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler403`."""
    return error_page(403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler404`."""
    return error_page(404)


def server_error(request: HttpRequest) -> HttpResponse:
    """`handler500`."""
    return error_page(500)
