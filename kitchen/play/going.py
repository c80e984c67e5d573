"""Somebody leaves an episode that others go on with."""

from __future__ import annotations

from django.db import transaction

from kitchen.play import clock
from kitchen.play.absence import LEFT, WHY, hand_over
from kitchen.play.kept import bring_up_to_date, turn_taken
from kitchen.play.models import Seat, new_key
from kitchen.play.services import episode_abandon, go_on_after


def seat_leave(*, episode_id: int, seat: int) -> bool:
    """The person in this seat has left: a co-player takes it over where the episode says so and somebody
    else plays on, else the episode ends, as it does where they led without a seat of the world. Their key
    opens nothing any more. False, and nothing else changed, if it was over already."""
    with turn_taken(episode_id) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        Seat.objects.filter(episode=episode_id, number=seat).update(key=new_key(), page="")
        if not turn.is_open:
            return False
        if seat in turn.people and hand_over(turn, seat, LEFT):
            go_on_after(turn)
            clock.clock_start(episode_id=episode_id)  # if it was this person's page that was waited for
            return True
        is_person = seat in turn.people | turn.leaders
        return is_person and episode_abandon(episode_id=episode_id, reason=WHY[LEFT])
