"""How long what is noted of staff is kept: security events, failed logins, ended sessions, tokens that are
over."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from study.researchers.models import ApiToken, SecurityEvent


def events_kept_too_long(days: int | None) -> dict[str, QuerySet[Any]]:
    """What is to go, by what it is; sessions and tokens that are over go in any case."""
    now = timezone.now()
    found: dict[str, QuerySet[Any]] = {
        "ended session": Session.objects.filter(expire_date__lt=now),
        "expired token": ApiToken.objects.filter(expires_at__lt=now),
    }
    return found | (_older(now - timedelta(days=days)) if days is not None else {})


def _older(than: datetime) -> dict[str, QuerySet[Any]]:
    """That somebody was erased stays: it leads to nobody, and says who must not come back from a backup. What
    axes notes only where it is told to is named where there is some."""
    events = SecurityEvent.objects.exclude(kind=SecurityEvent.Kind.PERSON_ERASED)
    noted = {
        "failed login in the log/failed logins in the log": AccessFailureLog,
        "login in the log/logins in the log": AccessLog,
    }
    logged = {what: model.objects.filter(attempt_time__lt=than) for what, model in noted.items()}
    return {
        "security event": events.filter(at__lt=than),
        "failed login": AccessAttempt.objects.filter(attempt_time__lt=than),
        **{what: rows for what, rows in logged.items() if rows.exists()},
    }
