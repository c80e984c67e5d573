"""What a dry run says of what a study can measure, condition by condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.db.models import QuerySet

from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.figures import figures_of
from study.analysis.statistics.spread import Spread, spread_of
from study.design.blueprint import ConditionPlan, blueprint_of
from study.design.models import Study
from study.people.models import Round

MOST_ROUNDS = 1000
"""The newest that are looked at."""
PLAYED = "Programs played it:"
"""Before what is told of one condition."""
WHOLE = (Episode.Status.OVER, Episode.Status.CUT_OFF, Episode.Status.REACHED)
"""Episodes that nobody broke off."""
Scores = list[Mapping[str, Json]]


def tried_told(study: Study) -> dict[str, tuple[str, ...]]:
    """By the key of a condition what its episodes with programs have shown that it cannot measure, in whole
    sentences. Only of conditions that are as they were played."""
    found = tried_spreads(study)
    return {key: tuple(f"{PLAYED} {one}" for one in spreads) for key, spreads in found.items()}


def tried_spreads(study: Study) -> dict[str, tuple[Spread, ...]]:
    """The same as it was found."""
    plans = {plan.key: plan for plan in blueprint_of(study).conditions}
    scores = _scores(study, plans)
    return {key: told for key, found in scores.items() if (told := tuple(_told(plans[key].world, found)))}


def _told(world: str, scores: Scores) -> Iterator[Spread]:
    for figure in figures_of(world):
        if figure.measured:
            yield from spread_of(figure, [score.get(figure.name) for score in scores])


def _scores(study: Study, plans: Mapping[str, ConditionPlan]) -> dict[str, Scores]:
    """What was scored in each condition, the newest first; an episode that several played counts once."""
    played = tried_rounds(study).filter(episode__status__in=WHOLE)
    fields = ("condition__key", "participant__version_id", "episode_id", "episode__score")
    rows = played.order_by("-pk").values_list(*fields)[:MOST_ROUNDS]
    alike = _alike(study, plans, {version for _, version, _, _ in rows})
    found: dict[str, dict[int, Mapping[str, Json]]] = {}
    for key, version, episode, score in rows:
        if (version, key) in alike:
            found.setdefault(key, {})[episode] = score
    return {key: list(by_episode.values()) for key, by_episode in found.items()}


def tried_rounds(study: Study) -> QuerySet[Round]:
    """Those that programs of a dry run have begun."""
    return Round.objects.filter(
        participant__study=study, participant__synthetic=True, participant__preview=False
    )


def alike_of(study: Study, plan: ConditionPlan) -> list[int]:
    """Versions in which this condition was played as it is now."""
    versions = set(study.versions.values_list("pk", flat=True))
    return [version for version, _ in _alike(study, {plan.key: plan}, versions)]


def _alike(study: Study, plans: Mapping[str, ConditionPlan], versions: set[int]) -> set[tuple[int, str]]:
    """Versions and conditions that were played there as they are now."""
    return {
        (version.pk, was.key)
        for version in study.versions.filter(pk__in=versions).defer("bundle")
        for was in version.blueprint.conditions
        if was.key in plans and _play(was) == _play(plans[was.key])
    }


def _play(plan: ConditionPlan) -> tuple[Json, ...]:
    """All that decides how an episode goes."""
    return (
        plan.world,
        plan.settings,
        plan.coplayer,
        plan.coplayer_settings,
        plan.teammates,
        plan.organisation,
    )
