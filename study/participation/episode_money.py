"""Find how much money an episode needs for its language models, and whether the study's budget has it.

The money is set aside before the episode opens. So nobody begins in a condition whose model cannot be paid to
the end, and no fallback takes the model's place within an episode.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import DecimalField, Exists, OuterRef, Sum
from django.db.models.functions import Coalesce

from kitchen.agents import call_forecast
from kitchen.contract.world_errors import WorldError
from kitchen.llm.call_costs import PriceFileError, UnknownPriceError, load_prices, max_prompt_tokens
from kitchen.llm.provider_registry import STAND_IN
from kitchen.money.budget_ledger import ledger_amount, spent_or_reserved
from kitchen.money.models import Budget
from kitchen.play.episode.create_episode import MindPlan
from kitchen.play.models import Episode, ModelCall
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from study.design.condition_seats import mind_plans, stand_ins
from study.design.models import Study
from study.design.sampled_model_calls import PlayableCondition, trial_of
from study.participants.models import Round

PLAYED_TO_THE_END = (Episode.Status.OVER, Episode.Status.REACHED, Episode.Status.CUT_OFF)
"""The statuses of finished episodes. Episodes that staff ended, or that somebody left, cost less."""
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
    most = _most_expensive(study, condition.key, paid)
    if most is None:
        likely = ESTIMATED_FACTOR * sum(each.expected for each in paid)
    else:
        likely = float(MEASURED_FACTOR * most)
    needed = likely + sum(each.dearest_call for each in paid)
    return ledger_amount(min(needed, sum(each.worst for each in paid)))


@dataclass(frozen=True, slots=True)
class _PaidModel:
    """One co-player's model, and its costs in one episode, in US dollars, estimated from sampled calls."""

    provider: str
    model: str
    steps: int
    """Steps of a whole episode."""
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
    asked = sample.calls[0].request
    price = prices.price(provider, model, hour=asked.cache_hour)
    dearest = price.at_worst(longest, asked.max_tokens)
    expected = prices.expected(provider, model, planned)
    return _PaidModel(provider, model, sample.steps, expected, worst, dearest)


def _most_expensive(study: Study, key: str, paid: Sequence[_PaidModel]) -> Decimal | None:
    """Return what an episode would cost if each of its steps cost as much as in the most expensive one of
    the newest finished episodes, in US dollars. Return None if fewer than MEASURED_EPISODES are finished.

    Only episodes of people count in which these models were called.
    """
    people = Round.objects.filter(participant__synthetic=False, participant__preview=False)
    rounds = people.filter(condition__study=study, condition__key=key, episode__status__in=PLAYED_TO_THE_END)
    episodes = Episode.objects.filter(pk__in=rounds.values("episode"), step__gt=0)
    for each in paid:
        calls = ModelCall.objects.filter(
            decision__mind__episode=OuterRef("pk"), provider=each.provider, model_asked=each.model
        )
        episodes = episodes.filter(Exists(calls))
    newest = list(episodes.order_by("-pk").values_list("pk", flat=True)[:NEWEST_EPISODES])
    booked = Coalesce("minds__spendings__spent", "minds__spendings__reserved", output_field=DecimalField())
    costs = Episode.objects.filter(pk__in=newest).annotate(cost=Sum(booked)).values_list("cost", "step")
    if len(newest) < MEASURED_EPISODES:
        return None
    return max((cost or Decimal(0)) / step for cost, step in costs) * max(each.steps for each in paid)


def money_left(study: Study) -> Decimal:
    """Return how many US dollars of the study's budget are neither spent nor reserved."""
    if study.budget is None:
        return study.budget_limit
    return study.budget.limit - spent_or_reserved(study.budget.pk)


def lacks_money(
    study: Study,
    condition: PlayableCondition,
    people: Collection[int] | None = None,
    *,
    locks: bool = False,
) -> bool:
    """Return whether the study's budget cannot pay for one more episode in this condition.

    `people` are the seats of the people who came; None means everybody. With `locks`, inside a transaction,
    nobody else can take money from the budget until the transaction ends.
    """
    needed = episode_allowance(study, condition, people)
    if not needed:
        return False
    if locks and study.budget_id:
        list(Budget.objects.select_for_update().filter(pk=study.budget_id))
    return needed > money_left(study)
