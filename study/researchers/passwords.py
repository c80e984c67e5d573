"""Passwords of the kind that lists of broken ones are full of: a known word with ornaments, a row of keys,
one thing again and again. Nothing is asked of any network: the list is Django's, the kinds are rules."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.dispatch import Signal

LETTERS_FOR = str.maketrans("@4830!1$57", "aabeoiisst")
"""What people write instead of letters."""
ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    *("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    *("qwertzuiop", "yxcvbnm"),
)
FEWEST = 5
"""Different characters."""
password_is_another = Signal()
"""The password of this `user` is stored, and another one than before."""


class BreachedStyleValidator:
    """Refuses what is long and guessed early all the same."""

    @cached_property
    def known(self) -> set[str]:
        """20,000 passwords that are used most."""
        return set(CommonPasswordValidator().passwords)

    def validate(self, password: str, user: Any = None) -> None:
        """ValidationError in words that say what to do instead."""
        low = password.lower()
        if len(set(low)) < FEWEST or _again_and_again(low) or _in_rows(low) or self._ornamented(low):
            raise ValidationError(
                "This password is of a kind that is guessed early: a known word with digits or signs around "
                "it, a row of keys, or the same again and again. Four words that have nothing to do with "
                "each other are a good one.",
                code="password_breached_style",
            )

    def get_help_text(self) -> str:
        """For the form."""
        return (
            "Your password is not a known word with digits or signs around it, a row of keys, or the same "
            "again and again."
        )

    def password_changed(self, password: str, user: Any = None) -> None:
        """Django says so once another one is stored, whoever changed it."""
        password_is_another.send(sender=type(self), user=user)

    def _ornamented(self, low: str) -> bool:
        """Whether a known password is left without the digits and signs around it, as it stands or with
        letters for the signs that stand for them."""
        cores = {re.sub(r"^[\W\d_]+|[\W\d_]+$", "", one) for one in (low, low.translate(LETTERS_FOR))}
        bare = re.sub(r"[\W\d_]+$", "", low).translate(LETTERS_FOR)
        return bool((cores | {bare}) & self.known)


def _again_and_again(low: str) -> bool:
    return low in (low + low)[1:-1]


def _in_rows(low: str) -> bool:
    """Whether nearly all steps from one character to the next follow a row of keys or the alphabet."""
    steps = {a + b for row in ROWS for a, b in pairwise(row)}
    steps |= {step[::-1] for step in steps}
    return sum(a + b in steps for a, b in pairwise(low)) >= 0.7 * (len(low) - 1)
