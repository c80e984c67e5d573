"""Compute the bonuses of participants by the rule in the design that they entered under. Changes no data.

Only participants who completed the study have a bonus. The rule is that of their version, so that a later
change of the study changes nobody's bonus.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kitchen.contract.world import Json
from kitchen.registry.world_metrics import NamedMetric
from study.design.blueprint import Blueprint
from study.design.bonus_rule import Bonus, BonusRule, compute_bonus, parse_bonus
from study.design.metric_and_scale_names import study_figures
from study.design.models import Study, Version
from study.design.questions.item_kinds import is_right
from study.participants.models import Answer, Participant, Round


def bonus_rule_of(design: Blueprint) -> BonusRule | None:
    """Return the bonus rule of a design, or None if it has none."""
    return parse_bonus(design.meant("bonus_rule"))


def bonus_of(person: Participant) -> Bonus | None:
    """Return a participant's bonus. Return None without a rule, or before the participant completed."""
    return compute_bonuses(person.study, [person]).get(person.pk)


def compute_bonuses(study: Study, people: Iterable[Participant]) -> dict[int, Bonus]:
    """Return the bonus of each of these people who completed a study with a rule, by primary key. The number
    of queries does not depend on the number of people."""
    complete = [one for one in people if one.status == Participant.Status.COMPLETE]
    versions = Version.objects.defer("bundle").in_bulk({one.version_id for one in complete})
    designs = {pk: version.blueprint for pk, version in versions.items()}
    rules = {pk: rule for pk, design in designs.items() if (rule := bonus_rule_of(design))}
    paid = {one.pk: one.version_id for one in complete if one.version_id in rules}
    if not paid:
        return {}
    figures = _figures(list(paid), study_figures(study))
    right = _right_answers(paid, designs)
    return {pk: compute_bonus(rules[version], figures[pk], right[pk]) for pk, version in paid.items()}


def _figures(people: Sequence[int], named: Sequence[NamedMetric]) -> Mapping[int, Mapping[str, list[Json]]]:
    """Return the values of each figure in the rounds of these people."""
    found: dict[int, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    rounds = Round.objects.filter(participant__in=people).exclude(episode=None)
    fields = ("participant", "episode__world", "episode__score")
    for pk, world, score in rounds.order_by().values_list(*fields):
        for metric in named:
            if world in metric.worlds:
                found[pk][metric.name].append(metric.value(world, score))
    return found


def _right_answers(paid: Mapping[int, int], designs: Mapping[int, Blueprint]) -> Mapping[int, int]:
    """Return how many questions each person answered right at the first attempt. `paid` maps people to their
    versions."""
    items = {pk: {item.key: item for item in design.items} for pk, design in designs.items()}
    right: dict[int, int] = defaultdict(int)
    fields = ("participant", "item__key", "value")
    answers: Iterable[tuple[int, str, Any]] = Answer.objects.filter(
        participant__in=list(paid), attempt=1
    ).values_list(*fields)
    for pk, key, value in answers:
        item = items[paid[pk]].get(key)
        right[pk] += bool(item and is_right(item, value))
    return right
