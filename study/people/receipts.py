"""Receipts of those who withdrew: signed by this server. What they say without the signature (study, time, a
word of chance) is noted as a security event; it leads to nobody."""

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

    @property
    def without_proof(self) -> str:
        """How the code begins: enough to match it, not to make it."""
        return self.code.rpartition(":")[0]


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
