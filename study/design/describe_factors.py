"""Describe a design's factors, and which conditions each participant plays, as text for researchers."""

from __future__ import annotations

from kitchen.words.english_text import and_list, counted_noun
from study.design.blueprint import Blueprint
from study.design.counterbalancing import get_scheme
from study.design.group_allocation import BLOCKS, AllocationPlan
from study.design.plan_balance import PlanBalance, Spread, balance_sizes, plan_balance
from study.design.round_plans import RoundPlan, rounds_of


def factor_lines(design: Blueprint) -> tuple[str, ...]:
    """Return one line for each factor: its name, where it varies, and its levels."""
    return tuple(
        f"{one.name} ({'between' if one.between else 'within'} participants): "
        f"{and_list([level.name for level in one.levels])}"
        for one in design.factors
    )


def subset_sentence(design: Blueprint) -> str:
    """Return a sentence about the conditions that each participant plays, if these are not all conditions in
    one mixed order. Otherwise return an empty string."""
    names = {one.key: one.name for one in design.factors}
    if factor := names.get(str(design.meant("one_round_per"))):
        rounds = counted_noun(design.rounds, "round")
        return (
            f"Each participant plays one condition of each level of {factor}, {rounds} in all. "
            "The next participant plays the conditions that were played least."
        )
    if design.meant("rounds_per_person"):
        return (
            f"Each participant plays {design.rounds} of {len(design.for_group('').conditions)} conditions, "
            "in balanced subsets. The next participant plays the conditions that were played least."
        )
    if factor := names.get(str(design.meant("blocked_by"))):
        return f"Rounds with the same level of {factor} follow one another."
    return ""


IN_BLOCKS = (
    "Each participant is put into one group at random, in blocks that have each group once. A group that "
    "lost somebody is filled first."
)


def allocation_sentence(plan: AllocationPlan) -> str:
    """Return sentences that say how people get their between-subjects group."""
    if plan.method == BLOCKS:
        said = IN_BLOCKS
    else:
        said = (
            "Minimisation assigns each participant. The group that makes the groups most alike in "
            f"{and_list(plan.answers)} is chosen with probability {plan.probability:g}, otherwise another "
            f"one. The imbalance is the {plan.imbalance} of the counts. Ties are broken at random. "
            + ("People who left count." if plan.counts_drop_outs else "People who left do not count.")
        )
    limits = "; ".join(line.strip() for line in plan.quotas.splitlines() if line.strip())
    return f"{said} Most people: {limits}." if limits else said


def balance_sentences(plan: RoundPlan) -> str:
    """Return sentences that say how equally a plan uses conditions, positions and successions, if nobody
    drops out. They are for a plan in which participants play a part of the conditions, or keep some
    together."""
    told = [_balance_sentence(plan_balance(plan, people)) for people in balance_sizes(plan)]
    if not get_scheme(plan.scheme).block(rounds_of(plan)):
        told.append("Positions are drawn by chance, so these numbers differ with the seed.")
    return " ".join(told)


def _balance_sentence(found: PlanBalance) -> str:
    return (
        f"With {found.people} participants, each condition is played {_times(found.conditions)}, comes "
        f"{_times(found.positions)} at each position, and directly follows each other condition "
        f"{_times(found.followers)}."
    )


def _times(spread: Spread) -> str:
    """Return a text such as `7 times` or `1 to 3 times`."""
    if spread.difference:
        return f"{spread.least} to {spread.most} times"
    return "once" if spread.most == 1 else f"{spread.most} times"
