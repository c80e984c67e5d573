"""Count a study's participants by status, by order of conditions, and by between-subjects group.

The module also counts how balanced the orders of conditions are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from study.design.between_groups import group_keys, groups_meet
from study.design.counterbalancing import (
    SequenceTally,
    carry_over_counts,
    position_counts,
)
from study.design.group_allocation import parse_allocation
from study.design.models import Study
from study.design.round_plans import RoundPlan, condition_counts, plan_problem, rounds_of
from study.participants.models import Participant, Round


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """The numbers of a study's participants by status, separately for human and synthetic ones."""

    entered: int
    active: int
    complete: int
    withdrawn: int
    synthetic: int
    synthetic_complete: int
    dropped: int = 0
    """Human participants whose participation ended otherwise than complete, without withdrawals."""
    excluded: int = 0
    """Human participants whom staff excluded; the other counts include them, too."""
    withdrawn_synthetic: int = 0


def study_counts(study: Study) -> StudyCounts:
    """Return the numbers of the study's participants. Withdrawn participants are erased, so the study
    itself stores how many there were."""
    return _counts(_counted(Study.objects.filter(pk=study.pk)).get())


def studies_with_counts(studies: QuerySet[Study]) -> list[tuple[Study, StudyCounts]]:
    """Return (study, counts) pairs for these studies, with one query."""
    return [(study, _counts(study)) for study in _counted(studies)]


def _counted(studies: QuerySet[Study]) -> QuerySet[Any]:
    real = Q(participants__preview=False)
    person, program = real & Q(participants__synthetic=False), real & Q(participants__synthetic=True)
    complete = Q(participants__status=Participant.Status.COMPLETE)
    active = Q(participants__status=Participant.Status.ACTIVE)
    return studies.annotate(
        people=Count("participants", filter=person),
        people_active=Count("participants", filter=person & active),
        people_excluded=Count("participants", filter=person & Q(participants__excluded_at__isnull=False)),
        people_complete=Count("participants", filter=person & complete),
        programs=Count("participants", filter=program),
        programs_complete=Count("participants", filter=program & complete),
    )


def _counts(study: Any) -> StudyCounts:
    return StudyCounts(
        entered=study.people,
        active=study.people_active,
        complete=study.people_complete,
        withdrawn=study.withdrawn,
        synthetic=study.programs,
        synthetic_complete=study.programs_complete,
        dropped=study.people - study.people_active - study.people_complete,
        excluded=study.people_excluded,
        withdrawn_synthetic=study.withdrawn_synthetic,
    )


def withdrawn(study: Study, *, who: str) -> int:
    """Return how many participants withdrew. `who` is `people` for human participants and `synthetic` for
    synthetic ones. Any other value counts both."""
    counts = Study.objects.values("withdrawn", "withdrawn_synthetic").get(pk=study.pk)
    people, programs = counts["withdrawn"], counts["withdrawn_synthetic"]
    return {"people": people, "synthetic": programs}.get(who, people + programs)


def participants_with_progress(study: Study) -> QuerySet[Participant]:
    """Return all participants of a study, newest first. Each has the numbers `rounds_done` and
    `rounds_total`, and the time `last_step_at`."""
    return study.participants.annotate(
        rounds_done=Count("rounds", filter=Q(rounds__answered_at__isnull=False)),
        rounds_total=Count("rounds"),
        last_step_at=Max("rounds__episode__turn_opened_at"),
    ).order_by("-number")


def has_begun(study: Study | None) -> bool:
    """Return whether a human participant ever entered. Participants who withdrew count, too. Synthetic
    participants and previews are ignored."""
    if study is None or study.pk is None:
        return False
    return study.withdrawn > 0 or people_of(study).exists()


def people_of(study: Study) -> QuerySet[Participant]:
    """Return the study's human participants, without synthetic ones and previews by staff."""
    return study.participants.filter(synthetic=False, preview=False)


def sequence_tallies(
    study: Study, plan: RoundPlan, *, synthetic: bool, preview: bool
) -> dict[int, SequenceTally]:
    """Return the numbers of finished and active participants for each sequence of a plan. Versions with equal
    plans are counted together.

    Only one kind is counted: people, synthetic participants or previews.
    """
    versions = study.versions.defer("bundle").order_by()
    alike = [one.pk for one in versions if one.blueprint.round_plan(plan.group) == plan]
    held = study.participants.filter(
        version__in=alike, synthetic=synthetic, preview=preview, between_group=plan.group
    )
    return _tallies(held.exclude(sequence=None), "sequence")


def group_tallies(
    study: Study, groups: Sequence[str], *, synthetic: bool, preview: bool
) -> dict[str, SequenceTally]:
    """Return the numbers of finished and active participants for each between-subjects group, over all
    versions with these groups.

    Only one kind is counted: people, synthetic participants or previews.
    """
    held = participants_of_groups(study, groups).filter(synthetic=synthetic, preview=preview)
    return dict.fromkeys(groups, SequenceTally()) | _tallies(held, "between_group")


def participants_of_groups(study: Study, groups: Sequence[str]) -> QuerySet[Participant]:
    """Return the participants who have a group, over all versions of the study with exactly these groups."""
    written = study.versions.order_by().values_list("pk", "document__study__between_groups")
    alike = [pk for pk, keys in written if group_keys(keys or "") == tuple(groups)]
    return study.participants.filter(version__in=alike).exclude(between_group="")


