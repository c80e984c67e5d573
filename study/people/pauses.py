"""Pauses of entry: when many more begin at once than the researcher expects, nobody new is let in.

Only people count, and only people wait: programs are let in by this server's own invitation, staff by
their login.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from study.design.models import Study
from study.people.models import EntryPause, Participant

PAUSE = timedelta(minutes=10)
JUMP = timedelta(minutes=1)
"""The time within which entries are counted."""


def pause_on(study: Study) -> EntryPause | None:
    """The pause that is on now."""
    return study.entry_pauses.filter(until__gt=timezone.now()).first()


def seconds_until(moment: datetime) -> float:
    """How long it is till then."""
    return (moment - timezone.now()).total_seconds()


def pause_if_many(study: Study, *, beside: int = 0) -> EntryPause | None:
    """Begin a pause if as many as the study allows have begun within a minute, not counting those `beside`
    (`study.taking_part.rate`); after a pause counting begins anew. The caller holds the study's row, so that
    no two begin one."""
    if study.entries_per_minute is None or pause_on(study):
        return None
    now, last = timezone.now(), study.entry_pauses.first()
    since = max(now - JUMP, last.until) if last else now - JUMP
    lately = Participant.objects.filter(study=study, synthetic=False, preview=False, entered_at__gt=since)
    if (number := lately.count()) - beside < study.entries_per_minute:
        return None
    return EntryPause.objects.create(study=study, began_at=now, until=now + PAUSE, entries=number)


@transaction.atomic
def pause_end(*, study_id: int, user: User) -> bool:
    """Let people in again. False if no pause is on."""
    study = Study.objects.select_for_update().get(pk=study_id)
    on = study.entry_pauses.filter(until__gt=timezone.now())
    return bool(on.update(until=timezone.now(), ended_by=user.get_username()))
