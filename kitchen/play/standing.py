"""How live play stands as a whole, for those who keep it running. Nothing here changes anything.

What is asked about the last minutes reads the newest rows only: the log has no index by time, since every
step would have to keep it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import quantiles

from django.db.models import Count
from django.utils import timezone

from kitchen.contract.plans import WORLD
from kitchen.contract.world import Json
from kitchen.play.models import Decision, Episode, ModelCall, Step
from kitchen.play.open_turns import overdue_turns, undecided_turns
from kitchen.registry.agents import agent_kinds, get_agent

PERSON = "person"
NEWEST = 2000
"""Rows that are read at most."""
PATIENCE = timedelta(seconds=5)
"""Beyond the time that a turn may take, for the look of workers to find it."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Steps lately, and what those took that waited for nobody but us, and for no clock: seconds from the
    last command."""

    steps: int
    capped: bool
    """There were more steps than are read."""
    half: float | None
    """The median; None without such steps."""
    most: float | None
    """95 of 100 took no longer."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Decisions and calls of models lately, and how many of them came to nothing."""

    decisions: int
    fallbacks: int
    calls: int
    failures: int


def episodes_live() -> dict[str, int]:
    """How many episodes are played now, by world."""
    playing = Episode.objects.filter(status=Episode.Status.PLAYING).order_by()
    return dict(playing.values_list("world").annotate(Count("pk")))


def turns_late() -> int:
    """Episodes that wait longer than they may: for co-players although all people have commanded, or for a
    turn to be closed whose time is over."""
    waiting = (*undecided_turns(PATIENCE), *overdue_turns(PATIENCE))
    return len({pk for pk, _ in waiting})


def pace_lately(minutes: float = 1) -> Pace:
    """How quick play was."""
    rows = Step.objects.order_by("-pk").values_list("taken_at", "commands", "episode__tick_ms")[:NEWEST]
    since = timezone.now() - timedelta(minutes=minutes)
    fresh = [(taken_at, commands, ticks) for taken_at, commands, ticks in rows if taken_at >= since]
    turns = [(taken_at, commands) for taken_at, commands, ticks in fresh if not ticks]
    took = [seconds for row in turns if (seconds := _own_seconds(*row)) is not None]
    cuts = quantiles([*took, *took], n=20) if took else None
    return Pace(
        steps=len(fresh),
        capped=len(fresh) == NEWEST,
        half=cuts[9] if cuts else None,
        most=cuts[18] if cuts else None,
    )


def _own_seconds(taken_at: datetime, commands: Sequence[Json]) -> float | None:
    """From the last person's command to the stored step; None where co-players took their time, too."""
    asked = [entry for entry in commands if "planned_in" not in entry]
    by = {entry["chosen_by"] for entry in asked}
    if PERSON not in by or any(entry["fallback"] for entry in asked) or not all(map(_is_instant, by)):
        return None
    came = (datetime.fromisoformat(each["received_at"]) for each in asked if each["chosen_by"] == PERSON)
    return max(0.0, (taken_at - max(came)).total_seconds())


def _is_instant(chosen_by: str) -> bool:
    return chosen_by in {PERSON, WORLD} or (chosen_by in agent_kinds() and get_agent(chosen_by).instant)


def faults_lately(minutes: float = 15) -> Faults:
    """What co-players and models could not do."""
    since = timezone.now() - timedelta(minutes=minutes)
    made = Decision.objects.order_by("-pk").values_list("decided_at", "fallback", "dropped")[:NEWEST]
    decided = [fallback for at, fallback, dropped in made if at >= since and not dropped]
    asked = ModelCall.objects.order_by("-pk").values_list("decision__decided_at", "error")[:NEWEST]
    called = [error for at, error in asked if at >= since]
    return Faults(len(decided), sum(map(bool, decided)), len(called), sum(map(bool, called)))
