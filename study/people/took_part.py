"""What is kept of somebody whose part was over and who then had their data erased: the code of who is
complete, so that they are paid, and a mark of the name in their link, so that nobody is paid twice, or tries
the questions of understanding again. It leads to no data.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from study.people.models import LeftComplete, Participant

SALT = "brigade.took-part"
PAID = {Participant.Status.COMPLETE, Participant.Status.UNMATCHED}
"""Ends at which everybody is given a code: their own, where the study has none for it."""
NOT_AGAIN = {*PAID, Participant.Status.FAILED_CHECK}
"""Who does not begin again by the same name."""


def note_left(person: Participant) -> None:
    """Keep this of a person who is being erased, if their part was over (`NOT_AGAIN`); of nobody else, and
    not twice: who came back with a backup may be known."""
    if person.status not in NOT_AGAIN or person.preview or person.synthetic:
        return
    code = person.given_code if person.status in PAID else ""
    mark = mark_of_label(person.study_id, person.label)
    same = Q(code=person.completion_code) | (Q(mark=mark) if mark else Q())
    if (code or mark) and not LeftComplete.objects.filter(same, study=person.study_id).exists():
        today = timezone.now().date()
        LeftComplete.objects.create(study_id=person.study_id, code=code, mark=mark, left_on=today)


def left_before(study_id: int, label: str) -> LeftComplete | None:
    """Whose part was over by this name, and who left; None if nobody did, or if it is not kept any more."""
    mark = mark_of_label(study_id, label)
    return LeftComplete.objects.filter(study=study_id, mark=mark).first() if mark else None


def mark_of_label(study_id: int, label: str) -> str:
    """64 characters, from which nobody reads the name without the server's secret key; empty for no name."""
    return salted_hmac(SALT, f"{study_id} {label}", algorithm="sha256").hexdigest() if label else ""


def left_forget(names: int | None, everything: int | None) -> int:
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
