"""Forecast the future costs of a study's language models, and the budget that remains.

A participant's cost is the product of steps, calls per step, tokens per call, and present prices. If a
condition already has calls in this study, their means are used. Otherwise a program that imitates a language
model plays the first steps. The amount that is not exceeded with a probability of 95 % rests on how much
finished episodes differ. The worst case assumes the largest number of calls and the highest cost of each
call. The module changes no data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from math import sqrt
from statistics import stdev

from django.db.models import Avg, Count, DecimalField, Exists, OuterRef, QuerySet, Sum
from django.db.models.functions import Coalesce

from kitchen.agents import call_forecast
from kitchen.contract.decision_notes import ReplyReadings
from kitchen.contract.language_model import BudgetSpentError, NotAskedError, UnpricedError, Usage
from kitchen.contract.world_errors import WorldError
from kitchen.llm.call_costs import PriceFileError, PriceList, UnknownPriceError, load_prices
from kitchen.llm.prompt_token_counts import counted_ratio
from kitchen.llm.provider_registry import STAND_IN
from kitchen.money.budget_ledger import reserved_amount, spent_or_reserved
from kitchen.play.episode.create_episode import MindPlan
from kitchen.play.models import Decision, Episode, Mind, ModelCall
from kitchen.play.turn.decision_records import reply_readings
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from study.design.condition_seats import (
    mind_plans,
    people_in,
    stand_ins,
)
from study.design.models import Condition, Study
from study.design.round_plans import condition_shares
from study.design.sampled_model_calls import trial_of
from study.participants.models import Participant, Round
from study.participation.episode_money import MEASURED_EPISODES, PLAYED_TO_THE_END
from study.planning.cache_miss_counts import latest_cache_misses

NORMAL_95 = 1.645
"""The standard normal distribution is below this number with a probability of 95 %."""
PARTICIPANTS = 12
"""The default number of future participants, which is the number in the paper."""
MOST_PARTICIPANTS = 100_000
NOT_MADE = (BudgetSpentError.code, UnpricedError.code, NotAskedError.code)
"""Error codes of calls that were never made."""
NO_MODEL = "asks no language model"
STANDS_IN = "only for people who do not come, or are gone: none is expected, all but one at worst"


@dataclass(frozen=True, slots=True)
class ConditionForecast:
    """The forecast for one co-player in a condition. Amounts are in US dollars for one participant.

    An amount is None if nothing is paid. It is also None if it is unknown; `rests_on` then gives the
    reason.
    """

    condition: Condition
    model: str
    rests_on: str
    steps: int = 0
    expected: float | None = None
    worst: float | None = None
    steps_left: int = 0
    """Steps that participants who have begun still have to play."""
    caution: str = ""
    """Warning if many replies so far could not be used."""
    spread: float | None = None
    """Standard deviation of the cost over the finished episodes. None if they are too few."""
    episodes: int = 0
    """Number of finished episodes with this model."""
    share: float = 1.0
    """The fraction of participants who play the condition. It is below 1 if only one group plays it, or if
    each participant plays a part of the conditions."""

    @property
    def underway(self) -> float:
        """Return the expected cost of this condition for participants who have begun and not finished."""
        return (self.expected or 0.0) * self.steps_left / max(self.steps, 1)

    @property
    def underway_worst(self) -> float:
        """Return the worst-case cost of this condition for participants who have begun and not finished."""
        return (self.worst or 0.0) * self.steps_left / max(self.steps, 1)


@dataclass(frozen=True, slots=True)
class StudyForecast:
    """The amounts that a study has spent, has reserved and will need, in US dollars."""

    lines: tuple[ConditionForecast, ...]
    participants: int
    limit: float
    spent: float
    reserved: float

    @property
    def each(self) -> float:
        """Return the expected cost of one participant who completes the study, averaged over the
        between-subjects groups and the subsets of conditions that participants play."""
        return sum((line.expected or 0.0) * line.share for line in self.lines)

    @property
    def each_worst(self) -> float:
        """Return the worst-case cost of one participant who completes the study."""
        return sum((line.worst or 0.0) * line.share for line in self.lines)

    @property
    def underway(self) -> float:
        """Return the expected cost for participants who have begun and not finished."""
        return sum(line.underway for line in self.lines)

    @property
    def ahead(self) -> float:
        """Return the expected total cost from now on. It covers participants who have begun and future
        participants."""
        return self.underway + self.participants * self.each

    @property
    def ahead_worst(self) -> float:
        """Return the worst-case total cost from now on. It covers participants who have begun and future
        participants."""
        return sum(line.underway_worst for line in self.lines) + self.participants * self.each_worst

    @property
    def likely(self) -> float:
        """Return the amount that the total future cost does not exceed with a probability of 95 %.

        It assumes that the costs of participants are independent, and their sum normally distributed. If too
        few episodes with a model are finished, twice its expected cost is taken.
        """
        variance = 0.0
        for line in self.lines:
            people = self.participants * line.share + line.steps_left / max(line.steps, 1)
            if line.spread is None:
                variance += (people * (line.expected or 0.0) / NORMAL_95) ** 2
            else:  # of the participants to come, and of the mean that was measured
                variance += line.spread**2 * (people + people**2 / line.episodes)
        return min(self.ahead + NORMAL_95 * sqrt(variance), self.ahead_worst)

    @property
    def left(self) -> float:
        """Return the part of the budget limit that is still available, at least 0."""
        return max(0.0, self.limit - self.spent - self.reserved)

    @property
    def holds(self) -> bool:
        """Return whether the expected future cost stays within the budget limit."""
        return self.ahead <= self.left

    @property
    def verdict(self) -> str:
        """Return a sentence that says whether the budget limit is sufficient."""
        if not self.ahead_worst:
            return "No condition calls a model that costs money: nothing will be spent."
        if self.ahead_worst <= self.left:
            return "The limit will hold, even at worst."
        then = "then rounds with a paid model wait until you raise it."
        if self.likely <= self.left:
            return f"The limit will hold with a probability of at least 95 %. At worst it does not: {then}"
        if self.holds:
            needed = self.spent + self.reserved + self.likely
            return (
                f"The limit is expected to hold, but this is not sure: {then} A limit of {needed:.2f} USD "
                "would hold with a probability of 95 %."
            )
        enough = int(max(0.0, self.left - self.underway) / self.each) if self.each else 0
        needed = self.spent + self.reserved + self.ahead
        return (
            f"The limit is not expected to hold: it is enough for about {enough} of the "
            f"{self.participants} participants to come; {then} A limit of about {needed:.2f} USD is needed."
        )


def forecast_costs(study: Study, participants: int = PARTICIPANTS) -> StudyForecast:
    """Forecast the costs of language models in a study. They cover the participants who have begun, and
    `participants` future participants."""
    reserved = reserved_amount(study.budget_id) if study.budget_id else Decimal(0)
    spent = spent_or_reserved(study.budget_id) - reserved if study.budget_id else Decimal(0)
    prices, problem = _prices()
    shares = condition_shares(study.round_plans())
    lines = [
        replace(line, share=shares.get(condition.key, 1.0))
        for condition in study.conditions.all()
        for line in _lines(condition, prices, problem)
    ]
    return StudyForecast(tuple(lines), participants, float(study.budget_limit), float(spent), float(reserved))


def _prices() -> tuple[PriceList, str]:
    """Return the price list of language models and an error message. The message is empty if the list can be
    read. Otherwise the list is empty."""
    try:
        return load_prices(), ""
    except PriceFileError as error:
        return PriceList({}), str(error)


def _lines(condition: Condition, prices: PriceList, problem: str) -> list[ConditionForecast]:
    """Return a forecast for each co-player of the condition that calls a model. If there is none, return a
    single forecast for the condition that says why."""
    try:
        minds: list[tuple[int | None, MindPlan]] = list(enumerate(mind_plans(condition)))
    except WorldError as error:
        return [ConditionForecast(condition, "", f"cannot be played: {error}")]
    minds += [(None, mind) for mind in stand_ins(condition)[:1]]
    lines = [_line(condition, number, mind, prices, problem) for number, mind in minds]
    asking = [line for line in lines if line.model or line.rests_on != NO_MODEL]
    return asking or [ConditionForecast(condition, "", NO_MODEL)]


def _line(
    condition: Condition, number: int | None, mind: MindPlan, prices: PriceList, problem: str
) -> ConditionForecast:
    """Return the cost forecast of one co-player (`mind`). `number` is its number in the condition, or None
    for an agent that may replace people."""
    try:
        provider, _, model = make_agent(mind.kind, mind.settings).model().partition(":")
        if not provider:
            return ConditionForecast(condition, "", NO_MODEL)
        if provider == STAND_IN:
            return ConditionForecast(condition, "stand-in (no language model)", "costs nothing")
        if number is None:
            return _standing_in(condition, mind, provider, model, prices)
        return _priced(condition, number, mind, provider, model, prices)
    except UnknownPriceError as error:
        why = problem or str(error)
        return ConditionForecast(condition, f"{provider} {model}", f"never asked, the fallback plays: {why}")
    except (WorldError, UnknownNameError) as error:
        return ConditionForecast(condition, "", f"cannot be played: {error.args[0]}")


def _priced(
    condition: Condition, number: int, mind: MindPlan, provider: str, model: str, prices: PriceList
) -> ConditionForecast:
    sample, made = trial_of(condition, mind), _calls(condition, number, provider, model)
    a_step, rests_on = _measured(made, provider, model, prices) or _estimated(sample, provider, model, prices)
    if cached := _caching(sample, provider, model, prices):
        rests_on = f"{rests_on}; {cached}"
    if too_long := call_forecast.context_refusal(sample, provider, model):
        rests_on = f"{rests_on}; change the condition before anybody plays it: {too_long}"
    if missed := latest_cache_misses(made, prices):
        rests_on = f"{rests_on}; {missed}"
    worst = call_forecast.worst_cost(sample, prices, provider, model)
    left, share = _steps_left(condition, sample.steps), len(people_in(condition))
    cost, caution = sample.steps * a_step / share, _replies_read(condition, number).warning
    costs = [each * sample.steps / share for each in _costs_a_step(condition, number, provider, model)]
    return ConditionForecast(
        condition,
        f"{provider} {model}",
        rests_on,
        sample.steps,
        cost,
        worst / share,
        left,
        caution,
        spread=stdev(costs) if len(costs) >= MEASURED_EPISODES else None,
        episodes=len(costs),
    )


def _costs_a_step(condition: Condition, number: int, provider: str, model: str) -> list[float]:
    """Return the US dollars for each step that this co-player's calls cost, for each finished episode of a
    person in the condition in which it called this model."""
    calls = ModelCall.objects.filter(decision__mind=OuterRef("pk"), provider=provider, model_asked=model)
    rounds = Round.objects.filter(
        condition=condition, participant__synthetic=False, participant__preview=False
    )
    minds = Mind.objects.filter(
        Exists(calls),
        number=number,
        episode__in=rounds.values("episode"),
        episode__status__in=PLAYED_TO_THE_END,
        episode__step__gt=0,
    )
    booked = Coalesce("spendings__spent", "spendings__reserved", output_field=DecimalField())
    rows = minds.annotate(cost=Sum(booked)).values_list("cost", "episode__step")
    return [float(cost or 0) / step for cost, step in rows]


def _standing_in(
    condition: Condition, mind: MindPlan, provider: str, model: str, prices: PriceList
) -> ConditionForecast:
    sample, people = trial_of(condition, mind), len(people_in(condition))
    worst = call_forecast.worst_cost(sample, prices, provider, model) * (people - 1) / people
    left = _steps_left(condition, sample.steps)
    return ConditionForecast(condition, f"{provider} {model}", STANDS_IN, sample.steps, 0.0, worst, left)


def _estimated(
    sample: call_forecast.TrialCalls, provider: str, model: str, prices: PriceList
) -> tuple[float, str]:
    """Return the estimated US dollars per step, and a text that says what the estimate is based on. Use this
    before the condition has made any call."""
    ratio = counted_ratio(provider, model)
    plan = call_forecast.expected_calls(sample, steps=sample.steps, episodes=1, ratio=ratio)
    counted = "" if ratio == 1 else f"; the provider counted {ratio:.2f} tokens for each that was estimated"
    return prices.expected(provider, model, plan) / sample.steps, (
        f"estimated, no call of this study yet: 1 call a step, on average {plan.fixed + plan.fresh} tokens "
        f"read and {plan.output} written, as in {len(sample.calls)} steps played with the stand-in{counted}"
    )


def _caching(sample: call_forecast.TrialCalls, provider: str, model: str, prices: PriceList) -> str:
    ratio = counted_ratio(provider, model)
    plan = call_forecast.expected_calls(sample, steps=sample.steps, episodes=1, ratio=ratio)
    return prices.price(provider, model, plan.fixed + plan.longest).caching_of(plan.fixed)


def _measured(
    made: QuerySet[ModelCall], provider: str, model: str, prices: PriceList
) -> tuple[float, str] | None:
    """Return the US dollars per step, measured from calls that the condition has made, and a text that says
    so. Return None if no call was answered yet."""
    totals = made.aggregate(calls=Count("pk"), decisions=Count("decision", distinct=True), cost=Avg("cost"))
    kinds = ("input", "output", "cache_read", "cache_write", "thinking")
    counted = made.filter(tokens_output__gt=0).aggregate(**{kind: Avg(f"tokens_{kind}") for kind in kinds})
    if counted["output"] is None:
        return None
    usage = Usage(*(round(counted[kind] or 0) for kind in kinds))
    per_step = totals["calls"] / totals["decisions"]
    call = max(prices.cost(usage, provider, model), float(totals["cost"] or 0))
    read = usage.input + usage.cache_read + usage.cache_write
    thought = f" ({usage.thinking} of them while it thought)" if usage.thinking else ""
    return per_step * call, (
        f"measured on {totals['calls']} calls of this study: {per_step:.3g} a step, on average {read} tokens "
        f"read ({usage.cache_read} of them from the cache) and {usage.output} written{thought}"
    )


def _replies_read(condition: Condition, number: int) -> ReplyReadings:
    """Return how well the replies to this co-player's calls could be parsed so far."""
    episodes = Round.objects.filter(condition=condition, episode__isnull=False).order_by().values("episode")
    return reply_readings(Decision.objects.filter(mind__episode__in=episodes, mind__number=number))


def _calls(condition: Condition, number: int, provider: str, model: str) -> QuerySet[ModelCall]:
    """Return the calls to this model that this co-player made for participants of the condition."""
    episodes = Round.objects.filter(condition=condition, episode__isnull=False).order_by().values("episode")
    made = ModelCall.objects.filter(provider=provider, model_asked=model).exclude(error__in=NOT_MADE)
    calls: QuerySet[ModelCall] = made.filter(
        decision__mind__episode__in=episodes, decision__mind__number=number
    ).order_by()
    return calls


def _steps_left(condition: Condition, steps: int) -> int:
    """Return how many steps the participants who have begun still have to play in this condition. `steps`
    is the length of an episode."""
    active = Round.objects.filter(
        condition=condition, answered_at=None, participant__status=Participant.Status.ACTIVE
    )
    rows = active.order_by().values_list("episode__status", "episode__step")
    return sum(
        max(0, steps - (step or 0)) for status, step in rows if status in {None, Episode.Status.PLAYING}
    )
