"""Define the export table participants.csv: one row per participant, with all answers and scores.

Participants who withdrew have no row. The columns depend on the study's design. A measure of a condition has
the column `<condition>.<measure>`. Any other survey item has the column `<place>.<item>`; the place is a
page, such as `final`. An answer with several parts, such as a ranking, also has the column
`<place>.<item>.<option>` for each option. A column that ends in `.does_not_apply` tells whether the
participant chose that answer. Columns of later versions of the study come at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Q

from kitchen.contract.world import Json
from kitchen.infra.database_writes import batches_of
from kitchen.registry.world_metrics import NamedMetric
from kitchen.words.english_text import counted_noun
from study.analysis.analysis_measures import play_values
from study.analysis.analysis_sample import EXCLUSION_REASONS, exclusion_reasons
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.item_places import places_of_design, places_outside_rounds
from study.design.metric_and_scale_names import scale_keys, study_figures
from study.design.models import Study, Version
from study.design.own_pages import PREFIX
from study.design.part_rules import names_with_rules
from study.design.play_metrics import PLAY_METRICS, play_metrics_in
from study.design.possible_metrics import possible_metrics
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kinds import is_right, kind_of, numeric_answer
from study.design.questions.questionnaires import SubScale, subscales
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.session_breaks import break_words
from study.design.study_versions import FreezeState, freeze_states, version_blueprints
from study.exports.answer_parts import part_kind, part_name, part_values
from study.exports.column_levels import item_codes
from study.exports.design_columns import METRIC_COLUMN_KINDS, METRIC_ENDS
from study.exports.export_table import (
    EPISODE_LEVELS,
    PARTICIPANT_COLUMNS,
    PERSON_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import PEOPLE, not_withdrawn
from study.participants.current_breaks import break_pages
from study.participants.models import Answer, PageVisit, Participant, Round
from study.participants.simulated_effects import describe_effects

WIDTHS = ("integer", "number", "text", "json")
"""Kinds of columns; each can hold the values of those before it."""


class ColumnContent(NamedTuple):
    """The content of a wide column (a column that depends on the design): the condition, the point of the
    study, and the measure or item."""

    condition: str | None
    """Key of the condition; None outside of the conditions."""
    place: str
    """`play`, `survey`, `break` or one of `places_outside_rounds`; empty for the group between people."""
    what: str
    """A measure of play, the key of an item or that of a scale's score."""
    scored: bool = False
    """True if it is the score of a scale."""
    apart: bool = False
    """True if the cell says that the item was answered with “does not apply”."""
    option: str = ""
    """The option whose part of the answer it is; empty for the whole answer."""
    part: str = ""
    """The option in the column's name."""

    def named(self, number: int = 1) -> str:
        """Return the name of the column. If it is already used, call this again with a `number` from 2, which
        is appended to the measure, item or option."""
        end = f"_{number}" if number > 1 else ""
        apart = ".does_not_apply" if self.apart else ""
        where = self.condition or self.place
        what = f"{self.what}.{self.part}" if self.part else self.what
        return f"{where}.{what}{end}{apart}" if where else f"{what}{end}"


GROUP = ColumnContent(None, "", "between_group")
ALLOCATION = ColumnContent(None, "", "allocation")


@dataclass(frozen=True, slots=True)
class WideColumn(Column):
    """A column of participants.csv that depends on the study's design."""

    slot: ColumnContent = field(kw_only=True)


def wide_columns(study: Study, taken: Collection[str]) -> tuple[WideColumn, ...]:
    """Return the columns that depend on the study's design. Later versions of the study add columns only
    at the end. Column names are unique, and none is in `taken`."""
    columns: dict[ColumnContent, WideColumn] = {}
    figures, designs = study_figures(study), version_blueprints(study)
    keys = scale_keys(designs)
    for design in designs:
        for column in _design_columns(design, figures, keys):
            columns[column.slot] = _both(columns.get(column.slot, column), column)
    return tuple(_with_unique_names(columns.values(), taken))


def _both(column: WideColumn, later: WideColumn) -> WideColumn:
    """Return one column in place of two that hold the same value in different versions of the study. Its type
    and its list of possible values cover both."""
    if (column.kind, column.levels) == (later.kind, later.levels):
        return column
    codes = tuple({**dict(column.codes), **dict(later.codes)}.items())
    kind = max(column.kind, later.kind, key=WIDTHS.index)
    all_levels = dict.fromkeys([*column.levels.split(" / "), later.levels or f"any {later.kind}"])
    levels = " / ".join(filter(None, all_levels))
    return replace(column, kind=kind, levels=levels, codes=codes)


