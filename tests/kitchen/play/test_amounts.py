"""A person hands in a command with an amount."""

from __future__ import annotations

import pytest

from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Step
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.worlds.quarry import LINE

pytestmark = pytest.mark.django_db


def test_an_amount_in_the_range_is_taken_and_another_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    episode = create_episode(world="quarry", settings={}, seats=1, seed=3)
    view = current_seat_view(episode.seats.get())
    assert view.choice.amounts == {("load", "left_cart"): (1, 5), ("load", "right_cart"): (1, 5)}

    def given(amount: str) -> str | None:
        orders = [SubmittedCommand(0, ("load", "left_cart", amount))]
        return submit_commands(episode_id=episode.pk, step=1, commands=orders).code

    assert {given(amount) for amount in ("0", "6", "many")} == {"not_offered"}
    assert not Step.objects.exists()
    given("4")
    assert Step.objects.get().events[0]["command"] == ["load", "left_cart", "4"]
    assert current_seat_view(episode.seats.get()).result.score == {"loaded": 4}
