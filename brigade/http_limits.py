"""Limit the size of request bodies, and how many requests of each kind a server process answers at once.

Further requests wait in queues. Otherwise, many requests would delay people who play over a websocket.
Participants' pages, static files, staff pages, downloads, logins and `/ready` have queues of their own. One
participant, login of staff or API token that sends many requests waits before it enters a queue. If an error
response has no body, the module adds an error page.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.http import HttpResponse, parse_cookie
from django.utils import translation

from brigade.error_pages import OVERLOADED, PAGES, RETRY_SECONDS, error_page, unavailable_page
from brigade.middleware import Message, Receive, Send, default_language_of_scope
from brigade.server_limits import (
    LARGEST_BODY,
    LIMITED_QUEUES,
    MOST_AT_ONCE,
    MOST_IN_QUEUE,
    MOST_LOGINS_OF_NETWORK,
    MOST_WAITING_FOR_RATE_LIMIT,
    MOST_WAITING_OF_SENDER,
    POLICY_FILES,
    SENDER_RATE_LIMITS,
    STAFF_AND_API_PATHS,
    STUDY_FILES,
    largest_body,
)
from kitchen.infra.client_address import client_networks, scope_client_address
from kitchen.infra.rate_limits import TokenBucket, TokenBuckets
from study.design.media.media_limits import UPLOAD_PATH, limit_words

Headers = Iterable[tuple[bytes, bytes]]

log = logging.getLogger(__name__)

HEALTH_PATH, READY_PATH, STATIC_PATHS = "/health", "/ready", "/static/"
HEALTH = "health"
"""The kind of requests that ask whether the process lives. They wait in no queue: if they did, a busy process
would be restarted."""
LOGIN_PATHS = ("/admin/login/", "/staff/account/")
"""Prefixes of paths whose forms have passwords."""
FIRST_STAFF_PAGE, STAFF_FORMS = "/staff/", ("/staff/", "/admin/")
_FILE_PATH = re.compile(r"\.[a-z]+$|^/api/studies/.")
"""Addresses of files: with an ending, or among the files of the API."""
_PARTICIPANT_PATH = re.compile(r"^/p/([^/]+)/")
_BEARER = re.compile(rb"\s*bearer\s+(\S.*)", re.IGNORECASE)
ABOUT_THE_BODY = {b"content-type", b"content-length"}
"""Headers that describe the body and therefore come from the error page."""


class HttpLimits:
    """An ASGI application that wraps the app's pages and refuses request bodies of more than `largest` bytes,
    or than the page takes (`server_limits.LARGER_BODIES`).

    A body with a declared length is refused before it is read. Any other body is refused as soon as it is
    too large.
    """

    def __init__(self, application: Any, largest: int = LARGEST_BODY) -> None:
        self.application, self.largest = application, largest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        with translation.override(default_language_of_scope(scope)):  # for error pages
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        largest = largest_body(scope["path"], self.largest)
        incoming, outgoing = LimitedBody(receive, largest), ErrorPageResponse(send)
        headers = {name.lower(): value for name, value in scope["headers"]}
        declared = headers.get(b"content-length", b"")
        incoming.too_large = declared.isdigit() and int(declared) > largest
        try:
            if not incoming.too_large:
                await self.application(scope, incoming, outgoing)
        except Exception:
            if outgoing.begun:
                raise
            log.exception("nothing could be answered: %s", scope["path"])
            await outgoing.page(500)
        if incoming.too_large and not outgoing.begun:
            log.warning("too large: %s", scope["path"])
            kind = headers.get(b"content-type", b"").lower()
            is_file, is_policy = kind.startswith(b"multipart/form-data"), scope["path"] == POLICY_FILES
            is_study = bool(STUDY_FILES.fullmatch(scope["path"]))
            media = limit_words() if UPLOAD_PATH.fullmatch(scope["path"]) else ""
            await outgoing.page(
                413,
                file=is_file,
                policy=is_policy,
                study_file=is_study,
                media=media,
                back=address_of_form(scope, headers),
            )


def address_of_form(scope: Message, headers: Mapping[bytes, bytes]) -> str:
    """Return the address of the page that sent the request, without scheme and host. If the browser does not
    say it, staff get their first page, and others an empty string."""
    sender = urlsplit(headers.get(b"referer", b"").decode("latin-1"))
    if sender.netloc and sender.netloc == headers.get(b"host", b"").decode("latin-1"):
        return f"{sender.path}?{sender.query}" if sender.query else sender.path
    return FIRST_STAFF_PAGE if scope["path"].startswith(STAFF_FORMS) else ""


class LimitedBody:
    """The body of an incoming request. If it is too large, the app receives a disconnect message instead
    of the rest."""

    def __init__(self, receive: Receive, largest: int) -> None:
        self.too_large = False
        self._receive, self._left = receive, largest

    async def __call__(self) -> Message:
        """Return the next message of the request's body, up to the size limit."""
        if not self.too_large:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            self.too_large = self._left < 0
        return {"type": "http.disconnect"} if self.too_large else message


