"""Select the participants and values that an analysis uses, and give a reason for each excluded participant.

The module also reads the answers from which the reliability of questionnaire sub-scales is computed. It
changes no data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from statistics import mean

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, When

from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import NamedMetric
from study.analysis.analysis_measures import MeasuredItems, measured_items_in, measures_of, play_values
from study.analysis.statistics.factorial.study_factors import AnalysisFactor, StudyFactors
from study.analysis.statistics.observations import (
    AnalysisCondition,
    BetweenFactor,
    Measure,
    Observation,
)
from study.analysis.statistics.sample_composition import Attrition, DesignVersion
from study.analysis.statistics.within.result_types import ScaleAnswers
from study.design.analysis_plan import analysis_plan_of
from study.design.between_groups import group_keys, level_of
from study.design.blueprint import Blueprint, blueprint_of
from study.design.factors import Factor, parse_factors
from study.design.metric_and_scale_names import scale_keys, study_figures
from study.design.models import Study, SurveyItem
from study.design.play_metrics import TEAM_METRICS, conditions_by_metric
from study.design.possible_metrics import possible_metrics
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kinds import is_right, numeric_answer
from study.design.questions.questionnaires import ScoringError, SubScale, reversed_answer
from study.design.round_plans import rounds_of
from study.design.study_versions import (
    freeze_states,
    frozen_version,
    participants_as_preregistered,
    version_blueprints,
)
from study.participants.episode_owners_and_outages import downtime_since_creation, touched_episodes
from study.participants.models import Answer, GroupMember, Participant, Round
from study.participants.participant_counts import withdrawn

TEAM_KEYS = frozenset(one.key for one in TEAM_METRICS)
"""Keys of the measures whose value is the same for everybody in an episode."""
WHO = {
    "people": "people only",
    "synthetic": "synthetic participants only",
    "all": "people and synthetic participants together",
}
"""Selections of participants that an analysis may use, with their labels."""
WHO_IN_WORDS = {"people": Q(synthetic=False), "synthetic": Q(synthetic=True)}
"""Filter of each selection; any other selection has no filter."""


class Sample:
    """The participants whose data an analysis uses. `who` is a key of `WHO`, such as people only.

    `preregistered` keeps only participants who entered as preregistered (`participants_as_preregistered`).
    `untouched` leaves out the episodes that an outage of our server affected. Failed attention checks are
    computed once per sample.
    """

    def __init__(
        self, study: Study, *, who: str, preregistered: bool = False, untouched: bool = False
    ) -> None:
        self.study = study
        self.who = who
        self.preregistered = preregistered
        self.untouched = untouched

    @cached_property
    def everybody(self) -> QuerySet[Participant]:
        """Return all participants in the selection `who`, whatever their status. Staff previews are left
        out."""
        return self.study.participants.filter(WHO_IN_WORDS.get(self.who, Q()), preview=False)

    @cached_property
    def entered(self) -> QuerySet[Participant]:
        """Return the participants in the selection. If `preregistered` is set, return only participants who
        entered under the preregistered design."""
        return (
            self.everybody.filter(participants_as_preregistered(self.study))
            if self.preregistered
            else self.everybody
        )

    @cached_property
    def stayed(self) -> QuerySet[Participant]:
        """Return the participants in `entered` who completed the study."""
        return self.entered.filter(status=Participant.Status.COMPLETE)

    @cached_property
    def failed(self) -> set[int]:
        """Return ids of participants who completed the study but failed too many attention checks."""
        return failed_checks(self.study)

    @cached_property
    def people(self) -> QuerySet[Participant]:
        """Return the analysed participants: they completed the study, and neither staff nor attention checks
        excluded them."""
        return self.stayed.filter(excluded_at=None).exclude(pk__in=self.failed)

    @cached_property
    def touched(self) -> set[int]:
        """Return ids of the analysed participants' episodes that an outage affected."""
        return touched_episodes(downtime_since_creation(self.study), self._played)

    @property
    def rounds(self) -> QuerySet[Round]:
        """Return the rounds (one played condition each) that are analysed, sorted by participant and
        position."""
        played = self._played.order_by("participant__number", "position")
        return played.exclude(episode__in=self.touched) if self.untouched and self.touched else played

    @property
    def untaken(self) -> QuerySet[Round]:
        """Return the rounds of the analysed participants that are left out: staff left them out, or an outage
        affected them and `untouched` is set."""
        gone = Q(left_out_at__isnull=False)
        return self._ended.filter(gone | Q(episode__in=self.touched) if self.untouched else gone)

    @property
    def _played(self) -> QuerySet[Round]:
        return self._ended.filter(left_out_at=None)

    @property
    def _ended(self) -> QuerySet[Round]:
        rounds = Round.objects.filter(participant__in=self.people.order_by())
        return rounds.exclude(episode__status=Episode.Status.PLAYING)


