"""asked.csv: a row per item that a participant could meet, and what became of it: what was not asked is told
apart from what was not answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint
from study.design.models import Study, SurveyItem
from study.design.questions.fields import DOES_NOT_APPLY
from study.exports.base import PERSON_MARKS, WHERE, Column, ExportTable, in_chunks
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import PEOPLE, Who, people, still_there
from study.people.models import Answer, PageVisit, Round
from study.people.outages import downtime_of, touched_episodes

BECAME = {
    "answered": "answers.csv has it",
    "does_not_apply": "the participant said so",
    "not_answered": "left open, and the page was sent",
    "not_asked": "left out after an episode that is played alone",
    "not_reached": "the page was not sent",
}
"""What can become of an item."""

COLUMNS = (
    *WHERE[:4],
    Column("item", "text", "Key of the survey item."),
    Column("measure", "text", "What the item measures."),
    Column("place", "text", "Where it belongs.", levels=", ".join(SurveyItem.Place.values)),
    Column(
        "became",
        "text",
        "What became of it. Items that the participant's version does not have are not here.",
        levels="; ".join(f"{code} ({words})" for code, words in BECAME.items()),
    ),
    *PERSON_MARKS,
)

OUTSIDE = tuple(place for place in SurveyItem.Place.values if place != SurveyItem.Place.SURVEY)
Key = tuple[int, int]
"""A participant, and the position of a round; 0 outside of the rounds."""


class _Chunk:
    """What some participants met and gave."""

    def __init__(self, study: Study, pks: list[int], chosen: Chosen) -> None:
        rounds = Round.objects.filter(participant__in=pks)
        if not chosen.outage_episodes:
            rounds = rounds.exclude(episode__in=touched_episodes(downtime_of(study), rounds))
        self.rounds = _by_person(
            rounds.order_by("participant__number", "position").values_list(
                "participant_id", "position", "condition__key", "answered_at"
            )
        )
        done = PageVisit.objects.filter(participant__in=pks, page__in=OUTSIDE, done_at__isnull=False)
        self.done = set(done.values_list("participant_id", "page"))
        given = Answer.objects.filter(participant__in=pks).order_by("attempt", "pk")
        self.given: dict[tuple[int, int, str], Json] = {
            (pk, position or 0, item): value
            for pk, position, item, value in given.values_list(
                "participant_id", "round__position", "item__key", "value"
            )
        }

    def rows(self, who: Who, design: Blueprint) -> Iterator[tuple[Any, ...]]:
        """Those of one participant, in the order of their way."""
        for place in ("about", "check"):
            yield from self._outside(who, design, place)
        for _, position, condition, answered_at in self.rounds.get(who.pk, ()):
            asked = design.items_after(condition)
            for item in design.items_at("survey"):
                became = self._became(who, position, item.key, answered_at is not None)
                told = became if item in asked else "not_asked"
                yield *who.cells, condition, position, item.key, item.measure, "survey", told, *who.marks
        yield from self._outside(who, design, "final")

    def _outside(self, who: Who, design: Blueprint, place: str) -> Iterator[tuple[Any, ...]]:
        for item in design.items_at(place) if design.has(place) else ():
            became = self._became(who, 0, item.key, (who.pk, place) in self.done)
            yield *who.cells, None, 0, item.key, item.measure, place, became, *who.marks

    def _became(self, who: Who, position: int, item: str, sent: bool) -> str:
        if (which := (who.pk, position, item)) in self.given:
            return "does_not_apply" if self.given[which] == DOES_NOT_APPLY else "answered"
        return "not_answered" if sent else "not_reached"


def _by_person(rounds: Any) -> Mapping[int, list[tuple[Any, ...]]]:
    return {pk: list(theirs) for pk, theirs in groupby(rounds, itemgetter(0))}


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """By participant, in the order of the way through the study, then of the design."""
    designs = {version.number: version.blueprint for version in study.versions.defer("bundle")}
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        met = _Chunk(study, [who.pk for who in chunk], chosen)
        there = still_there(who.pk for who in chunk)
        cells = [row for who in chunk if who.pk in there for row in met.rows(who, designs[who.marks.version])]
        yield Stretch((), cells)


TABLE = ExportTable(
    "asked",
    "What became of every item for every participant: answered, does not apply, left open, not asked.",
    COLUMNS,
    rows,
)
