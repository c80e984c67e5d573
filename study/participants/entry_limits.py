"""Count the places taken in a study, and pause entry when too many participants begin or play at once.

A participant takes a place by consenting. In a study without consent, they take it with the first finished
page or the first played step. Entry is paused because of human participants only, and only for them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from kitchen.realtime.clock_load import are_clocks_full
from study.design.models import Study
from study.design.page_and_item_order import WELCOME
from study.design.play_metrics import has_clock
from study.design.study_errors import StudyClosedError
from study.participants.allocated_people import is_every_group_full
from study.participants.models import EntryPause, PageVisit, Participant, Round

PAUSE = timedelta(minutes=10)
JUMP = timedelta(minutes=1)
"""The time within which entries are counted."""


def current_pause(study: Study) -> EntryPause | None:
    """Return the pause that is active now, or None."""
    return study.entry_pauses.filter(until__gt=timezone.now()).first()


def waits_for_clocks(study: Study) -> bool:
    """Return whether new participants should come later, because the study has a game in real time and no
    clock process can compute one more in time."""
    return are_clocks_full() and any(has_clock(condition) for condition in study.conditions.all())


def seconds_until(moment: datetime) -> float:
    """Return the seconds from now until this moment."""
    return (moment - timezone.now()).total_seconds()


def pause_if_too_many(study: Study, *, uncounted: int = 0) -> EntryPause | None:
    """Begin a pause if too many participants entered within a minute. Return the pause, or None if there is
    none.

    The study sets the limit. `uncounted` entries do not count (`study.participation.enter_study`). After a
    pause, counting starts again from 0. The caller must lock the study's row, so that no second pause begins
    at the same time.
    """
    if study.entries_per_minute is None or current_pause(study):
        return None
    now, last = timezone.now(), study.entry_pauses.first()
    since = max(now - JUMP, last.until) if last else now - JUMP
    lately = Participant.objects.filter(study=study, synthetic=False, preview=False, entered_at__gt=since)
    if (number := lately.count()) - uncounted < study.entries_per_minute:
        return None
    return EntryPause.objects.create(study=study, began_at=now, until=now + PAUSE, entries=number)


@transaction.atomic
def end_pause(*, study_id: int, user: User) -> bool:
    """End the current pause and allow entry again. Return False if there is no pause."""
    study = Study.objects.select_for_update().get(pk=study_id)
    on = study.entry_pauses.filter(until__gt=timezone.now())
    return bool(on.update(until=timezone.now(), ended_by=user.get_username()))


def participants_with_place() -> Q:
    """Return the filter for participants who take up one of the study's limited places. Participants who
    dropped out or were excluded do not."""
    theirs = {"participant": OuterRef("pk")}
    did = PageVisit.objects.filter(**theirs, done_at__isnull=False).exclude(page=WELCOME)
    played = Round.objects.filter(**theirs, episode__step__gt=0)
    begun = Q(consented_at__isnull=False) | Q(practice__step__gt=0) | Exists(did) | Exists(played)
    active = Q(status=Participant.Status.ACTIVE) & begun
    return Q(preview=False, excluded_at=None) & (Q(status=Participant.Status.COMPLETE) | active)


def is_full(study: Study, *, synthetic: bool = False) -> bool:
    """Return whether all places for participants in the study, or all places in its groups, are taken. Human
    and synthetic participants count separately."""
    return is_every_group_full(study, synthetic=synthetic) or _is_every_place_taken(
        study, synthetic=synthetic
    )


def _is_every_place_taken(study: Study, *, synthetic: bool) -> bool:
    if study.max_participants is None:
        return False
    placed = study.participants.filter(participants_with_place(), synthetic=synthetic)
    return placed.count() >= study.max_participants


def take_place(person: Participant) -> None:
    """Give this participant one of the study's limited places. A participant who has a place keeps it. A
    participant who has a group counts for its quotas already, so that only places matter. Raises
    StudyClosedError if no place is left.

    Call this before you store the action that takes the place, in the same transaction.
    """
    if person.preview or person.consented_at or person.study.max_participants is None:
        return
    study = Study.objects.select_for_update().get(pk=person.study_id)  # one at a time
    has_place = Participant.objects.filter(participants_with_place(), pk=person.pk)
    full = _is_every_place_taken if person.between_group else is_full
    if full(study, synthetic=person.synthetic) and not has_place.exists():
        raise StudyClosedError(study.slug)