def _with_unique_names(columns: Iterable[WideColumn], taken: Collection[str]) -> Iterator[WideColumn]:
    names = set(taken)
    for column in columns:
        name = next(one for one in map(column.slot.named, count(1)) if one not in names)
        names.add(name)
        if name != column.name:
            text = f"{column.meaning} (Another column is called {column.name}.)"
            column = replace(column, name=name, meaning=text)
        yield column


def _design_columns(
    design: Blueprint, figures: Sequence[NamedMetric], keys: Mapping[str, str]
) -> Iterator[WideColumn]:
    scales = list(subscales(design.items_at("survey")))
    for condition in design.conditions:
        yield from _played_columns(condition, figures)
        asked = design.items_after(condition.key)
        whole = (scale for scale in scales if all(item in asked for item in scale.items))
        yield from _item_columns(condition.key, "survey", asked, whole, keys)
    for place in places_outside_rounds(design):
        items = design.items_at(place)
        yield from _item_columns(None, place, items, subscales(items), keys)
    yield from _break_columns(design)
    if design.groups:
        text = "Group between people that the participant was put into; blank before that."
        yield WideColumn(GROUP.named(), "text", text, levels=", ".join(design.groups), slot=GROUP)
    if design.groups and design.meant("allocation"):
        text = (
            "Why the participant got this group, as JSON: method, open groups, answers used, and counts at "
            "that time. For minimisation also the imbalance of each choice, the best group, and the random "
            "number."
        )
        yield WideColumn(ALLOCATION.named(), "json", text, slot=ALLOCATION)


def _break_columns(design: Blueprint) -> Iterator[WideColumn]:
    """Yield two columns for each break between sessions: when it began, and when the participant came
    back."""
    for page in break_pages(design).values():
        for moment, meaning in BREAK_MOMENTS.items():
            slot = _break_slot(page.key, moment)
            text = f"{meaning} “{page.title}” ({break_words(page)})."
            yield WideColumn(slot.named(), "time", text, slot=slot)


BREAK_MOMENTS = {
    "began_at": "When the participant reached the break",
    "returned_at": "When the participant came back from the break",
}
"""Moments of a break by the end of their column's name, with their meaning."""


def _break_slot(key: str, moment: str) -> ColumnContent:
    return ColumnContent(None, "break", f"{key}.{moment}")


ORDER = ("order_position", "integer", "When it was played", "", "1 = first")
COURSE = (
    ("steps", "integer", "Steps taken", "steps", ""),
    ("episode_status", "text", "How the episode stands", "", EPISODE_LEVELS),
)
"""Columns of every condition besides its world's metrics: name, kind, meaning, unit, levels."""


def _played_columns(condition: ConditionPlan, figures: Iterable[NamedMetric]) -> Iterator[WideColumn]:
    scored = map(_scored, possible_metrics(figures, [condition]))
    for name, kind, meaning, unit, levels in (ORDER, *scored, *COURSE):
        slot = ColumnContent(condition.key, "play", name)
        text = f"{meaning}, in the condition “{condition.name}”."
        yield WideColumn(slot.named(), kind, text, unit, levels, slot=slot)
    for one in play_metrics_in(condition):
        slot = ColumnContent(condition.key, "play", one.key)
        text = f"{one.label}: {one.meaning}, in the condition “{condition.name}”."
        levels = METRIC_ENDS.get(one.kind, "")
        yield WideColumn(slot.named(), METRIC_COLUMN_KINDS[one.kind], text, one.unit, levels, slot=slot)


COURSE_NAMES = (ORDER[0], *(one[0] for one in COURSE))


def _scored(named: NamedMetric) -> tuple[str, str, str, str, str]:
    figure = named.figure
    text = figure.formula or "; ".join(filter(None, (named.label, figure.undefined)))
    return named.name, METRIC_COLUMN_KINDS[figure.kind], text, figure.unit, METRIC_ENDS.get(figure.kind, "")


