"""Warn a researcher, before data collection, about what a study cannot measure.

The warnings come from the study's design, and from dry runs, in which programs play the study as a test. For
example, one warning names metrics that hardly vary. Another says that agents often decided too late for the
time limit of a step.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Subquery

from kitchen.contract.world import Json, Metric
from kitchen.contract.world_errors import WorldError
from kitchen.play.models import Decision, Episode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import metrics_of_world
from kitchen.registry.world_registry import get_world
from kitchen.words.english_text import and_list, counted_noun
from study.design.blueprint import ConditionPlan, blueprint_of
from study.design.condition_seats import seats_of
from study.design.models import Study, conditions_with_unmeasured
from study.design.possible_metrics import can_have_values
from study.design.readiness_checks import readiness_problems
from study.design.readiness_problem import ReadinessProblem, advice
from study.participants.models import Round

FEWEST = 3
"""Minimum number of episodes for a warning."""
OFTEN = 0.75
"""Share of episodes at an end of the scale that triggers a warning."""
BLANK = 0.25
"""Share of missing values that triggers a warning."""


BLANK_VALUES, FLOOR, CEILING, CONSTANT = "blank", "floor", "ceiling", "constant"
SUMMARY_TEXTS = {
    CEILING: (
        "is at its ceiling and cannot show anything higher",
        "are at their ceiling and cannot show anything higher",
    ),
    FLOOR: (
        "is at its floor and cannot show anything lower",
        "are at their floor and cannot show anything lower",
    ),
    CONSTANT: ("does not vary, so no test can compare it", "do not vary, so no test can compare them"),
    BLANK_VALUES: ("is often blank", "are often blank"),
}
"""The text of a summary by kind of warning: about one metric, and about several."""


@dataclass(frozen=True, slots=True)
class SpreadWarning:
    """A warning about a metric: what was found, in which episodes, and the consequence (may be empty)."""

    kind: str
    """A key of `SUMMARY_TEXTS`."""
    label: str
    """The metric's name."""
    what: str
    where: str
    so: str = ""

    def __str__(self) -> str:
        return f"{self.what} in {self.where}{self._end}"

    @property
    def bare(self) -> str:
        """Return the warning as text, without stating the number of episodes."""
        return f"{self.what}{self._end}"

    @property
    def _end(self) -> str:
        return f": {self.so}." if self.so else "."


def spread_warnings(figure: Metric, values: Sequence[float | None]) -> Iterator[SpreadWarning]:
    """Yield warnings about a metric whose values are often missing or hardly vary. `values` has one value
    per episode; None is a missing value. With too few episodes, nothing is yielded."""
    there = [value for value in values if value is not None]
    if len(values) < FEWEST:
        return
    if len(values) - len(there) >= BLANK * len(values):
        where = _of(len(values) - len(there), len(values))
        yield SpreadWarning(BLANK_VALUES, figure.label, f"“{figure.label}” is blank", where)
    if len(there) >= FEWEST:
        yield from _flat(figure, there)


def _flat(figure: Metric, there: Sequence[float]) -> Iterator[SpreadWarning]:
    """Yield a warning if most values are at one end of the metric's scale, or if all values are equal. There
    is at most one warning. `there` are the values that are not missing."""
    low, high = figure.ends
    for end, words, way in ((high, "highest", "higher"), (low, "lowest", "lower")):
        number = sum(value == end for value in there)
        if end is not None and number >= OFTEN * len(there):
            kind = CEILING if way == "higher" else FLOOR
            what = f"“{figure.label}” is at its {kind} ({figure.shown(end)}, the {words} value)"
            where = _of(number, len(there))
            yield SpreadWarning(kind, figure.label, what, where, f"it cannot show anything {way}")
            return
    if len(set(there)) == 1:
        what, where = f"“{figure.label}” is {figure.shown(there[0])}", _of(len(there), len(there))
        so = "it does not vary, so no test can compare it"
        yield SpreadWarning(CONSTANT, figure.label, what, where, so)


def _of(number: int, of: int) -> str:
    return f"all {of} episodes" if number == of else f"{number} of {of} episodes"


MOST_ROUNDS = 1000
"""Maximum number of rounds that are read, newest first."""
PLAYED_STATUSES = "Programs played it:"
"""Prefix of a warning about one condition."""
WHOLE = (Episode.Status.OVER, Episode.Status.CUT_OFF, Episode.Status.REACHED)
"""Statuses of episodes that were not broken off."""
Scores = list[Mapping[str, Json]]


