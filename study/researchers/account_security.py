"""Log changes of staff accounts, and refuse passwords that are easy to guess.

The security log records when accounts are created or deleted, and when rights, passwords or roles change. A
new password revokes the user's earlier API tokens. Refused passwords are known words with digits or
punctuation around them, rows of keyboard keys, and repetitions.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission, User
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save
from django.dispatch import Signal
from django.utils import timezone

from study.researchers.api_tokens import token_revoke
from study.researchers.models import ApiToken, Membership, SecurityEvent
from study.researchers.security_events import log_security_event

LETTERS_FOR = str.maketrans("@4830!1$57", "aabeoiisst")
"""Letters for the signs that people write instead of them."""
ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    *("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    *("qwertzuiop", "yxcvbnm"),
)
FEWEST = 5
"""Smallest number of different characters in a password."""
password_is_another = Signal()
"""Signal sent after a new password of this `user` is stored."""


class BreachedStyleValidator:
    """Password validator that refuses passwords with patterns that attackers try early, even long ones."""

    @cached_property
    def known(self) -> set[str]:
        """Return the 20,000 most used passwords."""
        return set(CommonPasswordValidator().passwords)

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError with advice if the password is easy to guess."""
        low = password.lower()
        if len(set(low)) < FEWEST or _again_and_again(low) or _in_rows(low) or self._ornamented(low):
            raise ValidationError(
                "This password is easy to guess: a known word with digits or signs around it, a row "
                "of keys, or a repeated pattern. Four unrelated words make a good password.",
                code="password_breached_style",
            )

    def get_help_text(self) -> str:
        """Return the help text that password forms show."""
        return (
            "Your password must not be a known word with digits or signs around it, a row of keys, or "
            "a repeated pattern."
        )

    def password_changed(self, password: str, user: Any = None) -> None:
        """Send the signal `password_is_another`. Django calls this after a new password is stored."""
        password_is_another.send(sender=type(self), user=user)

    def _ornamented(self, low: str) -> bool:
        """Return True if `low` is a known password with digits and signs added. Digits and signs that stand
        for letters are also tried as letters."""
        cores = {re.sub(r"^[\W\d_]+|[\W\d_]+$", "", one) for one in (low, low.translate(LETTERS_FOR))}
        bare = re.sub(r"[\W\d_]+$", "", low).translate(LETTERS_FOR)
        return bool((cores | {bare}) & self.known)


def _again_and_again(low: str) -> bool:
    return low in (low + low)[1:-1]


def _in_rows(low: str) -> bool:
    """Return True if at least 70 % of the password's successive characters follow a row of the keyboard or
    the alphabet."""
    steps = {a + b for row in ROWS for a, b in pairwise(row)}
    steps |= {step[::-1] for step in steps}
    return sum(a + b in steps for a, b in pairwise(low)) >= 0.7 * (len(low) - 1)


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
