"""Compute the answer of the sample-size page: how many people, what fills the order scheme, and the power
of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from study.design.analysis_plan import DEFAULT_PLAN
from study.design.counterbalancing import balanced_sample_sizes, next_balanced_size
from study.planning.power.power_formulas import (
    MOST_PEOPLE,
    PowerPlan,
    PowerPlanError,
    dz_from_difference,
    means_of,
    pair_power,
    partial_eta_of,
    people_needed,
    people_to_invite,
    power_words,
)

if TYPE_CHECKING:
    from study.planning.power.mixed_model_simulation import MixedModelPower

SEED = 20231
"""Of the simulation: the same question gets the same answer."""


@dataclass(frozen=True, slots=True)
class PowerQuestion:
    """What a researcher asks for."""

    plan: PowerPlan
    power: float
    """Wanted, of the main test."""
    block: int
    """Sequences of the order scheme; 0 without blocks."""
    drop_out: float
    """The share of those who begin and do not finish, 0 to below 1."""
    pattern: str
    correction: str
    people: int | None = None
    """Those there will be, of whom the researcher wants to know what power they give."""
    test: str = DEFAULT_PLAN.main
    """The main test, as in a study's plan."""
    scheme: str = "balanced"
    """Of the orders, which the mixed model takes account of."""

    def power_at(self, people: int) -> float:
        """That of the main test, with so many complete participants."""
        from study.planning.power.main_test_power import main_power  # numpy takes a while to import

        return main_power(self.plan, people, test=self.test, pattern=self.pattern, scheme=self.scheme)


@dataclass(frozen=True, slots=True)
class PowerRow:
    """One number of complete participants."""

    people: int
    blocks: int | None
    """Full blocks of the order scheme; None if this number leaves one unfilled, or there are none."""
    power: float
    invited: int
    enough: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two conditions by their places (from 0), at the recommended number of people."""

    first: int
    second: int
    difference: float
    """In standard deviations."""
    dz: float
    alone: float
    """The power of one paired t test without correction."""
    corrected: float
    """The share of simulated studies that find it with the correction."""


@dataclass(frozen=True, slots=True)
class PowerAnswer:
    """What the page shows."""

    wish: PowerQuestion
    needed: int
    """The smallest number of complete participants with the wanted power."""
    best: PowerRow
    """The smallest that also fills the order scheme evenly, with the power in simulated studies, too, if
    there are any."""
    runs: tuple[MixedModelPower, ...]
    """Simulated studies, where the mixed model decides: from the smallest that fills the scheme to `best`."""
    own: PowerRow | None
    """Of the people that were asked about."""
    rows: tuple[PowerRow, ...]
    """`needed`, numbers near it that fill the scheme, `best`, and the people asked about; ascending."""
    pairs: tuple[PairRow, ...]
    all_pairs: float | None
    """The share of simulated studies that find every true difference between two conditions."""
    partial_eta: float

    @property
    def short(self) -> bool:
        """Whether simulated studies of `best` still have less than the wanted power, by more than chance."""
        return bool(self.runs) and not self.runs[-1].reaches(self.wish.power)


def sample_size_answer(wish: PowerQuestion) -> PowerAnswer:
    """Computed in a fraction of a second; PlanError at `effect` if nobody could recruit so many."""
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
    )


def _runs(wish: PowerQuestion, people: int) -> tuple[MixedModelPower, ...]:
    if wish.test != "mixed":
        return ()
    from study.planning.power.mixed_model_simulation import simulate_upwards  # numpy takes a while to import

    step = max(wish.block, 1)
    return simulate_upwards(wish.plan, wish.power, people, step, pattern=wish.pattern, scheme=wish.scheme)


def _too_small(wish: PowerQuestion) -> str:
    words = f"So small an effect takes more than {MOST_PEOPLE} people for this power."
    if not wish.people:
        return words
    return f"{words} With {wish.people} it is {power_words(wish.power_at(wish.people))}."


def power_row(wish: PowerQuestion, people: int) -> PowerRow:
    """What so many complete participants give."""
    power = wish.power_at(people)
    blocks = people // wish.block if wish.block and people % wish.block == 0 else None
    return PowerRow(people, blocks, power, people_to_invite(people, wish.drop_out), power >= wish.power)


def _pairs(wish: PowerQuestion, people: int) -> tuple[tuple[PairRow, ...], float | None]:
    from study.planning.power.pairwise_simulation import pair_shares  # numpy takes a while to import

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
