"""Set the time limit of a step (`Episode.step_seconds`), and extend it after an outage.

At the deadline (`Episode.turn_closes_at`), people without a command do nothing in this step. The function
`kitchen.play.episode.advance_episode.close_expired_turn` then runs the step. The time of the
first step begins when all people have opened their page, at the latest after `ARRIVAL`. No turn is closed
while pages or the database are down. Afterwards the deadline moves by the lost time.
"""

# If pages had to reconnect after an outage, the deadline moves by `RECONNECT_TIME` in addition to the lost
# time. If the system clock is changed, deadlines move by the same amount. A timeout after such an extension
# is logged as `outage`.
#
# WCAG 2.2.1 (timing adjustable): the limit is a setting of the researcher and a part of what a study
# measures. The page shows a countdown and announces 10 and 5 seconds.

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from kitchen.contract.world_errors import SettingsError
from kitchen.infra.database_writes import update_row_where
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.play_task_queue import close_turn_later
from kitchen.uptime.outage_detection import PARTS_NEEDED_TO_PLAY, Span

TIMEOUT = "timeout"
"""`chosen_by` of the idle command given for a person whose time ran out."""
OUTAGE = "outage"
"""`chosen_by` of such a command if an outage of this server had moved the deadline."""
NO_CHOICE_CODES = (TIMEOUT, OUTAGE)
"""`chosen_by` of commands given for a person who had not commanded."""
PERSON = "person"
"""`chosen_by` of a command that a person gave."""
CLOCK = "clock"
"""`chosen_by` of a person's command in a real-time step (`World.tick_ms`) in which no key was pressed."""
PEOPLE_CODES = (PERSON, *NO_CHOICE_CODES, CLOCK)
"""`chosen_by` of all commands in people's seats."""

MIN_STEP_SECONDS, MAX_STEP_SECONDS = 1.0, 3600.0
"""Smallest and largest value of `step_seconds`."""

ARRIVAL = timedelta(seconds=30)
"""Time that people have to open their pages before the timer starts without them."""
LONGEST_COUNTDOWN = 60.0
"""Longest time in seconds for which a task is queued to close the turn. A longer turn is closed by a worker's
check, because the queue does not keep tasks that long.
"""


MIN_TICK_MS = 20
"""Shortest step in milliseconds when programs play a real-time world at higher speed."""


def tick_ms_for(usual: int | None, *, synthetic: bool) -> int | None:
    """Return the milliseconds of one step in a real-time world. None in a turn-based world (`usual` is None).

    `usual` is the world's own value. For `synthetic` episodes, which programs play, it is divided by
    `SYNTHETIC_SPEED`, but not below `MIN_TICK_MS`.
    """
    if usual is None or not synthetic:
        return usual
    return min(usual, max(MIN_TICK_MS, round(usual / settings.SYNTHETIC_SPEED)))


def check_step_seconds(seconds: float | None) -> None:
    """Raise SettingsError if this time limit is not between `MIN_STEP_SECONDS` and `MAX_STEP_SECONDS`.
    None is allowed."""
    if seconds is not None and not (
        math.isfinite(seconds) and MIN_STEP_SECONDS <= seconds <= MAX_STEP_SECONDS
    ):
        raise SettingsError(
            f"step_seconds: {seconds:g} is not between {MIN_STEP_SECONDS:g} and {MAX_STEP_SECONDS:g}"
        )


@transaction.atomic
def start_first_turn_timer(*, episode_id: int, everybody: bool = True) -> bool:
    """Start the time limit of the first turn if all people have opened their page. With `everybody=False`, it
    starts even if some people have not.

    Returns False if the limit was not started: it already runs, there is no limit, or a page is missing.
    """
    standing = Episode.objects.select_for_update().filter(
        pk=episode_id,
        status=Episode.Status.PLAYING,
        step_seconds__isnull=False,
        turn_closes_at=None,
    )
    episode = standing.first()
    if episode is None or episode.step_seconds is None:
        return False
    # checked under the lock: a page that opens now waits for it
    if everybody and Seat.objects.filter(episode=episode, mind=None, page="").exists():
        return False
    episode.turn_opened_at, episode.asked_at = timezone.now(), None
    episode.turn_closes_at = episode.turn_opened_at + timedelta(seconds=episode.step_seconds)
    episode.save(update_fields=["turn_opened_at", "turn_closes_at", "asked_at"])
    schedule_turn_close(episode)
    return True


def lift_step_limit(episode: Episode) -> None:
    """Take the people's time limit from an episode, also for the open step. While probes hold the game, the
    limit of the answers stays."""
    lifted: dict[str, None] = {"step_seconds": None}
    if not episode.probing:
        lifted["turn_closes_at"] = None
    Episode.objects.filter(pk=episode.pk).update(**lifted)


