"""List the participants who are on a break between sessions, and write a reminder for each.

The module changes no data and sends nothing: staff copy the reminder.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone, translation
from django.utils.formats import date_format

from kitchen.words.gettext_without_django import gettext
from study.design.models import Study
from study.design.own_pages import PREFIX
from study.design.session_breaks import BREAK_STATES, SessionBreak
from study.participants.current_breaks import breaks_of_people
from study.participants.models import PageVisit, Participant

ORDER = {"due": 0, "resting": 1, "late": 2}


@dataclass(frozen=True, slots=True)
class BreakRow:
    """A participant on a break, with its state now."""

    person: Participant
    pause: SessionBreak
    state: str

    @property
    def state_words(self) -> str:
        """Return the readable name of the state."""
        return BREAK_STATES[self.state]


def has_breaks(study: Study) -> bool:
    """Return whether the study's design has a break now."""
    return study.own_pages.exclude(not_before_hours=None, not_after_hours=None).exists()


def people_on_breaks(study: Study, among: Iterable[Participant] | None = None) -> list[BreakRow]:
    """Return the participants of the study who are on a break, of all or `among` some: first those who may
    come back now, and among them first those whose time is over soonest."""
    begun = PageVisit.objects.filter(participant__study=study, page__startswith=PREFIX, done_at=None)
    if among is not None:
        begun = begun.filter(participant__in=[person.pk for person in among])
    active = study.participants.filter(status=Participant.Status.ACTIVE, pk__in=begun.values("participant"))
    people = {person.pk: person for person in active.prefetch_related("version")}
    now = timezone.now()
    pauses = breaks_of_people(people.values())
    return sorted((BreakRow(people[pk], one, one.state(now)) for pk, one in pauses.items()), key=_urgency)


def _urgency(row: BreakRow) -> tuple[int, bool, datetime, int]:
    pause = row.pause
    if row.state == "resting" and pause.opens_at:
        return ORDER[row.state], False, pause.opens_at, row.person.number
    return ORDER[row.state], pause.closes_at is None, pause.closes_at or pause.began_at, row.person.number


def people_who_came_late(study: Study) -> QuerySet[Participant]:
    """Return the participants who did not come back in time, the latest first."""
    return study.participants.filter(status=Participant.Status.LATE_RETURN).order_by("-ended_at")


def ids_in_state(study: Study, chosen: str) -> list[int]:
    """Return the ids of the participants whose break has the state `chosen`. `break` means any state."""
    return [row.person.pk for row in people_on_breaks(study) if chosen in ("break", row.state)]


def reminder_text(row: BreakRow, title: str, link: str) -> str:
    """Return the reminder in the participant's language. Times are in UTC: the time zone of the reader is not
    known. `link` is the address at which they continue."""
    pause = row.pause
    with translation.override(row.person.language or None):
        told = [gettext("The next session of the study “{title}” is waiting for you.").format(title=title)]
        if pause.opens_at:
            told.append(gettext("You can continue from {time} (UTC).").format(time=_written(pause.opens_at)))
        if pause.closes_at:
            words = gettext("Come back before {time} (UTC): after that, you cannot continue.")
            told.append(words.format(time=_written(pause.closes_at)))
        told.append(gettext("Your link: {link}").format(link=link))
    return "\n".join(told)


def _written(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT")
