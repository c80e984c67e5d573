"""Open requests are in the order of time with a key each, and one press goes on with what is left of one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

from kitchen.contract.team_messages import TeamMessage
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.quick_requests import bubble_panel
from kitchen.worlds.collab_overcooked.reference_trajectories import BRING_DISH, bring_slices
from kitchen.worlds.collab_overcooked.request_panels import RequestCards
from tests.kitchen.worlds.collab_overcooked.games import game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

CUT = bring_slices("carrot")
ASKED = [request(1, 0, list(CUT)), request(2, 0, list(BRING_DISH))]


def cards(seat: int = 1, *done: str) -> RequestCards:
    """Return the requests to a seat after the assistant has done these macros."""
    world = game("baked_carrot_soup", gamma=3.0)
    play(world, 1, *done)
    return cast(RequestCards, PAGE.requests(view(world, seat, ASKED)).shows)


def words(macros: tuple[tuple[str, ...], ...]) -> list[str]:
    return [" ".join(macro) for macro in macros]


def test_open_requests_are_in_order_and_each_has_a_key() -> None:
    found = cards()
    assert [(card.number, card.key) for card in found.cards] == [(1, "1"), (2, "2")]
    assert found.open_count == 2
    html = str(render_panel(PAGE.requests(view(game("baked_carrot_soup"), 1, ASKED))))
    assert [f'aria-keyshortcuts="{key}"' in html for key in "123"] == [True, True, False]
    assert "are-several" in html and html.index("Cut carrot") < html.index("Bring dish")


def test_a_finished_request_comes_after_the_open_one_and_has_no_key() -> None:
    found = cards(1, *words(CUT[:3]), "wait 2", *words(CUT[3:]))
    assert [(card.number, card.key, card.state) for card in found.cards] == [(2, "1", ""), (1, "", "done")]


def test_one_press_goes_on_with_a_request_that_was_begun() -> None:
    begun, _ = cards(1, *words(CUT[:3]), "wait 2", *words(BRING_DISH)).cards
    assert json.loads(begun.first) == list(CUT[3]), "the slices are taken, and nothing is fetched again"
    assert [json.loads(value) for value, _ in begun.then] == [list(CUT[4])]
    assert len(begun.macros) == len(CUT), "the card still says all of it"


def test_full_hands_are_not_emptied_by_a_request() -> None:
    first, _ = cards(1, "pickup egg ingredient_dispenser").cards
    assert json.loads(first.first) == list(CUT[0]) and not first.possible


def test_own_requests_stay_newest_first_without_keys() -> None:
    found = cast(RequestCards, PAGE.asked(view(game("baked_carrot_soup"), 0, ASKED)).shows)
    assert [(card.number, card.key) for card in found.cards] == [(2, ""), (1, "")]


def test_a_refused_request_gives_its_key_to_the_next_one_until_it_comes_again() -> None:
    world = game("baked_carrot_soup", gamma=3.0)
    refused = TeamMessage(3, 1, 1, (0,), "say", "Not now: Cut carrot", {})
    found = cast(RequestCards, PAGE.requests(view(world, 1, [*ASKED, refused])).shows)
    assert [(card.number, card.key, card.state) for card in found.cards] == [(2, "1", ""), (1, "", "refused")]
    assert found.cards[0].refusal == "Not now: Bring dish" and found.cards[0].steps > 0
    again = [*ASKED, refused, request(4, 0, list(CUT))]
    play(world, 1, *words(CUT[:3]), "wait 2", *words(CUT[3:]))
    states = {
        one.number: one.state for one in cast(RequestCards, PAGE.requests(view(world, 1, again)).shows).cards
    }
    assert states == {1: "refused", 2: "", 4: "done"}


def test_a_refusal_goes_to_the_one_who_asked_even_if_no_cook_can_be_asked() -> None:
    seen = view(game("baked_carrot_soup"), 1, [request(1, 2, list(CUT))])
    names = {**seen.talk.members, 2: "Leader"}
    led = replace(seen, talk=replace(seen.talk, members=names, addressees=(2,)))
    html = str(render_panel(PAGE.requests(led)))
    form = html.partition("<form")[2].partition("</form>")[0]
    assert ' name="to" value="2"' in form and ' name="text" value="Not now: Cut carrot"' in form
    assert 'id="refuse-1"' in form, "the focus stays on it when the panel comes again"
    assert "form" not in render_panel(bubble_panel(led)), "no other form is needed"