def _tallies(held: QuerySet[Participant], field: str) -> dict[Any, SequenceTally]:
    """Return the numbers of finished and active participants for each value of `field`. `held` are the
    participants to count. Excluded ones do not count."""
    rows = (
        held.filter(excluded_at=None)
        .values(field)
        .annotate(
            finished=Count("pk", filter=Q(status=Participant.Status.COMPLETE)),
            playing=Count("pk", filter=Q(status=Participant.Status.ACTIVE)),
        )
    )
    return {row[field]: SequenceTally(row["finished"], row["playing"]) for row in rows.order_by()}


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """The numbers of participants in a between-subjects group: finished, active, and planned (None if no
    number is planned)."""

    group: str
    finished: int
    playing: int
    planned: int | None

    @property
    def open(self) -> int | None:
        """Return how many participants must still be recruited if all active participants finish. Return
        None if no number of participants is planned."""
        return None if self.planned is None else max(self.planned - self.finished - self.playing, 0)


def group_progress(study: Study) -> list[GroupProgress]:
    """Return the progress of each group of the current design. Only human participants count."""
    groups = group_keys(study.between_groups)
    used = group_tallies(study, groups, synthetic=False, preview=False)
    planned = planned_in_groups(study, groups)
    return [
        GroupProgress(group, used[group].finished, used[group].playing, planned[group]) for group in groups
    ]


def planned_in_groups(study: Study, groups: Sequence[str]) -> dict[str, int | None]:
    """Return the planned number of participants of each group. It is an equal share of the study's number,
    at most the group's quota; other groups get the rest. Return None for a group without any number."""
    limits = {one.group: one.most for one in parse_allocation(study.allocation).limits if not one.item}
    rest = study.planned_participants
    if rest is None:
        return {group: limits.get(group) for group in groups}
    found: dict[str, int | None] = {}
    while free := [group for group in groups if group not in found]:
        shares = {group: (rest + len(free) - 1 - place) // len(free) for place, group in enumerate(free)}
        full = {group: limits[group] for group in free if limits.get(group, rest) < shares[group]}
        found |= full or shares
        rest -= sum(full.values())
    return found


@dataclass(frozen=True, slots=True)
class ConditionProgress:
    """How many participants finished or still play a condition, and how many are expected at the end (None if
    no number is planned)."""

    name: str
    group: str
    finished: int
    playing: int
    expected: float | None

    @property
    def open(self) -> float | None:
        """Return how many more participants must play the condition. Return None if no number is planned."""
        return None if self.expected is None else max(self.expected - self.finished - self.playing, 0)


def condition_progress(study: Study) -> list[ConditionProgress]:
    """Return the progress of each condition of the current design, if participants play different subsets of
    the conditions. Otherwise the result is empty. Only human participants count."""
    if not (study.one_round_per or study.blocked_by or study.rounds_per_person):
        return []
    plans = study.round_plans()
    if any(map(plan_problem, plans)):
        return []
    names, rows = dict(study.conditions.values_list("key", "name")), []
    numbers = planned_in_groups(study, [plan.group for plan in plans])
    for plan in plans:
        used = sequence_tallies(study, plan, synthetic=False, preview=False)
        share = rounds_of(plan) / len(plan.conditions)
        planned = numbers[plan.group]
        expected = None if planned is None else round(planned * share, 1)
        rows += [
            ConditionProgress(names[key], plan.group, tally.finished, tally.playing, expected)
            for key, tally in condition_counts(plan, used).items()
        ]
    return rows


@dataclass(frozen=True, slots=True)
class OrderBalance:
    """How often each condition came at each position, and how often it followed each other condition.
    Human participants are counted or, if no human participant is complete, synthetic ones."""

    participants: int
    synthetic: bool
    names: Sequence[str]
    """Names of the conditions that somebody played, in the order of the design."""
    places: Sequence[tuple[str, Sequence[int]]]
    """The number of times that each condition came first, second, and so on."""
    after: Sequence[tuple[str, Sequence[int | None]]]
    """The number of times that each other condition directly followed a condition. None for itself, and for
    conditions of another between-subjects group."""

    @property
    def spread(self) -> int:
        """Return the largest imbalance of any condition. The imbalance compares how often the condition was
        played at its most and least frequent positions: the difference of both counts."""
        return max((max(counts) - min(counts) for _, counts in self.places), default=0)

    @property
    def after_spread(self) -> int:
        """Return how often the most frequent pair of successive conditions occurs, minus how often the least
        frequent pair occurs."""
        counts = [count for _, row in self.after for count in row if count is not None]
        return max(counts, default=0) - min(counts, default=0)


def order_balance(study: Study) -> OrderBalance | None:
    """Return how balanced the orders of complete participants are. Excluded participants are left out.

    Return None if no participant is complete, or only one condition was played.
    """
    people = study.participants.filter(
        status=Participant.Status.COMPLETE, preview=False, excluded_at=None
    ).order_by()
    synthetic = not people.filter(synthetic=False).exists()
    rounds = Round.objects.filter(participant__in=people.filter(synthetic=synthetic))
    rows = rounds.order_by("participant_id", "position").values_list("participant_id", "condition__key")
    orders = [[key for _, key in theirs] for _, theirs in groupby(rows, itemgetter(0))]
    names, of_group = (dict(study.conditions.values_list("key", name)) for name in ("name", "between_group"))
    played = {key: name for key, name in names.items() if any(key in order for order in orders)}
    if len(played) < 2:
        return None
    came, follow = position_counts(orders), carry_over_counts(orders)
    return OrderBalance(
        len(orders),
        synthetic,
        list(played.values()),
        [(name, came[key]) for key, name in played.items()],
        [
            (
                name,
                [
                    follow.get((key, other)) if groups_meet(of_group[key], of_group[other]) else None
                    for other in played
                ],
            )
            for key, name in played.items()
        ],
    )
