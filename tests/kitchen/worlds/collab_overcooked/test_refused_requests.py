"""A request that was refused is pictured nowhere any more, and the refusal says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from kitchen.agents.make_situation import make_situation, situation_in_organisation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.team_messages import TeamMessage
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.quick_requests import AskBubble, bubble_panel
from kitchen.worlds.collab_overcooked.recipe_partner import REPEAT_AFTER, RecipePartner
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    Macros,
    bring_mash,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.refused_requests import was_refused
from kitchen.worlds.collab_overcooked.request_panels import RequestCards
from tests.kitchen.worlds.collab_overcooked.games import game, play
from tests.kitchen.worlds.collab_overcooked.test_chef_requests import TEAM, Beside
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

CUT = bring_slices("carrot")
ASKED = [request(1, 0, list(BRING_DISH)), request(3, 0, list(CUT))]


def answer(number: int, code: str, **data: Any) -> TeamMessage:
    return replace(request(number, 1, []), data={"code": code, **data})


def told(number: int, text: str) -> TeamMessage:
    return TeamMessage(number, 1, 1, (0,), "say", text, {})


@pytest.mark.parametrize(
    ("later", "refused"),
    [
        ([answer(2, "will_do"), answer(4, "will_do")], []),
        ([answer(2, "will_do"), answer(4, "not_now")], [3]),
        ([answer(2, "not_now"), answer(4, "will_do")], [1]),
        ([answer(2, "will_do"), answer(4, "not_yet"), answer(5, "gives_up", about=CUT)], [3]),
        ([answer(4, "stops")], [1, 3]),
        ([answer(4, "leaves_out", about=BRING_DISH)], [1]),
        ([told(4, "Not now: Cut carrot")], [3]),
        ([told(4, "Ahora no: Cortar zanahoria")], [3]),
        ([told(4, "Not now")], []),
    ],
)
def test_a_refusal_is_about_what_it_answers(later: list[TeamMessage], refused: list[int]) -> None:
    found = sorted([*ASKED, *later], key=lambda one: one.number)
    assert [one.number for one in ASKED if was_refused(one, found)] == refused


def test_what_was_refused_is_pictured_nowhere() -> None:
    seen = view(game("baked_carrot_soup"), 0, [ASKED[1], answer(4, "not_now")])
    cards = cast(RequestCards, PAGE.asked(seen).shows)
    assert not cards.cards and not cards.items
    assert not any(one.state for one in cast(AskBubble, bubble_panel(seen).shows).offered)


def test_the_chef_says_to_whoever_requests_something_why_it_does_not_do_it() -> None:
    beside = Beside(game("baked_carrot_soup"))
    heard = replace(request(1, 1, [("cook", "pot0")]), is_new=True)
    seen = situation_in_organisation(make_situation(beside.world, (0,), people=(1,)), TEAM, (heard,))
    codes = [one.data["code"] for one in run_without_waiting(beside.chef.decide(seen)).says]
    assert codes == ["chef_cannot", "do_this"], "and asks for what it needs"


def test_an_assistant_who_gives_up_a_request_names_it_and_the_reason() -> None:
    world, macros = game("mashed_carrot_and_chickpea_patty"), bring_mash("carrot")
    says, memory = _given_up(world, macros)
    assert [one.data["code"] for one in says] == ["not_yet", "gives_up"]
    assert says[-1].text.endswith("(it lies on no counter)."), says[-1].text
    assert was_refused(request(1, 0, list(macros)), [replace(request(2, 1, []), data=says[-1].data)])
    assert not memory["units"]


def _given_up(world: Any, macros: Macros) -> tuple[list[Any], Any]:
    """Return what the assistant says about a request that it cannot begin, and its memory."""
    says: list[Any] = []
    memory: Any = None
    for number in range(REPEAT_AFTER + 1):
        seen = make_situation(world, (1,), memory=memory, people=(0,))
        heard = replace(request(1, 0, list(macros)), is_new=number == 0)
        made = run_without_waiting(RecipePartner({}).decide(situation_in_organisation(seen, TEAM, (heard,))))
        says, memory = [*says, *made.says], made.memory
        play(world, 0, "wait 1")
    return says, memory
