"""Let staff try out a study or one condition as a preview participant, and erase such participants.

Preview participants are marked, and no result includes them.
"""

from __future__ import annotations

import secrets

from django.db import transaction
from django.db.models import Q

from kitchen.infra.append_only import erasure_allowed
from kitchen.play.models import Episode
from study.design.models import Condition
from study.design.page_and_item_order import PAGES_AFTER_ROUNDS
from study.design.part_order import PAGES_BEFORE_ROUNDS
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import PageVisit, Participant, Round
from study.participants.next_page import ParticipantProgress
from study.participation.enter_study import participant_enter
from study.participation.page_progress import prepare_next_page
from study.participation.round_planning import seat_in
from study.participation.sound_uploads import microphone_set


def study_preview(*, study_id: int, language: str = "") -> Participant:
    """Create and return a preview participant, who sees all pages of the study like any participant.
    `language` is the language of the pages; the default is the study's first language.

    Raises StudyClosedError if the study has no condition, or SchemeError if the orders of its conditions
    cannot be made.
    """
    entry = secrets.token_urlsafe(16)
    return participant_enter(study_id=study_id, entry=entry, preview=True, language=language)


@transaction.atomic
def condition_preview(*, condition: Condition, language: str = "") -> Participant:
    """Create and return a preview participant who plays only one condition and answers its survey.

    All other pages are marked as done, also the test of the microphone. Raises the errors of `study_preview`.
    """
    person = study_preview(study_id=condition.study_id, language=language)
    forget_plan(person, condition)
    microphone_set(participant_id=person.pk, has_one=False)
    own = (one.page for one in person.version.blueprint.pages)
    for page in (*PAGES_BEFORE_ROUNDS, *PAGES_AFTER_ROUNDS, *own):
        PageVisit.objects.create(participant=person, page=page, done_at=person.entered_at)
    seat = seat_in(person, condition.key)
    Round.objects.create(participant=person, condition=condition, position=1, seat=seat)
    prepare_next_page(ParticipantProgress(person))
    return person


def forget_plan(person: Participant, condition: Condition) -> None:
    """Delete the rounds and episodes that a new preview participant was given, and put the participant into
    the group that plays this condition."""
    played = Q(rounds__participant=person) | Q(practised_by=person) | Q(warmed_up_by=person)
    begun = list(Episode.objects.filter(played).distinct())
    with erasure_allowed():
        person.rounds.all().delete()
    person.practice, person.warm_up, person.sequence = None, None, None
    person.between_group = condition.between_group or person.between_group
    person.save(update_fields=["practice", "warm_up", "sequence", "between_group"])
    with erasure_allowed():
        for episode in begun:
            episode.delete()


def previews_erase(*, study_id: int) -> int:
    """Erase all preview participants of a study. Return their number."""
    ids = list(Participant.objects.filter(study=study_id, preview=True).values_list("pk", flat=True))
    for participant_id in ids:
        participant_withdraw(participant_id=participant_id)
    return len(ids)
