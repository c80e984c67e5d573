"""Reading who really played in a study's conditions. Nothing here changes anything."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import Count, QuerySet

from kitchen.play.models import Decision, Mind, ModelCall
from kitchen.play.readings import readings
from study.analysis.sample import Sample
from study.analysis.statistics.players import ModelUsed, Players
from study.analysis.statistics.rows import AnalysisCondition
from study.design.models import Condition, Study
from study.design.plan import NOBODY
from study.people.models import Round


def players(study: Study, sample: Sample | None = None) -> list[Players]:
    """Each condition's, in order: of those whose data an analysis uses, or of everybody who ever began. Where
    nobody has begun, the co-player is the one that is set up."""
    begun = Round.objects.filter(participant__study=study, episode__isnull=False)
    plain = (sample.rounds if sample else begun).order_by()
    return [_players(condition, plain.filter(condition=condition)) for condition in study.conditions.all()]


def _players(condition: Condition, rounds: QuerySet[Round]) -> Players:
    episodes = rounds.values("episode")
    decisions = Decision.objects.filter(mind__episode__in=episodes, dropped="")
    numbers = _numbers(decisions)
    return Players(
        condition=AnalysisCondition(condition.key, condition.name, condition.position),
        kinds=_kinds(condition, rounds),
        models=_models(ModelCall.objects.filter(decision__in=decisions)),
        decisions=numbers.total(),
        chosen_by=_most_first(numbers, 0),
        fallbacks=tuple(each for each in _most_first(numbers, 1) if each[0]),
        read=readings(decisions),
    )


def _kinds(condition: Condition, rounds: QuerySet[Round]) -> tuple[str, ...]:
    if not rounds.exists():
        return () if condition.coplayer == NOBODY else (condition.coplayer,)
    seated = Mind.objects.filter(episode__in=rounds.values("episode"))
    return tuple(sorted(set(seated.order_by().values_list("kind", flat=True))))


def _numbers(decisions: QuerySet[Any]) -> Counter[tuple[str, str]]:
    """How many decisions there are by who chose and which fallback it was: one look at an index."""
    rows = decisions.order_by().values_list("played_by", "fallback").annotate(number=Count("pk"))
    return Counter({(played_by, fallback): number for played_by, fallback, number in rows})


def _most_first(numbers: Counter[tuple[str, str]], place: int) -> tuple[tuple[str, int], ...]:
    """The values at this place of the keys with how often they occur, most first."""
    counts: Counter[str] = Counter()
    for key, number in numbers.items():
        counts[key[place]] += number
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _models(calls: QuerySet[ModelCall]) -> tuple[ModelUsed, ...]:
    named = calls.order_by().values_list("provider", "model_asked", "model_named")
    models = [ModelUsed(*row) for row in named.annotate(number=Count("pk"))]
    return tuple(sorted(models, key=lambda each: (-each.calls, each.provider, each.asked, each.named)))
