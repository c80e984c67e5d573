"""Assign people to between-subjects groups in blocks or by minimisation over their answers, with quotas.

Minimisation gives the next participant the group that makes the groups most alike in the answers. A random
choice from the study's seed keeps the next group from being predicted. Quotas limit the number of people in a
group, or of people in a group with one answer. The module does not import Django.
"""

# Minimisation: S. J. Pocock and R. Simon (1975), Sequential treatment assignment with balancing for
# prognostic factors in the controlled clinical trial, Biometrics 31, 103-115. All answers have equal weights.
# The best group is chosen with a planned probability. The other groups share the rest equally.

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import pvariance
from typing import Annotated, NamedTuple

from pydantic import Strict, TypeAdapter

from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.data_files import DataError, DataSource, Number, Record
from kitchen.contract.world import Json
from study.design.counterbalancing import SequenceTally, next_group

BLOCKS, MINIMISATION = "blocks", "minimisation"
METHODS = {
    BLOCKS: "blocks: each block of people has every group once",
    MINIMISATION: "minimisation: the groups become alike in answers about the person",
}
"""Labels of the methods of allocation, by name."""
RANGE, VARIANCE = "range", "variance"
IMBALANCES = {RANGE: "range: largest minus smallest count", VARIANCE: "variance of the counts"}
"""Labels of the measures of imbalance over groups, by name."""
DEFAULT_PROBABILITY = 0.8
ANSWER_KINDS = frozenset({"single", "likert"})
"""Kinds of items whose answers minimisation and quotas can use: one answer of a fixed list."""
QUOTA = re.compile(
    r"(?P<group>[\w-]+)(?:\s*,\s*(?P<item>[\w-]+)\s*=\s*(?P<answer>.+?))?\s*:\s*(?P<most>\d{1,6})"
)


class Quota(NamedTuple):
    """The most people of a group. With `item`, the most people of the group with this answer to the item."""

    group: str
    most: int
    item: str = ""
    answer: str = ""

    def is_about(self, group: str, answers: Mapping[str, str]) -> bool:
        """Return whether a person of this group with these answers counts for the quota."""
        return self.group == group and (not self.item or answers.get(self.item) == self.answer)


class AllocationPlan(Record):
    """The plan for assigning people to groups. `answers` are keys of items, and `quotas` is text with one
    quota on each line."""

    method: str = BLOCKS
    answers: Annotated[tuple[str, ...], Strict(False)] = ()
    probability: Number = DEFAULT_PROBABILITY
    imbalance: str = RANGE
    counts_drop_outs: bool = False
    quotas: str = ""

    @property
    def limits(self) -> tuple[Quota, ...]:
        """Return the quotas. Lines that are no quota are left out."""
        found = (QUOTA.fullmatch(line.strip()) for line in self.quotas.splitlines())
        return tuple(
            Quota(one["group"], int(one["most"]), one["item"] or "", one["answer"] or "")
            for one in found
            if one
        )

    @property
    def items(self) -> tuple[str, ...]:
        """Return the keys of all items whose answers are needed before a person gets a group."""
        own = self.answers if self.method == MINIMISATION else ()
        return tuple(dict.fromkeys([*own, *(one.item for one in self.limits if one.item)]))


class AllocatedPerson(NamedTuple):
    """A participant who already has a group, with the answers that were used."""

    group: str
    answers: Mapping[str, str]


class Assignment(NamedTuple):
    """The group of one participant. It is empty if no group is open. `reason` can be stored as JSON."""

    group: str
    reason: dict[str, Json]


_PLAN = TypeAdapter(AllocationPlan)


def parse_allocation(document: Json) -> AllocationPlan:
    """Return the stored plan of allocation. An empty document is the plan of blocks without quotas.

    Raises DataError with the field and the reason if the document cannot be used.
    """
    source = DataSource("allocation")
    plan = source.read(_PLAN, document)
    if problem := _own_problem(plan):
        raise source.error("", problem)
    return plan


def allocation_problem_in(document: Json) -> str:
    """Return why a document is no plan of allocation. Return an empty string if it is one."""
    try:
        parse_allocation(document)
    except DataError as error:
        return str(error)
    return ""


def _own_problem(plan: AllocationPlan) -> str:
    """Return why this plan cannot be used in any study. Return an empty string if it can be."""
    if plan.method not in METHODS:
        return f"There is no method of allocation {plan.method}; methods: {', '.join(METHODS)}."
    if plan.imbalance not in IMBALANCES:
        return f"There is no measure of imbalance {plan.imbalance}; measures: {', '.join(IMBALANCES)}."
    if not 0 < plan.probability <= 1:
        return "The probability of the best group is above 0 and at most 1."
    if plan.method == MINIMISATION and not plan.answers:
        return "Minimisation needs the answers over which the groups become alike."
    wrong = [line for line in plan.quotas.splitlines() if line.strip() and not QUOTA.fullmatch(line.strip())]
    return f"“{wrong[0]}” is no quota. Write “group: 20” or “group, item = answer: 10”." if wrong else ""


