"""Count participants by status, by assigned sequence and by order of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from kitchen.words.english_text import counted_noun
from study.design.blueprint import Blueprint
from study.design.counterbalancing import SequenceTally, carry_over_counts, position_counts
from study.design.models import Study
from study.participants.models import Participant, Round


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """How far a study's participants are, people and synthetic ones apart."""

    entered: int
    active: int
    complete: int
    withdrawn: int
    synthetic: int
    synthetic_complete: int
    dropped: int = 0
    """People who came to another end than a complete one and did not withdraw."""
    excluded: int = 0
    """People whom staff excluded; they are counted above, too."""
    withdrawn_synthetic: int = 0


def study_counts(study: Study) -> StudyCounts:
    """Counts over the participants of one study; a withdrawn one is only a number."""
    return _counts(_counted(Study.objects.filter(pk=study.pk)).get())


def studies_with_counts(studies: QuerySet[Study]) -> list[tuple[Study, StudyCounts]]:
    """Each of these with its counts, in one query."""
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
    """How many of those whose data are asked for withdrew, as the database knows now."""
    counts = Study.objects.values("withdrawn", "withdrawn_synthetic").get(pk=study.pk)
    people, programs = counts["withdrawn"], counts["withdrawn_synthetic"]
    return {"people": people, "synthetic": programs}.get(who, people + programs)


def participants_with_progress(study: Study) -> QuerySet[Participant]:
    """Every participant with `rounds_done`, `rounds_total` and `last_step_at`, newest first."""
    return study.participants.annotate(
        rounds_done=Count("rounds", filter=Q(rounds__answered_at__isnull=False)),
        rounds_total=Count("rounds"),
        last_step_at=Max("rounds__episode__turn_opened_at"),
    ).order_by("-number")


def has_begun(study: Study | None) -> bool:
    """Whether anybody ever entered; whoever withdrew counts, programs and previews do not."""
    if study is None or study.pk is None:
        return False
    return study.withdrawn > 0 or people_of(study).exists()


def people_of(study: Study) -> QuerySet[Participant]:
    """Participants who are neither programs nor staff."""
    return study.participants.filter(synthetic=False, preview=False)


def describe_begun(study: Study) -> str:
    """`12 participants have begun`."""
    number = people_of(study).count()
    return f"{counted_noun(number, 'participant')} {'has' if number == 1 else 'have'} begun"


class VersionOrders(NamedTuple):
    """What the sequences of a version rest on; versions that differ in other things are balanced together."""

    name: str
    conditions: tuple[str, ...]
    seed: int


def version_orders(design: Blueprint) -> VersionOrders:
    """That of one version."""
    conditions = tuple(one.key for one in design.conditions)
    return VersionOrders(str(design.study["orders"]), conditions, int(design.study["seed"]))


def sequence_tallies(
    study: Study, scheme: VersionOrders, *, synthetic: bool, preview: bool
) -> dict[int, SequenceTally]:
    """By sequence of a scheme, who holds it: people, programs and staff are counted apart."""
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
    """Counts over people, or over programs where nobody else is complete."""

    participants: int
    synthetic: bool
    names: Sequence[str]
    """Of the conditions that somebody played, in the order of the design."""
    places: Sequence[tuple[str, Sequence[int]]]
    """By condition: how often it came first, second, and so on."""
    after: Sequence[tuple[str, Sequence[int | None]]]
    """By condition: how often each one followed it directly; None for itself."""

    @property
    def spread(self) -> int:
        """By how many participants the fullest place of a condition is ahead of its emptiest."""
        return max((max(counts) - min(counts) for _, counts in self.places), default=0)

    @property
    def after_spread(self) -> int:
        """By how many the pair that came most often is ahead of the rarest."""
        counts = [count for _, row in self.after for count in row if count is not None]
        return max(counts, default=0) - min(counts, default=0)


def order_balance(study: Study) -> OrderBalance | None:
    """Of those who are complete and not excluded; None where there is nobody, or one condition only."""
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
