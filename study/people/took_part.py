"""What is kept of somebody who came to the end and then had their data erased: the code, so that they are
paid, and a mark of the name in their link, so that nobody is paid twice. It leads to no data.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.crypto import salted_hmac

from study.people.models import LeftComplete, Participant

SALT = "brigade.took-part"


def note_left(person: Participant) -> None:
    """Keep this of a person who is being erased, if they were complete; of nobody else."""
    if person.status == Participant.Status.COMPLETE and not (person.preview or person.synthetic):
        LeftComplete.objects.create(
            study_id=person.study_id,
            code=person.given_code,
            mark=mark_of_label(person.study_id, person.label),
            left_on=timezone.now().date(),
        )


def left_before(study_id: int, label: str) -> LeftComplete | None:
    """Who took part by this name to the end and left; None if nobody did, or if it is not kept any more."""
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
        LeftComplete.objects.filter(left_on__lt=today - timedelta(days=names)).update(mark="")
    if everything is None:
        return 0
    return LeftComplete.objects.filter(left_on__lt=today - timedelta(days=everything)).delete()[0]
