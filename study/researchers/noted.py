"""Security events as they are written: numbered without a gap and sealed, so that one that is changed, put in
or gone is found.

A count of its own says how many there were. What the app erases itself, because it is too old, it notes there
(`erased`); rows that are missing beyond that were taken by somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from kitchen.machine.pieces import pieces
from kitchen.machine.sealed import columns, seal_fits, seal_of
from study.researchers.models import SecurityCount, SecurityEvent

ROW, COUNT = "security event", "security events"
SEALED = ("number", "at", "kind", "user_name", "study", "what", "address")
ONLY = 1
"""The id of the one count."""
NO_COUNT = "security events: how many there were is gone"
FALSE_COUNT = "security events: how many there were was not written with this installation's key"


@transaction.atomic
def event_write(**values: Any) -> SecurityEvent:
    """Write the next one. Others wait until the transaction around it ends."""
    count = _count()
    event = SecurityEvent(number=count.last + 1, **values)
    event.seal = seal_of(ROW, columns(event, SEALED))
    event.save()
    _store(count, last=event.number, erased=count.erased)
    return event


def _count() -> SecurityCount:
    """The one count, locked."""
    fresh = {"last": 0, "erased": 0, "seal": seal_of(COUNT, [0, 0])}
    count, _ = SecurityCount.objects.select_for_update().get_or_create(pk=ONLY, defaults=fresh)
    return count


def _store(count: SecurityCount, *, last: int, erased: int) -> None:
    count.last, count.erased, count.seal = last, erased, seal_of(COUNT, [last, erased])
    count.save()


def events_erase(events: QuerySet[SecurityEvent]) -> int:
    """Erase these, the oldest ones, in pieces, of each of which the count knows; how many they were."""
    numbers = dict(events.order_by("pk").values_list("pk", "number"))
    for piece in pieces(numbers):
        _piece_erase(piece, max(numbers[pk] for pk in piece))
    return len(numbers)


@transaction.atomic
def _piece_erase(piece: Sequence[int], number: int) -> None:
    count = _count()
    SecurityEvent.objects.filter(pk__in=piece).delete()
    _store(count, last=count.last, erased=max(count.erased, number))


def events_verify() -> Iterator[str]:
    """What is not as it was noted."""
    count = SecurityCount.objects.filter(pk=ONLY).first()
    if count is None:
        if SecurityEvent.objects.exists() or get_user_model().objects.exclude(last_login=None).exists():
            yield NO_COUNT
        return
    if not seal_fits(count.seal, COUNT, [count.last, count.erased]):
        yield FALSE_COUNT
    before = count.erased
    for event in SecurityEvent.objects.order_by("number", "pk").iterator():
        if not seal_fits(event.seal, ROW, columns(event, SEALED)) or event.number == before > count.erased:
            yield f"security event {event.pk} is not what was written"
        if event.number > before:
            yield from _missing(before + 1, event.number - 1)
            before = event.number
    yield from _missing(before + 1, count.last)


def _missing(first: int, last: int) -> Iterator[str]:
    if first == last:
        yield f"security event number {first} is missing"
    elif first < last:
        yield f"security events number {first} to {last} are missing"
