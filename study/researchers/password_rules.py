"""Refuse passwords that are easy to guess: known words with digits or signs around them, rows of keys, and
repetitions.

Django calls the validator of this module when a staff member chooses a password (`AUTH_PASSWORD_VALIDATORS`).
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.dispatch import Signal

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
        """Return True if a known password remains after digits and signs around `low` are removed. Digits
        and signs that stand for letters are first replaced by these letters."""
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
