"""Compute how many participants a study needs, and draw the chart of power against their number.

The sample-size page shows this answer. The answer also lists numbers of participants with which every order
of conditions is used equally often. It states the power for each pair of conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from study.design.analysis_plan import DEFAULT_PLAN
from study.design.counterbalancing import balanced_sample_sizes, next_balanced_size
from study.planning.power.planned_factors import FactorialDesignPlan, Term, written_factors
from study.planning.power.power_formulas import (
    MIXED_EFFECTS,
    MOST_PEOPLE,
    TOO_SHORT,
    PowerPlan,
    PowerPlanError,
    dz_from_difference,
    f_from_partial_eta,
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

MOST_PAIRED = 16
"""Maximum number of conditions whose pairs are simulated; more take longer than a page may."""
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
    """Number of people the researcher has (in each group), to show their power; None if not given."""
    test: str = DEFAULT_PLAN.main
    """The main test, as in a study's plan."""
    scheme: str = "balanced"
    """The scheme of orders, which the mixed model takes into account."""
    groups: int = 1
    """Number of groups between people; 1 without groups."""
    tested: str = "group"
    """With groups or factors: the effect (a key of `effects`) that the hypothesis is about."""
    partial_eta: float | None = None
    """The effect as partial eta squared; None if it was given as f."""
    design: FactorialDesignPlan | None = None
    """The factors; None if one factor is compared, with or without groups."""
    people_per_episode: int = 1
    """Number of people in one episode. If several share its figures, the unit of analysis is their group, and
    all numbers of `people` count groups."""

    @property
    def unit(self) -> str:
        """Return what the numbers count: `people`, or `groups of 2 people`."""
        return "people" if self.people_per_episode == 1 else f"groups of {self.people_per_episode} people"

    @property
    def unit_drop_out(self) -> float:
        """Return the share of units that begin and do not finish. A group finishes if all its people do."""
        return 1 - (1 - self.drop_out) ** self.people_per_episode

    @property
    def effects(self) -> Mapping[str, str]:
        """Return the effects of the main test with their labels, by key: those of a mixed ANOVA
        (`MIXED_EFFECTS`), or `partner:layout` and others of the factors. Empty for one factor."""
        if self.design is not None:
            return {":".join(term): self.design.label(term) for term in self.design.effects}
        return MIXED_EFFECTS if self.groups > 1 else {}

    @property
    def effect(self) -> str:
        """Return the effect that the main test must find: a key of `effects`, or `condition`."""
        return self.tested if self.effects else "condition"

    def plan_of(self, effect: str) -> PowerPlan:
        """Return the plan with the effect size f of `effect`. The same partial eta squared gives a different
        f between people than within people."""
        if self.partial_eta is None:
            return self.plan
        if self.design is not None:
            from study.planning.power.factorial_power import f_of_partial_eta  # slow to import

            return replace(self.plan, f=f_of_partial_eta(self.design, _term(effect), self.partial_eta))
        k, correlation = self.plan.conditions, self.plan.correlation
        return replace(self.plan, f=f_from_partial_eta(self.partial_eta, k, correlation, effect))

    @property
    def test_name(self) -> str:
        """Return the name of the main test in sentences, after "the"."""
        if self.design is not None:
            return TOO_SHORT["mixed"] if self.test == "mixed" else "factorial ANOVA"
        return "mixed ANOVA" if self.groups > 1 else TOO_SHORT[self.test]

    def power_at(self, people: int) -> float:
        """Return the power of the main test with this number of complete participants (in each group)."""
        if self.design is not None:
            from study.planning.power.factorial_power import effect_power  # slow to import

            plan = self.plan_of(self.effect)
            term, f = _term(self.effect), plan.f
            return effect_power(self.design, term, f, people, alpha=plan.alpha, epsilon=plan.epsilon)
        if self.groups > 1:
            return mixed_power(self.plan_of(self.effect), self.groups, people, self.effect)
        from study.planning.power.main_test_power import main_power  # slow to import

        return main_power(self.plan, people, test=self.test, pattern=self.pattern, scheme=self.scheme)


