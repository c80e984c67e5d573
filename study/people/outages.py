"""Which episodes of a study outages of ours touched. Nothing here changes anything."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone

from kitchen.uptime.models import Outage
from kitchen.uptime.selectors import UNTOUCHED, Downtime, Touch, downtime_since
from study.design.models import Study
from study.people.models import Participant, Round


def downtime_of(study: Study) -> Downtime:
    """All outages since the study was made."""
    return downtime_since(study.created_at)


def outages_of(study: Study) -> QuerySet[Outage]:
    """Those from the first participant's coming to the last one's last deed, or until now while somebody
    takes part."""
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


def touch_of(downtime: Downtime, began: datetime | None, ended: datetime | None) -> Touch:
    """What these outages did to an episode; one that is not over yet goes on until now."""
    return downtime.touch(began, ended or timezone.now()) if began else UNTOUCHED


def touched_episodes(downtime: Downtime, rounds: QuerySet[Round]) -> set[int]:
    """Ids of the episodes of these rounds that any of these outages touched."""
    if not downtime:
        return set()
    times = rounds.filter(episode__isnull=False).order_by()
    rows = times.values_list("episode_id", "episode__created_at", "episode__ended_at").distinct()
    return {pk for pk, began, ended in rows.iterator(chunk_size=2000) if touch_of(downtime, began, ended)}
