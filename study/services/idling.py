"""People who do nothing: asked first, then timed out and counted no more.

An action is a page that is opened or sent, a command in the kitchen, or the word that somebody is still
there (the page says it while they type or scroll, and by its button). What a study allows is in the version
that the participant entered under.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kitchen.live import episode_facts
from kitchen.models import Episode
from study.models import Participant
from study.services.going_on import locked
from study.services.leaving import participant_end, their_episodes

IDLE = "nothing happened for too long"
"""Why, in the data."""


@dataclass(frozen=True, slots=True)
class IdleClock:
    """Seconds until this participant is asked, and until the end; None for never. Negative: it is past."""

    warn_in: float | None
    end_in: float | None


def idle_clock(person: Participant) -> IdleClock:
    """How long this participant may still do nothing; never is over for who has come to an end."""
    if person.status != Participant.Status.ACTIVE:
        return IdleClock(None, None)
    design = person.version.blueprint.study
    since = (timezone.now() - last_action(person)).total_seconds()
    return IdleClock(_left(design["idle_warning_minutes"], since), _left(design["idle_minutes"], since))


def _left(minutes: float | None, since: float) -> float | None:
    return None if minutes is None else 60 * minutes - since


def last_action(person: Participant) -> datetime:
    """When this participant last did anything, in the kitchen or on a page."""
    facts = episode_facts(_running(person).values_list("pk", flat=True))
    commands = [one.last_command_at for one in facts.values() if one.last_command_at]
    return max([person.active_at, *commands])


def _running(person: Participant) -> QuerySet[Episode]:
    return their_episodes(person).filter(status=Episode.Status.PLAYING)


@transaction.atomic
def participant_here(*, participant_id: int) -> None:
    """Somebody is still there. Participant.DoesNotExist if the data were erased."""
    active = Participant.objects.filter(pk=participant_id, status=Participant.Status.ACTIVE)
    if not active.update(active_at=timezone.now()):
        Participant.objects.get(pk=participant_id)


@transaction.atomic
def participant_time_out(*, participant_id: int) -> bool:
    """End the way of somebody who did nothing for too long, and the episode that runs; False, and nothing
    changed, if it is not so long or over already."""
    person = locked(participant_id)
    list(_running(person).select_for_update())  # a command that is just coming in counts
    left = idle_clock(person).end_in
    if left is None or left > 0:
        return False
    return participant_end(participant_id=person.pk, status=Participant.Status.TIMED_OUT, reason=IDLE)


def idle_participants() -> list[int]:
    """Those who may have done nothing for too long; `participant_time_out` looks closely."""
    found = []
    active = Participant.objects.filter(status=Participant.Status.ACTIVE)
    for person in active.exclude(active_at__gt=timezone.now() - timedelta(minutes=1)).select_related(
        "version"
    ):
        minutes = person.version.blueprint.study["idle_minutes"]
        if minutes is not None and timezone.now() - person.active_at > timedelta(minutes=minutes):
            found.append(person.pk)
    return found


def time_out_idle() -> int:
    """Time out everybody who did nothing for too long; how many."""
    return sum(_gone(participant_id) for participant_id in idle_participants())


def _gone(participant_id: int) -> bool:
    try:
        return participant_time_out(participant_id=participant_id)
    except Participant.DoesNotExist:  # withdrew meanwhile
        return False
