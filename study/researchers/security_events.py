"""Log security events in the database and in the file `security.log`, and verify the logged events.

Each event has a seal (a keyed hash) and a number without gaps. So changed and missing events are found. The
module also lists expired events. Neither passwords nor unknown user names are stored, because an unknown name
may be a password. The log names no erased participant.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.client_address import client_address
from kitchen.infra.database_writes import batches_of
from kitchen.infra.hmac_seals import column_values, make_seal, seal_is_valid
from study.design.models import Study
from study.participants.end_and_erase_participation import LeavingReceipt
from study.participants.participant_notifications import participant_leaving
from study.researchers.models import ApiToken, SecurityCount, SecurityEvent

ROW, COUNT = "security event", "security events"
SEALED = ("number", "at", "kind", "user_name", "study", "what", "address")
ONLY = 1
"""The id of the single count row."""
NO_COUNT = "security events: how many there were is gone"
FALSE_COUNT = "security events: how many there were was not written with this installation's key"


@transaction.atomic
def event_write(**values: Any) -> SecurityEvent:
    """Store the next event, with its number and its seal (a signed hash), and return it. Other writers wait
    until the surrounding transaction ends."""
    count = _count()
    event = SecurityEvent(number=count.last + 1, **values)
    event.seal = make_seal(ROW, column_values(event, SEALED))
    event.save()
    _store(count, last=event.number, erased=count.erased)
    return event


def _count() -> SecurityCount:
    """Return the database row with the number of the last event. The row is locked for update."""
    fresh = {"last": 0, "erased": 0, "seal": make_seal(COUNT, [0, 0])}
    count, _ = SecurityCount.objects.select_for_update().get_or_create(pk=ONLY, defaults=fresh)
    return count


def _store(count: SecurityCount, *, last: int, erased: int) -> None:
    count.last, count.erased, count.seal = last, erased, make_seal(COUNT, [last, erased])
    count.save()


def events_erase(events: QuerySet[SecurityEvent]) -> int:
    """Erase the given events in batches, and record the highest number erased. Return how many were
    erased. The events must be the oldest ones."""
    numbers = dict(events.order_by("pk").values_list("pk", "number"))
    for piece in batches_of(numbers):
        with erasure_allowed():
            count = _count()
            SecurityEvent.objects.filter(pk__in=piece).delete()
            _store(count, last=count.last, erased=max(count.erased, *(numbers[pk] for pk in piece)))
    return len(numbers)


def events_verify() -> Iterator[str]:
    """Check all stored events. Yield a message for every event that was changed or is missing."""
    count = SecurityCount.objects.filter(pk=ONLY).first()
    if count is None:
        if SecurityEvent.objects.exists() or get_user_model().objects.exclude(last_login=None).exists():
            yield NO_COUNT
        return
    if not seal_is_valid(count.seal, COUNT, [count.last, count.erased]):
        yield FALSE_COUNT
    before = count.erased
    for event in SecurityEvent.objects.order_by("number", "pk").iterator():
        valid = seal_is_valid(event.seal, ROW, column_values(event, SEALED))
        if not valid or event.number == before > count.erased:
            yield f"security event {event.pk} is not what was written"
        if event.number > before:
            yield from _missing(before + 1, event.number - 1)
            before = event.number
    yield from _missing(before + 1, count.last)


def _missing(first: int, last: int) -> Iterator[str]:
    if first == last:
        yield f"security event number {first} is missing"
    elif first < last:
        yield f"security events number {first} to {last} are missing"


_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def current_request() -> HttpRequest | None:
    """Return the web request that the app is answering now. Return None outside of a request, as in a
    command or a worker."""
    return _request.get()


def remember_request(
    page: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Store the current request for `current_request` (Django middleware)."""

    def enter(request: HttpRequest) -> HttpResponseBase:
        token = _request.set(request)
        try:
            return page(request)
        finally:
            _request.reset(token)

    return enter


log = logging.getLogger("brigade.security")

Kind = SecurityEvent.Kind


def log_security_event(
    kind: str,
    *,
    user: Any = None,
    study: Study | None = None,
    what: str = "",
    request: HttpRequest | None = None,
) -> None:
    """Store an event: who did something, in which study, to what, and from which address.

    Without `user` and `request`, the staff user of the current request is stored. Participants are never
    stored. The row is part of the surrounding transaction. The log line is written after the commit.
    """
    request = request or _of_staff(current_request())
    user = user or getattr(_of_staff(request), "user", None)
    noted = {
        "kind": str(kind),
        "user_name": user.get_username() if user else "",
        "study": study.slug if study else "",
        "what": what[:200],
        "address": str(client_address(request) or "") if request else "",
    }
    event = event_write(**noted)
    line = json.dumps({"at": event.at.isoformat(timespec="seconds"), **noted})
    transaction.on_commit(partial(log.info, line), robust=True)


def _of_staff(request: HttpRequest | None) -> HttpRequest | None:
    """Return the request if its user is logged in. Otherwise return None."""
    user = getattr(request, "user", None)
    return request if user is not None and user.is_authenticated else None


def log_logins_and_erasures() -> None:
    """Connect the signal receivers that log logins and erasures."""
    user_logged_in.connect(_logged_in)
    user_logged_out.connect(_logged_out)
    user_login_failed.connect(_login_failed)
    participant_leaving.connect(_person_goes)


def _logged_in(*, user: Any, request: HttpRequest, **_: Any) -> None:
    log_security_event(Kind.LOGIN, user=user, request=request)


def _logged_out(*, user: Any, request: HttpRequest, **_: Any) -> None:
    if user:
        log_security_event(Kind.LOGOUT, user=user, request=request)


def _login_failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    name = str(credentials.get("username") or "")[:150]
    user = get_user_model().objects.filter(username=name).first()
    log_security_event(Kind.LOGIN_FAILED, user=user, request=request)


def _person_goes(*, study_id: int, receipt: LeavingReceipt, mark: str, by: Any, **_: Any) -> None:
    log_security_event(
        Kind.PERSON_ERASED,
        user=by,
        study=Study.objects.filter(pk=study_id).first(),
        what=f"{receipt.without_proof} {mark}",
    )


def expired_events(days: int | None) -> dict[str, QuerySet[Any]]:
    """Return the rows that can be erased, by kind. Ended sessions and expired API tokens are always
    included.

    Rows that are older than `days` days are included too. If `days` is None, no row is too old.
    """
    now = timezone.now()
    found: dict[str, QuerySet[Any]] = {
        "ended session": Session.objects.filter(expire_date__lt=now),
        "expired token": ApiToken.objects.filter(expires_at__lt=now),
    }
    return found | (_older(now - timedelta(days=days)) if days is not None else {})


def _older(than: datetime) -> dict[str, QuerySet[Any]]:
    """Return the rows older than the time `than`, by kind: security events and failed logins.

    Events about erased participants are not returned. They identify nobody, and they show who must be
    erased again after a restore. Two logs of django-axes are returned only if they have such rows, because
    they are usually switched off.
    """
    events = SecurityEvent.objects.exclude(kind=SecurityEvent.Kind.PERSON_ERASED)
    logs = {
        "failed login in the log/failed logins in the log": AccessFailureLog,
        "login in the log/logins in the log": AccessLog,
    }
    logged = {what: model.objects.filter(attempt_time__lt=than) for what, model in logs.items()}
    return {
        "security event": events.filter(at__lt=than),
        "failed login": AccessAttempt.objects.filter(attempt_time__lt=than),
        **{what: rows for what, rows in logged.items() if rows.exists()},
    }