def schedule_turn_close(episode: Episode) -> None:
    """Queue a task, after the commit, that closes the open turn at its deadline. Long turns get no task: a
    periodic check closes them."""
    left = seconds_left(episode)
    if left is not None and left <= LONGEST_COUNTDOWN:
        transaction.on_commit(partial(close_turn_later, episode.pk, episode.step + 1, left))


def restart_step_timer(episode: Episode, more: float = 0.0) -> None:
    """Restart the people's time limit for the open step, from now or from `more` seconds later. Does
    nothing if no timer runs."""
    if episode.step_seconds is None or episode.turn_closes_at is None:
        return
    episode.asked_at = timezone.now() + timedelta(seconds=more)
    episode.turn_closes_at = episode.asked_at + timedelta(seconds=episode.step_seconds)
    times = {"asked_at": episode.asked_at, "turn_closes_at": episode.turn_closes_at}
    update_row_where(Episode, times, where={"id": episode.pk})
    schedule_turn_close(episode)


def seconds_left(episode: Episode) -> float | None:
    """Return the seconds until the open turn's deadline, at least 0. None if no time limit runs."""
    if episode.turn_closes_at is None or episode.status != Episode.Status.PLAYING:
        return None
    return max(0.0, (episode.turn_closes_at - timezone.now()).total_seconds())


def timeout_reason(episode: Episode, since: datetime) -> str:
    """Return why a person's time ran out: `TIMEOUT`, or `OUTAGE` if an outage of the server had extended the
    deadline. These are codes of `SeatCommand.chosen_by`.

    `since` is the time from which the person's time ran.
    """
    assert episode.step_seconds and episode.turn_closes_at  # noqa: S101 - a clock runs
    given = episode.turn_closes_at - since
    return OUTAGE if given > timedelta(seconds=episode.step_seconds) else TIMEOUT


RECONNECT_TIME = timedelta(seconds=6)
"""Time that a page needs to connect again: it tries after 5 seconds at the latest."""


def extend_deadlines(*, part: str, spans: Sequence[Span], **_: Any) -> int:
    """Extend the deadlines of all open turns that an outage interrupted. Return how many were changed.
    Receives the signal `outage_over`.

    `spans` are the periods of the outage, in order. `part` is the part of the app that was down.
    """
    more = RECONNECT_TIME if part in PARTS_NEEDED_TO_PLAY else timedelta()
    closing = Episode.objects.filter(status=Episode.Status.PLAYING, turn_closes_at__gt=spans[0].since)
    return sum(_close_at(episode, _later(episode, spans, more)) for episode in _clocked(closing))


def shift_deadlines(*, by: timedelta, at: datetime, unsure: timedelta, **_: Any) -> int:
    """Move the deadlines of open turns by `by`, because the system clock was changed at the time `at`. Return
    how many were moved. Receives the signal `clock_set`.

    Turns opened less than `unsure` before `at` are left out.
    """
    playing = Episode.objects.filter(status=Episode.Status.PLAYING, turn_closes_at__isnull=False)
    before = playing.exclude(turn_opened_at__range=(at - unsure, at))
    return sum(_close_at(episode, episode.turn_closes_at + by) for episode in _clocked(before))


def _clocked(episodes: Any) -> Any:
    fields = ("pk", "status", "step", "step_seconds", "turn_opened_at", "asked_at", "turn_closes_at")
    return episodes.only(*fields).order_by("pk")


def _later(episode: Episode, spans: Sequence[Span], more: timedelta) -> datetime:
    """Return the turn's new deadline after these outages. The deadline moves by the part of each outage that
    falls within the turn's time. `more` is added if the deadline has changed."""
    assert episode.turn_closes_at  # noqa: S101 - asked for
    closes = episode.turn_closes_at
    for span in spans:
        begin = max(span.since, episode.asked_at or episode.turn_opened_at)
        if begin < min(closes, span.until):
            closes += span.until - begin
    return closes + more if closes != episode.turn_closes_at else closes


def _close_at(episode: Episode, closes: datetime) -> bool:
    """Store the new deadline of a turn. Return False, without a change, if the step was taken in the
    meantime."""
    if closes == episode.turn_closes_at:
        return False
    still = Episode.objects.filter(pk=episode.pk, step=episode.step, turn_closes_at=episode.turn_closes_at)
    moved = bool(still.update(turn_closes_at=closes))
    if moved:
        episode.turn_closes_at = closes
        schedule_turn_close(episode)
    return moved
