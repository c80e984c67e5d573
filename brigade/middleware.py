"""Define middleware for pages and websockets: request ids, host and origin checks, language, static files.

The request id comes from the proxy's header `X-Request-ID`; without a valid one, it is random. A websocket
must come from a page of the same origin, or of the origin of `BRIGADE_URL`. Static files are compressed once
and stored; HTML files among them get a content security policy. For pages, the library django-csp sets the
policy of `brigade.settings.CONTENT_SECURITY_POLICY`.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, parse_cookie
from django.utils import translation
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from brigade.server_limits import STAFF_AND_API_PATHS
from kitchen.infra import file_writing, prometheus_metrics
from kitchen.infra.foreign_files import reading_in_pool
from kitchen.infra.log_context import extend_log_context

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADER = b"x-request-id"
_NAME = re.compile(rb"[A-Za-z0-9._-]{8,64}")
NORMAL, REFUSED = "1000", "refused"
CODES = {NORMAL, "1001", "1005", "1006", "1009", "1011", "1012", "4401", "4403", "4404", "4409", "4429"}
"""Close codes that are counted separately; browsers may send any other."""


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the request id in the header `X-Request-ID`, or a new random id if there is no valid one."""
    given = next((value for name, value in headers if name.lower() == HEADER), b"")
    return given.decode() if _NAME.fullmatch(given) else secrets.token_hex(8)


class RequestIdPages:
    """An ASGI application that wraps the app's pages and gives each request an id, for logs."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        name = request_id_of(scope["headers"])
        extend_log_context(request=name)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                prometheus_metrics.http_answers.labels(str(message["status"])).inc()
                head = [*message.get("headers", ()), (HEADER, name.encode())]
                message = {**message, "headers": head}
            await send(message)

        await self.application(scope, receive, answer)


class RequestIdWebSockets:
    """An ASGI application that wraps the app's websockets and gives each connection an id, for logs."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        extend_log_context(request=request_id_of(scope["headers"]))
        line = TrackedWebSocket("staff" if scope["path"].startswith("/ws/staff/") else "play", receive, send)
        try:
            await self.application(scope, line.receive, line.send)
        finally:
            line.end()


class TrackedWebSocket:
    """One websocket connection whose messages pass through this object in both directions."""

    def __init__(self, page: str, receive: Receive, send: Send) -> None:
        self._open, self._code = False, ""
        self._page, self._receive, self._send = page, receive, send

    async def receive(self) -> Message:
        """Return the next message from the browser."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            self._closed(message.get("code", 1005))
        return message

    async def send(self, message: Message) -> None:
        """Send a message to the browser."""
        if message["type"] == "websocket.accept" and not self._open:
            self._open = True
            prometheus_metrics.open_websockets.labels(self._page).inc()
        elif message["type"] == "websocket.close":
            self._closed(message.get("code") or 1000)
        await self._send(message)

    def end(self) -> None:
        """Count the end of the connection in the metrics."""
        if self._open:
            prometheus_metrics.open_websockets.labels(self._page).dec()
        if self._code:
            prometheus_metrics.websocket_closes.labels(self._code).inc()

    def _closed(self, code: int) -> None:
        """Store the close code for the metrics. Only the code of the side that closes first counts."""
        known = str(code) if str(code) in CODES else prometheus_metrics.OTHER
        self._code = self._code or (known if self._open else REFUSED)


Application = Callable[[Any, Any, Any], Awaitable[Any]]
Origin = tuple[str, str, int]
Page = Callable[[HttpRequest], HttpResponseBase]

PORTS = {"http": 80, "https": 443}
NOTHING_ALLOWED = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
"""Permissions policy: the browser features that no page, and no frame in it, may use."""

log = logging.getLogger(__name__)


ASKED_BY_ADDRESS = {"/health", "/ready", "/metrics"}
"""Paths that orchestrators and web servers request by the address of a process. Their answers depend on no
host name and contain no links, so any name is accepted."""


def read_foreign_files_in_pool(page: Page) -> Page:
    """Return middleware that lets pages of staff, and the API, parse foreign files in a child process."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(STAFF_AND_API_PATHS):
            return page(request)
        with reading_in_pool():
            return page(request)

    return answer


