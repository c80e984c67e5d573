"""Notify live staff pages and other modules when a participant's state changes or their data are erased.

Pages are notified over Django Channels, and other modules by Django signals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from django.db import transaction
from django.dispatch import Signal

from kitchen.play.turn import page_broadcast
from study.design.models import Study
from study.participants.models import Participant


@dataclass(frozen=True, slots=True)
class ParticipantNews:
    """The message that something about this participant has changed. It is sent over the channel layer to
    the group of `live_page_group`, as a mapping of its fields. Websocket consumers handle it in
    `participant_news`."""

    participant: str
    """The participant's code."""
    type: str = field(default="participant.news", init=False)


def live_page_group(study: Study) -> str:
    """Return the name of the channel group for messages about a study, its participants and its episodes.
    The study's live page listens to this group."""
    return live_page_group_name(study.pk)


def live_page_group_name(study_id: int) -> str:
    """Return the name of the channel group for the study with this id (see `live_page_group`)."""
    return f"study-{study_id}"


def notify_staff(person: Participant) -> None:
    """Send a message to the open live pages that this participant has changed. It is sent when the database
    transaction commits."""
    news = ParticipantNews(person.code)
    transaction.on_commit(
        partial(page_broadcast.notify_audience, live_page_group_name(person.study_id), news)
    )


participant_leaving = Signal()
"""Sent in the transaction that erases a participant. Receivers store what must not be lost; an error in one
rolls back the erasure. Arguments: `study_id`; `receipt`, which the participant gets; `mark`, the only trace
of them that stays (`study.participants.end_and_erase_participation`); `by`, the staff member who erases them,
or None if they withdrew."""

participant_erased = Signal()
"""Sent after the commit that erased a participant, or the names of participants. Argument: `study_id`."""
