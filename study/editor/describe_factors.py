"""Describe a design's factors, and which conditions each participant plays, as text for researchers."""

from __future__ import annotations

from kitchen.words.english_text import and_list, counted_noun
from study.design.blueprint import Blueprint
from study.design.group_allocation import BLOCKS, AllocationPlan


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
            "All conditions are played equally often."
        )
    if design.meant("rounds_per_person"):
        return (
            f"Each participant plays {design.rounds} of {len(design.for_group('').conditions)} conditions, "
            "in balanced subsets."
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
            f"Each participant is put into the group that makes the groups most alike in "
            f"{and_list(plan.answers)} with probability {plan.probability:g}, and otherwise into another one "
            f"(minimisation by the {plan.imbalance}; ties at random). "
            + ("People who left count." if plan.counts_drop_outs else "People who left do not count.")
        )
    limits = "; ".join(line.strip() for line in plan.quotas.splitlines() if line.strip())
    return f"{said} Most people: {limits}." if limits else said