def check_host(page: Page) -> Page:
    """Return middleware that checks the host name of a request before static files are served. Raises
    DisallowedHost (status 400) for an unknown name. The header `Permissions-Policy` is added to every
    response."""

    def enter(request: HttpRequest) -> HttpResponseBase:
        if request.path in ASKED_BY_ADDRESS:
            request.META["HTTP_HOST"] = urlsplit(settings.PUBLIC_URL).netloc
        request.get_host()
        answer = page(request)
        answer.headers.setdefault("Permissions-Policy", NOTHING_ALLOWED)
        return answer

    return enter


class CheckWebSocketOrigin:
    """An ASGI application that accepts websockets only from pages of this site. Others are refused before
    the app runs."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Accept the connection if its origin is allowed. Otherwise refuse it with status 403."""
        if is_allowed_origin(scope):
            return await self.inner(scope, receive, send)
        log.warning("a websocket was refused: it comes from another site, or under another name")
        await receive()
        return await send({"type": "websocket.close"})


def is_allowed_origin(scope: Any) -> bool:
    """Return whether a websocket request is allowed. It must be addressed to one of this site's host
    names. The page that sends it must have the same origin, or the origin of `BRIGADE_URL`."""
    scheme = {"ws": "http", "wss": "https"}.get(scope.get("scheme", ""), "http")
    request = ASGIRequest({**scope, "method": "GET", "scheme": scheme}, None)  # type: ignore[arg-type]
    try:
        ours = {origin_of(f"{request.scheme}://{request.get_host()}"), origin_of(settings.PUBLIC_URL)}
        return origin_of(request.headers.get("Origin", "")) in ours
    except (DisallowedHost, ValueError):
        return False


def origin_of(url: str) -> Origin:
    """Return scheme, host and port of a URL. Raises ValueError if the scheme is unknown or the host is
    missing."""
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no origin")
    return parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme]


ENGLISH = "en"


def activate_default_language(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that activates the default language during a request. It also makes caches store one
    response for each language."""

    def answer(request: HttpRequest) -> HttpResponse:
        with translation.override(default_language(request)):
            response = get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response

    return answer


def default_language(request: HttpRequest) -> str:
    """Return the language to use before the study's language is known: English for staff and the API,
    otherwise the browser's language."""
    if request.path.startswith(STAFF_AND_API_PATHS):
        return ENGLISH
    return translation.get_language_from_request(request)


def default_language_of_scope(scope: Mapping[str, Any]) -> str:
    """Return the language to use before the study's language is known, for an ASGI scope that Django has
    not parsed yet. It is English for staff and the API, and otherwise the browser's language."""
    said = {name: value.decode("latin-1") for name, value in scope["headers"]}
    request = HttpRequest()
    request.path = request.path_info = scope["path"]
    request.META["HTTP_ACCEPT_LANGUAGE"] = said.get(b"accept-language", "")
    request.COOKIES = parse_cookie(said.get(b"cookie", ""))
    return default_language(request)


COMPRESSIBLE = (".css", ".html", ".js", ".svg", ".json", ".txt", ".map")
SHORTEST = 512
"""Minimum size in bytes of a file worth compressing."""


class CompressedStaticMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise (which serves static files) with gzip for browsers that accept it, and with the security
    policy on HTML pages."""

    def add_mime_headers(self, headers: Any, path: str, url: str) -> None:
        """Add the header `Content-Type` to a static file's headers. For a page of the documentation, also
        add the header `Content-Security-Policy`."""
        super().add_mime_headers(headers, path, url)
        if path.endswith(".html"):
            headers["Content-Security-Policy"] = build_policy()

    def get_static_file(self, path: str, url: str, stat_cache: dict[str, Any] | None = None) -> StaticFile:
        """Return the static file at this path with its headers. If a gzip-compressed copy exists, the
        result includes that copy."""
        plain = super().get_static_file(path, url, stat_cache)
        if (found := compressed(Path(path))) is None:
            return plain
        headers = [(name, value) for name, value in plain.alternatives[-1][2] if name != "Content-Length"]
        return StaticFile(path, headers, encodings={"gzip": str(found)})


def compressed(file: Path) -> Path | None:
    """Return the path of the gzip-compressed copy of this file. The copy is created if it is missing.
    Return None if compression saves too little, or if the copy cannot be stored."""
    if file.suffix not in COMPRESSIBLE or file.stat().st_size < SHORTEST:
        return None
    content = file.read_bytes()
    kept = Path(settings.VAR_DIR) / "static" / f"{hashlib.sha256(content).hexdigest()[:32]}.gz"
    try:
        kept.parent.mkdir(exist_ok=True)
        return kept if kept.exists() else file_writing.write_atomically(kept, gzip.compress(content, mtime=0))
    except OSError:
        return None
