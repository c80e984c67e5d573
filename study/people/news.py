"""What staff who watch a study are told when a participant goes on: who it is; they look for themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from django.db import transaction

from kitchen.play import stream
from study.design.models import Study
from study.people.models import Participant


@dataclass(frozen=True, slots=True)
class ParticipantNews:
    """Something about this participant has changed; the handler in a consumer is `participant_news`.

    It comes over the channel layer, to the group of `audience_of`, as a mapping of these fields.
    """

    participant: str
    """The code."""
    type: str = field(default="participant.news", init=False)


def audience_of(study: Study) -> str:
    """Who hears the news of a study, its participants' and its episodes': the live page."""
    return audience_name(study.pk)


def audience_name(study_id: int) -> str:
    """As `audience_of`, for the study's id."""
    return f"study-{study_id}"


def tell(person: Participant) -> None:
    """Tell those who watch, once what has changed is committed."""
    news = ParticipantNews(person.code)
    transaction.on_commit(partial(stream.tell_audience, audience_name(person.study_id), news))
