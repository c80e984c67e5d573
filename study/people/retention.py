"""How long what people left is kept: first their names and free texts go, later all of it.

Days count from when somebody did something last. Each piece is a transaction of its own; what is stopped in
the middle goes on the next time.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from kitchen.machine.pieces import pieces
from kitchen.play.calls import prompts_unused
from kitchen.play.erasing import prompts_erase
from study.design.models import Study, SurveyItem
from study.design.questions.fields import DOES_NOT_APPLY
from study.people.leaving import episodes_erase_left, participant_withdraw
from study.people.models import Answer, Participant

PEOPLE = 50
"""Whose names are erased together."""


def kept_too_long(days: int | None) -> QuerySet[Participant]:
    """Those who did something last more than so many days ago; nobody where things are kept for ever."""
    if days is None:
        return Participant.objects.none()
    return Participant.objects.filter(active_at__lt=timezone.now() - timedelta(days=days))


def still_named(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """Those of them with a name or a free text."""
    texts = texts_of(people).values("participant")
    return people.filter(~Q(label="") | ~Q(referral={}) | Q(pk__in=texts)).order_by("pk")


def texts_of(people: QuerySet[Participant]) -> QuerySet[Answer]:
    """Their answers in words of their own."""
    of_them = Answer.objects.filter(participant__in=people.values("pk"), item__kind=SurveyItem.Kind.TEXT)
    return of_them.exclude(value="").exclude(value=DOES_NOT_APPLY)


def names_erase(ids: Iterable[int]) -> int:
    """Empty what names these participants: the label and what else their link said, and free texts. How many
    they were. The rest stays, and their personal link with it, so that they can still leave."""
    done = 0
    for piece in pieces(ids, PEOPLE):
        with transaction.atomic():
            people = Participant.objects.filter(pk__in=piece)
            texts_of(people).update(value="")
            done += people.update(label="", referral={})
    return done


def people_erase(ids: Iterable[int]) -> int:
    """Erase all that these participants left, one after another; how many there were. They are not counted as
    withdrawn."""
    return sum(_erase(participant_id) for participant_id in ids)


def _erase(participant_id: int) -> bool:
    """False if they have left meanwhile."""
    try:
        participant_withdraw(participant_id=participant_id, counted=False)
    except Participant.DoesNotExist:
        return False
    return True


def left_erase() -> int:
    """Erase what belongs to nobody since a process died while it erased: episodes, and what models were
    asked; how many episodes."""
    studies = Study.objects.values_list("pk", flat=True)
    episodes = sum(episodes_erase_left(study_id=study_id) for study_id in studies)
    prompts_erase(prompts_unused())
    return episodes
