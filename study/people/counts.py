"""Counting people: who entered, finished, left, and how far everybody is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from kitchen.words.counting import counted
from study.design.models import Study
from study.people.models import Participant


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


def begun_words(study: Study) -> str:
    """`12 participants have begun`."""
    number = people_of(study).count()
    return f"{counted(number, 'participant')} {'has' if number == 1 else 'have'} begun"
