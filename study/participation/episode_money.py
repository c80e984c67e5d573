"""Find how much money an episode needs for its language models, and whether the study's budget has it.

The money is set aside before the episode opens. So nobody begins in a condition whose model cannot be paid to
the end, and no fallback takes the model's place within an episode.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import DecimalField, Sum
from django.db.models.functions import Coalesce

from kitchen.agents import call_forecast
from kitchen.contract.world_errors import WorldError
from kitchen.llm.call_costs import PriceFileError, UnknownPriceError, load_prices, max_prompt_tokens
from kitchen.llm.provider_registry import STAND_IN
from kitchen.money.budget_ledger import ledger_amount, spent_or_reserved
from kitchen.money.models import Budget
from kitchen.play.episode.create_episode import MindPlan
from kitchen.play.models import Episode
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from study.design.condition_seats import mind_plans, stand_ins
from study.design.models import Study
from study.design.sampled_model_calls import PlayableCondition, trial_of
from study.participants.models import Round

MEASURED_EPISODES = 5
"""Number of finished episodes from which the allowance rests on what they cost."""
NEWEST_EPISODES = 50
"""Number of finished episodes that are looked at, the newest first."""
MEASURED_FACTOR = Decimal("1.5")
"""Allowance divided by the cost of the most expensive of the finished episodes."""
ESTIMATED_FACTOR = 3
"""Allowance divided by the expected cost, while too few episodes are finished."""


def episode_allowance(
    study: Study, condition: PlayableCondition, people: Collection[int] | None = None
) -> Decimal:
    """Return the US dollars to set aside for one episode in this condition of the study: what it is expected
    to cost at most, and the largest price of one more call.

    It is 0 if no model is paid, or if a model has no price, because then it is never called. `people` are
    the seats of the people who came; None means everybody.
    """
    try:
        minds = [*mind_plans(condition, people), *stand_ins(condition)[:1]]
        paid = [each for mind in minds if (each := _paid_model(condition, mind))]
    except (WorldError, UnknownNameError, UnknownPriceError, PriceFileError):
        return Decimal(0)
    if not paid:
        return Decimal(0)
    most = _most_expensive(study, condition.key)
    if most is None:
        likely = ESTIMATED_FACTOR * sum(each.expected for each in paid)
    else:
        likely = float(MEASURED_FACTOR * most)
    needed = likely + sum(each.dearest_call for each in paid)
    return ledger_amount(min(needed, sum(each.worst for each in paid)))


@dataclass(frozen=True, slots=True)
class _PaidModel:
    """The costs of one co-player's model in one episode, in US dollars, estimated from sampled calls."""

    expected: float
    worst: float
    dearest_call: float
    """The most that is reserved for one call."""


def _paid_model(condition: PlayableCondition, mind: MindPlan) -> _PaidModel | None:
    """Return the costs of this co-player's model. Return None if it costs nothing."""
    provider, _, model = make_agent(mind.kind, mind.settings).model().partition(":")
    if provider in {"", STAND_IN}:
        return None
    prices, sample = load_prices(), trial_of(condition, mind)
    planned = call_forecast.expected_calls(sample, steps=sample.steps, episodes=1)
    worst = call_forecast.worst_cost(sample, prices, provider, model)
    if not worst:
        return None
    longest = max(max_prompt_tokens(call.request) for call in sample.calls)
    longest += 2 * planned.longest  # remembered exchanges, which the samples lack
    dearest = prices.price(provider, model).at_worst(longest, sample.calls[0].request.max_tokens)
    return _PaidModel(prices.expected(provider, model, planned), worst, dearest)


def _most_expensive(study: Study, key: str) -> Decimal | None:
    """Return the cost of the most expensive of the newest finished episodes in a condition, in US dollars.
    Return None if fewer than MEASURED_EPISODES are finished."""
    whole = [Episode.Status.OVER, Episode.Status.REACHED, Episode.Status.CUT_OFF]
    rounds = Round.objects.filter(condition__study=study, condition__key=key, episode__status__in=whole)
    newest = rounds.order_by("-episode").values_list("episode", flat=True)[:NEWEST_EPISODES]
    booked = Coalesce("minds__spendings__spent", "minds__spendings__reserved", output_field=DecimalField())
    episodes = Episode.objects.filter(pk__in=list(newest)).annotate(cost=Sum(booked))
    costs = episodes.values_list("cost", flat=True)
    return max(cost or Decimal(0) for cost in costs) if len(costs) >= MEASURED_EPISODES else None


def money_left(study: Study) -> Decimal:
    """Return how many US dollars of the study's budget are neither spent nor reserved."""
    if study.budget is None:
        return study.budget_limit
    return study.budget.limit - spent_or_reserved(study.budget.pk)


def lacks_money(study: Study, condition: PlayableCondition, *, locks: bool = False) -> bool:
    """Return whether the study's budget cannot pay for one more episode in this condition.

    With `locks`, inside a transaction, nobody else can take money from the budget until the transaction ends.
    """
    needed = episode_allowance(study, condition)
    if not needed:
        return False
    if locks and study.budget_id:
        list(Budget.objects.select_for_update().filter(pk=study.budget_id))
    return needed > money_left(study)
