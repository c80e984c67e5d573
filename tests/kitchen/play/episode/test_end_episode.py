"""An episode ends rather than going on with a fallback, when the money for its model does not suffice."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kitchen.contract.agent import Agent, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.language_model import BudgetSpentError
from kitchen.money.models import Budget
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.end_episode import WITHOUT_MONEY
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision, Episode, Seal, SeatCommand, Step
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


class Unpaid(Agent):
    """Commands what its fallback says, because its model cannot be paid."""

    kind = "unpaid"

    async def decide(self, situation: Situation) -> MindDecision:
        commands = dict.fromkeys(situation.seats, ("goto", "pot0"))
        return MindDecision(commands, played_by="planner", fallback=BudgetSpentError.code)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, Unpaid.kind, f"{__name__}:Unpaid")


def decide(allowance: Decimal | None) -> Episode:
    budget = Budget.objects.create(name="test", limit=Decimal(1))
    episode = make_episode(seats=2, minds=(mind("unpaid", 1),), budget=budget, allowance=allowance)
    submit(episode, 1, "noop")
    agent_decisions.decide_step(episode_id=episode.pk, step=1)
    return Episode.objects.get(pk=episode.pk)


def test_an_episode_with_an_allowance_ends_before_a_fallback_plays_for_lack_of_money() -> None:
    episode = decide(Decimal("0.5"))
    assert (episode.status, episode.ended_because, episode.step) == ("aborted", WITHOUT_MONEY, 0)
    result = current_seat_view(episode.seats.select_related("episode").get(number=0)).result
    assert (result.ended_technically, result.ended_by_staff) == (True, False), "nobody of the study did it"
    assert Decision.objects.get().fallback == "budget"
    assert SeatCommand.objects.get(seat=1).command == ["goto", "pot0"]  # as verify_replays compares them
    assert Seal.objects.filter(episode=episode, kind=Seal.Kind.END).exists()


def test_an_episode_without_an_allowance_goes_on_with_the_fallback() -> None:
    episode = decide(None)
    assert (episode.status, episode.step) == ("playing", 1)
    assert [entry["fallback"] for entry in Step.objects.get().commands] == ["", "budget"]
