"""List everything that happened to one participant, in the order of time, for the staff page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from kitchen.uptime.models import Outage
from study.monitor.live_status import page_words
from study.participants.models import RESULT_ACTIONS, Participant, StaffAction

MOST_OUTAGES = 50
"""The most outages that a timeline lists."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something that happened to a participant. `staff` names the member of staff who did it, if any."""

    at: datetime
    words: str
    staff: str = ""


def timeline(person: Participant, *, conceals: bool = False) -> list[TimelineEntry]:
    """Return what happened, oldest first. If `conceals`, no entry names a condition or a bonus."""
    entries = [*_moments(person), *_pages(person), *_staff(person, conceals), *_outages(person)]
    if not conceals:
        entries += _episodes(person)
    return sorted(entries, key=lambda entry: entry.at)


def _moments(person: Participant) -> Iterator[TimelineEntry]:
    yield TimelineEntry(person.entered_at, "Entered")
    if person.consented_at:
        yield TimelineEntry(person.consented_at, "Agreed to take part")
    if person.ended_at:
        why = f": {person.end_reason}" if person.end_reason else ""
        yield TimelineEntry(person.ended_at, f"Ended, {person.get_status_display()}{why}")


def _pages(person: Participant) -> Iterator[TimelineEntry]:
    for visit in person.visits.all():
        where = f", round {visit.position}" if visit.position else ""
        page = f"{page_words(visit.page)}{where}"
        if visit.was_left_out:
            yield TimelineEntry(visit.opened_at, f"{page}: left out by its rule")
            continue
        yield TimelineEntry(visit.opened_at, f"{page}: opened")
        if visit.done_at:
            yield TimelineEntry(visit.done_at, f"{page}: done")


def _episodes(person: Participant) -> Iterator[TimelineEntry]:
    rounds = person.rounds.exclude(episode=None).select_related("condition", "episode")
    for one in rounds.defer("episode__state"):
        episode = one.episode
        assert episode  # noqa: S101 - asked for above
        name = f"Episode of round {one.position}, {one.condition.name}"
        yield TimelineEntry(episode.created_at, f"{name}: made")
        if episode.ended_at:
            why = f" ({episode.ended_because})" if episode.ended_because else ""
            yield TimelineEntry(episode.ended_at, f"{name}: {episode.get_status_display()}{why}")


def visible_actions(person: Participant, *, conceals: bool) -> QuerySet[StaffAction]:
    """Return what staff did to this person. If `conceals`, without bonuses, which show results."""
    done = person.staff_actions.all()
    return done.exclude(action__in=RESULT_ACTIONS) if conceals else done


def _staff(person: Participant, conceals: bool) -> Iterator[TimelineEntry]:
    for action in visible_actions(person, conceals=conceals):
        words = f"Staff {action.get_action_display()}{': ' if action.reason else ''}{action.reason}"
        yield TimelineEntry(action.at, words, action.user_name)
    for message in person.staff_messages.exclude(read_at=None):
        assert message.read_at  # noqa: S101 - asked for above
        yield TimelineEntry(message.read_at, f"Confirmed the message “{message.text}”")


def _outages(person: Participant) -> Iterator[TimelineEntry]:
    """Yield the outages between the person's entry and end."""
    until = person.ended_at or timezone.now()
    found = Outage.objects.filter(until__gte=person.entered_at, since__lte=until)
    for outage in found[:MOST_OUTAGES]:
        seconds = max(0, round((outage.until - outage.since).total_seconds()))
        yield TimelineEntry(outage.since, f"Outage of {outage.get_part_display()}, {seconds} s")
