"""Records that stay after a participant's data were erased: receipt, erasure mark and completion code.

None of them leads to the erased data. The signed receipt proves without a name that somebody withdrew. The
mark is a hash of a random name (128 bits); after a backup is restored, it shows who must be erased again. The
code lets a participant who finished be paid; a hash of their label prevents a second participation.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from django.core import signing
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from study.participants.models import LeftComplete, Participant

RECEIPT_SALT = "brigade.receipt"
TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class LeavingReceipt:
    """Proof of withdrawal without a name. `code` holds study and time, and is signed."""

    code: str
    study: str
    """The study's slug."""
    at: datetime

    @property
    def without_proof(self) -> str:
        """Return the code without its signature: enough to match a receipt, not to forge one."""
        return self.code.rpartition(":")[0]


def make_receipt(study: str, at: datetime) -> LeavingReceipt:
    """Return a receipt for this study. A random word distinguishes two receipts of the same second."""
    at = at.astimezone(UTC).replace(microsecond=0)
    content = ":".join([study, at.strftime(TIME), secrets.token_hex(3)])
    return LeavingReceipt(signing.Signer(salt=RECEIPT_SALT).sign(content), study, at)


def read_receipt(code: str) -> LeavingReceipt | None:
    """Return the receipt with this code; None for any text that this server did not sign."""
    code = "".join(code.split())  # copied from a page or letter, it may be broken into lines
    try:
        study, at, _ = signing.Signer(salt=RECEIPT_SALT).unsign(code).split(":")
    except signing.BadSignature:
        return None
    return LeavingReceipt(code, study, datetime.strptime(at, TIME).replace(tzinfo=UTC))


LABEL_SALT = "brigade.took-part"
PAID_STATUSES = {Participant.Status.COMPLETE, Participant.Status.UNMATCHED}
"""Ends at which every participant gets a code: their own, if the outcome has none."""
NO_REENTRY_STATUSES = {*PAID_STATUSES, Participant.Status.FAILED_CHECK}
"""Ends after which nobody may enter again under the same label."""


def record_completion(person: Participant) -> None:
    """Store the completion of a participant who is being erased, if their status is in `NO_REENTRY_STATUSES`.

    Previews and synthetic participants are not stored. Nothing is stored twice: a restored backup may bring
    back somebody who is recorded.
    """
    if person.status not in NO_REENTRY_STATUSES or person.preview or person.synthetic:
        return
    code = person.given_code if person.status in PAID_STATUSES else ""
    mark = label_mark(person.study_id, person.label)
    same = Q(code=person.completion_code) | (Q(mark=mark) if mark else Q())
    if (code or mark) and not LeftComplete.objects.filter(same, study=person.study_id).exists():
        today = timezone.now().date()
        LeftComplete.objects.create(study_id=person.study_id, code=code, mark=mark, left_on=today)


def completion_of(study_id: int, label: str) -> LeftComplete | None:
    """Return the record of an erased participant with this label; None if there is none or it has expired."""
    mark = label_mark(study_id, label)
    return LeftComplete.objects.filter(study=study_id, mark=mark).first() if mark else None


def label_mark(study_id: int, label: str) -> str:
    """Return a hash of the label (64 hex digits), which needs the server's secret key; empty for no label."""
    return salted_hmac(LABEL_SALT, f"{study_id} {label}", algorithm="sha256").hexdigest() if label else ""


def forget_completions(names: int | None, everything: int | None) -> int:
    """Erase label marks after `names` days, and whole records after `everything` days (None: never).

    Return the number of records erased.
    """
    today = timezone.now().date()
    if names is not None:
        old = LeftComplete.objects.filter(left_on__lt=today - timedelta(days=names))
        old.filter(code="").delete()
        old.update(mark="")
    if everything is None:
        return 0
    return LeftComplete.objects.filter(left_on__lt=today - timedelta(days=everything)).delete()[0]


def erasure_mark(person: Participant) -> str:
    """Return a hash (64 hex digits) that is the same for this person in every backup."""
    return sha256(f"brigade.erased:{person.entry}".encode()).hexdigest()
