"""Compute the answer of the sample-size page, and draw the chart of power against the number of participants.

The answer states how many people are needed, which numbers fill the order scheme evenly, and the power for
each pair of conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from study.design.analysis_plan import DEFAULT_PLAN
from study.design.counterbalancing import balanced_sample_sizes, next_balanced_size
from study.planning.power.power_formulas import (
    MIXED_EFFECTS,
    MOST_PEOPLE,
    TOO_SHORT,
    PowerPlan,
    PowerPlanError,
    dz_from_difference,
    means_of,
    mixed_power,
    pair_power,
    partial_eta_of,
    people_needed,
    people_to_invite,
    plan_words,
    power_words,
)

if TYPE_CHECKING:
    from study.planning.power.mixed_model_simulation import MixedModelPower

SEED = 20231
"""Seed of the simulation: the same question gets the same answer."""


@dataclass(frozen=True, slots=True)
class PowerQuestion:
    """The values that a researcher enters on the sample-size page: the plan, the wanted power, and the
    order scheme."""

    plan: PowerPlan
    power: float
    """Wanted power of the main test."""
    block: int
    """Number of sequences of the order scheme; 0 without blocks."""
    drop_out: float
    """Share of participants who begin and do not finish, 0 to below 1."""
    pattern: str
    correction: str
    people: int | None = None
    """Number of people the researcher has, to show their power; None if not given."""
    test: str = DEFAULT_PLAN.main
    """The main test, as in a study's plan."""
    scheme: str = "balanced"
    """The scheme of orders, which the mixed model takes into account."""
    groups: int = 1
    """Number of groups between people; 1 without groups."""

    def power_at(self, people: int) -> float:
        """Return the power of the main test with this number of complete participants."""
        from study.planning.power.main_test_power import main_power  # slow to import

        return main_power(self.plan, people, test=self.test, pattern=self.pattern, scheme=self.scheme)


@dataclass(frozen=True, slots=True)
class PowerRow:
    """One row of the table: a number of complete participants, and the power with it."""

    people: int
    blocks: int | None
    """Full blocks of the order scheme; None if the last block is incomplete, or there are no blocks."""
    power: float
    invited: int
    enough: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two conditions (indices from 0), and the power to find them different with the recommended number of
    people."""

    first: int
    second: int
    difference: float
    """In standard deviations."""
    dz: float
    alone: float
    """The power of one paired t test without correction."""
    corrected: float
    """The share of simulated studies that find the difference with the correction."""


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One effect of the mixed ANOVA that compares groups between people."""

    effect: str
    needed: int | None
    """The smallest number of complete participants in each group; None if more than MOST_PEOPLE."""
    invited: int | None
    """How many must begin in each group."""
    power: float
    """The power with the recommended number in each group."""


@dataclass(frozen=True, slots=True)
class PowerAnswer:
    """The answer that the sample-size page shows."""

    wish: PowerQuestion
    needed: int
    """The smallest number of complete participants with the wanted power."""
    best: PowerRow
    """The smallest such number that also fills the order scheme evenly.

    If studies were simulated, it has the wanted power there, too.
    """
    runs: tuple[MixedModelPower, ...]
    """Simulated studies for the mixed model: from the smallest number that fills the scheme up to `best`."""
    own: PowerRow | None
    """Row of the number of people that the researcher has."""
    rows: tuple[PowerRow, ...]
    """Rows of `needed`, numbers near it that fill the scheme, `best`, and `own`; ascending."""
    pairs: tuple[PairRow, ...]
    all_pairs: float | None
    """The share of simulated studies that find every true difference between two conditions."""
    partial_eta: float
    groups: tuple[GroupRow, ...] = ()
    """Rows of the comparison between groups; empty without groups."""

    @property
    def short(self) -> bool:
        """Return whether the simulated power with the recommended number of people (`best`) is below the
        wanted power by more than the simulation error."""
        return bool(self.runs) and not self.runs[-1].reaches(self.wish.power)


def sample_size_answer(wish: PowerQuestion) -> PowerAnswer:
    """Compute the answer to the researcher's question. This takes a fraction of a second.

    Raises PowerPlanError with field `effect` if more than MOST_PEOPLE would be needed.
    """
    needed = people_needed(wish.power_at, wish.power)
    if needed is None:
        raise PowerPlanError("effect", _too_small(wish))
    runs = _runs(wish, next_balanced_size(wish.block, needed))
    best = runs[-1].people if runs else next_balanced_size(wish.block, needed)
    asked = {wish.people} if wish.people else set()
    numbers = sorted(
        {needed, best, *balanced_sample_sizes(wish.block, needed, below=2, above=4), *asked} - {1}
    )
    pairs, every = _pairs(wish, best)
    return PowerAnswer(
        wish=wish,
        needed=needed,
        best=power_row(wish, best),
        runs=runs,
        own=power_row(wish, wish.people) if wish.people else None,
        rows=tuple(power_row(wish, people) for people in numbers),
        pairs=pairs,
        all_pairs=every,
        partial_eta=partial_eta_of(wish.plan),
        groups=tuple(_group_row(wish, effect, best) for effect in MIXED_EFFECTS if wish.groups > 1),
    )