def _item_columns(
    condition: str | None,
    place: str,
    items: Sequence[ItemPlan],
    scales: Iterable[SubScale],
    scored: Mapping[str, str],
) -> Iterator[WideColumn]:
    """Yield a column for each item asked at `place`, and for each sub-scale whose items are all asked
    there."""
    for item in items:
        slot, kind = ColumnContent(condition, place, item.key), kind_of(item)
        text = f"{item.measure}: {item.text}" + (" Last attempt." if place == "check" else "")
        yield WideColumn(
            slot.named(), kind.column, text, item.unit, kind.levels(item), codes=item_codes(item), slot=slot
        )
        yield from _part_columns(slot, item)
        if item.may_not_apply:
            apart = slot._replace(apart=True)
            text = f"1 if {item.key} was answered by “does not apply”: its own column is blank then."
            yield WideColumn(
                apart.named(), "boolean", text, in_words=partial(_counted, apart, text), slot=apart
            )
    for scale in scales:
        slot = ColumnContent(condition, place, scored[scale.name], scored=True)
        keys = ", ".join(f"{item.key} (reversed)" if item.reversed else item.key for item in scale.items)
        how = "SUS" if scale.formula == "sus" else "mean"
        text = f"Score of the scale “{scale.name}” ({how} of {keys}); blank if an item was not answered."
        ends = "" if scale.problem else "from {:g} to {:g}".format(*scale.ends)
        yield WideColumn(slot.named(), "number", text, "scale points", ends, slot=slot)


def _part_columns(whole: ColumnContent, item: ItemPlan) -> Iterator[WideColumn]:
    """Yield a column for each option of an item whose answers have a part for each option."""
    if kind := part_kind(item):
        for option in item.options:
            slot = _part_of(whole, item, option)
            text = f"{kind.meaning.format(option)} in the answer to “{item.text}”"
            yield WideColumn(
                slot.named(),
                kind.column,
                text,
                levels=kind.levels(item),
                codes=kind.codes(item),
                slot=slot,
            )


def _part_of(whole: ColumnContent, item: ItemPlan, option: str) -> ColumnContent:
    return whole._replace(option=option, part=part_name(item, option))


def _counted(slot: ColumnContent, text: str, study: Study) -> str:
    """Return the description of a “does not apply” column: `text` and the number of “does not apply”
    answers so far."""
    given = Answer.objects.filter(item__study=study, item__key=slot.what, value=DOES_NOT_APPLY)
    if slot.condition:
        given = given.filter(round__condition__key=slot.condition)
    return f"{text} Answered so {counted_noun(given.count(), 'time')} until now."


@dataclass(slots=True)
class ParticipantData:
    """The values of one participant that are exported: answers, scores, and progress."""

    values: dict[ColumnContent, Json] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    """Keys of the conditions in the assigned order."""
    answered: int = 0
    """Number of conditions played and answered."""
    attempts: int = 0
    passed: bool | None = None
    attention: int = 0
    attention_failed: int = 0
    page: str | None = None
    """The page opened last."""
    left_out: list[str] = field(default_factory=list)
    """The pages and parts that a rule left out for the participant."""


class VersionItems:
    """The items and sub-scales of one version of the study. They are used to read answers."""

    def __init__(self, design: Blueprint, keys: Mapping[str, str]) -> None:
        self.keys = keys
        self.items = {item.key: item for item in design.items}
        self.with_rules = names_with_rules(design)
        self.asked = {place: design.items_at(place) for place in places_of_design(design)}
        self.scales = {place: list(subscales(items)) for place, items in self.asked.items()}


VISIT = ("position", "opened_at", "done_at", "loads")


def participant_data(
    people: Sequence[Participant],
    versions: Mapping[int, Version],
    figures: Sequence[NamedMetric],
    *,
    keys: Mapping[str, str],
    of_play: Mapping[str, Collection[str]],
) -> dict[int, ParticipantData]:
    """Return the data of these participants by primary key, with a small number of queries.

    `figures` are the study's metrics. `keys` are the keys of its sub-scales (see `scale_keys`). `of_play`
    maps each measure that is computed from the log to the conditions that have it.
    """
    by_person = {person.pk: ParticipantData() for person in people}
    _read_rounds(by_person, figures)
    if of_play:
        _read_of_play(by_person, of_play)
    items_by_version = {
        pk: VersionItems(versions[pk].blueprint, keys) for pk in {person.version_id for person in people}
    }
    given = _answers(by_person)
    for person in people:
        _read_answers(items_by_version[person.version_id], by_person[person.pk], given.get(person.pk, ()))
        by_person[person.pk].values[GROUP] = person.between_group or None
        by_person[person.pk].values[ALLOCATION] = person.allocation or None
    rules = {person.pk: items_by_version[person.version_id].with_rules for person in people}
    pages = PageVisit.objects.filter(participant__in=by_person).order_by("opened_at", "pk")
    for pk, page, position, *moments, loads in pages.values_list("participant_id", "page", *VISIT):
        if page in rules[pk] and not loads and moments[1]:
            by_person[pk].left_out.append(f"{page}-{position}" if position else page)
            continue
        by_person[pk].page = page
        if page.startswith(PREFIX) and (loads or moments[1] is None):
            named = zip(BREAK_MOMENTS, moments, strict=True)
            key = page.removeprefix(PREFIX)
            by_person[pk].values |= {_break_slot(key, name): moment for name, moment in named}
    return by_person


