"""Places in a study: whose they are, and whether one is left.

Pressing the button on the study's link takes no place. Agreeing to take part does; in a study that asks for
no consent, the first page that is done or the first step that is played.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from study.design.errors import StudyClosedError
from study.design.models import Study
from study.design.page_order import WELCOME
from study.people.models import PageVisit, Participant, Round


def holding() -> Q:
    """Participants who have a place; who dropped out or was excluded has given it back."""
    theirs = {"participant": OuterRef("pk")}
    did = PageVisit.objects.filter(**theirs, done_at__isnull=False).exclude(page=WELCOME)
    played = Round.objects.filter(**theirs, episode__step__gt=0)
    begun = Q(consented_at__isnull=False) | Q(practice__step__gt=0) | Exists(did) | Exists(played)
    active = Q(status=Participant.Status.ACTIVE) & begun
    return Q(preview=False, excluded_at=None) & (Q(status=Participant.Status.COMPLETE) | active)


def is_full(study: Study, *, synthetic: bool = False) -> bool:
    """Whether no place is left. People and programs are counted apart."""
    most = study.max_participants
    return most is not None and study.participants.filter(holding(), synthetic=synthetic).count() >= most


def place_take(person: Participant) -> None:
    """A place is this participant's from now on: called before what takes it is stored, in the same
    transaction. StudyClosedError if others have taken the last one; nobody loses the one they have."""
    if person.preview or person.consented_at or person.study.max_participants is None:
        return
    study = Study.objects.select_for_update().get(pk=person.study_id)  # one after another
    if is_full(study, synthetic=person.synthetic) and not _has_one(person):
        raise StudyClosedError(study.slug)


def _has_one(person: Participant) -> bool:
    return Participant.objects.filter(holding(), pk=person.pk).exists()
