"""answers.csv: a row per answer to an item, wherever it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from study.design.blueprint import Blueprint
from study.design.item_order import items_for
from study.design.models import Study, SurveyItem
from study.design.questions.fields import ItemPlan
from study.design.questions.kinds import SCALED
from study.design.questions.rules import answer_words, in_numbers, is_right
from study.exports.base import PERSON_MARKS, WHERE, Column, ExportTable, in_chunks
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import PEOPLE, Who, people
from study.people.models import Answer, Round
from study.people.outages import downtime_of, touched_episodes

COLUMNS = (
    *WHERE,
    Column("item", "text", "Key of the survey item."),
    Column("measure", "text", "What the item measures."),
    Column("value", "json", "The answer.", levels="for scales 1 (`low`) to `points` (`high`)"),
    Column("points", "integer", "Points of the scale; blank for other kinds.", unit="scale points"),
    Column("low", "text", "Words at the low end, likewise."),
    Column("high", "text", "Words at the high end, likewise."),
    Column("text", "text", "What was asked, in the language in which the study is written."),
    Column("answered_at", "time", "When the survey was sent."),
    Column("place", "text", "Where it was asked.", levels=", ".join(SurveyItem.Place.values)),
    Column("kind", "text", "Kind of the item.", levels=", ".join(SurveyItem.Kind.values)),
    Column("attempt", "integer", "Which attempt at the check of understanding; otherwise 1."),
    Column("scale", "text", "The sub-scale that the item belongs to; blank for none."),
    Column("reversed", "boolean", "1 if it is turned around before its scale is scored; `value` is not."),
    Column("correct", "json", "The right answer; blank for an item that has none."),
    Column("right", "boolean", "1 if the answer is the right one; blank for an item that has none."),
    *PERSON_MARKS,
    Column(
        "answer",
        "text",
        "`value` in plain words, several options parted by semicolons; blank for scales and numbers.",
    ),
    Column("shown_at", "integer", "Which item of its page it was for this participant.", levels="1 = first"),
    Column(
        "does_not_apply",
        "boolean",
        "1 if the participant answered that it does not apply: `value` is blank then. What was not asked, or "
        "not answered, has no row here; asked.csv tells them apart.",
    ),
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per answer: by participant, in the order in which they were given, then by item. What an item
    was like is read from the participant's version, not from the item as it is now."""
    items = {item.pk: item.plan for item in study.items.all()}
    designs = {version.number: version.blueprint for version in study.versions.defer("bundle")}
    asked = {(number, item.key): item for number, design in designs.items() for item in design.items}
    downtime = None if chosen.outage_episodes else downtime_of(study)
    for chunk in in_chunks(people(study, chosen), PEOPLE):
        everybody, orders = {who.pk: who for who in chunk}, Orders(designs)
        theirs = Answer.objects.filter(participant__in=everybody)
        if downtime is not None:
            played = Round.objects.filter(participant__in=everybody)
            theirs = theirs.exclude(round__episode__in=touched_episodes(downtime, played))
        given = theirs.values_list(
            "participant_id",
            "item_id",
            "round__condition__key",
            "round__position",
            "round__episode__key",
            "value",
            "answered_at",
            "attempt",
        )
        cells = list[tuple[Any, ...]]()
        for pk, item, *answer in given.order_by("participant__number", "answered_at", "item__position", "pk"):
            if item not in items:  # made after this file was begun, for people of a later version
                continue
            who, row = everybody[pk], items[item]
            read = asked.get((who.marks.version, row.key), row)
            place = orders[who.marks.version, read.place, who.number, answer[0] or ""].get(row.key)
            cells.append(_cells(who, read, place, *answer))
        yield Stretch((), cells)


class Orders(dict[tuple[int, str, int, str], dict[str, int]]):
    """Where each item of a page stood, by key (1 is the first); by version, page, participant's number and
    condition."""

    def __init__(self, designs: Mapping[int, Blueprint]) -> None:
        self.designs = designs

    def __missing__(self, which: tuple[int, str, int, str]) -> dict[str, int]:
        version, page, number, condition = which
        items = items_for(self.designs[version], page, number, condition)
        places = self[which] = {item.key: place for place, item in enumerate(items, start=1)}
        return places


def _cells(
    who: Who,
    item: ItemPlan,
    shown_at: int | None,
    condition: str | None,
    position: int | None,
    episode: Any,
    given: Any,
    answered_at: Any,
    attempt: int,
) -> tuple[Any, ...]:
    likert = item.kind == SurveyItem.Kind.LIKERT
    scaled, value = item.kind in SCALED, in_numbers(given)
    return (
        *who.cells,
        condition,
        position or 0,
        episode,
        item.key,
        item.measure,
        value,
        item.points if likert else None,
        item.low if scaled else None,
        item.high if scaled else None,
        item.text,
        answered_at,
        item.place,
        item.kind,
        attempt,
        item.scale or None,
        item.reversed,
        item.correct,
        is_right(item, value),
        *who.marks,
        None if scaled or value is None else answer_words(value),
        shown_at,
        value is None,
    )


TABLE = ExportTable("answers", "Every answer to every item, wherever it was asked.", COLUMNS, rows)