def attrition(sample: Sample) -> Attrition:
    """Return how many participants of the sample completed the study, ended otherwise, or are excluded."""
    people = sample.entered
    statuses = dict(people.order_by().values_list("status").annotate(n=Count("pk")))
    completed = statuses.get(Participant.Status.COMPLETE, 0)
    return Attrition(
        entered=sum(statuses.values()),
        completed=completed,
        unfinished=sum(statuses.values()) - completed,
        withdrew=withdrawn(sample.study, who=sample.who),
        ends=tuple(
            (str(words), statuses.get(status, 0))
            for status, words in Participant.Status.choices
            if status != Participant.Status.COMPLETE
        ),
        excluded=sample.stayed.exclude(excluded_at=None).count(),
        failed_checks=sample.stayed.filter(excluded_at=None, pk__in=sample.failed).count(),
        otherwise=sample.everybody.count() - sum(statuses.values()),
        touched=len(sample.touched),
        touched_left_out=sample.untouched,
        **_together(sample),
    )


def _together(sample: Sample) -> dict[str, int]:
    """Return two counts: the analysed participants who shared an episode with another analysed participant,
    and the episodes that they shared."""
    played = sample.rounds.order_by()
    several = played.values("episode").annotate(n=Count("pk")).filter(n__gt=1).values("episode")
    shared = played.filter(episode__in=several)
    return shared.aggregate(
        together=Count("participant", distinct=True), shared=Count("episode", distinct=True)
    )


def failed_checks(study: Study) -> set[int]:
    """Return the ids of participants who completed the study but failed more attention checks than their
    version of the study allows.

    Versions without a limit exclude nobody. Comprehension questions are no attention checks.
    """
    rules = {version.pk: _check_rule(version.blueprint) for version in study.versions.defer("bundle")}
    ruled = {pk: (allowed, checks) for pk, (allowed, checks) in rules.items() if allowed is not None}
    answers = Answer.objects.filter(
        participant__version__in=[pk for pk, (_, checks) in ruled.items() if checks],
        participant__status=Participant.Status.COMPLETE,
        item__key__in={key for _, checks in ruled.values() for key in checks},
    )
    fields = ("participant_id", "participant__version_id", "item__key", "value")
    failed: Counter[tuple[int, int]] = Counter()
    for person, version, key, value in answers.values_list(*fields).iterator(chunk_size=2000):
        item = ruled[version][1].get(key)
        failed[person, version] += item is not None and is_right(item, value) is False
    return {person for (person, version), number in failed.items() if number > ruled[version][0]}


def _check_rule(design: Blueprint) -> tuple[int | None, dict[str, ItemPlan]]:
    """Return two things: how many attention checks a participant may fail (None for no limit), and the
    attention checks by item key."""
    checks = [one for one in design.items if one.correct is not None and one.place != SurveyItem.Place.CHECK]
    return design.study.get("failed_checks_allowed"), {one.key: one for one in checks}


def default_participants(study: Study) -> str:
    """Return the selection shown first: `people` if at least one person has completed the study, otherwise
    `synthetic`."""
    complete = study.participants.filter(status=Participant.Status.COMPLETE, preview=False)
    return "people" if complete.filter(synthetic=False).exists() else "synthetic"


def analysis_conditions(sample: Sample) -> list[AnalysisCondition]:
    """Return the conditions that the sample played. If nothing was played, return all conditions of the
    study."""
    keys = set(sample.rounds.order_by().values_list("condition__key", flat=True))
    rows = [row for row in sample.study.conditions.all() if not keys or row.key in keys]
    return [AnalysisCondition(row.key, row.name, row.position) for row in rows]