class ErrorPageResponse:
    """The outgoing response. An error response without a body gets the error page of its status."""

    def __init__(self, send: Send) -> None:
        self.begun = False
        self._send = send
        self._error: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send the next message of the response. If it is an error without a body, an error page is sent in
        its place."""
        if message["type"] == "http.response.start" and message["status"] in PAGES:
            self._error = message
        elif self._error is None:
            await self._go(message)
        elif message.get("body") or message.get("more_body"):
            error, self._error = self._error, None
            await self._go(error, message)
        else:
            await self.page(self._error["status"], self._error.get("headers", ()))

    async def page(self, status: int, headers: Headers = (), **context: Any) -> None:
        """Send the error page for `status`, with `headers` from the original response. `context` holds the
        variables of the page's template."""
        await self._go(*response_messages(error_page(status, **context), headers))

    async def _go(self, *messages: Message) -> None:
        self.begun = True
        for message in messages:
            await self._send(message)


def response_messages(page: HttpResponse, headers: Headers = ()) -> list[Message]:
    """Return the ASGI messages of a response. Of the additional `headers`, those that the response has itself
    are left out."""
    own = [(name.lower().encode(), value.encode()) for name, value in page.items()]
    taken = {name for name, _ in own} | ABOUT_THE_BODY
    kept = [(name, value) for name, value in headers if name.lower() not in taken]
    length = (b"content-length", str(len(page.content)).encode())
    return [
        {"type": "http.response.start", "status": page.status_code, "headers": [*own, length, *kept]},
        {"type": "http.response.body", "body": page.content},
    ]


