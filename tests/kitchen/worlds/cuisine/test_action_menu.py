"""What fits the moment is marked where it stands, and so is where it is worth going."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

from kitchen.contract.page_view import SeatView
from tests.kitchen.worlds.cuisine.cooking import kitchen, play
from tests.kitchen.worlds.cuisine.test_page import panel_html, seen

TO_TUNA = ("goto storage0", "get storage0 tuna", "goto chopboard0", "put chopboard0")


def after(*texts: str, ordered: tuple[str, ...] = ("tunaSushi",), level: str = "level_3") -> SeatView:
    """What is seen after these commands, with these orders open."""
    world = kitchen(level)
    play(world, *texts)
    view = seen(world, 0)
    orders = [{"dish": dish, "life": 30} for dish in ordered]
    return replace(view, observation={**view.observation, "orders": orders})


def fitting(view: SeatView) -> set[str]:
    """The commands that the menu marks."""
    labels = re.findall(r'<label[^>]* data-fits[^>]*><input[^>]* value="([^"]+)"', panel_html(view, "menu"))
    return {" ".join(json.loads(unescape(value))) for value in labels}


def asked(view: SeatView) -> set[str]:
    """Those that one click does not send."""
    labels = re.findall(r'<label[^>]* data-ask[^>]*><input[^>]* value="([^"]+)"', panel_html(view, "menu"))
    return {" ".join(json.loads(unescape(value))) for value in labels}


def apt(view: SeatView) -> set[str]:
    """The places that the drawing calls worth going."""
    return set(re.findall(r'id="([a-z]+\d)-pic"[^>]* data-apt', panel_html(view, "floor")))


def test_of_all_that_can_be_taken_what_an_open_order_needs_is_marked() -> None:
    view = after("goto storage0")
    assert fitting(view) == {"get storage0 tuna", "get storage0 rice"}
    assert view.brief["dishes"][0] == "salmonSushi"  # which stands first, and is not ordered


def test_a_condition_that_hides_dots_marks_no_action_and_no_place() -> None:
    salmon = ("goto storage0", "get storage0 salmon")
    hidden = [replace(after(*salmon, *more), marks_actions=False) for more in ((), ("goto pot0",))]
    assert not any(fitting(view) or apt(view) for view in hidden)
    assert "put storage0" in asked(hidden[0]), "nothing shows that it is useless here"


def test_without_an_order_all_that_any_dish_needs_is_marked() -> None:
    assert fitting(after("goto storage0", ordered=())) == {
        "get storage0 salmon",
        "get storage0 tuna",
        "get storage0 rice",
    }


def test_using_the_board_comes_before_taking_raw_food_out_again() -> None:
    view = after(*TO_TUNA)
    assert {"activate chopboard0", "get chopboard0 tuna"} <= {" ".join(one) for one in view.choice.legal}
    assert "activate chopboard0" in fitting(view)
    assert "get chopboard0 tuna" not in fitting(view)


def test_what_no_order_needs_is_thrown_away_at_once_and_is_worth_the_way() -> None:
    salmon = ("goto storage0", "get storage0 salmon")
    view = after(*salmon)
    assert "put storage0" in fitting(view)
    assert "put storage0" not in asked(view)
    assert apt(after(*salmon, "goto pot0")) == {"storage0"}


def test_what_an_order_needs_is_thrown_away_only_when_asked_and_leads_to_its_tools() -> None:
    view = after("goto storage0", "get storage0 tuna")
    assert "put storage0" in asked(view)
    assert "put storage0" not in fitting(view)
    assert apt(view) == {"chopboard0", "chopboard1"}
    assert fitting(view) == {"goto chopboard0", "goto chopboard1"}  # either board does


def test_a_dish_leads_to_the_table_and_is_never_thrown_away_at_once() -> None:
    view = after("goto storage0")
    agents = [{**view.observation["agents"][0], "holds": "salmonSushi"}]
    for ordered in ("salmonSushi", "tunaSushi"):
        orders = [{"dish": ordered, "life": 9}]
        now = replace(view, observation={**view.observation, "agents": agents, "orders": orders})
        assert apt(now) == {"servingtable0"}
        assert "put storage0" not in fitting(now)


def test_waiting_has_no_dot() -> None:
    assert "noop" not in fitting(after())


def quiet_texts(view: SeatView) -> set[str]:
    """Return the texts of the menu for verbs without an action."""
    return set(re.findall(r'<span class="slot">([^<]+)</span>', panel_html(view, "menu")))


def test_with_something_in_hand_the_menu_does_not_say_that_there_is_nothing_to_put_down() -> None:
    empty, full = (
        quiet_texts(after("goto pot0")),
        quiet_texts(after("goto storage0", "get storage0 tuna", "goto servingtable0")),
    )
    assert "Nothing to put down now" in empty and "Nothing to put down now" not in full
    assert full >= {"Hands are full"}