def between_factor(study: Study) -> BetweenFactor | None:
    """Return the study's between-subjects groups, with the level and group of each condition. Return None
    if the study has no groups."""
    groups = group_keys(study.between_groups)
    if not groups:
        return None
    rows = list(study.conditions.all())
    levels = {row.key: level_of(row) for row in rows}
    return BetweenFactor(groups, levels, {row.key: row.between_group for row in rows})


def study_factors(study: Study) -> StudyFactors | None:
    """Return the study's named factors with the cells of its conditions. Return None if it has none.

    Factors of which the conditions have only one level are left out, and so are conditions without a cell.
    """
    factors = parse_factors(study.factors)
    if not factors:
        return None
    cells = {row.key: row.levels for row in study.conditions.all() if _has_cell(row.levels, factors)}
    used = {one.key: {cell[one.key] for cell in cells.values()} for one in factors}
    played = [one for one in factors if len(used[one.key]) > 1]
    if not played:
        return None
    between, within = (
        tuple(
            AnalysisFactor(one.key, tuple(level.key for level in one.levels if level.key in used[one.key]))
            for one in played
            if one.between is each
        )
        for each in (True, False)
    )
    plans = study.round_plans()
    subset = next((rounds_of(plan) for plan in plans if rounds_of(plan) < len(plan.conditions)), 0)
    return StudyFactors(
        between=between,
        within=within,
        cells={key: {one.key: cell[one.key] for one in played} for key, cell in cells.items()},
        names={one.key: one.name for one in played},
        level_names={one.key: {level.key: level.name for level in one.levels} for one in played},
        rounds=subset,
    )


def _has_cell(levels: Mapping[str, str], factors: Sequence[Factor]) -> bool:
    """Return whether these levels of a condition are a cell of the factors."""
    return all(levels.get(one.key) in {level.key for level in one.levels} for one in factors)


def analysis_versions(study: Study) -> list[DesignVersion]:
    """Return all versions of the study. Each says whether its design and tests are the preregistered ones."""
    last, states = frozen_version(study), freeze_states(study)
    at = states[last.pk].frozen_at if last else None
    return [
        DesignVersion(
            one.version,
            one.version_frozen,
            one.changed_since_freeze,
            at is not None and one.frozen_at != at and not one.changed_since_freeze,
        )
        for one in states.values()
    ]


def measured_items(sample: Sample) -> MeasuredItems:
    """Return the measures of the sample. If the sample is empty, return the measures of the present
    design."""
    study, people = sample.study, sample.people.order_by()
    versions = study.versions.filter(pk__in=people.values("version")).defer("bundle").order_by("-number")
    designs = {version.pk: version.blueprint for version in versions} or {0: blueprint_of(study)}
    return measured_items_in_versions(study, designs)


def designed_measures(study: Study) -> list[Measure]:
    """Return the measures of the study's present design, in the order of the analysis."""
    design = blueprint_of(study)
    roles = analysis_plan_of({**design.study, "planned_contrasts": ""}).roles
    return measures_of(measured_items_in_versions(study, {0: design}), roles)


def measured_items_in_versions(study: Study, designs: Mapping[int, Blueprint]) -> MeasuredItems:
    """Return the measures of several versions of a study. `designs` are the versions' designs by primary
    key, newest first."""
    labels = {row.key: row.measure for row in study.items.all()}
    scales = measured_items_in(designs, labels, scale_keys([*version_blueprints(study), *designs.values()]))
    figures = _figures(study, designs.values(), scales.measures)
    played = [(one.key, one) for design in designs.values() for one in design.conditions]
    taken = {name for one in scales.measures for name in (one.key, one.label)}
    return replace(scales, figures=figures, of_play=conditions_by_metric(played, taken))


def _figures(study: Study, designs: Iterable[Blueprint], asked: Sequence[Measure]) -> list[NamedMetric]:
    """Return the metrics that are compared between conditions, and that any condition of these designs can
    measure. `asked` holds the measures whose names are already used."""
    played = [condition for design in designs for condition in design.conditions]
    names, labels = [one.key for one in asked], [one.label for one in asked]
    figures = study_figures(study, names=names, labels=labels)
    return possible_metrics((one for one in figures if one.figure.measured), played)


