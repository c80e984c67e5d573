"""Which page of which browser plays a seat: the one that was opened last.

`Seat.page` names it. Taking the seat is one conditional update of one row, so the database decides the order
whichever process a page is connected to. Older pages are nudged, look, and find that they are not the one.
"""

from __future__ import annotations

import re
import secrets
from functools import partial

from django.db import transaction
from django.db.models import Case, Value, When

from kitchen.contract.page import BOTH
from kitchen.play import clock, stream
from kitchen.play.messages import HEADSET
from kitchen.play.models import Seat, new_key

_NAME = re.compile(r"[A-Za-z0-9_-]{8,32}")


def page_name(asked: str) -> str:
    """The name that a page gave itself, or a new one if that is none."""
    return asked if _NAME.fullmatch(asked) else secrets.token_urlsafe(16)


def seat_take(seat: Seat, *, page: str, newest: bool) -> bool:
    """Let this page play the seat, which was read just now, if it is the `newest`, or has played it last, or
    if nobody has yet.

    False, and nothing changed, if a newer page plays.
    """
    if seat.page == page:
        return True
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key)
    if not newest:
        seats = seats.filter(page="")
    with transaction.atomic():
        taken = seats.update(page=page)
        clocked = taken and seat.episode.step_seconds is not None
        begun = clocked and clock.clock_start(episode_id=seat.episode_id)
        if begun or (taken and seat.page):  # there is an older page, or others see the clock begin
            transaction.on_commit(partial(stream.nudge_pages, seat.episode_id))
    return bool(taken)


def scene_note(seat: Seat, *, way: str) -> None:
    """Note how this seat's person sees the world in three dimensions, where that is offered: a headset
    outdoes a screen."""
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key, episode__three_dimensions=True)
    seats.exclude(scene__in=(way, HEADSET)).update(scene=way)


def view_note(seat: Seat, *, view: str) -> None:
    """Note that this seat's person saw this view when they chose, where there are two: `both` where it was
    now this one, now that."""
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key, episode__shown=BOTH)
    seen = Case(When(view="", then=Value(view)), default=Value(BOTH))
    seats.exclude(view__in=(view, BOTH)).update(view=seen)


@transaction.atomic
def seat_relock(*, episode_id: int, seat: int) -> None:
    """A new key for a person's seat: the old one opens nothing any more; pages that have it are closed."""
    seats = Seat.objects.filter(episode=episode_id, number=seat, mind=None)
    if seats.update(key=new_key(), page=""):
        transaction.on_commit(partial(stream.nudge_pages, episode_id))