@dataclass(frozen=True, slots=True)
class PowerRow:
    """One row of the table: a number of complete participants, and the power with it."""

    people: int
    """In each group, if there are groups. Groups, if several people play one episode."""
    in_all: int
    """People in all."""
    blocks: int | None
    """Full blocks of the order scheme; None if the last block is incomplete, or there are no blocks."""
    power: float
    invited: int
    invited_in_all: int
    enough: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two conditions (indices from 0), and the power to find a difference between them with the
    recommended number of people."""

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
class EffectRow:
    """One effect of a mixed or factorial ANOVA."""

    effect: str
    f: float
    needed: int | None
    """The smallest number of complete participants in each group; None if more than MOST_PEOPLE."""
    best: PowerRow | None
    """The smallest such number that also fills the order scheme evenly."""
    power: float
    """The power with the recommended number in each group."""
    is_tested: bool
    """True if the hypothesis is about this effect."""
    enough: bool


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
    effects: tuple[EffectRow, ...] = ()
    """A row for each effect; empty if one factor is compared without groups."""

    @property
    def in_groups(self) -> bool:
        """Return True if all numbers of people are for one group, because people differ in a factor."""
        return self.wish.groups > 1

    @property
    def short(self) -> bool:
        """Return True if the simulation shows that the recommended number of people (`best`) is too small.
        The simulated power, plus its margin of error, is then below the wanted power."""
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
        partial_eta=_partial_eta(wish),
        effects=tuple(_effect_row(wish, effect, best) for effect in wish.effects),
    )


def _term(effect: str) -> Term:
    return tuple(effect.split(":"))


def _partial_eta(wish: PowerQuestion) -> float:
    plan = wish.plan_of(wish.effect)
    if wish.design is not None:
        from study.planning.power.factorial_power import partial_eta_of_f  # slow to import

        return partial_eta_of_f(wish.design, _term(wish.effect), plan.f)
    return partial_eta_of(plan, wish.effect)


def _effect_row(wish: PowerQuestion, effect: str, people: int) -> EffectRow:
    tested = replace(wish, tested=effect)
    needed = people_needed(tested.power_at, wish.power)
    best = power_row(tested, next_balanced_size(wish.block, needed)) if needed else None
    power, f = tested.power_at(people), wish.plan_of(effect).f
    is_tested = effect == wish.effect
    return EffectRow(wish.effects[effect], f, needed, best, power, is_tested, enough=power >= wish.power)


def _runs(wish: PowerQuestion, people: int) -> tuple[MixedModelPower, ...]:
    if wish.test != "mixed" or wish.effects:
        return ()
    from study.planning.power.mixed_model_simulation import simulate_upwards  # slow to import

    step = max(wish.block, 1)
    return simulate_upwards(wish.plan, wish.power, people, step, pattern=wish.pattern, scheme=wish.scheme)


def _too_small(wish: PowerQuestion) -> str:
    where = " in each group" if wish.groups > 1 else ""
    words = f"So small an effect takes more than {MOST_PEOPLE} {wish.unit}{where} for this power."
    if not wish.people:
        return words
    return f"{words} With {wish.people} it is {power_words(wish.power_at(wish.people))}."


def power_row(wish: PowerQuestion, people: int) -> PowerRow:
    """Return the table row for this number of complete participants."""
    power = wish.power_at(people)
    blocks = people // wish.block if wish.block and people % wish.block == 0 else None
    invited, each = people_to_invite(people, wish.unit_drop_out), wish.groups * wish.people_per_episode
    return PowerRow(people, people * each, blocks, power, invited, invited * each, power >= wish.power)


def _pairs(wish: PowerQuestion, people: int) -> tuple[tuple[PairRow, ...], float | None]:
    if wish.design is not None and (wish.design.subsets or not 2 <= wish.design.cells <= MOST_PAIRED):
        return (), None
    from study.planning.power.main_test_power import pair_shares  # slow to import

    people, plan = max(people, 2), wish.plan_of("condition" if wish.design is None else wish.effect)
    means = means_of(plan, wish.pattern)
    shares = pair_shares(plan, people, pattern=wish.pattern, correction=wish.correction, seed=SEED)
    rows = [
        _pair(plan, a, b, means[b] - means[a], people, share)
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
    called = "people" if wish.people_per_episode == 1 else "groups"
    found = Point(best.people, best.power / 2, label=f"{best.people} {called}: {power_words(best.power)}")
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
        title=f"Power of the {wish.test_name}",
        x=Axis(f"Complete {counted_units(wish)}", 0, end),
        y=Axis("Power", 0, 1),
        panels=(Panel(tuple(replace(one, listed=False) for one in series)),),
        under=_plan_words(wish),
        note=f"Dotted: the power wanted, {power_words(wish.power)}.{dots}",
        words=describe_power_curve(answer),
    )


def _plan_words(wish: PowerQuestion) -> str:
    plan = wish.plan_of(wish.effect)
    if wish.design is None:
        return plan_words(plan)
    effect = wish.effects[wish.effect]
    return f"{written_factors(wish.design.factors)}; {effect}: {plan_words(plan, counted=False)}"


def counted_units(wish: PowerQuestion) -> str:
    """Return what the answer counts: participants, participants in each group, or groups of people."""
    if wish.people_per_episode > 1:
        return wish.unit
    return "participants" + (" in each group" if wish.groups > 1 else "")


def describe_power_curve(answer: PowerAnswer) -> str:
    """Return a text that describes the power chart for readers who cannot see it."""
    first, last = answer.rows[0], answer.rows[-1]
    return (
        f"Power of the {answer.wish.test_name} over the number of complete {counted_units(answer.wish)}: "
        f"{power_words(first.power)} for {first.people}, "
        f"{power_words(answer.best.power)} for {answer.best.people}, "
        f"{power_words(last.power)} for {last.people}."
    )
