"""Read which participants have a between-subjects group, who waits for people of the same group, and how far
quotas are filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from study.design.between_groups import group_keys
from study.design.blueprint import Blueprint, blueprint_of
from study.design.condition_seats import people_together
from study.design.group_allocation import AllocatedPerson, AllocationPlan, open_groups, parse_allocation
from study.design.models import Study
from study.participants.models import AWAY_SECONDS, Participant
from study.participants.participant_counts import participants_of_groups


def _kept(people: QuerySet[Participant], plan: AllocationPlan) -> QuerySet[Participant]:
    """Return the people without those who left or were excluded, unless the plan counts drop-outs."""
    if plan.counts_drop_outs:
        return people
    kept = (Participant.Status.ACTIVE, Participant.Status.COMPLETE)
    return people.filter(status__in=kept, excluded_at=None)


def allocated_people(
    study: Study, plan: AllocationPlan, groups: Sequence[str], *, synthetic: bool, preview: bool
) -> list[AllocatedPerson]:
    """Return the people who count for minimisation and quotas, with the answers that were used for them. They
    come in the order of their numbers.

    Only one kind is counted: people, synthetic participants or previews.
    """
    people = participants_of_groups(study, groups).filter(synthetic=synthetic, preview=preview)
    rows = _kept(people, plan).order_by("number").values_list("between_group", "allocation")
    return [AllocatedPerson(group, why.get("answers", {})) for group, why in rows]


def is_every_group_full(study: Study, *, synthetic: bool) -> bool:
    """Return whether the quotas of whole groups leave no room in any group, and nobody waits for a person to
    play with. Quotas of groups with an answer are not considered, because a new person has not answered yet.
    """
    plan, groups = parse_allocation(study.allocation), group_keys(study.between_groups)
    if not plan.limits or not groups:
        return False
    kind = {"synthetic": synthetic, "preview": False}
    if open_groups(plan, groups, allocated_people(study, plan, groups, **kind), {}):
        return False
    return not _groups_to_complete(study, blueprint_of(study), **kind)


def group_to_complete(person: Participant, design: Blueprint, answers: Mapping[str, str]) -> str:
    """Return the group of the people who wait for somebody to play with, and could play with this person. If
    there are several groups, return that of the person who came first. Return an empty string if nobody
    waits.

    People who play an episode together must have the same group. So a new person first completes a team, as
    far as the quotas for the person's `answers` allow it.
    """
    kind = {"synthetic": person.synthetic, "preview": person.preview}
    alike = {"version": person.version_id, "language": person.language}
    waiting = _groups_to_complete(person.study, design, **kind, **alike)
    plan = design.allocation
    if waiting and plan.limits and not person.preview:
        held = allocated_people(person.study, plan, design.groups, **kind)
        waiting = open_groups(plan, waiting, held, answers, completes_team=True)
    return next(iter(waiting), "")


def _groups_to_complete(study: Study, design: Blueprint, **alike: Any) -> list[str]:
    """Return the groups in which a team lacks people. The group of the person who came first comes first.

    People wait before their first lobby, and while their page in the lobby sends signals. `alike` are values
    of the fields of the participants to count.
    """
    sizes = {group: people_together(design.for_group(group).conditions) for group in design.groups}
    if not any(size > 1 for size in sizes.values()):
        return []
    held = participants_of_groups(study, design.groups).filter(
        status=Participant.Status.ACTIVE, excluded_at=None, membership__group__formed_at=None, **alike
    )
    here = Q(membership=None) | Q(membership__seen_at__gt=timezone.now() - AWAY_SECONDS)
    waiting = Counter(held.filter(here).order_by("number").values_list("between_group", flat=True))
    return [group for group, number in waiting.items() if number % sizes[group]]


@dataclass(frozen=True, slots=True)
class QuotaProgress:
    """How many people count for one quota, and how many it admits."""

    words: str
    held: int
    most: int

    @property
    def open(self) -> int:
        """Return how many more people the quota admits."""
        return max(self.most - self.held, 0)


@dataclass(frozen=True, slots=True)
class AllocationProgress:
    """The people of a study's groups by quota and by the answers that the allocation uses."""

    groups: tuple[str, ...]
    quotas: tuple[QuotaProgress, ...]
    answers: tuple[tuple[str, tuple[int, ...]], ...]
    """(question and answer, number of people in each group) of each answer that somebody gave."""


def allocation_progress(study: Study) -> AllocationProgress | None:
    """Return how far quotas are filled, and how alike the groups are in the answers used for the allocation.
    Return None if the current design uses neither. Only human participants count."""
    if not study.allocation or not study.between_groups:
        return None
    plan, groups = parse_allocation(study.allocation), group_keys(study.between_groups)
    held = allocated_people(study, plan, groups, synthetic=False, preview=False)
    quotas = [
        QuotaProgress(
            f"{one.group}, {one.item} = {one.answer}" if one.item else one.group,
            sum(one.is_about(*person) for person in held),
            one.most,
        )
        for one in plan.limits
    ]
    given = Counter((key, person.answers[key], person.group) for person in held for key in person.answers)
    answers = [
        (f"{key}: {answer}", tuple(given[key, answer, group] for group in groups))
        for key in plan.items
        for answer in sorted({answer for name, answer, _ in given if name == key})
    ]
    return AllocationProgress(groups, tuple(quotas), tuple(answers))
