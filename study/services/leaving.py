"""Coming to an end: complete or not, or erased."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from kitchen.calls import prompts_erase_unused, prompts_of
from kitchen.models import Episode
from study.analysing import forget
from study.models import Participant, Study
from study.news import tell


@dataclass(frozen=True, slots=True)
class Receipt:
    """What someone who withdrew can keep: proof without a name."""

    code: str
    at: datetime


def finish(person: Participant, status: str, reason: str = "") -> None:
    """Note that this participant, locked by the caller, has come to an end."""
    person.status, person.ended_at, person.end_reason = status, timezone.now(), reason
    person.save(update_fields=["status", "ended_at", "end_reason"])
    tell(person)


@transaction.atomic
def participant_end(*, participant_id: int, status: str, reason: str = "") -> bool:
    """End a participant's way before its end; the data stay. False if it was over already."""
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if person.status != Participant.Status.ACTIVE:
        return False
    finish(person, status, reason)
    return True


@transaction.atomic
def participant_withdraw(*, participant_id: int) -> Receipt:
    """Erase everything this person left, row by row; what stays is the study's count.

    Participant.DoesNotExist if it was erased already.
    """
    person = Participant.objects.select_for_update().get(pk=participant_id)
    theirs = Episode.objects.filter(Q(rounds__participant=person) | Q(practised_by=person)).distinct()
    episodes = list(Episode.objects.filter(pk__in=theirs).select_for_update())  # no step is written meanwhile
    prompts = prompts_of(episode.pk for episode in episodes)
    Study.objects.filter(pk=person.study_id).update(withdrawn=F("withdrawn") + 1)
    person.delete()
    for episode in episodes:
        episode.delete()
    prompts_erase_unused(prompts)
    tell(person)
    transaction.on_commit(partial(forget, person.study_id))
    return Receipt(code=secrets.token_hex(6).upper(), at=timezone.now())
