"""Assign a between-subjects group to a participant, at the first moment at which it is possible.

By default this is when the participant enters or agrees. If the plan uses answers about the person, the
participant first answers them.
"""

from __future__ import annotations

from django.utils.crypto import salted_hmac

from kitchen.contract.canonical_json import derived_seed
from study.design.blueprint import Blueprint
from study.design.group_allocation import Assignment, allocate
from study.design.models import SurveyItem
from study.design.page_and_item_order import is_shown
from study.design.questions.item_kinds import answer_words
from study.design.study_errors import StudyClosedError
from study.participants.allocated_people import allocated_people, group_to_complete
from study.participants.models import Participant
from study.participants.participant_counts import group_tallies

DRAWS_SALT = "brigade.draws"


def needs_answers_first(design: Blueprint) -> bool:
    """Return whether a participant must answer the questions about the person before the rounds can be
    planned."""
    return bool(design.groups and design.allocation.items) and is_shown(design, SurveyItem.Place.ABOUT)


def assign_group(person: Participant) -> None:
    """Set the participant's group, and the reason for it. Nothing changes in a study without groups.

    The caller must lock the study and save the participant. Raises StudyClosedError if the quotas leave no
    room for the participant. Staff previews ignore quotas.
    """
    design = person.version.blueprint
    if not design.groups:
        return
    found = _assignment(person, design)
    if not found.group:
        raise StudyClosedError(person.study.slug)
    person.between_group, person.allocation = found.group, found.reason


def _assignment(person: Participant, design: Blueprint) -> Assignment:
    kind = {"synthetic": person.synthetic, "preview": person.preview}
    answers = _answers(person, design)
    if team := group_to_complete(person, design, answers):
        return Assignment(team, {"method": "team", "answers": answers} if answers else {"method": "team"})
    plan = design.allocation
    needs_people = bool(plan.items or plan.limits)
    return allocate(
        plan,
        design.groups,
        allocated_people(person.study, plan, design.groups, **kind) if needs_people else [],
        group_tallies(person.study, design.groups, **kind),
        answers=answers,
        seed=seed_of_draws(person, int(design.study["seed"])),
        number=person.number,
        ignores_quotas=person.preview,
    )


def seed_of_draws(person: Participant, seed: int) -> int:
    """Return the seed from which this participant's group or order of conditions is drawn. `seed` is the seed
    of the design. It is used unchanged, unless the study conceals conditions.

    Staff know the seed of the design. So a study that conceals conditions mixes it with the server's secret
    key and the kind of participant. Then neither the seed nor a preview tells the next group.
    """
    if not person.study.conceals_allocation:
        return seed
    kind = "preview" if person.preview else "synthetic" if person.synthetic else "person"
    text = f"{person.study_id} {kind}"
    return derived_seed(seed, salted_hmac(DRAWS_SALT, text, algorithm="sha256").hexdigest())


def _answers(person: Participant, design: Blueprint) -> dict[str, str]:
    """Return the participant's answers that the plan uses, as text by the key of the item."""
    items = design.allocation.items
    if not items:
        return {}
    place = SurveyItem.Place.ABOUT
    given = person.answers.filter(round=None, item__place=place, item__key__in=items)
    return {key: answer_words(value) for key, value in given.values_list("item__key", "value")}