class RequestQueues:
    """An ASGI application that answers a limited number of requests of each kind at once, each in a thread
    of its own. Of the free threads, the one used last is used first."""

    def __init__(
        self,
        application: Any,
        at_once: Mapping[str, int] = MOST_AT_ONCE,
        new_bucket: Callable[..., TokenBucket] = TokenBucket,
    ) -> None:
        self.application = application
        self._threads = {kind: free_threads(kind, count) for kind, count in at_once.items()}
        self._waiting = Counter[str]()
        self._waiting_logins = Counter[str]()
        """The number of waiting logins, by the client's network."""
        self._rate_limits = {
            kind: TokenBuckets(partial(new_bucket, rate=rate, most=most))
            for kind, (rate, most) in SENDER_RATE_LIMITS.items()
        }
        self._waiting_for_rate_limit = Counter[str]()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request when it is its turn. It was read completely, so a client that sends slowly does
        not block the queue.

        Refuse requests of staff with status 503 if their queue is full, and logins with status 429 if too
        many of their network wait. Also refuse requests of a sender if too many of them wait for its rate
        limit: with status 429 those of participants, with 503 those of staff.
        """
        kind = kind_of_request(scope.get("method", "GET"), scope["path"])
        if kind == HEALTH:
            await self.application(scope, receive, send)
            return
        if not await self._wait_for_rate_limit(kind, sender_of_request(kind, scope)):
            await (send_too_many(send) if kind == "participants" else send_overloaded(scope, send))
            return
        threads = self._threads[kind]
        networks = login_networks(scope) if kind == "logins" else []
        if any(self._waiting_logins[network] >= MOST_LOGINS_OF_NETWORK for network in networks):
            await send_too_many(send)
            return
        if kind in LIMITED_QUEUES and self._waiting[kind] >= MOST_IN_QUEUE:
            await send_overloaded(scope, send)
            return
        self._waiting[kind] += 1
        self._waiting_logins.update(networks)
        try:
            thread = await threads.get()
        finally:
            self._waiting[kind] -= 1
            self._waiting_logins.subtract(networks)
            self._waiting_logins = +self._waiting_logins  # without those that wait no more
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.application(scope, receive, send)
        finally:
            threads.put_nowait(thread)

    async def _wait_for_rate_limit(self, kind: str, sender: str) -> bool:
        """Wait until this sender may send another request of this kind. Return False, and do not wait, if too
        many requests wait already."""
        if not sender or kind not in self._rate_limits:
            return True
        bucket = self._rate_limits[kind].bucket(sender)
        if bucket.left - 1 < -MOST_WAITING_OF_SENDER[kind]:
            return False
        is_crowded = (
            kind in LIMITED_QUEUES and self._waiting_for_rate_limit[kind] >= MOST_WAITING_FOR_RATE_LIMIT
        )
        if is_crowded and bucket.is_empty:
            return False
        self._waiting_for_rate_limit[kind] += 1
        try:
            await bucket.taken()
        finally:
            self._waiting_for_rate_limit[kind] -= 1
        return True


def free_threads(kind: str, count: int) -> asyncio.LifoQueue[ThreadPoolExecutor]:
    """Return a queue of `count` executors with one thread each."""
    threads: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
    for _ in range(count):
        threads.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=kind))
    return threads


def kind_of_request(method: str, path: str) -> str:
    """Return in which queue a request waits: a key of `MOST_AT_ONCE`, or `HEALTH` for those that do not wait.

    Logins hash passwords. Downloads are files of staff; a slow client can keep their threads long.
    """
    if path == HEALTH_PATH:
        return HEALTH
    if path == READY_PATH:
        return "ready"
    if path.startswith(STATIC_PATHS):
        return "static"
    if not path.startswith(STAFF_AND_API_PATHS):
        return "participants"
    if method == "POST" and path.startswith(LOGIN_PATHS):
        return "logins"
    return "downloads" if _FILE_PATH.search(path) else "staff"


def sender_of_request(kind: str, scope: Message) -> str:
    """Return a hash of the participant's key in the path. For other kinds of requests, return a hash of the
    API token, or of the session of staff. Empty if the request has none of them.

    Nobody has checked these yet. A hash needs little memory, and does not reveal the credential.
    """
    if kind == "participants":
        found = _PARTICIPANT_PATH.match(scope["path"])
        return hash_of_sender(found[1].encode()) if found else ""
    headers: list[tuple[bytes, bytes]] = scope.get("headers", [])
    for name, value in headers:
        if name == b"authorization" and (token := _BEARER.fullmatch(value)):
            return hash_of_sender(token[1].rstrip())
    cookies = b",".join(value for name, value in headers if name == b"cookie")  # as Django does
    session = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME, "")
    return hash_of_sender(session.encode()) if session else ""


def hash_of_sender(credential: bytes) -> str:
    """Return a hash of 32 characters."""
    return hashlib.blake2b(credential, digest_size=16).hexdigest()


def login_networks(scope: Message) -> list[str]:
    """Return the networks of a client whose logins are counted. Empty for programs on this machine, which may
    be a web server that does not name its clients."""
    address = scope_client_address(scope)
    if address is None:
        return ["unknown"]
    return [] if address.is_loopback else client_networks(address)


async def send_too_many(send: Send) -> None:
    """Refuse a request with status 429 and without a body. `ErrorPageResponse` adds the error page."""
    headers = [(b"retry-after", str(RETRY_SECONDS).encode())]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body"})


async def send_overloaded(scope: Message, send: Send) -> None:
    """Refuse a request with status 503. If it changes nothing, its page tries again by itself."""
    method = scope.get("method", "GET")
    for message in response_messages(unavailable_page(OVERLOADED, method, request_address(scope))):
        await send(message)


def request_address(scope: Message) -> str:
    """Return the URL of a request, without scheme and host."""
    path = scope.get("raw_path", b"").decode("latin-1") or quote(scope["path"])
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{path}?{query}" if query else path
