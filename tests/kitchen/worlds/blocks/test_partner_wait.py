"""What ends a wait for the other builder, and which of its requests a builder can do with one press."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from kitchen.contract.page_view import SeatView, StepView, TalkView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.blocks.page import PAGES
from kitchen.worlds.blocks.partner_wait import PartnerWait, partner_wait_panel
from kitchen.worlds.blocks.planner_messages import PLEASE_PUT, planner_message
from tests.kitchen.worlds.blocks.games import game, step
from tests.kitchen.worlds.cuisine.test_page import seen

TALK = TalkView(0, {0: "You", 1: "Robot 2"}, (1,))


def content(view: SeatView) -> PartnerWait:
    shows = partner_wait_panel(view).shows
    assert isinstance(shows, PartnerWait)
    return shows


def told(view: SeatView, *messages: TeamMessage) -> SeatView:
    return replace(view, talk=replace(TALK, messages=messages))


def asks_for(*parts: Any, number: int = 1) -> TeamMessage:
    draft = planner_message(parts)
    return TeamMessage(number, 1, 1, (0,), "say", draft.text, draft.data)


def test_only_who_is_asked_waits_with_the_idle_command_and_nobody_waits_alone() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    assert content(view)[:2] == ("Robot 2", '["go_on"]')
    assert content(replace(view, choice=replace(view.choice, may_act=True))).idle == ""
    assert content(replace(view, phase="thinking")).idle == ""
    assert content(seen(game("construction", seats=1), 0)).name == ""
    assert content(seen(game("kitchen"), 0)).idle == '["go_on"]'


def test_messages_of_others_and_gifts_end_a_wait_but_not_own_words() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    mine = TeamMessage(4, 1, 0, (1,), "say", "Stop")
    other = TeamMessage(3, 1, 1, (0,), "say", "I wait.")
    assert content(told(view, other, mine)).message == 3
    gifts = [Event("done", 1, {"macro": ["give", to, "stone", "1"]}) for to in ("0", "1")]
    history = (StepView(6, {}, (gifts[1],)), StepView(5, {}, (gifts[0],)))
    assert content(replace(view, history=history)).gift_step == 5


def test_the_page_knows_of_a_stay_which_a_message_ends_and_says_how_to_end_it() -> None:
    world = game("construction", blueprint="shelter")
    step(world, "stay 30")
    view = seen(world, 0)
    assert content(view).stays and ("stop",) in view.choice.legal
    assert "a message comes" in render_panel(partner_wait_panel(view))
    step(world, "stop")
    assert not content(seen(world, 0)).stays


def test_blocks_that_are_asked_for_can_be_placed_with_one_press_by_who_holds_them() -> None:
    world = game("construction", {"stone": 3}, blueprint="shelter", blueprint_blocked="first")
    view = seen(world, 0)
    piece = (0, [0, 4], [1, 1], 5)
    asked = asks_for((PLEASE_PUT, "oak_planks", *piece), (PLEASE_PUT, "stone", *piece))
    found = content(told(view, asked))
    assert json.loads(found.wanted) == ["stone", 0, [0, 4], [1, 1]]
    assert found.wanted_words == "Robot 2 asks for stone: {built} of {total} in place"
    assert content(told(view, asks_for((PLEASE_PUT, "glass", *piece)))).wanted == "", "it holds none"
    newer = asks_for((PLEASE_PUT, "glass", *piece), number=2)
    assert content(told(view, asked, newer)).wanted == "", "the newest request counts"


def test_the_panel_is_on_the_page_of_who_plays_only() -> None:
    view = seen(game("construction", blueprint="shelter"), 0)
    page = PAGES["blocks_construction"]
    assert "partner-wait" in [panel.id for panel in page.panels(view)]
    assert "partner-wait" not in [panel.id for panel in page.overview(view)]
