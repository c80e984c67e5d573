"""How the replies of language models were read in episodes. Nothing here changes anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import Count, QuerySet

from kitchen.contract.reading import Readings, reading_of_faults
from kitchen.play.models import Decision, Seat


def readings_by_episode(decisions: QuerySet[Decision]) -> Mapping[int, Readings]:
    """By episode: the decisions whose commands were given, of those who read replies. Those of a mind with
    the same faults are counted by the database, so that it sends few of their notes."""
    read = decisions.filter(dropped="", note__faults__isnull=False).order_by()
    told = (f"note__{name}" for name in ("faults", "mended", "asked"))
    notes = read.values_list("mind__episode", "mind", *told).annotate(number=Count("pk"))
    seats = seats_of_minds(decisions.order_by().values("mind__episode"))
    by_episode: dict[int, Readings] = defaultdict(Readings)
    for episode, mind, faults, mended, asked, number in notes:
        reading = reading_of_faults(faults, mended or (), asked or seats.get(mind, 0))
        by_episode[episode] += Readings.of(reading, number)
    return by_episode


def readings(decisions: QuerySet[Decision]) -> Readings:
    """The same, of all of them."""
    return sum(readings_by_episode(decisions).values(), Readings())


def seats_of_minds(episodes: Any) -> Mapping[int, int]:
    """How many seats each mind of these episodes commands: their ids, or a query of them."""
    held = Seat.objects.filter(episode__in=episodes, mind__isnull=False).order_by()
    return dict(held.values_list("mind").annotate(number=Count("pk")))