def observations(sample: Sample, scales: MeasuredItems) -> Iterator[Observation]:
    """Yield one row for each participant, condition and measure. Rows of team measures name the group whose
    members share the value.

    Only participants who completed the study are included, as in the paper (MindAgent).
    """
    groups = group_names(sample)
    states = freeze_states(sample.study)
    rounds = sample.rounds.order_by().values_list("condition__key", "episode_id", "seat")
    beside = play_values(rounds, scales.of_play)
    related = ("participant", "condition", "episode")
    for played in sample.rounds.select_related(*related).prefetch_related("answers__item"):
        assert played.episode  # noqa: S101 - a complete participant has played every round
        person = played.participant
        answers = {answer.item.key: numeric_answer(answer.value) for answer in played.answers.all()}
        values = scales.measured(
            person.version_id,
            played.condition.key,
            played.episode.world,
            played.episode.score,
            answers,
            beside.get((played.episode.pk, played.seat), {}),
        )
        state = states[person.version_id]
        for measure, value in values.items():
            yield Observation(
                participant=person.code,
                condition=played.condition.key,
                measure=measure,
                value=value,
                order_position=played.position,
                synthetic=person.synthetic,
                version=state.version,
                before_freeze=bool(state.before_freeze(person.entered_at)),
                group=person.between_group,
                team=groups.get(person.pk, "") if measure in TEAM_KEYS else "",
                episode=played.episode.pk,
            )


def group_names(sample: Sample) -> dict[int, str]:
    """Return the names of the groups of people who played together, such as `group 3`, by the primary keys
    of the analysed participants. Participants without a group are left out."""
    members = GroupMember.objects.filter(participant__in=sample.people.order_by())
    numbers = members.values_list("participant_id", "group__number")
    return {person: f"group {number}" for person, number in numbers}


def outage_observations(sample: Sample) -> list[Observation]:
    """Return one row without a value for each round that is left out by staff or because of an outage."""
    return [
        Observation(
            played.participant.code,
            played.condition.key,
            "",
            None,
            played.position,
            False,
            group=played.participant.between_group,
        )
        for played in sample.untaken.select_related("participant", "condition")
    ]


EXCLUSION_REASONS = {
    "preview": "staff who tried the study out",
    "not_complete": "did not come to the end",
    "excluded": "excluded by staff",
    "attention_checks": "failed more attention checks than the version allows",
    "not_every_condition": "has no value in every condition that is analysed",
}
"""Code → reason why the analysis excludes somebody. If several apply, the first counts."""


def exclusion_reasons(study: Study) -> dict[int, str]:
    """Return the `EXCLUSION_REASONS` code of every excluded participant, by primary key.

    A human participant is checked against the analysis of humans, a synthetic participant against the
    analysis of synthetic participants. In a study with between-subjects groups, participants without a
    group are excluded.
    """
    codes: dict[int, str] = {}
    groups = group_keys(study.between_groups)
    analysed: dict[tuple[bool, str], set[int]] = {}
    failed = failed_checks(study)
    fields = ("pk", "synthetic", "preview", "status", "excluded_at", "between_group")
    rows = study.participants.values_list(*fields)
    for pk, synthetic, preview, status, excluded_at, group in rows.iterator(chunk_size=2000):
        holds = {
            "preview": preview,
            "not_complete": status != Participant.Status.COMPLETE,
            "excluded": excluded_at is not None,
            "attention_checks": pk in failed,
        }
        if code := next((code for code, true in holds.items() if true), ""):
            codes[pk] = code
        else:
            analysed.setdefault((synthetic, group if group in groups else ""), set()).add(pk)
    nowhere = [pk for (_, group), sample in analysed.items() if groups and not group for pk in sample]
    gone = [*_without_every_condition(study, analysed.values()), *nowhere]
    return codes | dict.fromkeys(gone, "not_every_condition")


def _scored(named: NamedMetric) -> Q:
    """Return a database filter for the rounds whose episode has a value of this metric."""
    value = f"episode__score__{named.figure.name}"
    has_figure = Q(episode__world__in=named.worlds, **{f"{value}__isnull": False})
    return has_figure & ~Q(**{value: None})