def dry_run_warnings(study: Study) -> dict[str, tuple[str, ...]]:
    """Return the warnings from the dry run as whole sentences, by condition key.

    A condition is left out if its settings have changed since the dry run.
    """
    found = dry_run_spreads(study)
    return {key: tuple(f"{PLAYED_STATUSES} {one}" for one in spreads) for key, spreads in found.items()}


def dry_run_spreads(study: Study) -> dict[str, tuple[SpreadWarning, ...]]:
    """Return the warnings from the dry run as `SpreadWarning` objects, by condition key."""
    plans = {plan.key: plan for plan in blueprint_of(study).conditions}
    scores = _scores(study, plans)
    return {key: texts for key, found in scores.items() if (texts := tuple(_warnings(plans[key], found)))}


def _warnings(plan: ConditionPlan, scores: Scores) -> Iterator[SpreadWarning]:
    for figure in metrics_of_world(plan.world):
        if figure.measured and can_have_values(figure, plan):
            yield from spread_warnings(figure, [score.get(figure.name) for score in scores])


def _scores(study: Study, plans: Mapping[str, ConditionPlan]) -> dict[str, Scores]:
    """Return the episode scores of each condition, newest first. If several participants shared an episode,
    its score is returned once."""
    played = dry_run_rounds(study).filter(episode__status__in=WHOLE)
    fields = ("condition__key", "participant__version_id", "episode_id", "episode__score")
    rows = played.order_by("-pk").values_list(*fields)[:MOST_ROUNDS]
    alike = _alike(study, plans, {version for _, version, _, _ in rows})
    found: dict[str, dict[int, Mapping[str, Json]]] = {}
    for key, version, episode, score in rows:
        if (version, key) in alike:
            found.setdefault(key, {})[episode] = score
    return {key: list(by_episode.values()) for key, by_episode in found.items()}


def dry_run_rounds(study: Study) -> QuerySet[Round]:
    """Return the rounds of synthetic participants in this study. Previews are left out."""
    return Round.objects.filter(
        participant__study=study, participant__synthetic=True, participant__preview=False
    )


def versions_with_same_condition(study: Study, plan: ConditionPlan) -> list[int]:
    """Return the primary keys of the versions of the study in which this condition had the same settings
    as now."""
    versions = set(study.versions.values_list("pk", flat=True))
    return [version for version, _ in _alike(study, {plan.key: plan}, versions)]


def _alike(study: Study, plans: Mapping[str, ConditionPlan], versions: set[int]) -> set[tuple[int, str]]:
    """Return the pairs (version id, condition key) of older conditions that have the same settings as now.
    `plans` holds the current conditions by key, and `versions` the ids of the versions to compare."""
    return {
        (version.pk, was.key)
        for version in study.versions.filter(pk__in=versions).defer("bundle")
        for was in version.blueprint.conditions
        if was.key in plans and _play(was) == _play(plans[was.key])
    }


def _play(plan: ConditionPlan) -> tuple[Json, ...]:
    """Return all settings of a condition that determine how its episodes are played."""
    return (
        plan.world,
        plan.settings,
        plan.coplayer,
        plan.coplayer_settings,
        plan.teammates,
        plan.organisation,
    )


LATE_SHARE = "timeout"
"""Value of `Decision.fallback` if the decision was not ready when its step was taken."""


def late_decision_warnings(study: Study) -> Iterator[str]:
    """Yield one sentence for each condition in which decisions came too late in the dry run.

    The sentence begins with the condition's name. It states the number of late decisions, the length of a
    step, and what to do. A condition is left out if its settings have changed since the dry run.
    """
    for plan in blueprint_of(study).conditions:
        for tick_ms, late, made in _counts(study, plan):
            if late:
                yield f"{plan.name}: {_share(late, made)}; {_pace(tick_ms, _usual(plan))}"


def _share(late: int, made: int) -> str:
    return (
        f"{late:,} of {made:,} decisions of co-players ({late / made:.1%}) came too late for their step, "
        "and the co-player's fallback acted instead"
    )


def _pace(tick_ms: int, usual: int | None) -> str:
    if usual is None or usual <= tick_ms:
        return f"a step took {tick_ms} ms, as for people."
    return (
        f"for programs a step took {tick_ms} ms, for people it takes {usual} ms. With a lower "
        "BRIGADE_SYNTHETIC_SPEED (1 is the speed of people), fewer come too late."
    )


