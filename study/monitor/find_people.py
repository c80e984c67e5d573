"""Find a study's participants by any name they came with, by status, by condition, and by what went wrong.

A name can be an ID of a recruitment platform, a label, a code, a personal link or its key, or the beginning
of a receipt. The module changes no data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import QueryDict

from kitchen.play.models import Decision, Episode
from study.design.models import Study
from study.design.session_breaks import BREAK_STATES
from study.monitor.break_reminders import ids_in_state
from study.monitor.live_status import STATUS_LINES
from study.participants.end_and_erase_participation import PAID_STATUSES, completion_of
from study.participants.episode_owners_and_outages import downtime_since_creation, touched_episodes
from study.participants.models import Participant, Round
from study.researchers.models import SecurityEvent

KINDS = {"person": "people", "synthetic": "synthetic participants", "preview": "previews"}
KIND_FILTERS: Mapping[str, Mapping[str, bool]] = {
    "person": {"synthetic": False, "preview": False},
    "synthetic": {"synthetic": True, "preview": False},
    "preview": {"preview": True},
}
STATUSES = {str(status): words for words, status in STATUS_LINES} | {
    "excluded": "excluded by staff",
    "break": "on a break, or due",
    "due": "due: may come back now",
}
TROUBLES = {
    "model": "a fallback played for a co-player",
    "outage": "an outage touched a round",
    "left": "an episode ended without them",
    "link": "staff gave a new link",
    "unread": "a message is unread",
    "note": "a note of staff",
}
"""What can have gone wrong for a participant, by key."""
CONCEALED_TROUBLES = ("model",)
"""Troubles that people have in some conditions only, so that they show the condition."""
SHORTEST_KEY = 16
"""The fewest characters of a secret key that find somebody. A shorter beginning could be guessed."""


@dataclass(frozen=True, slots=True)
class PeopleFilter:
    """Which participants the list shows. An empty or unknown value does not restrict the list."""

    kind: str = ""
    status: str = ""
    name: str = ""
    condition: str = ""
    trouble: str = ""

    @classmethod
    def read(cls, sent: QueryDict, *, conceals: bool) -> PeopleFilter:
        """Return the filter of this request. If `conceals`, no filter shows the condition, or who plays
        with a language model."""
        given = {one.name: sent.get(one.name, "").strip() for one in fields(cls)}
        given["name"] = given["name"] or sent.get("code", "").strip()
        known = {"kind": KINDS, "status": STATUSES, "trouble": TROUBLES}
        given |= {name: given[name] if given[name] in values else "" for name, values in known.items()}
        if conceals:
            given["condition"] = ""
            given["trouble"] = "" if given["trouble"] in CONCEALED_TROUBLES else given["trouble"]
        return cls(**given)

    @property
    def query(self) -> str:
        """Return the filter as the query of an address, without the empty fields."""
        return urlencode({name: value for name, value in self.pairs if value})

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return (field, value) pairs, for hidden fields of a form."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]


def find_people(study: Study, chosen: PeopleFilter) -> QuerySet[Participant]:
    """Return the participants that match the filter, newest first, with what the list shows of them.

    A name that contains unprintable characters matches nobody.
    """
    found = study.participants.filter(**KIND_FILTERS.get(chosen.kind, {}))
    if chosen.status == "excluded":
        found = found.exclude(excluded_at=None)
    elif chosen.status in ("break", *BREAK_STATES):
        found = found.filter(pk__in=ids_in_state(study, chosen.status))
    elif chosen.status:
        found = found.filter(status=chosen.status)
    if chosen.condition:
        played = Round.objects.filter(participant=OuterRef("pk"), condition__key=chosen.condition)
        found = found.filter(Exists(played)) if chosen.condition.isprintable() else found.none()
    if chosen.trouble:
        found = found.filter(_TROUBLE_FILTERS[chosen.trouble](study))
    if chosen.name:
        found = _named(found, chosen.name) if chosen.name.isprintable() else found.none()
    light = Round.objects.only("participant_id", "answered_at")
    slim = found.select_related("version").defer("version__document", "version__bundle")
    return slim.prefetch_related(Prefetch("rounds", light)).order_by("-number")


def _named(people: QuerySet[Participant], name: str) -> QuerySet[Participant]:
    """Return the people who have this name, or whose name begins so. Letters' case does not matter for names
    that a platform gave."""
    secret = _secret_key(name)
    if secret:
        return people.filter(key=secret)
    matches = Q(code__startswith=name) | Q(label__icontains=name) | Q(referred__icontains=name)
    matches |= Q(given_code__iexact=name) | Q(completion_code__iexact=name, status__in=PAID_STATUSES)
    matches |= Q(number=int(name)) if name.isdecimal() and len(name) < 8 else Q()
    matches |= Q(key=name) if len(name) >= SHORTEST_KEY else Q()
    return people.annotate(referred=Cast("referral", TextField())).filter(matches)


_LINK = re.compile(r"/p/(?P<key>[^/?#\s]+)")


def _secret_key(name: str) -> str:
    """Return the key in a personal link, or an empty string if the name is no such link."""
    found = _LINK.search(name)
    return found["key"] if found else ""


def _in_rounds(rounds: Any) -> Q:
    return Q(Exists(rounds.filter(participant=OuterRef("pk"))))


def _model_failed(study: Study) -> Q:
    failed = Decision.objects.filter(mind__episode=OuterRef("episode")).exclude(fallback="")
    return _in_rounds(Round.objects.filter(Exists(failed)))


def _outage(study: Study) -> Q:
    rounds = Round.objects.filter(participant__study=study)
    touched = touched_episodes(downtime_since_creation(study), rounds)
    return _in_rounds(Round.objects.filter(episode__in=touched))


def _left(study: Study) -> Q:
    return _in_rounds(Round.objects.filter(episode__status=Episode.Status.ABANDONED))


def _acted(action: str) -> Callable[[Study], Q]:
    def has_action(study: Study) -> Q:
        return Q(pk__in=study.staff_actions.filter(action=action).values("participant"))

    return has_action


_TROUBLE_FILTERS: Mapping[str, Callable[[Study], Q]] = {
    "model": _model_failed,
    "outage": _outage,
    "left": _left,
    "link": _acted("reissue"),
    "unread": lambda study: Q(unread_messages__gt=0),
    "note": _acted("note"),
}


@dataclass(frozen=True, slots=True)
class ErasedPeople:
    """What is still known about people whose data were erased and who match a name."""

    receipts: tuple[SecurityEvent, ...] = ()
    """The erasures whose receipt begins as the name does."""
    completion: Any = field(default=None)
    """The record that a person with this label completed the study and left, or None."""

    def __bool__(self) -> bool:
        return bool(self.receipts or self.completion)


MOST_RECEIPTS = 10


def find_erased(study: Study, name: str) -> ErasedPeople:
    """Return what is known about people who left, by the beginning of a receipt or by a label. Nothing leads
    to any data of theirs."""
    if not name or not name.isprintable():
        return ErasedPeople()
    receipts: tuple[SecurityEvent, ...] = ()
    if name.startswith(f"{study.slug}:"):
        kind = SecurityEvent.Kind.PERSON_ERASED
        begun = SecurityEvent.objects.filter(kind=kind, study=study.slug, what__startswith=name[:60])
        receipts = tuple(begun[:MOST_RECEIPTS])
    return ErasedPeople(receipts, completion_of(study.pk, name))
