"""What became of everybody who came, as a CONSORT chart tells it (Schulz, Altman & Moher 2010)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from study.analysis.sample import Sample, attrition
from study.analysis.statistics.analyse import Analysis
from study.people.models import Participant

MOST_REASONS = 6
"""Reasons by which staff excluded, each with its number; the rest are one."""
GONE = "withdrew; their data are erased, and how far they came is not kept"

Left = tuple[str, int]
"""Why somebody did not go on, and how many."""


@dataclass(frozen=True, slots=True)
class Station:
    """How many came so far, and who left before the next station."""

    words: str
    number: int
    left: tuple[Left, ...] = ()


def flow_of(sample: Sample, analysis: Analysis) -> tuple[Station, ...]:
    """Those whose data are asked for, from the first page to the analysis; who left and the next number add
    up to the one before. Whom nobody invited through this server is not known, so that the chart begins with
    those who came."""
    counted = attrition(sample)
    came = counted.entered + counted.otherwise + counted.withdrew
    otherwise = ("not as preregistered (another design, or before it was frozen)", counted.otherwise)
    door = sample.entered.filter(consented_at=None).exclude(status=Participant.Status.COMPLETE)
    on = sample.entered.exclude(pk__in=door.order_by().values("pk"))
    return (
        Station("opened the study", came, _some([(GONE, counted.withdrew), otherwise, *_ended(door)])),
        Station("agreed to take part", on.count(), _some(_ended(on))),
        Station("came to the end", counted.completed, _some(_left_out(sample, analysis, counted.completed))),
        Station("analysed", len(analysis.participants)),
    )


def _ended(people: QuerySet[Participant]) -> Iterator[Left]:
    """Those who are not complete, by how they ended."""
    numbers = dict(people.order_by().values_list("status").annotate(n=Count("pk")))
    for status, words in Participant.Status.choices:
        if status != Participant.Status.COMPLETE:
            still = status == Participant.Status.ACTIVE
            yield "still taking part, or just stopped" if still else str(words), numbers.get(status, 0)


def _left_out(sample: Sample, analysis: Analysis, completed: int) -> Iterator[Left]:
    """Who came to the end and is not analysed."""
    gaps = [one for one in analysis.exclusions if one.reason == "not every condition"]
    left = [
        *_excluded(sample),
        ("failed more attention checks than allowed", _failed(sample)),
        ("no value in every condition", sum(len(one.participants) for one in gaps)),
    ]
    yield from left
    rest = completed - len(analysis.participants) - sum(number for _, number in left)
    yield "an outage touched all that they played", rest


def _failed(sample: Sample) -> int:
    return sample.stayed.filter(excluded_at=None, pk__in=sample.failed).count()


def _excluded(sample: Sample) -> Iterator[Left]:
    """Whom staff excluded, by the reason that they gave, the most frequent first."""
    people = sample.stayed.exclude(excluded_at=None).order_by()
    rows = people.values_list("excluded_reason").annotate(n=Count("pk"))
    reasons = sorted(rows, key=lambda row: (-row[1], row[0]))
    for reason, number in reasons[:MOST_REASONS]:
        yield f"excluded by staff: {reason or 'no reason given'}", number
    yield "excluded by staff for other reasons", sum(number for _, number in reasons[MOST_REASONS:])


def _some(left: Iterable[Left]) -> tuple[Left, ...]:
    return tuple(one for one in left if one[1])
