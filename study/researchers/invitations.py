"""Invite staff by links that work once and expire, and let people recover a login. Only hashes are stored.

An invitation makes a new staff login, or adds studies to the login of somebody who has one. A recovery link
gives an existing user a new password, and removes a lost second factor.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from study.design.models import Study
from study.researchers.api_tokens import digest_of
from study.researchers.models import Membership, SecurityEvent, StaffInvitation
from study.researchers.second_factor import factor_remove
from study.researchers.security_events import log_security_event
from study.researchers.staff_login import end_sessions

LIFETIME = timedelta(days=7)
RECOVERY_LIFETIME = timedelta(hours=24)
Kind = SecurityEvent.Kind


class InvitationError(ValueError):
    """Raised for a link that was used, revoked or is too old. The message is for the user."""

    def __init__(self) -> None:
        super().__init__("This link was used before, was taken back, or is too old. Ask for a new one.")


@transaction.atomic
def invitation_make(
    *, by: Any, name: str, role: str, studies: Iterable[Study]
) -> tuple[StaffInvitation, str]:
    """Create an invitation for somebody called `name`, and return it with its secret. The person gets this
    role in these studies. The secret cannot be read again."""
    secret = secrets.token_urlsafe(32)
    row = StaffInvitation.objects.create(
        digest=digest_of(secret), name=name, role=role, made_by=by, expires_at=timezone.now() + LIFETIME
    )
    row.studies.set(studies)
    log_security_event(Kind.INVITE_MADE, user=by, what=f"{name}: {row.what}")
    return row, secret


@transaction.atomic
def recovery_make(*, by: Any, user: Any) -> str:
    """Create a recovery link for another user, and return its secret. Earlier ones of this user end. Raises
    PermissionError for one's own login."""
    if by.pk == user.pk:
        raise PermissionError("Another administrator has to recover your login.")
    secret, now = secrets.token_urlsafe(32), timezone.now()
    StaffInvitation.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=now)
    name = user.get_username()
    StaffInvitation.objects.create(
        digest=digest_of(secret), name=name, user=user, made_by=by, expires_at=now + RECOVERY_LIFETIME
    )
    log_security_event(Kind.INVITE_MADE, user=by, what=f"recovery of {name}")
    return secret


def invitation_find(secret: str) -> StaffInvitation | None:
    """Return the invitation with this secret, if it still works and its maker may still invite."""
    row = StaffInvitation.objects.select_related("made_by", "user").filter(digest=digest_of(secret)).first()
    return row if row and row.works and _may_still_invite(row) else None


def _may_still_invite(row: StaffInvitation) -> bool:
    """Return whether the maker still is an administrator, or still owns all studies of the invitation."""
    maker = row.made_by
    if not maker or not maker.is_active or not maker.is_staff:
        return False
    owned = Membership.objects.filter(user=maker, role=Membership.Role.OWNER).values("study")
    return maker.is_superuser or (row.user_id is None and not row.studies.exclude(pk__in=owned).exists())


def invitation_revoke(*, by: Any, pk: int) -> bool:
    """Take an invitation back. Return False if it was used or taken back before."""
    open_ones = StaffInvitation.objects.filter(pk=pk, used_at=None, revoked_at=None)
    if not by.is_superuser:
        open_ones = open_ones.filter(made_by=by)
    if not open_ones.update(revoked_at=timezone.now()):
        return False
    log_security_event(Kind.INVITE_REVOKED, user=by, what=StaffInvitation.objects.get(pk=pk).name)
    return True


def _use(row: StaffInvitation) -> None:
    """Mark the invitation as used. Raises InvitationError if somebody else was faster."""
    now = timezone.now()
    unused = StaffInvitation.objects.filter(pk=row.pk, used_at=None, revoked_at=None, expires_at__gt=now)
    if not unused.update(used_at=now):
        raise InvitationError


@transaction.atomic
def invitation_accept(
    *, row: StaffInvitation, user: Any = None, username: str = "", password: str = ""
) -> Any:
    """Use an invitation and return the user: `user`, or a new staff login with this name and password. A role
    that the user has already is not changed. Raises InvitationError."""
    _use(row)
    if user is None:
        user = get_user_model().objects.create_user(username, password=password, is_staff=True)
    for study in row.studies.all():
        Membership.objects.get_or_create(study=study, user=user, defaults={"role": row.role})
    log_security_event(Kind.INVITE_USED, user=user, what=f"{row.name}: {row.what}")
    return user


@transaction.atomic
def recovery_accept(*, row: StaffInvitation, password: str) -> Any:
    """Use a recovery link: set the password, remove the second factor, end all logins. Return the user.
    Raises InvitationError."""
    _use(row)
    assert row.user_id  # noqa: S101 - a recovery link names a login
    user = get_user_model().objects.select_for_update().get(pk=row.user_id)
    user.set_password(password)
    user.save(update_fields=["password"])
    factor_remove(user)
    end_sessions(user, but=None)
    log_security_event(Kind.INVITE_USED, user=user, what=f"recovery of {row.name}")
    return user


@transaction.atomic
def study_hand_over(*, study: Study, by: Any, to: Any) -> None:
    """Make another user the owner of a study, and its present owner a viewer."""
    Study.objects.select_for_update().get(pk=study.pk)
    owner, viewer = Membership.Role.OWNER, Membership.Role.VIEWER
    Membership.objects.update_or_create(study=study, user=to, defaults={"role": owner})
    for mine in Membership.objects.filter(study=study, user=by).exclude(user=to):
        mine.role = viewer
        mine.save(update_fields=["role"])