def _read_rounds(by_person: Mapping[int, ParticipantData], figures: Sequence[NamedMetric]) -> None:
    rounds = Round.objects.filter(participant__in=by_person)
    fields = ("condition__key", "answered_at", "episode__world", "episode__score")
    course = ("position", "episode__step", "episode__status")
    for pk, key, answered, world, score, *played in rounds.order_by("position").values_list(
        "participant_id", *fields, *course
    ):
        left = by_person[pk]
        left.order.append(key)
        left.answered += answered is not None
        if world is not None:
            values = {one.name: one.value(world, score) for one in figures}
            values |= zip(COURSE_NAMES, played, strict=True)
            left.values |= {ColumnContent(key, "play", name): value for name, value in values.items()}


def _read_of_play(by_person: Mapping[int, ParticipantData], wanted: Mapping[str, Collection[str]]) -> None:
    rounds = Round.objects.filter(participant__in=by_person, episode__isnull=False)
    played = list(rounds.values_list("participant_id", "condition__key", "episode_id", "seat"))
    found = play_values((one[1:] for one in played), wanted)
    for pk, key, *seated in played:
        for name, value in found[seated[0], seated[1]].items():
            by_person[pk].values[ColumnContent(key, "play", name)] = value


Given = tuple[str | None, str, str, int, Json]
"""Key of the condition, place, key of the item, attempt, value."""


def _answers(pks: Iterable[int]) -> dict[int, list[Given]]:
    answers = Answer.objects.filter(participant__in=pks).order_by("attempt", "pk")
    fields = ("round__condition__key", "item__place", "item__key", "attempt", "value")
    by_person: dict[int, list[Given]] = defaultdict(list)
    for pk, *given in answers.values_list("participant_id", *fields):
        by_person[pk].append(tuple(given))
    return by_person


def _read_answers(version_items: VersionItems, left: ParticipantData, answers: Iterable[Given]) -> None:
    """Store all answers of one participant in `left`. If a question was answered in several attempts, the
    last attempt counts."""
    pages: dict[tuple[str | None, str], dict[str, Json]] = defaultdict(dict)
    for condition, place, key, attempt, value in answers:
        pages[condition, place][key] = value
        if place == "check":
            left.attempts = attempt
        elif key in version_items.items and (right := is_right(version_items.items[key], value)) is not None:
            left.attention += 1
            left.attention_failed += not right
    for (condition, place), values in pages.items():
        given = {key: numeric_answer(value) for key, value in values.items()}
        left.values |= {ColumnContent(condition, place, key): value for key, value in given.items()}
        left.values |= {
            _part_of(ColumnContent(condition, place, key), item, option): part
            for key, value in given.items()
            if (item := version_items.items.get(key))
            for option, part in part_values(item, value).items()
            if option in item.options
        }
        left.values |= {ColumnContent(condition, place, key, apart=True): given[key] is None for key in given}
        for scale in version_items.scales.get(place, ()):
            slot = ColumnContent(condition, place, version_items.keys[scale.name], scored=True)
            left.values[slot] = scale.score(given)
    if left.attempts:
        last = pages[None, "check"]
        left.passed = all(
            is_right(item, last.get(item.key)) is not False for item in version_items.asked["check"]
        )


REFERRALS = tuple(dict.fromkeys(name for place in RECRUITMENT_PLACES.values() for name in place.more))
"""Further link parameters, as the recruitment platforms name them."""

