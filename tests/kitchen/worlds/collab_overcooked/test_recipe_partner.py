"""Two stand-ins deliver every task with full scores, and their error rates lower the right metric."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import ClassVar

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Situation, run_without_waiting
from kitchen.contract.team_messages import REQUESTS_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.recipe_partner import ADVISER, CHEF_MEMORY, RecipePartner
from kitchen.worlds.collab_overcooked.reference_trajectories import Macros, bring_raw
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import agents_loop, game, pair_game, play, play_on

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
    for task in (task for task in tasks().values() if task.level in (3, 4)):
        measured: dict[str, Json] = LOG_MEASURES.measure(pair_game(task.name, 0, **rates)[1])
        found.update({name: measured[name] for name in COUNTS})
    return found


def test_wrong_requests_lower_both_and_ignored_ones_the_response_alone() -> None:
    wrong, ignored = pooled(wrong_requests=0.4), pooled(ignored_requests=0.4)
    assert wrong["requests_wrong"] == wrong["responses_wrong"] > 3
    assert ignored["requests_wrong"] == 0 and ignored["responses_wrong"] > 3
    assert wrong["requests_right"] > 3 and ignored["responses_right"] > 3


def test_a_stored_design_stays_as_it_is_where_the_number_of_requests_was_not_a_setting() -> None:
    assert [one.name for one in RecipePartner.settings if one.later] == ["requests_at_once"]


def test_only_a_chef_who_knows_the_recipe_is_advised() -> None:
    world = game("boiled_egg")
    assert ADVISER.advise(make_situation(world, (0,))) is None, "nothing can begin yet"
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    advice = ADVISER.advise(make_situation(world, (0,)))
    assert advice and advice.command == ("pickup", "egg", "counter")
    assert ADVISER.advise(make_situation(world, (1,))) is None
    assert ADVISER.advise(make_situation(game("boiled_egg", knowledge="assistant"), (1,))) is None


CUT = ("put_obj_in_utensil chopping_board0", "cut chopping_board0", "wait 2")
BRING = ("pickup carrot_slices chopping_board0", "place_obj_on_counter")


def fetch(*things: str, then: str = "place_obj_on_counter") -> list[tuple[int, str]]:
    """The assistant fetches these things and does the same with each."""
    return [(1, macro) for thing in things for macro in (f"pickup {thing} ingredient_dispenser", then)]


@pytest.mark.parametrize(
    "slips",
    [
        fetch("carrot", then="put_obj_in_utensil blender0"),
        [*fetch("carrot", then=CUT[0]), (1, "pickup egg ingredient_dispenser")],
        fetch("egg", "carrot", then=CUT[0]),
        fetch("egg", "beef", "tofu"),
        [
            *((1, macro) for macro in ("pickup carrot ingredient_dispenser", *CUT, *BRING)),
            *(
                (0, macro)
                for macro in ("pickup carrot_slices counter", "put_obj_in_utensil pot0", "cook pot0")
            ),
        ],
    ],
    ids=["wrong utensil", "wrong thing in hand", "wrong contents", "full counters", "wrong job of the chef"],
)
def test_the_pair_recovers_from_slips(slips: list[tuple[int, str]]) -> None:
    loop = agents_loop("baked_carrot_soup", RecipePartner({}), gamma=3.0)
    assert isinstance(loop.game, CollabOvercooked)
    for seat, macro in slips:
        play(loop.game, seat, macro)
    assert play_on(loop, RecipePartner({})).delivered


@pytest.mark.parametrize("seats", [(0,), (1,), (0, 1)])
def test_only_a_chef_without_the_recipe_is_refused(seats: tuple[int, ...]) -> None:
    agent = RecipePartner({})
    assert agent.unfit(game("boiled_egg"), seats) == ""
    why = agent.unfit(game("boiled_egg", knowledge="assistant"), seats)
    assert why == ("as chef it needs the recipe" if 0 in seats else "")


@pytest.mark.parametrize(("seat", "code"), [(0, "will_ask"), (1, "only_requests")])
def test_whoever_opens_a_conversation_gets_an_answer(seat: int, code: str) -> None:
    world, heard = game("boiled_egg"), TeamMessage(1, 1, 1 - seat, (seat,), "say", "Put it on a counter.", {})
    memory = {**CHEF_MEMORY, "progress_step": 0} if seat == 0 else None
    alone = make_situation(world, (seat,), memory=memory, seed=1)
    talk = replace(alone.talk, member=seat, messages=(replace(heard, is_new=True),))
    silent, spoken = (
        run_without_waiting(RecipePartner({}).decide(one)) for one in (alone, replace(alone, talk=talk))
    )
    assert silent.says == () and [one.data["code"] for one in spoken.says] == [code]
    again = (*talk.messages, TeamMessage(2, 1, seat, (1 - seat,), "say", spoken.says[0].text, {}))
    asked_again = replace(alone, talk=replace(talk, messages=again))
    assert run_without_waiting(RecipePartner({}).decide(asked_again)).says == ()


class Slipping(RecipePartner):
    """A chef whose first request cannot be carried out."""

    first: ClassVar[tuple[Command, ...]] = ()

    def _request(
        self, situation: Situation, unit: Macros, answer: str
    ) -> tuple[Json, tuple[MessageDraft, ...]]:
        before = situation.memory if isinstance(situation.memory, dict) else {}
        if not before.get("slipped"):
            says = MessageDraft("Please.", data={REQUESTS_KEY: [list(macro) for macro in self.first]})
            return {**CHEF_MEMORY, "slipped": True, "progress_step": situation.step}, (says,)
        memory, says_now = super()._request(situation, unit, answer)
        return {**memory, "slipped": True}, says_now


@pytest.mark.parametrize(
    "first",
    [
        "cut chopping_board0",
        "pickup egg counter",
        "pickup egg ingredient_dispenser; pickup onion ingredient_dispenser",
    ],
)
def test_an_impossible_request_blocks_no_later_one(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slipping, "first", tuple(tuple(one.split()) for one in first.split("; ")))
    loop = agents_loop("boiled_egg", RecipePartner({}), gamma=3.0)
    assert play_on(loop, Slipping({})).delivered
    answers = [said.text for said in loop.log().messages if said.sender == 1]
    assert answers[0].startswith("I cannot do this yet") and answers[1].startswith("I will do this")


def test_synthetic_participants_who_err_mostly_lose_one_step() -> None:
    offered, chance = [("wait", "1"), *bring_raw("egg")], Random(1)
    slips = [ADVISER.slip(offered, chance) for _ in range(400)]
    assert 0.75 <= slips.count(("wait", "1")) / 400 <= 0.9 and set(slips) == set(offered)
    assert {ADVISER.slip(offered[1:], chance) for _ in range(20)} == set(offered[1:]), "without a wait"
