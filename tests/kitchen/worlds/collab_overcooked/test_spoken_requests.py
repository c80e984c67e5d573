"""The assistant that plays by fixed rules understands plain sentences of people."""

from __future__ import annotations

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    bring_mash,
    bring_raw,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.spoken_requests import SpokenRequests, all_requests, spoken_requests
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.collab_overcooked.games import game

EGG, PLATE = bring_raw("egg"), BRING_DISH
MEMBERS = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
PEOPLE = make_organisation("graph", MEMBERS, seats=2)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("bring me an egg", SpokenRequests((EGG,))),
        ("can you bring an egg and a plate please?", SpokenRequests((EGG, PLATE))),
        ("cut the tomato", SpokenRequests((bring_slices("tomato"),))),
        ("I need chopped carrots", SpokenRequests((bring_slices("carrot"),))),
        ("cut a potato and bring it", SpokenRequests((bring_slices("potato"),))),
        ("mash the potato", SpokenRequests((bring_mash("potato"),))),
        ("tráeme un huevo", SpokenRequests((EGG,))),
        ("corta una patata por favor", SpokenRequests((bring_slices("potato"),))),
        ("拿鸡蛋", SpokenRequests((EGG,))),
        ("切土豆,再拿个盘子", SpokenRequests((bring_slices("potato"), PLATE))),
        ("no tomato", SpokenRequests(unwanted=frozenset({"tomato"}))),
        ("don't bring the egg", SpokenRequests(unwanted=frozenset({"egg"}))),
        ("stop", SpokenRequests(stops=True)),
        ("what are you doing?", SpokenRequests(kind="doing")),
        ("thanks", SpokenRequests(kind="talk")),
        ("I already have an egg", SpokenRequests(unwanted=frozenset({"egg"}))),
        ("boil the egg", SpokenRequests(kind="unclear")),
        ("if you have an egg, bring it", SpokenRequests(kind="unclear")),
        ("when the egg is done, bring a plate", SpokenRequests(kind="unclear")),
        ("the potato is cut", SpokenRequests(kind="talk")),
        ("the potato is not cut", SpokenRequests(kind="talk")),
        ("鸡蛋煮好了", SpokenRequests(kind="talk")),
        ("fetch the moon", SpokenRequests(kind="unclear")),
        ("don't bring chopped tomato", SpokenRequests(unwanted=frozenset({"tomato"}))),
        ("bring everything except the egg", SpokenRequests(kind="unclear")),
        ("don't boil the egg", SpokenRequests(kind="unclear")),
        ("stop chopping", SpokenRequests(unwanted=frozenset({"chopping_board0"}))),
        ("I'll get the egg", SpokenRequests(unwanted=frozenset({"egg"}))),
        ("do you have an egg?", SpokenRequests(kind="unclear")),
        ("help", SpokenRequests(kind="help")),
        ("bring two eggs", SpokenRequests((EGG,), is_several=True)),
        ("拿两个鸡蛋", SpokenRequests((EGG,), is_several=True)),
    ],
)
def test_sentences_become_units_of_work(text: str, asked: SpokenRequests) -> None:
    assert spoken_requests(text) == asked


def test_all_messages_of_a_step_are_read_and_later_ones_take_precedence() -> None:
    assert all_requests(["bring an egg", "and a plate"]) == SpokenRequests((EGG, PLATE))
    assert all_requests(["bring an egg", "no egg", "bring a plate"]).units == (PLATE,)
    assert all_requests(["bring an egg", "stop"]) == SpokenRequests(stops=True)
    assert all_requests(["wibble the egg", "thanks"]).kind == "unclear"


@pytest.mark.parametrize(
    ("texts", "codes"),
    [
        (["help"], ["help"]),
        (["bring two eggs"], ["will_do_once"]),
        (["do you have an egg?"], ["only_requests"]),
        (["bring an egg", "wibble the potato"], ["will_do", "only_requests"]),
        (["bring an egg", "don't bring the egg"], ["leaves_out"]),
    ],
)
def test_the_answer_says_what_is_true(texts: list[str], codes: list[str]) -> None:
    situation = make_situation(game("boiled_egg"), (1,), seed=1)
    said = tuple(TeamMessage(number, 1, 0, (1,), "say", text, {}) for number, text in enumerate(texts, 1))
    heard = changed(situation, organisation=PEOPLE, member=1, messages=said)
    decision = run_without_waiting(RecipePartner({}).decide(heard))
    assert [one.data["code"] for one in decision.says] == codes


@pytest.mark.parametrize(("sender", "follows"), [(0, True), (1, False)])
def test_only_a_persons_words_are_followed(sender: int, follows: bool) -> None:
    situation = make_situation(game("boiled_egg"), (1,), seed=1)
    said = (TeamMessage(1, 1, sender, (1 - sender,), "say", "bring me an egg", {}),)
    heard = changed(situation, organisation=PEOPLE, member=1, messages=said)
    decision = run_without_waiting(RecipePartner({}).decide(heard))
    assert (decision.commands == {1: EGG[0]}) is follows
    assert [one.data["code"] for one in decision.says] == (["will_do"] if follows else [])


def answers_of_chef(text: str) -> list[str]:
    """The codes of what the chef says at the start of a game when its assistant has written this."""
    situation = make_situation(game("boiled_egg"), (0,), seed=1)
    team = make_organisation("graph", (Member(0, (0,), False), Member(1, (1,), is_person=True)), seats=2)
    said = (TeamMessage(1, 1, 1, (0,), "say", text, {}, is_new=True),)
    heard = changed(situation, organisation=team, member=0, messages=said)
    return [one.data["code"] for one in run_without_waiting(RecipePartner({}).decide(heard)).says]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Hi, who are you?", ["who_i_am", "do_this"]),
        ("What are the recipe steps?", ["keeps_recipe", "do_this"]),
        ("¿Cuáles son los pasos de la receta?", ["keeps_recipe", "do_this"]),
        ("Hello! What should I do next?", ["do_this"]),
        ("¿Qué hago?", ["do_this"]),
        ("我该做什么?", ["do_this"]),
        ("what are you doing?", ["chef_waits", "do_this"]),
        ("bring me an egg", ["chef_cannot", "do_this"]),
        ("thanks", ["all_right", "do_this"]),
        ("wibble the wobble?", ["chef_unclear", "do_this"]),
    ],
)
def test_the_chef_answers_every_message_of_a_person(text: str, codes: list[str]) -> None:
    assert answers_of_chef(text) == codes
