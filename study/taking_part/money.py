"""Whether a study has the money that its language models cost, and who waits for it where it has not."""

from __future__ import annotations

from kitchen.llm.registry import STAND_IN
from kitchen.money.spending import is_spent
from study.design.blueprint import ConditionPlan
from study.design.models import Study
from study.design.plan import minds_of
from study.people.models import Participant, Round


def waits_for_money(study: Study) -> bool:
    """Whether it takes nobody new, and begins no round that costs money, because its budget is spent."""
    return study.pauses_when_spent and study.budget is not None and is_spent(study.budget)


def must_wait(person: Participant, one: Round) -> bool:
    """Whether this round is not begun now: a language model would be asked in it, and the money is spent."""
    if not waits_for_money(person.study):
        return False
    return asks_model(person.version.blueprint.condition(one.condition.key))


def asks_model(plan: ConditionPlan) -> bool:
    """Whether a language model that costs money may be asked in this condition."""
    return any(agent.model().partition(":")[0] not in {"", STAND_IN} for _, agent in minds_of(plan))
