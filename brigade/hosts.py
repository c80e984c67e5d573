"""Who comes in by which name: the name under which we are asked, and the page that opens a websocket.

Pages check their host by themselves, as soon as they need it; files and websockets would not. A websocket is
opened by a page of ours only: the same scheme, host and port, or those of `BRIGADE_URL`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponseBase

Application = Callable[[Any, Any, Any], Awaitable[Any]]
Origin = tuple[str, str, int]
Page = Callable[[HttpRequest], HttpResponseBase]

PORTS = {"http": 80, "https": 443}
NOTHING_ALLOWED = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
"""What no page of ours asks a browser for, nor any page in it."""

log = logging.getLogger(__name__)


ASKED_BY_ADDRESS = {"/health", "/ready", "/metrics"}
"""What orchestrators and web servers ask for by the address of a process. Their answers depend on no name and
make no link, so any name will do there."""


def under_our_name(page: Page) -> Page:
    """Django's middleware, before files are served: DisallowedHost (an answer 400) for a name that is not
    ours; every answer says what pages may not do."""

    def enter(request: HttpRequest) -> HttpResponseBase:
        if request.path in ASKED_BY_ADDRESS:
            request.META["HTTP_HOST"] = urlsplit(settings.PUBLIC_URL).netloc
        request.get_host()
        answer = page(request)
        answer.headers.setdefault("Permissions-Policy", NOTHING_ALLOWED)
        return answer

    return enter


class FromOurPages:
    """Websockets that our own pages open; others are refused before anybody looks at them."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Pass it on, or refuse it with the status 403."""
        if is_ours(scope):
            return await self.inner(scope, receive, send)
        log.warning("a websocket was refused: it comes from another site, or under another name")
        await receive()
        return await send({"type": "websocket.close"})


def is_ours(scope: Any) -> bool:
    """Whether a websocket is asked for under a name of ours, by a page of the same origin or of
    `BRIGADE_URL`."""
    scheme = {"ws": "http", "wss": "https"}.get(scope.get("scheme", ""), "http")
    request = ASGIRequest({**scope, "method": "GET", "scheme": scheme}, None)  # type: ignore[arg-type]
    try:
        ours = {origin_of(f"{request.scheme}://{request.get_host()}"), origin_of(settings.PUBLIC_URL)}
        return origin_of(request.headers.get("Origin", "")) in ours
    except (DisallowedHost, ValueError):
        return False


def origin_of(url: str) -> Origin:
    """Scheme, host and port of an address; ValueError for none."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no origin")
    return parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme]
