"""The default page: words made of codes, the menu, the guide, what happened."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event
from kitchen.pages.default_page import DefaultPage, joined_sentences
from kitchen.play.live.render_page import Screen, render_guide, render_panel
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.worlds.quarry import PAGE, Quarry


class Worded(DefaultPage):
    """With words of its own."""

    names = {"left_cart": "the left cart"}
    commands = {"load": "Load {} with {} stones"}
    events = {"painted": "{player} has painted {cart}."}
    reasons = {"not_possible": "that cannot be done"}
    verbs = ("paint", "load")


def view(*turns: dict[int, Command], **more: Any) -> SeatView:
    world, past = Quarry.create(seats=2, settings={}), tuple[StepView, ...]()
    world.reset(1)
    for turn in turns:
        past = (StepView(world.clock + 1, turn, world.step(turn)), *past)
    players = tuple(PlayerView(seat, f"Player {seat + 1}", seat == 0) for seat in (0, 1))
    return changed(seen(world, 0, past), players=players, **more)


def html(name: str, view: SeatView, page: DefaultPage = PAGE) -> str:
    return str(render_panel({panel.id: panel for panel in page.panels(view)}[name]))


def text(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


@pytest.mark.parametrize(
    ("command", "plain", "worded"),
    [
        (("wait",), "Wait", "Wait"),
        (("paint", "left_cart"), "Paint left cart", "Paint the left cart"),
        (("load", "left_cart", "3"), "Load left cart 3", "Load the left cart with 3 stones"),
        (("load", "left_cart"), "Load left cart", "Load the left cart with … stones"),
        ((), "", ""),
    ],
)
def test_a_command_is_made_of_its_codes_or_of_the_worlds_words(
    command: Command, plain: str, worded: str
) -> None:
    assert (DefaultPage().phrase(command), Worded().phrase(command)) == (plain, worded)


def test_the_guide_has_title_rules_and_settings() -> None:
    shown = text(render_guide(PAGE, view().brief, clocked=True, drawn=False))
    assert PAGE.title == "The quarry" and DefaultPage().title == ""
    assert shown.startswith("Bring as many stones to the carts as you can. A cart holds stones of everybody.")
    assert "Each step has a time limit." in shown and "Most at once 5" in shown
    assert PAGE.goal({}) == "Bring as many stones to the carts as you can."


def test_an_aim_is_worded_like_a_command() -> None:
    assert (PAGE.aimed({}, ("load", "left_cart")), PAGE.aim_group(("load", "left_cart"))) == (
        "Load left cart",
        "Load",
    )


def test_an_observation_becomes_facts_and_tables() -> None:
    shown = text(html("seen", view({0: ("load", "left_cart", "3"), 1: ("paint", "right_cart")})))
    assert shown == "Heap 12 Carts Stones Red left cart 3 no right cart 0 yes"


def test_the_menu_groups_commands_by_verb_each_with_its_key() -> None:
    shown = html("menu", view())
    legends = [text(found) for found in re.findall("<legend>(.*?)</legend>", shown)]
    assert legends == ["Load L", "Paint P", "Other actions"]
    assert [
        text(found) for found in re.findall("<legend>(.*?)</legend>", html("menu", view(), Worded()))
    ] == [
        "Paint P",
        "Load L",
        "Other actions",
    ]
    assert 'Wait</span><kbd aria-hidden="true">W</kbd>' in shown


def test_a_command_with_an_amount_is_one_choice_with_a_labelled_field() -> None:
    shown = html("menu", view())
    values = [
        tuple(json.loads(unescape(found))) for found in re.findall('name="command" value="(.*?)"', shown)
    ]
    assert values.count(("load", "left_cart", "1")) == 1 and len(values) == 5
    (field,) = re.findall(r'<label class="amount">(?:(?!</label>).)*Load left cart.*?</label>', shown)
    assert text(field) == "How many? Load left cart"
    assert 'min="1" max="5"' in field and 'value="1"' in field


def test_a_command_that_only_others_make_possible_has_a_note() -> None:
    shown = html("menu", view(legal=(("wait",),), amounts={}, anticipated=(("paint", "left_cart"),)))
    (choice,) = re.findall(r'<label id="[^"]+" class="action anticipated" data-ask>.*?</label>', shown)
    assert text(choice) == "Paint left cart if somebody else makes it possible first"


def test_a_player_reads_the_chosen_command() -> None:
    shown = view(phase="waiting", legal=(), amounts={}, chosen=("load", "left_cart", "3"))
    assert "You have chosen Load left cart 3" in text(html("menu", shown))


def test_a_seat_that_may_act_gets_its_menu_and_a_note() -> None:
    busy = view(phase="thinking", passed_by=True, legal=(("stop",), ("wait",)), amounts={})
    may = changed(busy, may_act=True)
    assert "fieldset" in html("menu", may) and 'data-scroll="always">' in html("menu", may)
    assert "You do not have to choose. Your current action continues." in text(html("menu", may))
    page = Screen().fragments(PAGE, may)
    assert 'id="bar" class="bar-step" data-phase="choose"' in page
    assert "You do not have to choose. Your current action continues." in text(page)
    assert 'data-phase="thinking"' in Screen().fragments(PAGE, busy)


def test_the_history_has_commands_refusals_and_events() -> None:
    played = view({0: ("load", "left_cart", "3"), 1: ("paint", "left_cart")}, {0: ("paint", "left_cart")})
    assert text(html("happened", played)) == (
        "Step 2 You: Paint left cart; ✕ not possible "
        "Step 1 You: Load left cart 3 Player 2: Paint left cart · Player 2: Painted (cart: left cart)"
    )
    shown = text(html("happened", played, Worded()))
    assert "✕ that cannot be done" in shown and "Player 2 has painted the left cart." in shown
    assert text(html("spoken", played)) == "not possible"
    assert joined_sentences(["Player 1: reward 1", "It is over.", "All won."]) == (
        "Player 1: reward 1. It is over. All won."
    )


def test_a_datum_that_an_event_lacks_is_left_out_and_none_replaces_the_name_of_the_seat() -> None:
    bare, posing = Event("painted", 1, {}), Event("painted", 1, {"player": "red", "cart": "left_cart"})
    page, now = Worded(), view()
    assert page.event_sentence(bare, now) == "Player 2 has painted ."
    assert page.event_sentence(posing, now) == "Player 2 has painted the left cart."
    assert DefaultPage().event_sentence(bare, now) == "Player 2: Painted"


def test_the_history_hides_what_a_seat_may_not_know() -> None:
    hidden = StepView(1, {0: ("wait",)}, (Event("performed", 0, {"command": ["wait"]}),))
    known = replace(hidden, commands={0: ("wait",), 1: ("paint", "left_cart")})
    empty = replace(hidden, commands={0: ("wait",), 1: ()})
    assert text(html("happened", view(history=(hidden,)))) == "Step 1 You: Wait"
    assert text(html("happened", view(history=(known,)))) == "Step 1 You: Wait Player 2: Paint left cart"
    assert text(html("happened", view(history=(empty,)))) == "Step 1 You: Wait Player 2: did nothing"


def test_the_history_has_timeouts_but_no_platform_events() -> None:
    late = StepView(1, {}, (Event("time_lost", None, {"milliseconds": 3}),), ran_out=True)
    assert text(html("happened", view(history=(late,)))) == "Step 1 You: ran out of time"


def test_the_score_is_shown() -> None:
    assert text(html("score", view(achieved=(("3", "stones loaded"),)))) == "Stones loaded 3"


def test_a_watcher_sees_everything_except_the_menu() -> None:
    shown = {panel.id for panel in PAGE.overview(view())}
    assert shown == {panel.id for panel in PAGE.panels(view())} - {"menu"}


def test_a_clock_needs_another_page() -> None:
    with pytest.raises(ValueError, match="GridPage"):
        PAGE.panels(view(tick_ms=100))
