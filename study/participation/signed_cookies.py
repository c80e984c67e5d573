"""Set and read the cookies of participants' pages, with or without a signature.

Scripts cannot read these cookies (HttpOnly). Other sites' requests do not include them, unless the
participant follows a link (SameSite=Lax).
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse


def set_cookie(
    response: HttpResponse, name: str, value: str, *, path: str = "/", max_age: int | None = None
) -> None:
    """Set a cookie that only the server reads. Without `max_age` (seconds), it lasts until the browser is
    closed."""
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(name, value, max_age=max_age, path=path, httponly=True, samesite="Lax", secure=secure)


def set_signed_cookie(
    response: HttpResponse, name: str, value: Any, *, salt: str, path: str = "/", max_age: int | None = None
) -> None:
    """Set a cookie like `set_cookie`, with a signed JSON value."""
    set_cookie(response, name, signing.dumps(value, salt=salt), path=path, max_age=max_age)


def signed_cookie(request: HttpRequest, name: str, *, salt: str, max_age: int | None = None) -> Any:
    """Return the value of a signed cookie. Return None if there is none or this server did not sign it."""
    try:
        return signing.loads(request.COOKIES.get(name, ""), salt=salt, max_age=max_age)
    except signing.BadSignature:
        return None
