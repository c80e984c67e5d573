"""Define the export tables answers.csv and asked.csv, about answers to survey items (questions).

- answers.csv: one row for each answer.
- asked.csv: one row for each item and participant. It tells whether the item was answered, left open or not
  asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Q

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint
from study.design.item_places import SURVEY, is_on_own_page
from study.design.models import Study, SurveyItem
from study.design.own_pages import PREFIX
from study.design.page_and_item_order import (
    items_for,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.design.part_rules import names_with_rules
from study.design.questions.item_fields import DOES_NOT_APPLY, PLACES, ItemPlan
from study.design.questions.item_kinds import SCALED, answer_words, is_right, numeric_answer
from study.exports.export_table import (
    EPISODE_COLUMNS,
    PERSON_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    ExportedParticipant,
    not_withdrawn,
    participant_chunks,
)
from study.participants.episode_owners_and_outages import downtime_since_creation, touched_episodes
from study.participants.models import Answer, PageVisit, Round

PLACES_IN_WORDS = f"{', '.join(PLACES)}, or {PREFIX} and the name of a page in the data"
ANSWER_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("answers", place=PLACES_IN_WORDS, kind=SurveyItem.Kind.values),
    *PERSON_MARKS,
    *file_columns("answers_later"),
)


def answer_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per answer, ordered by participant, time and item. The item's properties are taken
    from the participant's version of the study, not from the present one."""
    items = {item.pk: item.plan for item in study.items.all()}
    designs = {version.number: version.blueprint for version in study.versions.defer("bundle")}
    asked = {(number, item.key): item for number, design in designs.items() for item in design.items}
    downtime = None if chosen.outage_episodes else downtime_since_creation(study)
    for everybody in participant_chunks(study, chosen):
        orders = Orders(designs)
        theirs = Answer.objects.filter(participant__in=everybody)
        if downtime is not None:
            played = Round.objects.filter(participant__in=everybody)
            theirs = theirs.exclude(round__episode__in=touched_episodes(downtime, played))
        round_fields = ("round__condition__key", "round__position", "round__episode__key")
        given = theirs.values_list(
            "participant_id", "item_id", *round_fields, "value", "answered_at", "attempt"
        )
        cells = list[tuple[Any, ...]]()
        for pk, item, *answer in given.order_by("participant__number", "answered_at", "item__position", "pk"):
            if item not in items:  # added after the export began, for participants of a later version
                continue
            who, row = everybody[pk], items[item]
            read = asked.get((who.marks.version, row.key), row)
            page = orders[who.marks.version, read.place, who.number, answer[0] or ""]
            place, options = page.get(row.key, (None, None))
            cells.append((*_answer_cells(who, read, place, *answer), options))
        yield RowGroup((), cells)


class Orders(dict[tuple[int, str, int, str], dict[str, tuple[int, list[str] | None]]]):
    """A cache of the order of items on pages. It maps (version, page, participant's number, condition) to
    the position of each item by key, from 1, and its options in their order if that was random."""

    def __init__(self, designs: Mapping[int, Blueprint]) -> None:
        self.designs = designs

    def __missing__(self, which: tuple[int, str, int, str]) -> dict[str, tuple[int, list[str] | None]]:
        version, page, number, condition = which
        items = items_for(self.designs[version], page, number, condition)
        places = self[which] = {
            item.key: (place, item.options if item.shuffled else None)
            for place, item in enumerate(items, start=1)
        }
        return places


