"""Write to the security log when staff accounts are created or deleted, and when rights, passwords or roles
change.

A new password also revokes the user's earlier API tokens.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission, User
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.utils import timezone

from study.researchers.api_tokens import token_revoke
from study.researchers.models import ApiToken, Membership, SecurityEvent
from study.researchers.password_rules import password_is_another
from study.researchers.security_events import log_security_event

Kind = SecurityEvent.Kind
FLAGS = ("is_active", "is_staff", "is_superuser")
"""Fields that decide who has access, besides groups and permissions."""
LINKED = {"post_add", "post_remove", "post_clear"}


def log_account_changes() -> None:
    """Connect the signal receivers that log account changes."""
    user = get_user_model()
    pre_save.connect(_flags, sender=user)
    post_save.connect(_made, sender=user)
    post_delete.connect(_deleted, sender=user)
    for link in (User.groups.through, User.user_permissions.through, Group.permissions.through):
        m2m_changed.connect(_linked, sender=link)
    post_save.connect(_role_given, sender=Membership)
    post_delete.connect(_role_taken, sender=Membership)
    password_is_another.connect(_another_password)


def _flags(*, instance: Any, raw: bool, update_fields: Any = None, **_: Any) -> None:
    names = [name for name in FLAGS if update_fields is None or name in update_fields]
    if raw or not names or instance.pk is None:
        return
    before = type(instance).objects.filter(pk=instance.pk).values(*names).first()
    if before and any(before[name] != getattr(instance, name) for name in names):
        now = ", ".join(name for name in FLAGS if getattr(instance, name))
        log_security_event(Kind.RIGHTS_CHANGED, what=f"{instance.get_username()}: {now or 'none'}")


def _made(*, instance: Any, created: bool, raw: bool, **_: Any) -> None:
    if created and not raw:
        log_security_event(Kind.USER_MADE, what=instance.get_username())


def _deleted(*, instance: Any, **_: Any) -> None:
    log_security_event(Kind.USER_DELETED, what=instance.get_username())


def _linked(*, instance: Any, action: str, model: type, pk_set: set[int] | None = None, **_: Any) -> None:
    if action not in LINKED or pk_set == set():
        return
    linked = model._default_manager.filter(pk__in=pk_set or ())  # type: ignore[attr-defined]
    names = ", ".join(one.codename if isinstance(one, Permission) else str(one) for one in linked)
    log_security_event(
        Kind.RIGHTS_CHANGED, what=f"{instance}: {action.removeprefix('post_')} {names}".strip()
    )


def _role_given(*, instance: Membership, raw: bool, **_: Any) -> None:
    if not raw:
        what = f"{instance.user.get_username()}: {instance.role}"
        log_security_event(Kind.ROLE_GIVEN, study=instance.study, what=what)


def _role_taken(*, instance: Membership, **_: Any) -> None:
    log_security_event(Kind.ROLE_TAKEN, study=instance.study, what=instance.user.get_username())


def _another_password(*, user: Any, **_: Any) -> None:
    """Log that the password of `user` has changed, and revoke the user's API tokens. Somebody with the old
    password may have made them."""
    log_security_event(Kind.PASSWORD_CHANGED, what=user.get_username())
    alive = ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())
    for token_id in alive.values_list("pk", flat=True):
        token_revoke(user=user, token_id=token_id)
