"""Ask idle participants whether they are still there, then time them out.

An action is a page that is opened or sent, a command in an episode, or the signal that somebody is still
there (the page sends it while they type or scroll, and by its button). The participant's design version
sets the limits. Nobody counts as idle during an outage of this server (`kitchen.uptime`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kitchen.play.episode.play_monitoring import last_command_at
from kitchen.play.models import Episode
from kitchen.uptime.outage_queries import lost_seconds
from study.participants.end_participation import IDLE, episodes_of, participant_end
from study.participants.models import Participant
from study.participation.page_progress import lock_participant, with_design

log = logging.getLogger(__name__)

SECOND = timedelta(seconds=1)


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
    warning, end = design["idle_warning_minutes"], design["idle_minutes"]
    if warning is None and end is None:
        return IdleClock(None, None)
    since = _idle_seconds(person)
    return IdleClock(_left(warning, since), _left(end, since))


def _idle_seconds(person: Participant) -> float:
    """So long this participant could have done something, and did not: outages do not count."""
    now, last = timezone.now(), last_action(person)
    since = (now - last).total_seconds()
    return since if now - last < SECOND else since - lost_seconds(last, now)


def _left(minutes: float | None, since: float) -> float | None:
    return None if minutes is None else 60 * minutes - since


def last_action(person: Participant) -> datetime:
    """When this participant last did anything, in an episode or on a page; to the second."""
    if timezone.now() - person.active_at < SECOND:  # whoever opens a page: no command can be much later
        return person.active_at
    commanded = last_command_at(_seats_played(person))
    return max(person.active_at, commanded) if commanded else person.active_at


def _seats_played(person: Participant) -> list[tuple[int, int]]:
    """Where this person sits in what is played: what others do there is no sign of them."""
    rounds = person.rounds.filter(episode__status=Episode.Status.PLAYING)
    practised = [(person.practice_id, 0)] if person.practice_id else []
    return [*rounds.values_list("episode_id", "seat"), *practised]


def _running(person: Participant) -> QuerySet[Episode]:
    return episodes_of(person).filter(status=Episode.Status.PLAYING)


def participant_here(*, person: Participant) -> Participant:
    """Somebody is still there; after their time it is too late, and they are timed out. The participant as it
    is now; Participant.DoesNotExist if the data were erased."""
    person = timed_out_if_late(person)
    now, active = timezone.now(), Participant.objects.filter(pk=person.pk, status=Participant.Status.ACTIVE)
    if active.update(active_at=now):
        person.active_at = now
    else:
        person.refresh_from_db(fields=["status", "active_at"])
    return person


def timed_out_if_late(person: Participant) -> Participant:
    """The participant; timed out who comes back only after their time: no worker need have looked before."""
    if may_be_late(person) and participant_time_out(participant_id=person.pk):
        person.refresh_from_db(from_queryset=with_design())
    return person


@transaction.atomic
def participant_time_out(*, participant_id: int) -> bool:
    """End the way of somebody who did nothing for too long, and the episode that runs; False, and nothing
    changed, if it is not so long or over already."""
    person = lock_participant(participant_id)
    list(_running(person).select_for_update())  # a command that is just coming in counts
    left = idle_clock(person).end_in
    if left is None or left > 0:
        return False
    return participant_end(participant_id=person.pk, status=Participant.Status.TIMED_OUT, reason=IDLE)


def time_out_idle_participants() -> int:
    """Time out everybody who did nothing for too long; how many. Whoever's data cannot be read is logged, and
    the others' time runs out all the same."""
    quiet = with_design().filter(
        status=Participant.Status.ACTIVE, active_at__lt=timezone.now() - timedelta(minutes=1)
    )
    return sum(_gone(person) for person in quiet)


def _gone(person: Participant) -> bool:
    try:
        return may_be_late(person) and participant_time_out(participant_id=person.pk)
    except Participant.DoesNotExist:  # withdrew meanwhile
        return False
    except Exception:
        log.exception("participant %s cannot be timed out", person.pk)
        return False


def may_be_late(person: Participant) -> bool:
    """Whether somebody who takes part opened or sent no page for too long; `participant_time_out` looks
    closely."""
    if person.status != Participant.Status.ACTIVE:
        return False
    minutes = person.version.blueprint.study["idle_minutes"]
    return minutes is not None and timezone.now() - person.active_at > timedelta(minutes=minutes)