def _group_row(wish: PowerQuestion, effect: str, people: int) -> GroupRow:
    power_at = partial(mixed_power, wish.plan, wish.groups, effect=effect)
    needed = people_needed(power_at, wish.power)
    invited = people_to_invite(needed, wish.drop_out) if needed else None
    return GroupRow(MIXED_EFFECTS[effect], needed, invited, power_at(people))


def _runs(wish: PowerQuestion, people: int) -> tuple[MixedModelPower, ...]:
    if wish.test != "mixed":
        return ()
    from study.planning.power.mixed_model_simulation import simulate_upwards  # slow to import

    step = max(wish.block, 1)
    return simulate_upwards(wish.plan, wish.power, people, step, pattern=wish.pattern, scheme=wish.scheme)


def _too_small(wish: PowerQuestion) -> str:
    words = f"So small an effect takes more than {MOST_PEOPLE} people for this power."
    if not wish.people:
        return words
    return f"{words} With {wish.people} it is {power_words(wish.power_at(wish.people))}."


def power_row(wish: PowerQuestion, people: int) -> PowerRow:
    """Return the table row for this number of complete participants."""
    power = wish.power_at(people)
    blocks = people // wish.block if wish.block and people % wish.block == 0 else None
    return PowerRow(people, blocks, power, people_to_invite(people, wish.drop_out), power >= wish.power)


def _pairs(wish: PowerQuestion, people: int) -> tuple[tuple[PairRow, ...], float | None]:
    from study.planning.power.main_test_power import pair_shares  # slow to import

    people = max(people, 2)
    means = means_of(wish.plan, wish.pattern)
    shares = pair_shares(wish.plan, people, pattern=wish.pattern, correction=wish.correction, seed=SEED)
    rows = [
        _pair(wish.plan, a, b, means[b] - means[a], people, share)
        for (a, b), share in zip(shares.pairs, shares.found, strict=True)
    ]
    return tuple(rows), shares.all_true


def _pair(plan: PowerPlan, first: int, second: int, difference: float, people: int, share: float) -> PairRow:
    alone = pair_power(difference, plan, people)
    return PairRow(first, second, difference, dz_from_difference(difference, plan), alone, share)


CURVE, CHOSEN = 4, 5
"""Numbers of the colours of the curve and of the answer."""
POINTS = 160
"""Maximum number of points of the curve."""


def power_chart(answer: PowerAnswer) -> Chart:
    """Return the chart of power against the number of participants. It marks the answer and the numbers
    that fill the order scheme evenly."""
    last, best, wish = answer.rows[-1].people, answer.best, answer.wish
    end, people = last * 1.05, range(2, last + 1, max(last // POINTS, 1))
    found = Point(best.people, best.power / 2, label=f"{best.people} people: {power_words(best.power)}")
    top = Point(best.people, best.power)
    series = (
        Series("Wanted", "dotted", (Point(0, wish.power), Point(end, wish.power)), None),
        Series("Power", "curve", tuple(Point(n, wish.power_at(n)) for n in people), CURVE),
        Series(
            "Even", "dots", tuple(Point(row.people, row.power) for row in answer.rows if row.blocks), CURVE
        ),
        Series("Answer", "curve", (Point(best.people, 0), found, top), CHOSEN),
        Series("Answer", "dots", (top,), CHOSEN),
    )
    dots = " Dots: numbers that fill the order scheme evenly." if wish.block > 1 else ""
    return Chart(
        key="power",
        title=f"Power of the {TOO_SHORT[wish.test]}",
        x=Axis("Complete participants", 0, end),
        y=Axis("Power", 0, 1),
        panels=(Panel(tuple(replace(one, listed=False) for one in series)),),
        under=plan_words(wish.plan),
        note=f"Dotted: the power wanted, {power_words(wish.power)}.{dots}",
        words=describe_power_curve(answer),
    )


def describe_power_curve(answer: PowerAnswer) -> str:
    """Return a text that describes the power chart for readers who cannot see it."""
    first, last = answer.rows[0], answer.rows[-1]
    return (
        f"Power of the {TOO_SHORT[answer.wish.test]} over the number of complete participants: "
        f"{power_words(first.power)} for {first.people}, "
        f"{power_words(answer.best.power)} for {answer.best.people}, "
        f"{power_words(last.power)} for {last.people}."
    )
