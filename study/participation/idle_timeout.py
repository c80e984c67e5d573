"""Ask idle participants whether they are still there, and end their participation if they do not react.

A participant is active when they open or send a page, or give a command in an episode. A presence signal from
the page's script also counts. The script sends it while the participant types or scrolls, and when they press
“I am still here”. An outage of this server does not count as idle time. A break between sessions does not
either: it ends a participation only after the latest return.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from kitchen.play.episode.play_monitoring import last_command_at
from kitchen.play.models import Episode
from kitchen.uptime.outage_queries import lost_seconds
from study.design.session_breaks import LATE, break_reason
from study.participants.current_breaks import current_break, is_too_late
from study.participants.end_and_erase_participation import IDLE, episodes_of, participant_end
from study.participants.models import Participant
from study.participation.page_progress import lock_participant, with_design

log = logging.getLogger(__name__)

SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class IdleClock:
    """Seconds until the idle warning and until the timeout. None means never. A negative number means that
    the time has passed."""

    warn_in: float | None
    end_in: float | None


def idle_clock(person: Participant) -> IdleClock:
    """Return the seconds until this participant is warned, and until the participation times out. Both are
    None if it has ended or has no limit, and during a break between sessions."""
    if person.status != Participant.Status.ACTIVE:
        return IdleClock(None, None)
    design = person.version.blueprint.study
    warning, end = design["idle_warning_minutes"], design["idle_minutes"]
    if warning is None and end is None:
        return IdleClock(None, None)
    if current_break(person):
        return IdleClock(None, None)
    now, last = timezone.now(), last_action(person)
    idle = (now - last).total_seconds()
    idle -= lost_seconds(last, now) if now - last >= SECOND else 0
    warn_in, end_in = (None if limit is None else 60 * limit - idle for limit in (warning, end))
    return IdleClock(warn_in, end_in)


def last_action(person: Participant) -> datetime:
    """Return when the participant last acted in an episode or on a page, to the second."""
    if timezone.now() - person.active_at < SECOND:  # a page was just opened: no command can be much later
        return person.active_at
    rounds = person.rounds.filter(episode__status=Episode.Status.PLAYING)
    practised = [(person.practice_id, person.practice_seat)] if person.practice_id else []
    commanded = last_command_at([*rounds.values_list("episode_id", "seat"), *practised])
    return max(person.active_at, commanded) if commanded else person.active_at


def participant_here(*, person: Participant) -> Participant:
    """Record that the participant is present, and return the updated participant. If the time limit has
    already passed, the participation times out instead. Raises Participant.DoesNotExist if the data were
    erased."""
    person = timed_out_if_late(person)
    now, active = timezone.now(), Participant.objects.filter(pk=person.pk, status=Participant.Status.ACTIVE)
    if active.update(active_at=now):
        person.active_at = now
    else:
        person.refresh_from_db(fields=["status", "active_at"])
    return person


def timed_out_if_late(person: Participant) -> Participant:
    """Return the participant. If the time limit or the latest return from a break has passed, first end the
    participation, without waiting for the regular check."""
    if _end_if_late(person):
        person.refresh_from_db(from_queryset=with_design())
    return person


def _end_if_late(person: Participant) -> bool:
    """End the participation if the person was idle for too long, or did not come back from a break in time.
    Return whether it was ended."""
    if person.status != Participant.Status.ACTIVE:
        return False
    if is_too_late(person):
        return participant_return_late(participant_id=person.pk)
    return may_be_late(person) and participant_time_out(participant_id=person.pk)


@transaction.atomic
def participant_return_late(*, participant_id: int) -> bool:
    """End the participation of a person who did not come back from a break in time. Return False, without a
    change, if they still may, or are on no break."""
    person = lock_participant(participant_id)
    found = current_break(person)
    if found is None or found.state(timezone.now()) != LATE:
        return False
    status = Participant.Status.LATE_RETURN
    return participant_end(participant_id=person.pk, status=status, reason=break_reason(found.page))


@transaction.atomic
def participant_time_out(*, participant_id: int) -> bool:
    """End the participation and the running episode of a participant who was idle for too long.

    Return False, without a change, if the limit has not passed or the participation has ended.
    """
    person = lock_participant(participant_id)
    running = episodes_of(person).filter(status=Episode.Status.PLAYING)
    list(running.select_for_update())  # a command that is being received counts
    left = idle_clock(person).end_in
    if left is None or left > 0:
        return False
    return participant_end(participant_id=person.pk, status=Participant.Status.TIMED_OUT, reason=IDLE)


def time_out_idle_participants() -> int:
    """End the participation of all who were idle for too long or did not come back from a break in time, and
    return their number.

    If a participant's data cannot be read, the error is logged and the other participants are still timed
    out.
    """
    quiet = with_design().filter(
        status=Participant.Status.ACTIVE, active_at__lt=timezone.now() - timedelta(minutes=1)
    )
    return sum(_time_out(person) for person in quiet)


def _time_out(person: Participant) -> bool:
    try:
        return _end_if_late(person)
    except Participant.DoesNotExist:  # withdrew meanwhile
        return False
    except Exception:
        log.exception("participant %s cannot be timed out", person.pk)
        return False


def may_be_late(person: Participant) -> bool:
    """Return whether an active participant may have been idle for longer than the limit, judged by pages
    only. This is a quick check; `participant_time_out` also considers commands and outages."""
    if person.status != Participant.Status.ACTIVE:
        return False
    minutes = person.version.blueprint.study["idle_minutes"]
    return minutes is not None and timezone.now() - person.active_at > timedelta(minutes=minutes)
