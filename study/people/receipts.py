"""Receipts of those who withdrew: signed by this server, stored nowhere, so that nothing leads to anybody."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from django.core import signing

SALT = "brigade.receipt"
TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class LeavingReceipt:
    """What someone who withdrew can keep: proof without a name. `code` says study and time, and is signed."""

    code: str
    study: str
    """The study's slug."""
    at: datetime


def receipt_make(study: str, at: datetime) -> LeavingReceipt:
    """A receipt for leaving this study; two of one second differ by a word of chance."""
    at = at.astimezone(UTC).replace(microsecond=0)
    said = ":".join([study, at.strftime(TIME), secrets.token_hex(3)])
    return LeavingReceipt(signing.Signer(salt=SALT).sign(said), study, at)


def receipt_read(code: str) -> LeavingReceipt | None:
    """What a receipt of this server says; None for any other text."""
    code = "".join(code.split())  # copied from a page or letter, it may be broken into lines
    try:
        study, at, _ = signing.Signer(salt=SALT).unsign(code).split(":")
    except signing.BadSignature:
        return None
    return LeavingReceipt(code, study, datetime.strptime(at, TIME).replace(tzinfo=UTC))
