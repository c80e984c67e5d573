"""The time that people have for a step, where a researcher set one (`Episode.step_seconds`).

The deadline is `Episode.turn_closes_at`. It begins with the first turn when every person has opened their
page for the first time (of several people, one need not wait longer than `ARRIVAL` for the others), and with
every later turn when the step before it was taken. From then on it runs
whether or not anybody is connected: who is away loses their turns, not the episode. At the deadline people
who have not commanded wait in this step (`turn_close`); then the co-players are asked, within their own time.

A task closes the turn in time; whoever looks later (a worker every few seconds, a command that comes too
late) closes it as well, so no dead worker, server or broker can keep a turn open.

Nobody is held to a deadline that they could not keep. While pages or the database are known to be away, no
turn is closed; when they are back, the deadline is later by the time that was lost
(`kitchen.play.extending`). If the time of such a turn runs out nonetheless, the log says `outage`, not
`timeout`.

WCAG 2.2.1 (timing adjustable): a limit is the researcher's setting and part of what a study measures; without
one people take as long as they want. The page counts down in view and says aloud when 10 and 5 seconds are
left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from kitchen.contract.world import Json, SettingsError
from kitchen.play.models import Episode, Seat
from kitchen.play.queue import close_turn_later

TIMEOUT = "timeout"
"""`chosen_by` of the command of a person whose time ran out."""
OUTAGE = "outage"
"""The same, where an outage of ours had moved the deadline."""
NOBODY = (TIMEOUT, OUTAGE)
"""`chosen_by` of commands that were given for a person who had not commanded."""
PERSON = "person"
"""`chosen_by` of a command that somebody gave."""
NO_KEY = "clock"
"""The same where a clock takes the steps (`World.tick_ms`): no key was pressed."""
OF_PEOPLE = (PERSON, *NOBODY, NO_KEY)
"""`chosen_by` of all commands in people's seats."""

SHORTEST, LONGEST = 1.0, 3600.0
"""Bounds of `step_seconds`."""

ARRIVAL = timedelta(seconds=30)
"""So long several people are given to open their pages before the clock begins without them."""
LONGEST_COUNTDOWN = 60.0
"""Turns that are open longer are closed by a look alone: a queue does not keep tasks for so long."""


QUICKEST_MS = 20
"""No step is shorter where a clock takes them quicker for programs."""


def tick_ms_for(usual: int | None, *, synthetic: bool) -> int | None:
    """Milliseconds of a step of a world with a clock: where programs take part (`synthetic`) it is
    `SYNTHETIC_SPEED` times as quick, as far as a step does not get shorter than `QUICKEST_MS`."""
    if usual is None or not synthetic:
        return usual
    return min(usual, max(QUICKEST_MS, round(usual / settings.SYNTHETIC_SPEED)))


def check_step_seconds(seconds: float | None) -> None:
    """SettingsError if people cannot be given that time."""
    if seconds is not None and not (math.isfinite(seconds) and SHORTEST <= seconds <= LONGEST):
        raise SettingsError(f"step_seconds: {seconds:g} is not between {SHORTEST:g} and {LONGEST:g}")


def next_close(episode: Episode, opened_at: datetime) -> datetime | None:
    """When a turn closes that opens then; None where no clock runs."""
    if episode.step_seconds is None or episode.turn_closes_at is None:
        return None
    return opened_at + timedelta(seconds=episode.step_seconds)


@transaction.atomic
def clock_start(*, episode_id: int, everybody: bool = True) -> bool:
    """Begin the first turn's time if every person has opened their page, or, where `everybody` is not waited
    for, anyhow; False if it runs or none is set."""
    standing = Episode.objects.select_for_update().filter(
        pk=episode_id,
        status=Episode.Status.PLAYING,
        step_seconds__isnull=False,
        turn_closes_at=None,
    )
    episode = standing.first()
    if episode is None or episode.step_seconds is None:
        return False
    if (
        everybody and Seat.objects.filter(episode=episode, mind=None, page="").exists()
    ):  # asked under the lock: who opens now waits
        return False
    episode.turn_opened_at = timezone.now()
    episode.turn_closes_at = episode.turn_opened_at + timedelta(seconds=episode.step_seconds)
    episode.save(update_fields=["turn_opened_at", "turn_closes_at"])
    arm(episode)
    return True


def arm(episode: Episode) -> None:
    """Have the open turn closed in time (after the commit)."""
    left = seconds_left(episode)
    if left is not None and left <= LONGEST_COUNTDOWN:
        transaction.on_commit(partial(close_turn_later, episode.pk, episode.step + 1, left))


def seconds_left(episode: Episode) -> float | None:
    """What is left of the open turn's time, 0 or more; None where no clock runs."""
    if episode.turn_closes_at is None or episode.status != Episode.Status.PLAYING:
        return None
    return max(0.0, (episode.turn_closes_at - timezone.now()).total_seconds())


def why_it_ran_out(episode: Episode, since: datetime) -> str:
    """What the log says of who has not commanded in the open turn, whose time has run `since` then and is
    over."""
    assert episode.step_seconds and episode.turn_closes_at  # noqa: S101 - a clock runs
    given = episode.turn_closes_at - since
    return OUTAGE if given > timedelta(seconds=episode.step_seconds) else TIMEOUT


def ran_out(seat: int, entries: Iterable[Json]) -> bool:
    """Whether time ran out for this seat in a step with these log entries."""
    return any(entry["seat"] == seat and entry["chosen_by"] in NOBODY for entry in entries)
