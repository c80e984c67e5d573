"""When the pages that nobody sends were done: episodes end by themselves."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Subquery

from kitchen.play.models import Episode, Seat
from study.people.models import PageVisit, Round

NOT_DONE = (Episode.Status.PLAYING, Episode.Status.ABANDONED)
"""An episode that ended because its player was gone was not done with; nor one that others went on with."""


def plays_done(participant_id: int) -> None:
    """Note when the episodes of this participant ended; what is noted stays. Asked whenever another page is
    seen or done, since an episode ends on the server."""
    over = Round.objects.filter(participant=participant_id, position=OuterRef("position"))
    over = over.exclude(episode=None).exclude(episode__status__in=NOT_DONE)
    theirs = Seat.objects.filter(episode=OuterRef("episode"), number=OuterRef("seat"), mind=None)
    over = over.filter(Exists(theirs))
    begun = PageVisit.objects.filter(participant=participant_id, page="play", done_at=None)
    begun.filter(Exists(over)).update(done_at=Subquery(over.values("episode__ended_at")))
