"""Create, find and revoke API tokens. Only hashes of their secrets are stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from study.design.models import Study
from study.researchers.models import ApiToken, SecurityEvent
from study.researchers.permissions import has_right
from study.researchers.security_events import log_security_event

PREFIX = "brigade_"
"""Prefix of every token, so that it is recognised where it leaks."""
LONGEST = timedelta(days=365)
"""Longest lifetime of a token."""
USED_SECONDS = 60
"""The time of last use is written at most once in this many seconds."""


def token_make(
    *, user: Any, name: str, study: Study | None = None, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Create a token, and return it with its secret (256 bits). The secret cannot be read again. The token
    expires at `expires_at`, and after a year at the latest.

    Raises PermissionError for a study that this user may not see.
    """
    if study is not None and not has_right(user, study, "view"):
        raise PermissionError(study.slug)
    secret = PREFIX + secrets.token_urlsafe(32)
    hint = secret[: len(PREFIX) + 4]
    latest = timezone.now() + LONGEST
    ends = min(expires_at or latest, latest)
    row = ApiToken.objects.create(
        user=user, name=name, study=study, expires_at=ends, digest=digest_of(secret), hint=hint
    )
    log_security_event(SecurityEvent.Kind.TOKEN_MADE, user=user, study=study, what=str(row))
    return row, secret


def token_revoke(*, user: Any, token_id: int) -> bool:
    """Revoke one of the user's own tokens. Return False if the user has no token with this id, or if it is
    already revoked."""
    mine = ApiToken.objects.filter(user=user, pk=token_id, revoked_at=None)
    if not mine.update(revoked_at=timezone.now()):
        return False
    row = ApiToken.objects.select_related("study").get(pk=token_id)
    log_security_event(SecurityEvent.Kind.TOKEN_REVOKED, user=user, study=row.study, what=str(row))
    return True


def token_find(secret: str) -> ApiToken | None:
    """Return the valid token with this secret, and record its use. Return None if there is no such token,
    or if its user is no longer active staff."""
    now = timezone.now()
    alive = ApiToken.objects.filter(expires_at__gt=now, revoked_at=None)
    token = alive.select_related("user", "study").filter(digest=digest_of(secret)).first()
    if token is None or not (token.user.is_active and token.user.is_staff):
        return None
    recently = now - timedelta(seconds=USED_SECONDS)
    seldom = Q(last_used_at=None) | Q(last_used_at__lt=recently)
    ApiToken.objects.filter(seldom, pk=token.pk).update(last_used_at=now)
    return token


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret. A slower hash is not needed, because the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()