def _without_every_condition(study: Study, samples: Iterable[set[int]]) -> Iterator[int]:
    """Yield the participants of each sample who lack a value in some condition that anybody in the sample
    played.

    This gives the same result as `incomplete_participants`, but needs only the rounds.
    """
    rounds = Round.objects.filter(participant__study=study).exclude(episode__status=Episode.Status.PLAYING)
    given = Answer.objects.filter(round=OuterRef("pk")).exclude(value=DOES_NOT_APPLY)
    valued = Q(Exists(given))
    for one in filter(lambda one: one.figure.measured, study_figures(study)):
        valued |= _scored(one)
    valued &= Q(left_out_at=None)
    told = rounds.annotate(valued=Case(When(valued, then=True), default=False)).order_by()
    played: dict[int, dict[int, bool]] = {}
    for person, condition, value in told.values_list("participant_id", "condition_id", "valued"):
        played.setdefault(person, {})[condition] = value
    factors = study_factors(study)
    for sample in samples:
        conditions = {condition for pk in sample for condition in played.get(pk, ())}
        needed = (factors.rounds if factors else 0) or len(conditions)
        for pk in sample:
            own = played.get(pk, {})
            if sum(bool(own.get(one)) for one in conditions) < needed:
                yield pk


Row = tuple[float | None, ...]
Rows = dict[tuple[str, str], dict[int, Row]]
"""(scale key, condition key) → participant id → answers."""


def scale_answers(
    sample: Sample, rated: MeasuredItems, conditions: list[AnalysisCondition]
) -> list[ScaleAnswers]:
    """Return the answers to the items of each sub-scale: in each condition, and over all conditions.

    The rows over all conditions have each participant's mean answers. Rows without any answer are left
    out. Only versions of the study that have the same items as the newest version are used.
    """
    scales = _newest(rated)
    rows: Rows = {}
    for key, condition, who, row in _rows(sample, rated, scales) if scales else ():
        rows.setdefault((key, condition), {})[who] = row
    return [one for key, scale in scales.items() for one in _places(key, scale, conditions, rows)]


def _newest(rated: MeasuredItems) -> dict[str, SubScale]:
    """Return the sub-scales with at least two items, by measure key. If versions of the study differ, the
    newest definition counts."""
    found: dict[str, SubScale] = {}
    for version in rated.versions.values():
        for key, asked in version.fits.items():
            if isinstance(asked, SubScale) and len(asked.items) > 1:
                found.setdefault(key, asked)
    return found


def _rows(
    sample: Sample, rated: MeasuredItems, scales: Mapping[str, SubScale]
) -> Iterator[tuple[str, str, int, Row]]:
    """Yield (scale key, condition key, participant id, answers) for each analysed round. Answers to
    reversed items are already recoded."""
    rounds = sample.rounds.select_related("participant", "condition").prefetch_related("answers__item")
    for played in rounds:
        answers = {answer.item.key: numeric_answer(answer.value) for answer in played.answers.all()}
        fits = rated.versions[played.participant.version_id].fits
        for key, scale in scales.items():
            asked = fits.get(key)
            if not isinstance(asked, SubScale) or _keys(asked) != _keys(scale):
                continue
            row = tuple(_turned(item, answers) for item in sorted(asked.items, key=lambda one: one.key))
            if any(value is not None for value in row):
                yield key, played.condition.key, played.participant_id, row


def _places(
    key: str,
    scale: SubScale,
    conditions: list[AnalysisCondition],
    rows: Rows,
) -> Iterator[ScaleAnswers]:
    items = tuple(_keys(scale))
    yield ScaleAnswers(
        key, scale.name, "", items, _means([rows.get((key, one.key), {}) for one in conditions])
    )
    for one in conditions:
        if found := rows.get((key, one.key)):
            yield ScaleAnswers(key, scale.name, one.label, items, tuple(found.values()))


def _means(answered: Sequence[Mapping[int, Row]]) -> tuple[Row, ...]:
    """Return one row of item means for each participant. An item's mean is taken over the conditions in
    which the participant answered it.

    Several answers of one person are not independent, so they are averaged.
    """
    people = dict.fromkeys(who for rows in answered for who in rows)
    own = ([rows[who] for rows in answered if who in rows] for who in people)
    return tuple(tuple(map(_mean, zip(*rows, strict=True))) for rows in own)


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return mean(there) if there else None


def _keys(scale: SubScale) -> list[str]:
    return sorted(item.key for item in scale.items)


def _turned(item: ItemPlan, answers: Mapping[str, Json]) -> float | None:
    """Return the answer to this item, recoded so that a higher number means more of the measured construct.
    Return None if there is no valid answer."""
    value = answers.get(item.key)
    if value is not None:
        with suppress(ScoringError):
            return reversed_answer(item, float(value))
    return None
