"""Two stand-ins deliver every task with full scores, and their error rates lower the right metric."""

from __future__ import annotations

from collections import Counter

import pytest

from kitchen.agents.evaluation import make_situation
from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES
from kitchen.worlds.collab_overcooked.order_tasks import tasks, tasks_of_level
from kitchen.worlds.collab_overcooked.stand_in_pair import ADVISER, RecipePartner
from tests.kitchen.worlds.collab_overcooked.games import game, pair_game, play

COUNTS = ("requests_right", "requests_wrong", "responses_right", "responses_wrong")


@pytest.mark.parametrize("name", tasks())
def test_the_pair_delivers_in_time_with_full_scores(name: str) -> None:
    world, log = pair_game(name)
    measured = LOG_MEASURES.measure(log)
    assert world.delivered and world.score()["progress_completeness"] == 1
    assert measured["initiating_capability"] == measured["responding_capability"] == 1
    assert measured["messages_chef"] == measured["messages_assistant"] == measured["rounds"]


def pooled(**rates: float) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(2):
        for task in (*tasks_of_level(3), *tasks_of_level(4)):
            measured: dict[str, Json] = LOG_MEASURES.measure(pair_game(task.name, seed, **rates)[1])
            found.update({name: measured[name] for name in COUNTS})
    return found


def test_wrong_requests_lower_both_and_ignored_ones_the_response_alone() -> None:
    wrong, ignored = pooled(wrong_requests=0.4), pooled(ignored_requests=0.4)
    assert wrong["requests_wrong"] == wrong["responses_wrong"] > 5
    assert ignored["requests_wrong"] == 0 and ignored["responses_wrong"] > 5
    assert wrong["requests_right"] > 5 and ignored["responses_right"] > 5


def test_only_a_chef_who_knows_the_recipe_is_advised() -> None:
    world = game("boiled_egg")
    assert ADVISER.advise(make_situation(world, (0,))) is None, "nothing can begin yet"
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    advice = ADVISER.advise(make_situation(world, (0,)))
    assert advice and advice.command == ("pickup", "egg", "counter")
    assert ADVISER.advise(make_situation(world, (1,))) is None
    assert ADVISER.advise(make_situation(game("boiled_egg", knowledge="assistant"), (1,))) is None


def test_a_chef_without_the_recipe_is_refused() -> None:
    agent = RecipePartner({})
    assert agent.unfit(game("boiled_egg")) == ""
    assert agent.unfit(game("boiled_egg", knowledge="assistant")) == "as chef it needs the recipe"
