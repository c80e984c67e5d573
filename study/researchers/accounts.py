"""What happens to the accounts of staff is noted, by whatever door: made, deleted, other rights, another
password, a role in a study. Another password ends what was opened with the old one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission, User
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.utils import timezone

from study.researchers.models import ApiToken, Membership, SecurityEvent
from study.researchers.passwords import password_is_another
from study.researchers.security import security_note
from study.researchers.tokens import token_revoke

Kind = SecurityEvent.Kind
FLAGS = ("is_active", "is_staff", "is_superuser")
"""What decides who gets in, beside groups and permissions."""
LINKED = {"post_add", "post_remove", "post_clear"}


def note_what_happens_to_accounts() -> None:
    """From now on."""
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
        security_note(Kind.RIGHTS_CHANGED, what=f"{instance.get_username()}: {now or 'none'}")


def _made(*, instance: Any, created: bool, raw: bool, **_: Any) -> None:
    if created and not raw:
        security_note(Kind.USER_MADE, what=instance.get_username())


def _deleted(*, instance: Any, **_: Any) -> None:
    security_note(Kind.USER_DELETED, what=instance.get_username())


def _linked(*, instance: Any, action: str, model: type, pk_set: set[int] | None = None, **_: Any) -> None:
    if action not in LINKED or pk_set == set():
        return
    linked = model._default_manager.filter(pk__in=pk_set or ())  # type: ignore[attr-defined]
    names = ", ".join(one.codename if isinstance(one, Permission) else str(one) for one in linked)
    security_note(Kind.RIGHTS_CHANGED, what=f"{instance}: {action.removeprefix('post_')} {names}".strip())


def _role_given(*, instance: Membership, raw: bool, **_: Any) -> None:
    if not raw:
        what = f"{instance.user.get_username()}: {instance.role}"
        security_note(Kind.ROLE_GIVEN, study=instance.study, what=what)


def _role_taken(*, instance: Membership, **_: Any) -> None:
    security_note(Kind.ROLE_TAKEN, study=instance.study, what=instance.user.get_username())


def _another_password(*, user: Any, **_: Any) -> None:
    """Tokens were made by whoever knew the old one."""
    security_note(Kind.PASSWORD_CHANGED, what=user.get_username())
    alive = ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())
    for token_id in alive.values_list("pk", flat=True):
        token_revoke(user=user, token_id=token_id)
