"""Read the breaks between sessions on which participants are now.

A break begins with the visit of its page (`PageVisit.opened_at`) and lasts until the visit is done. The
module changes no data.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from study.design.blueprint import Blueprint
from study.design.own_pages import PREFIX, OwnPagePlan
from study.design.session_breaks import LATE, RESTING, SessionBreak, session_break
from study.participants.models import PageVisit, Participant


def break_pages(design: Blueprint) -> dict[str, OwnPagePlan]:
    """Return the pages of a design that are breaks, by the name of the participant's page."""
    return {page.page: page for page in design.pages if page.is_break}


def waits_for_breaks(person: Participant) -> bool:
    """Return whether the times of breaks hold for this participant. Programs and previews go on at once."""
    return not (person.synthetic or person.preview)


def current_break(person: Participant) -> SessionBreak | None:
    """Return the break on which this participant is, or None. A design without breaks needs no query."""
    return breaks_of_people([person]).get(person.pk)


def breaks_of_people(people: Iterable[Participant]) -> dict[int, SessionBreak]:
    """Return the breaks on which these participants are, by participant id, with at most one query. The
    participants' versions should be loaded."""
    active = Participant.Status.ACTIVE
    pages = {
        one.pk: (one, known)
        for one in people
        if one.status == active and (known := break_pages(one.version.blueprint))
    }
    if not pages:
        return {}
    names = {page for _, known in pages.values() for page in known}
    open_visits = PageVisit.objects.filter(participant__in=pages, page__in=names, done_at=None)
    found: dict[int, SessionBreak] = {}
    for pk, name, began_at in open_visits.values_list("participant_id", "page", "opened_at"):
        person, known = pages[pk]
        if page := known.get(name):
            found[pk] = session_break(page, page.key, began_at, waits=waits_for_breaks(person))
    return found


def people_after_a_session(people: Iterable[Participant]) -> set[int]:
    """Return the ids of those participants who began a break, and so finished a session. Breaks that a rule
    left out do not count."""
    names = {one.pk: set(break_pages(one.version.blueprint)) for one in people}
    begun = PageVisit.objects.filter(participant__in=names, page__startswith=PREFIX)
    begun = begun.exclude(loads=0, done_at__isnull=False)
    return {pk for pk, page in begun.values_list("participant_id", "page") if page in names[pk]}


def is_too_late(person: Participant) -> bool:
    """Return whether the time has passed in which this participant could come back from a break."""
    found = current_break(person)
    return found is not None and found.state(timezone.now()) == LATE


def is_resting(person: Participant) -> bool:
    """Return whether this participant is on a break and may not come back yet."""
    found = current_break(person)
    return found is not None and found.state(timezone.now()) == RESTING