def quotas_problem(plan: AllocationPlan, groups: Sequence[str], options: Mapping[str, Sequence[str]]) -> str:
    """Return why a quota never applies, or that two are about the same people. Return an empty string if all
    can be used. `options` has the answers of each question about the person with one answer, by its key; an
    empty list allows every answer."""
    seen: set[tuple[str, str, str]] = set()
    for group, _, item, answer in plan.limits:
        about = f"The quota of {group}"
        if group not in groups:
            return f"A quota is for the group {group}, which does not exist. Groups: {', '.join(groups)}."
        if item and item not in options:
            known = ", ".join(options) or "there is none"
            return f"{about} is about {item}, which is no question about the person with one answer: {known}."
        if item and options[item] and answer not in options[item]:
            return f"{about} is for the answer {answer} to {item}, which is no option."
        if (group, item, answer) in seen:
            return f"{about} is there twice for the same people."
        seen.add((group, item, answer))
    return ""


def open_groups(
    plan: AllocationPlan,
    groups: Sequence[str],
    held: Iterable[AllocatedPerson],
    answers: Mapping[str, str],
    *,
    completes_team: bool = False,
) -> list[str]:
    """Return the groups whose quotas leave room for a person with these answers. `held` are the people who
    have a group.

    If the person `completes_team`, quotas of whole groups leave room. They were filled with whole teams.
    """
    people = list(held)
    full = {
        one.group
        for one in plan.limits
        if (answers.get(one.item) == one.answer if one.item else not completes_team)
        and sum(one.is_about(*person) for person in people) >= one.most
    }
    return [group for group in groups if group not in full]


def allocate(
    plan: AllocationPlan,
    groups: Sequence[str],
    held: Sequence[AllocatedPerson],
    used: Mapping[str, SequenceTally],
    *,
    answers: Mapping[str, str],
    seed: int,
    number: int,
    ignores_quotas: bool = False,
) -> Assignment:
    """Return the group of the next participant, with the reason.

    `held` are the people who count for minimisation and quotas. `used` has the number of participants in each
    group. Blocks need it.
    `answers` has the participant's answers by item, `seed` is the study's seed, and `number` the
    participant's number. The same arguments give the same group.
    """
    candidates = [*groups] if ignores_quotas else open_groups(plan, groups, held, answers)
    reason: dict[str, Json] = {"method": plan.method, "open": [*candidates]}
    if plan.items:
        reason["answers"] = {key: answers.get(key, "") for key in plan.items}
    if not candidates:
        return Assignment("", reason)
    if plan.method == MINIMISATION:
        return _minimised(plan, candidates, groups, held, answers, reason, seed=seed, number=number)
    reason["counts"] = {group: used.get(group, SequenceTally()).filled for group in groups}
    return Assignment(next_group(candidates, used, seed=seed), reason)


def _minimised(
    plan: AllocationPlan,
    candidates: Sequence[str],
    groups: Sequence[str],
    held: Sequence[AllocatedPerson],
    answers: Mapping[str, str],
    reason: dict[str, Json],
    *,
    seed: int,
    number: int,
) -> Assignment:
    """Return the candidate that minimises the imbalance, or another one by chance."""
    chance = random.Random(derived_seed(seed, "minimisation", number))  # noqa: S311 - not a secret
    imbalance = {
        group: imbalance_with(plan, groups, held, answers, group=group)
        for group in chance.sample([*candidates], len(candidates))  # ties are broken by this random order
    }
    best = min(imbalance, key=lambda group: imbalance[group])
    others = [group for group in candidates if group != best]
    draw = chance.random()
    chosen = chance.choice(others) if others and draw >= plan.probability else best
    counts = Counter(one.group for one in held)
    found = {
        "counts": {group: counts[group] for group in groups},
        "imbalance": {group: imbalance[group] for group in candidates},
        "best": best,
        "draw": round(draw, 6),
    }
    return Assignment(chosen, {**reason, **found})


def imbalance_with(
    plan: AllocationPlan,
    groups: Sequence[str],
    held: Iterable[AllocatedPerson],
    answers: Mapping[str, str],
    *,
    group: str,
) -> float:
    """Return the imbalance over the groups if the next person with these answers is put into `group`.

    It is the sum over the answers. For each, the people with the same answer are counted in every group.
    """
    people = [*held, AllocatedPerson(group, answers)]
    total = 0.0
    for key in plan.answers:
        alike = Counter(one.group for one in people if one.answers.get(key) == answers.get(key))
        counts = [alike[one] for one in groups]
        total += max(counts) - min(counts) if plan.imbalance == RANGE else pvariance(counts)
    return round(total, 6)
