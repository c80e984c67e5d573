"""Count participants by status, by assigned sequence and by order of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from study.design.blueprint import Blueprint
from study.design.counterbalancing import SequenceTally, carry_over_counts, position_counts
from study.design.models import Study
from study.participants.models import Participant, Round


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """Number of participants of a study by status, human and synthetic ones separately."""

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
    """Return the counts of one study. Withdrawn participants exist only as a number."""
    return _counts(_counted(Study.objects.filter(pk=study.pk)).get())


def studies_with_counts(studies: QuerySet[Study]) -> list[tuple[Study, StudyCounts]]:
    """Return each of these studies with its counts, in one query."""
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
    """Return how many of the requested kind (`people`, `synthetic`, else both) withdrew, read from the
    database."""
    counts = Study.objects.values("withdrawn", "withdrawn_synthetic").get(pk=study.pk)
    people, programs = counts["withdrawn"], counts["withdrawn_synthetic"]
    return {"people": people, "synthetic": programs}.get(who, people + programs)


def participants_with_progress(study: Study) -> QuerySet[Participant]:
    """Return all participants with `rounds_done`, `rounds_total` and `last_step_at`, newest first."""
    return study.participants.annotate(
        rounds_done=Count("rounds", filter=Q(rounds__answered_at__isnull=False)),
        rounds_total=Count("rounds"),
        last_step_at=Max("rounds__episode__turn_opened_at"),
    ).order_by("-number")


def has_begun(study: Study | None) -> bool:
    """Return whether a human participant ever entered. Withdrawn ones count; synthetic ones and previews do
    not."""
    if study is None or study.pk is None:
        return False
    return study.withdrawn > 0 or people_of(study).exists()


def people_of(study: Study) -> QuerySet[Participant]:
    """Return the participants who are neither synthetic nor staff."""
    return study.participants.filter(synthetic=False, preview=False)


class VersionOrders(NamedTuple):
    """The order scheme, conditions and seed of a version. Versions that agree in these are balanced
    together."""

    name: str
    conditions: tuple[str, ...]
    seed: int


def version_orders(design: Blueprint) -> VersionOrders:
    """Return the order settings of one version."""
    conditions = tuple(one.key for one in design.conditions)
    return VersionOrders(str(design.study["orders"]), conditions, int(design.study["seed"]))


def sequence_tallies(
    study: Study, scheme: VersionOrders, *, synthetic: bool, preview: bool
) -> dict[int, SequenceTally]:
    """Return the numbers of finished and of playing participants by sequence. Only people are counted, or
    only synthetic participants, or only previews."""
    versions = study.versions.defer("bundle").order_by()
    alike = [one.pk for one in versions if version_orders(one.blueprint) == scheme]
    held = study.participants.filter(
        version__in=alike, synthetic=synthetic, preview=preview, excluded_at=None
    )
    rows = (
        held.exclude(sequence=None)
        .values("sequence")
        .annotate(
            finished=Count("pk", filter=Q(status=Participant.Status.COMPLETE)),
            playing=Count("pk", filter=Q(status=Participant.Status.ACTIVE)),
        )
    )
    return {row["sequence"] or 0: SequenceTally(row["finished"], row["playing"]) for row in rows.order_by()}


@dataclass(frozen=True, slots=True)
class OrderBalance:
    """Order counts over human participants, or over synthetic ones if no human participant is complete."""

    participants: int
    synthetic: bool
    names: Sequence[str]
    """Names of the conditions that somebody played, in the order of the design."""
    places: Sequence[tuple[str, Sequence[int]]]
    """By condition: how often it came first, second, and so on."""
    after: Sequence[tuple[str, Sequence[int | None]]]
    """By condition: how often each other condition followed it directly; None for itself."""

    @property
    def spread(self) -> int:
        """Return the largest difference between a condition's most and least frequent position, in
        participants."""
        return max((max(counts) - min(counts) for _, counts in self.places), default=0)

    @property
    def after_spread(self) -> int:
        """Return the difference between the most and the least frequent pair of successive conditions."""
        counts = [count for _, row in self.after for count in row if count is not None]
        return max(counts, default=0) - min(counts, default=0)


def order_balance(study: Study) -> OrderBalance | None:
    """Count orders over complete participants who were not excluded.

    Return None if there is nobody, or only one condition was played.
    """
    people = study.participants.filter(
        status=Participant.Status.COMPLETE, preview=False, excluded_at=None
    ).order_by()
    synthetic = not people.filter(synthetic=False).exists()
    rounds = Round.objects.filter(participant__in=people.filter(synthetic=synthetic))
    rows = rounds.order_by("participant_id", "position").values_list("participant_id", "condition__key")
    orders = [[key for _, key in theirs] for _, theirs in groupby(rows, itemgetter(0))]
    names = dict(study.conditions.values_list("key", "name"))
    played = {key: name for key, name in names.items() if any(key in order for order in orders)}
    if len(played) < 2:
        return None
    came, follow = position_counts(orders), carry_over_counts(orders)
    return OrderBalance(
        len(orders),
        synthetic,
        list(played.values()),
        [(name, came[key]) for key, name in played.items()],
        [(name, [follow.get((key, other)) for other in played]) for key, name in played.items()],
    )
