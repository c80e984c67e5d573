"""Read which participants have a between-subjects group, who waits for people of the same group, and how far
quotas are filled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import QuerySet

from study.design.blueprint import Blueprint, blueprint_of
from study.design.condition_seats import is_shared, people_in
from study.design.group_allocation import AllocatedPerson, open_groups
from study.design.models import Study
from study.participants.models import Participant


def people_with_group(
    study: Study, design: Blueprint, *, synthetic: bool, preview: bool
) -> QuerySet[Participant]:
    """Return the participants who have one of the design's groups, in the order of their numbers.

    Participants who left or were excluded are included only if the plan counts drop-outs. Only one kind is
    counted: people, synthetic participants or previews.
    """
    versions = study.versions.defer("bundle").order_by()
    alike = [one.pk for one in versions if one.blueprint.groups == design.groups]
    held = study.participants.filter(version__in=alike, synthetic=synthetic, preview=preview)
    held = held.exclude(between_group="").order_by("number")
    if design.allocation.counts_drop_outs:
        return held
    kept = (Participant.Status.ACTIVE, Participant.Status.COMPLETE)
    return held.filter(status__in=kept, excluded_at=None)


def allocated_people(
    study: Study, design: Blueprint, *, synthetic: bool, preview: bool
) -> list[AllocatedPerson]:
    """Return the people who count for minimisation and quotas, with the answers that were used for them."""
    held = people_with_group(study, design, synthetic=synthetic, preview=preview)
    rows = held.values_list("between_group", "allocation")
    return [AllocatedPerson(group, why.get("answers", {})) for group, why in rows]


def is_every_group_full(study: Study, design: Blueprint, *, synthetic: bool) -> bool:
    """Return whether the quotas of whole groups leave no room in any group. Quotas of groups with an answer
    are not considered, because a new person has not answered yet."""
    plan = design.allocation
    if not plan.limits or not design.groups:
        return False
    held = allocated_people(study, design, synthetic=synthetic, preview=False)
    return not open_groups(plan, design.groups, held, {})


def group_to_complete(person: Participant, design: Blueprint) -> str:
    """Return the group of the people who wait for somebody to play with, and could play with this person. If
    there are several groups, return that of the person who came first. Return an empty string if nobody
    waits.

    People who play an episode together must have the same group. So a new person first completes a team.
    """
    sizes = {group: _people_together(design, group) for group in design.groups}
    if not any(size > 1 for size in sizes.values()):
        return ""
    kind = {"synthetic": person.synthetic, "preview": person.preview}
    held = people_with_group(person.study, design, **kind)
    alike = {"version": person.version_id, "language": person.language, "excluded_at": None}
    alone = held.filter(status=Participant.Status.ACTIVE, membership__group__formed_at=None, **alike)
    waiting = Counter(alone.values_list("between_group", flat=True))
    return next((group for group, number in waiting.items() if number % sizes[group]), "")


def _people_together(design: Blueprint, group: str) -> int:
    """Return the largest number of people who play a condition of the group together."""
    conditions = design.for_group(group).conditions
    return max((len(people_in(one)) for one in conditions if is_shared(one)), default=1)


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
    design = blueprint_of(study)
    plan, held = design.allocation, allocated_people(study, design, synthetic=False, preview=False)
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
        (f"{key}: {answer}", tuple(given[key, answer, group] for group in design.groups))
        for key in plan.items
        for answer in sorted({answer for name, answer, _ in given if name == key})
    ]
    return AllocationProgress(design.groups, tuple(quotas), tuple(answers))
