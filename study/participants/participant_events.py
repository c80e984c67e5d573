"""Notify live pages and other apps that a participant moved on, left or was erased."""

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
    """Something about this participant has changed; the handler in a consumer is `participant_news`.

    It comes over the channel layer, to the group of `live_page_group`, as a mapping of these fields.
    """

    participant: str
    """The code."""
    type: str = field(default="participant.news", init=False)


def live_page_group(study: Study) -> str:
    """Who hears the news of a study, its participants' and its episodes': the live page."""
    return live_page_group_name(study.pk)


def live_page_group_name(study_id: int) -> str:
    """As `live_page_group`, for the study's id."""
    return f"study-{study_id}"


def notify_staff(person: Participant) -> None:
    """Tell those who watch, once what has changed is committed."""
    news = ParticipantNews(person.code)
    transaction.on_commit(
        partial(page_broadcast.notify_audience, live_page_group_name(person.study_id), news)
    )


participant_leaving = Signal()
"""In the transaction that erases somebody: who hears of it keeps what must not be lost; an error undoes it
all. `study_id` says in which study, `receipt` is what they are given, `mark` all that is kept of them
(`study.participants.erasure_records`), `by` who of the staff does it, if they do not leave by themselves."""

participant_erased = Signal()
"""After the commit that erased somebody; `study_id` says in which study."""
