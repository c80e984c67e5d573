"""Everything that changes a study's participants: entering, going on, answering, leaving."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from kitchen import services as kitchen
from kitchen.calls import prompts_erase_unused, prompts_of
from kitchen.models import Budget, Episode
from kitchen.play import derived_seed
from study.analysing import forget
from study.design import random_order
from study.models import Answer, Condition, Participant, Round, Study, SurveyItem
from study.plan import mind_plans


class StudyClosedError(Exception):
    """The study takes nobody new."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What someone who withdrew can keep: proof without a name."""

    code: str
    at: datetime


@transaction.atomic
def participant_enter(*, study_id: int, entry: str, synthetic: bool = False) -> Participant:
    """Someone agreed to take part. The same consent form sent twice is the same participant.

    StudyClosedError if the study is closed or has no conditions.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if known := Participant.objects.filter(study=study, entry=entry).first():
        return known
    conditions = {condition.key: condition for condition in study.conditions.all()}
    if study.status != Study.Status.OPEN or not conditions:
        raise StudyClosedError(study.slug)
    study.entered += 1
    study.save(update_fields=["entered"])
    participant = Participant.objects.create(
        study=study,
        number=study.entered,
        code=secrets.token_hex(4),
        entry=entry,
        synthetic=synthetic,
        consent_hash=hashlib.sha256(study.consent.encode()).hexdigest(),
    )
    _plan_rounds(participant, conditions, seed=derived_seed(study.seed, "order", study.entered))
    return participant


def _plan_rounds(participant: Participant, conditions: Mapping[str, Condition], *, seed: int) -> None:
    order = random_order(sorted(conditions), seed)
    Round.objects.bulk_create(
        Round(participant=participant, condition=conditions[key], position=position)
        for position, key in enumerate(order, start=1)
    )


@transaction.atomic
def guide_read(*, participant_id: int) -> None:
    """The participant has read the guide: the first episode begins. A second time changes nothing."""
    participant = Participant.objects.select_for_update().get(pk=participant_id)
    if participant.guide_read_at is None:
        participant.guide_read_at = timezone.now()
        participant.save(update_fields=["guide_read_at"])
        _start_next_round(participant)


def _start_next_round(participant: Participant) -> None:
    """Seat the participant in the episode of the next round; without one, the study is complete."""
    upcoming = participant.rounds.select_related("condition").filter(answered_at=None).first()
    if upcoming is None:
        participant.status = Participant.Status.COMPLETE
        participant.ended_at = timezone.now()
        participant.save(update_fields=["status", "ended_at"])
    elif upcoming.episode is None:
        upcoming.episode = _episode_for(upcoming, participant)
        upcoming.save(update_fields=["episode"])


def _episode_for(upcoming: Round, participant: Participant) -> Episode:
    """The seed of every episode follows from study, participant and condition."""
    condition = upcoming.condition
    return kitchen.episode_create(
        world=condition.world,
        settings=condition.settings,
        seats=condition.teammates + 1,
        seed=derived_seed(participant.study.seed, "episode", participant.number, condition.key),
        minds=mind_plans(
            coplayer=condition.coplayer,
            coplayer_settings=condition.coplayer_settings,
            teammates=condition.teammates,
        ),
        label=condition.label,
        synthetic=participant.synthetic,
        budget=_budget(participant.study),
        thinking_seconds=participant.study.thinking_seconds,
    )


def _budget(study: Study) -> Budget:
    """The study's budget, made when the first episode needs it: one, however many begin at once."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.budget is None:
        study.budget = Budget.objects.create(name=f"Study {study.slug}", limit=study.budget_limit)
        Study.objects.filter(pk=study.pk, budget=None).update(budget=study.budget)
    return study.budget


@transaction.atomic
def survey_submit(*, participant_id: int, position: int, values: Mapping[SurveyItem, int]) -> bool:
    """Store the answers of one round and go on to the next.

    False, and nothing changed, if that round has its answers already or is not to be answered now.
    """
    participant = Participant.objects.select_for_update().get(pk=participant_id)
    current = participant.rounds.select_related("episode").filter(answered_at=None).first()
    if current is None or current.position != position or current.episode is None:
        return False
    if current.episode.status == Episode.Status.PLAYING:
        return False
    Answer.objects.bulk_create(
        Answer(round=current, item=item, value=value) for item, value in values.items()
    )
    current.answered_at = timezone.now()
    current.save(update_fields=["answered_at"])
    _start_next_round(participant)
    return True


@transaction.atomic
def participant_withdraw(*, participant_id: int) -> Receipt:
    """Erase everything this person left, row by row; what stays is the study's count.

    Participant.DoesNotExist if it was erased already.
    """
    participant = Participant.objects.select_for_update().get(pk=participant_id)
    theirs = Episode.objects.filter(rounds__participant=participant)
    episodes = list(theirs.select_for_update(of=("self",)))  # no step may be written meanwhile
    prompts = prompts_of(episode.pk for episode in episodes)
    Study.objects.filter(pk=participant.study_id).update(withdrawn=F("withdrawn") + 1)
    participant.delete()
    for episode in episodes:
        episode.delete()
    prompts_erase_unused(prompts)
    transaction.on_commit(partial(forget, participant.study_id))
    return Receipt(code=secrets.token_hex(6).upper(), at=timezone.now())