COLUMNS = (
    *PARTICIPANT_COLUMNS,
    *file_columns("participants", exit_status=Participant.Status.values),
    *PERSON_MARKS,
    *file_columns("participants_origin", source=Study.Recruitment.values),
    *(Column(f"referral.{name}", "text", f"{name} of the link.") for name in REFERRALS),
    *file_columns(
        "participants_later",
        left_out_of_analysis=EXCLUSION_REASONS,
        language=", ".join(f"{code} ({name})" for code, name in settings.LANGUAGES),
    ),
)


def _cells(
    person: Participant, data: ParticipantData, state: FreezeState, left_out: str | None
) -> tuple[Any, ...]:
    """Return a participant's cells for the columns in `COLUMNS`."""
    version, referral, label = person.version, person.referral, person.label or None
    return (
        person.code,
        person.synthetic,
        person.number,
        person.status,
        " ".join(data.order),
        data.answered,
        person.consented_at,
        person.consent_hash,
        person.ended_at,
        person.given_code or None,
        person.preview,
        person.excluded_at is not None,
        version.number,
        state.changed_since_freeze,
        person.excluded_at,
        person.excluded_reason or None,
        person.end_reason or None,
        state.version_frozen,
        version.digest,
        person.sequence,
        person.source,
        label,
        *map(referral.get, REFERRALS),
        person.entered_at,
        person.active_at,
        data.attempts,
        data.passed,
        data.attention,
        data.attention_failed,
        data.page,
        state.before_freeze(person.entered_at),
        left_out,
        person.language,
        describe_effects(person.known_effects) or None,
        person.round_trip_ms,
        " ".join(data.left_out) or None,
    )


def rows(study: Study, chosen: ExportSelection, wide: Sequence[WideColumn]) -> Iterator[RowGroup]:
    """Yield one row per participant, ordered by number. Participants who withdraw during the export are
    left out."""
    versions = {version.pk: version for version in study.versions.all()}
    states, out = freeze_states(study), exclusion_reasons(study)
    slots, figures = [column.slot for column in wide], study_figures(study)
    keys = scale_keys(version_blueprints(study))
    of_play = {
        key: {one.condition or "" for one in slots if one[1:3] == ("play", key)} for key in PLAY_METRICS
    }
    participants = chosen.participants(study).filter(version__in=versions).iterator(chunk_size=PEOPLE)
    for chunk in batches_of(participants, PEOPLE):
        data = participant_data(chunk, versions, figures, keys=keys, of_play=of_play)
        there = not_withdrawn(data)
        cells = list[tuple[Any, ...]]()
        for person in chunk:
            if person.pk in there:
                person.version = versions[person.version_id]
                theirs = data[person.pk]
                fixed = _cells(person, theirs, states[person.version_id], out.get(person.pk))
                cells.append((*fixed, *map(theirs.values.get, slots)))
        yield RowGroup((), cells)


def unused_columns(study: Study) -> frozenset[str]:
    """Return the columns of `COLUMNS` that would be blank for every participant of the study, whatever is
    selected. They say that something did not happen here, such as an exclusion."""
    filled = {
        **{name: Q(**{f"{name}__isnull": False}) for name in ("consented_at", "excluded_at")},
        "consent_hash": ~Q(consent_hash=""),
        "excluded_reason": ~Q(excluded_reason=""),
        "end_reason": ~Q(end_reason=""),
        "sequence_id": Q(sequence__isnull=False),
        "label": ~Q(label=""),
        "known_effects": ~Q(known_effects={}) & Q(known_effects__isnull=False),
        "entry_round_trip_ms": Q(round_trip_ms__isnull=False),
        **{f"referral.{name}": Q(**{f"referral__{name}__isnull": False}) for name in REFERRALS},
    }
    counts = {f"column_{number}": Count("pk", filter=each) for number, each in enumerate(filled.values())}
    found = study.participants.aggregate(**counts).values()
    checked = Answer.objects.filter(participant__study=study, item__place="check").exists()
    blank = {name for name, count_of in zip(filled, found, strict=True) if not count_of}
    if not any(map(names_with_rules, version_blueprints(study))):
        blank.add("left_out_by_rules")
    return frozenset(blank if checked else {*blank, "check_passed"})


TABLE = ExportTable(
    "participants",
    "Everybody who entered and did not withdraw, wide: with every answer and score.",
    COLUMNS,
    rows,
    partial(wide_columns, taken=[column.name for column in COLUMNS]),
    unused=unused_columns,
)
