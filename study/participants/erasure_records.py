"""What is kept of a participant whose data were erased: a signed receipt, a mark for restored backups, and
the completion code.

None of these leads to the erased data. The receipt proves without a name that somebody withdrew. The
mark is a hash of a random name (128 bits) and shows a restored backup who must be erased again. The code
lets somebody who finished be paid; a hash of their label prevents a second payment.
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
    """What someone who withdrew can keep: proof without a name. `code` says study and time, and is signed."""

    code: str
    study: str
    """The study's slug."""
    at: datetime

    @property
    def without_proof(self) -> str:
        """How the code begins: enough to match it, not to make it."""
        return self.code.rpartition(":")[0]


def make_receipt(study: str, at: datetime) -> LeavingReceipt:
    """A receipt for leaving this study; two of one second differ by a word of chance."""
    at = at.astimezone(UTC).replace(microsecond=0)
    said = ":".join([study, at.strftime(TIME), secrets.token_hex(3)])
    return LeavingReceipt(signing.Signer(salt=RECEIPT_SALT).sign(said), study, at)


def read_receipt(code: str) -> LeavingReceipt | None:
    """What a receipt of this server says; None for any other text."""
    code = "".join(code.split())  # copied from a page or letter, it may be broken into lines
    try:
        study, at, _ = signing.Signer(salt=RECEIPT_SALT).unsign(code).split(":")
    except signing.BadSignature:
        return None
    return LeavingReceipt(code, study, datetime.strptime(at, TIME).replace(tzinfo=UTC))


LABEL_SALT = "brigade.took-part"
PAID_STATUSES = {Participant.Status.COMPLETE, Participant.Status.UNMATCHED}
"""Ends at which everybody is given a code: their own, where the study has none for it."""
NO_REENTRY_STATUSES = {*PAID_STATUSES, Participant.Status.FAILED_CHECK}
"""Who does not begin again by the same name."""


def record_completion(person: Participant) -> None:
    """Keep this of a person who is being erased, if their part was over (`NO_REENTRY_STATUSES`); of nobody
    else, and not twice: who came back with a backup may be known."""
    if person.status not in NO_REENTRY_STATUSES or person.preview or person.synthetic:
        return
    code = person.given_code if person.status in PAID_STATUSES else ""
    mark = label_mark(person.study_id, person.label)
    same = Q(code=person.completion_code) | (Q(mark=mark) if mark else Q())
    if (code or mark) and not LeftComplete.objects.filter(same, study=person.study_id).exists():
        today = timezone.now().date()
        LeftComplete.objects.create(study_id=person.study_id, code=code, mark=mark, left_on=today)


def completion_of(study_id: int, label: str) -> LeftComplete | None:
    """Whose part was over by this name, and who left; None if nobody did, or if it is not kept any more."""
    mark = label_mark(study_id, label)
    return LeftComplete.objects.filter(study=study_id, mark=mark).first() if mark else None


def label_mark(study_id: int, label: str) -> str:
    """64 characters, from which nobody reads the name without the server's secret key; empty for no name."""
    return salted_hmac(LABEL_SALT, f"{study_id} {label}", algorithm="sha256").hexdigest() if label else ""


def forget_completions(names: int | None, everything: int | None) -> int:
    """Erase marks after so many days (None: never), and what else is kept after so many; how many people were
    forgotten."""
    today = timezone.now().date()
    if names is not None:
        old = LeftComplete.objects.filter(left_on__lt=today - timedelta(days=names))
        old.filter(code="").delete()
        old.update(mark="")
    if everything is None:
        return 0
    return LeftComplete.objects.filter(left_on__lt=today - timedelta(days=everything)).delete()[0]


def erasure_mark(person: Participant) -> str:
    """64 characters; the same for this person in every backup."""
    return sha256(f"brigade.erased:{person.entry}".encode()).hexdigest()
