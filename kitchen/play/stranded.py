"""Steps that no worker sees to in time: all of them hang, or the broker does, or there is too much to do.

The promise is that a step's co-players have `Episode.decision_seconds`, and that the condition's fallback
plays then. A worker that was asked keeps it. Where none was, the web processes do, for as long as somebody
has a page open there (`watch`): no mind is asked any more, the fallbacks command, and the log says so, as it
does of a mind that was late. A worker that wakes up later finds the step taken.
"""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from django.db import connection
from django.db.models import F, Max
from django.utils import timezone

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.play import clock
from kitchen.play.asking import MindOutcome
from kitchen.play.claims import decision_claim
from kitchen.play.deciding import decide_step, fallen_back
from kitchen.play.models import SeatCommand
from kitchen.play.open_turns import open_turns, overdue_turns
from kitchen.play.services import turn_close

GRACE = 5.0
"""Seconds that workers have beyond the time of the co-players, or of the person: they look every three."""
PERSON = ("person", clock.TIMEOUT)
"""By whom people's commands are chosen."""

Turns = list[tuple[int, int]]
"""(episode, step) of each."""


def stranded_turns() -> tuple[Turns, Turns]:
    """Turns whose co-players had their time since the last person commanded, and whom nobody is asking; and
    turns that should have been closed."""
    return _undecided(open_turns()), overdue_turns(timedelta(seconds=GRACE))


def _undecided(waiting: Turns) -> Turns:
    if not waiting:
        return []
    commands = SeatCommand.objects.filter(episode__in=[episode_id for episode_id, _ in waiting])
    rows = (
        commands.filter(step=F("episode__step") + 1, chosen_by__in=PERSON)
        .order_by()
        .values_list("episode_id", "step", "episode__decision_seconds", "episode__thinking_seconds")
        .annotate(came=Max("received_at"))
    )
    now = timezone.now()
    return [
        (episode_id, step)
        for episode_id, step, deciding, thinking, came in rows
        if came + timedelta(seconds=max(deciding, thinking) + GRACE) < now
    ]


def see_to(undecided: Turns, unclosed: Turns) -> None:
    """Have the fallbacks command in those, and close these. For a thread of its own, whose connection is
    closed."""
    with closing(connection):
        for episode_id, step in unclosed:
            turn_close(episode_id=episode_id, step=step)
        for episode_id, step in undecided:
            if claim := decision_claim(episode_id=episode_id, step=step):
                decide_step(episode_id=episode_id, step=step, claim=claim, ask=nobody_asked)


def nobody_asked(kind: str, settings: dict[str, Json], situation: Situation) -> MindOutcome:
    """What the mind's fallback commands, as after its time."""
    return MindOutcome(
        fallen_back(kind, settings, situation, "timeout"), "timeout", "no worker asked it in time"
    )