def _answer_cells(
    who: ExportedParticipant,
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
    scaled, value = item.kind in SCALED, numeric_answer(given)
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


ANSWERS = ExportTable(
    "answers", "Every answer to every item, wherever it was asked.", ANSWER_COLUMNS, answer_rows
)

ANSWER_STATES = {
    "answered": "answers.csv has it",
    "does_not_apply": "the participant said so",
    "not_answered": "left open, and the page was sent",
    "not_asked": "left out after an episode that is played alone, or by the rule of its page",
    "not_reached": "the page was not sent",
}
"""States of an item, each with its explanation in the codebook."""

ASKED_COLUMNS = (
    *EPISODE_COLUMNS[:4],
    *file_columns("asked", place=PLACES_IN_WORDS, became=ANSWER_STATES),
    *PERSON_MARKS,
)

OUTSIDE = tuple(place for place in PLACES if place != SURVEY)
Key = tuple[int, int]
"""A participant's id, and the position of a round; 0 outside of the rounds."""
VISITED = ("participant_id", "page", "position", "loads")


class _Chunk:
    """Rounds, pages and answers of some participants."""

    def __init__(self, study: Study, pks: list[int], chosen: ExportSelection) -> None:
        rounds = Round.objects.filter(participant__in=pks)
        if not chosen.outage_episodes:
            rounds = rounds.exclude(episode__in=touched_episodes(downtime_since_creation(study), rounds))
        fields = ("participant_id", "position", "condition__key", "answered_at")
        rows = rounds.order_by("participant__number", "position").values_list(*fields)
        self.rounds = {pk: list(theirs) for pk, theirs in groupby(rows, itemgetter(0))}
        asking = Q(page__in=(*OUTSIDE, SURVEY)) | Q(page__startswith=PREFIX)
        done = PageVisit.objects.filter(asking, participant__in=pks, done_at__isnull=False)
        self.done = {tuple(visited): loads for *visited, loads in done.values_list(*VISITED)}
        given = Answer.objects.filter(participant__in=pks).order_by("attempt", "pk")
        self.given: dict[tuple[int, int, str], Json] = {
            (pk, position or 0, item): value
            for pk, position, item, value in given.values_list(
                "participant_id", "round__position", "item__key", "value"
            )
        }

    def rows(self, who: ExportedParticipant, design: Blueprint) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one participant, in the order of the study's pages. `design` is the design of
        the participant's version."""
        rounds = {one[1]: one for one in self.rounds.get(who.pk, ())}
        for place in pages_before_rounds(design):
            yield from self._outside(who, design, place)
        for number in sorted({*rounds, *range(2, design.rounds + 1)}):
            for place in pages_before_round(design, number):
                yield from self._outside(who, design, place)
            yield from self._round(who, design, rounds.get(number))
        for place in pages_after_rounds(design):
            yield from self._outside(who, design, place)

    def _round(self, who: ExportedParticipant, design: Blueprint, one: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one round. `one` has its id, position, condition and moment, or is None."""
        if one:
            _, position, condition, answered_at = one
            asked = design.items_after(condition)
            left_out = self._is_left_out(who, design, SURVEY, position)
            for item in design.items_at("survey"):
                became = self._state(who, position, item.key, answered_at is not None)
                state = became if item in asked and not left_out else "not_asked"
                yield *who.cells, condition, position, item.key, item.measure, SURVEY, state, *who.marks

    def _outside(self, who: ExportedParticipant, design: Blueprint, place: str) -> Iterator[tuple[Any, ...]]:
        loads, left_out = self.done.get((who.pk, place, 0)), self._is_left_out(who, design, place)
        for item in design.items_at(place) if is_on_own_page(place) or design.has(place) else ():
            became = "not_asked" if left_out else self._state(who, 0, item.key, loads is not None)
            yield *who.cells, None, 0, item.key, item.measure, place, became, *who.marks

    def _is_left_out(self, who: ExportedParticipant, design: Blueprint, page: str, position: int = 0) -> bool:
        """Return whether a rule left the page out for the participant."""
        return self.done.get((who.pk, page, position)) == 0 and page in names_with_rules(design)

    def _state(self, who: ExportedParticipant, position: int, item: str, sent: bool) -> str:
        if (which := (who.pk, position, item)) in self.given:
            return "does_not_apply" if self.given[which] == DOES_NOT_APPLY else "answered"
        return "not_answered" if sent else "not_reached"


def asked_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per participant and item, ordered by participant, page, and item in the design."""
    designs = {version.number: version.blueprint for version in study.versions.defer("bundle")}
    for people in participant_chunks(study, chosen):
        chunk, there = _Chunk(study, list(people), chosen), not_withdrawn(people)
        left = (who for pk, who in people.items() if pk in there)
        yield RowGroup((), [row for who in left for row in chunk.rows(who, designs[who.marks.version])])


ASKED = ExportTable(
    "asked",
    "What became of every item for every participant: answered, does not apply, left open, not asked.",
    ASKED_COLUMNS,
    asked_rows,
)