def _counts(study: Study, plan: ConditionPlan) -> list[tuple[int, int, int]]:
    """Return (milliseconds per step, late decisions, all decisions) for each step duration that the dry run
    used. The last two are counts."""
    rounds = dry_run_rounds(study).filter(condition__key=plan.key, episode__tick_ms__isnull=False)
    rounds = rounds.filter(participant__version_id__in=versions_with_same_condition(study, plan))
    newest = rounds.order_by("-pk").values("episode_id")[:MOST_ROUNDS]
    made = Decision.objects.filter(mind__episode__in=Subquery(newest), dropped="").order_by()
    counts = {"late": Count("pk", filter=Q(fallback=LATE_SHARE)), "made": Count("pk")}
    return sorted(made.values_list("mind__episode__tick_ms").annotate(**counts))


def _usual(plan: ConditionPlan) -> int | None:
    """Return the duration of a step in milliseconds, for episodes with people. Return None if there is none
    or it is unknown."""
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        return get_world(plan.world).create(seats=seats_of(plan), settings=plan.settings).tick_ms
    return None


def pre_launch_problems(study: Study) -> list[ReadinessProblem]:
    """Return all problems and warnings that the researcher should consider before data collection. Problems
    that block data collection come first. Warnings from the design and a summary of the dry run follow."""
    sentences = folded_dry_run_warnings(study)
    return [*readiness_problems(study), *(advice(words, DETAILS_PAGE) for words in sentences)]


DETAILS_PAGE = "dry-runs"
"""The page that lists every warning from the dry run (see `ReadinessProblem.page`)."""


def folded_dry_run_warnings(study: Study) -> list[str]:
    """Return the warnings from the dry run as at most one sentence for each kind. The sentence names each
    metric once, and counts the metrics and the affected conditions."""
    labels: dict[str, dict[str, None]] = {kind: {} for kind in SUMMARY_TEXTS}
    conditions: dict[str, set[str]] = {kind: set() for kind in SUMMARY_TEXTS}
    for key, spreads in dry_run_spreads(study).items():
        for one in spreads:
            labels[one.kind][one.label] = None
            conditions[one.kind].add(key)
    return [
        _summary(kind, list(labels[kind]), len(conditions[kind])) for kind in SUMMARY_TEXTS if labels[kind]
    ]


def _summary(kind: str, labels: Sequence[str], conditions: int) -> str:
    words = SUMMARY_TEXTS[kind][len(labels) > 1]
    where = f"in {counted_noun(conditions, 'condition')} of the dry run"
    named = ", ".join(f"“{label}”" for label in labels)
    return f"{counted_noun(len(labels), 'measure')} {words}, {where}: {named}."


def unmeasurable_warnings(study: Study) -> list[str]:
    """Return sentences about what the study cannot measure. Each sentence begins with the names of the
    affected conditions.

    The warnings come from the settings and from the dry run. Conditions with the same warning share one
    sentence.
    """
    return [*_unmeasured_by_settings(study), *_together(study)]


def _unmeasured_by_settings(study: Study) -> list[str]:
    names: dict[str, list[str]] = {}
    for row, told in conditions_with_unmeasured(study):
        for words in told:
            names.setdefault(words, []).append(row.name)
    return [f"{and_list(of)}: {words}" for words, of in names.items()]


def _together(study: Study) -> list[str]:
    """Return the warnings from the dry run. Conditions with the same warning share one sentence, which
    states the number of episodes of each condition."""
    rows, found = study.conditions.all(), dry_run_spreads(study)
    alike: dict[tuple[str, str], list[tuple[str, SpreadWarning]]] = {}
    for row in rows:
        for one in found.get(row.key, ()):
            alike.setdefault((one.what, one.so), []).append((row.name, one))
    return [_of_several(several) for several in alike.values()]


def _of_several(several: list[tuple[str, SpreadWarning]]) -> str:
    [(name, first), *others] = several
    if not others:
        return f"{name}: {PLAYED_STATUSES} {first}"
    names = and_list([f"{name} ({one.where})" for name, one in several])
    return f"{names}: Programs played them: {first.bare}"


def first_warning(study: Study) -> str:
    """Return a text with the first sentence about what the study cannot measure. If there are more
    sentences, the text also states their number. Return an empty string if there are none."""
    sentences = [*_unmeasured_by_settings(study), *folded_dry_run_warnings(study)]
    rest = counted_noun(len(sentences) - 1, "more point")
    more = f" ({rest}: see “To consider” in Design.)" if len(sentences) > 1 else ""
    return f"{sentences[0]}{more}" if sentences else ""
