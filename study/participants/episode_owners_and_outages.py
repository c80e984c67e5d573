"""Find the participants who played an episode (one game), and episodes during which the app was unavailable.

The module changes no data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone

from kitchen.uptime.models import Outage
from kitchen.uptime.outage_queries import NO_EFFECT, Downtime, OutageEffect, downtime_since
from study.design.models import Study
from study.participants.models import Participant, Round


def downtime_since_creation(study: Study) -> Downtime:
    """Return all outages since the study was created."""
    return downtime_since(study.created_at)


def outages_of(study: Study) -> QuerySet[Outage]:
    """Return the outages between the study's first entry and its last action. While a participant is
    active, the period lasts until now."""
    facts = study.participants.aggregate(
        first=Min("entered_at"),
        last=Max("active_at"),
        ended=Max("ended_at"),
        on=Min("pk", filter=Q(status=Participant.Status.ACTIVE)),
    )
    if facts["first"] is None:
        return Outage.objects.none()
    while_it_ran = Outage.objects.filter(until__gte=facts["first"])
    if facts["on"] is None:
        last = max(moment for moment in (facts["last"], facts["ended"]) if moment)
        while_it_ran = while_it_ran.filter(since__lte=last)
    return while_it_ran


def outage_overlap(downtime: Downtime, began: datetime | None, ended: datetime | None) -> OutageEffect:
    """Return how these outages affect an episode that lasted from `began` to `ended`. If `ended` is None,
    the episode lasts until now. If `began` is None, there is no effect."""
    return downtime.touch(began, ended or timezone.now()) if began else NO_EFFECT


def touched_episodes(downtime: Downtime, rounds: QuerySet[Round]) -> set[int]:
    """Return the ids of these rounds' episodes that overlap with an outage."""
    if not downtime:
        return set()
    times = rounds.filter(episode__isnull=False).order_by()
    rows = times.values_list("episode_id", "episode__created_at", "episode__ended_at").distinct()
    return {
        pk for pk, began, ended in rows.iterator(chunk_size=2000) if outage_overlap(downtime, began, ended)
    }


def episode_owners(ids: Sequence[int]) -> Mapping[int, Sequence[Any]]:
    """Return the owners of each episode, by episode id. An owner is a list: `["round", …]` with the columns
    of the round, or `["practice", participant id, study id]`. If the participant's seat of an episode while
    waiting is not 0, it is added at the end.

    The seal (a signed hash) of an episode includes its owners. It shows later if the episode was assigned to
    somebody else.
    """
    owners: dict[int, list[Any]] = defaultdict(list)
    of_round = ("episode", "pk", "participant", "participant__study", "condition", "position", "seat")
    for episode, *values in Round.objects.filter(episode__in=ids).order_by().values_list(*of_round):
        owners[episode].append(["round", *values])
    for name in ("practice", "first_practice", "warm_up"):
        practised = Participant.objects.filter(**{f"{name}__in": ids}).order_by()
        for episode, seat, *values in practised.values_list(name, "warm_up_seat", "pk", "study"):
            seats = [seat] if name == "warm_up" and seat else []  # seals of seat 0 name no seat
            owners[episode].append(["practice", *values, *seats])
    return owners
