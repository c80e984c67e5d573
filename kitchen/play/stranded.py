"""Steps that no worker sees to in time: all of them hang, or the broker does, or there is too much to do.

The promise is that a step's co-players have `Episode.decision_seconds`, and that the condition's fallback
plays then. A worker that was asked keeps it. Where none was, the web processes do, for as long as somebody
has a page open there (`watch`): no mind is asked any more, the fallbacks command, and the log says so, as it
does of a mind that was late. A worker that wakes up later finds the step taken.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

from django.db import connection

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json
from kitchen.machine.storage import trouble_of
from kitchen.play.asking import MindOutcome
from kitchen.play.claims import decision_claim
from kitchen.play.deciding import Late, decide_step, fallen_back
from kitchen.play.open_turns import minds_apart, overdue_turns, undecided_turns
from kitchen.play.services import turn_close

log = logging.getLogger(__name__)

GRACE = 5.0
"""Seconds that workers have beyond the time of the co-players, or of the person: they look every second."""
Turns = list[tuple[int, int]]
"""(episode, step) of each."""


def stranded_turns() -> tuple[Turns, Turns]:
    """Turns whose co-players had their time since the last person commanded, and whom nobody is asking; and
    turns that should have been closed."""
    beyond = timedelta(seconds=GRACE)
    return undecided_turns(beyond, free=True), overdue_turns(beyond)


def see_to(undecided: Turns, unclosed: Turns) -> None:
    """Have the fallbacks command in those, and close these; one that cannot be played keeps nobody from the
    others. For a thread of its own, whose connection is closed."""
    with closing(connection):
        for act, turns in ((turn_close, unclosed), (_fall_back, undecided)):
            for episode_id, step in turns:
                _try(act, episode_id, step)


def _fall_back(*, episode_id: int, step: int) -> None:
    apart: list[int | None] = [*minds_apart(episode_id, step)]
    for party in apart or [None]:
        if claim := decision_claim(episode_id=episode_id, step=step, mind=party):
            decide_step(episode_id=episode_id, step=step, claim=claim, ask=nobody_asked, mind=party)


def _try(act: Callable[..., object], episode_id: int, step: int) -> None:
    """Storage trouble ends the round: it is the same for all."""
    try:
        act(episode_id=episode_id, step=step)
    except Exception as error:
        if trouble_of(error):
            raise
        log.exception("episode %s cannot go on", episode_id)


def nobody_asked(kind: str, settings: dict[str, Json], situation: Situation, late: Late) -> MindOutcome:
    """What the mind's fallback commands, as after its time."""
    return MindOutcome(
        fallen_back(kind, settings, situation, "timeout"), "timeout", "no worker asked it in time"
    )
