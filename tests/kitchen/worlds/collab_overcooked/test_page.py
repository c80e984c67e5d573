"""The page offers what the teammate could do, shows requests as cards, and reads what a browser sends."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import kitchen.worlds.collab_overcooked as collab_overcooked
from kitchen.contract.mailbox import Mailbox
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.page_view import StepView
from kitchen.contract.team_messages import REQUESTS_KEY, MessageDraft
from kitchen.contract.world import Event
from kitchen.pages.grid_panel_contents import DrawnObservation
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import render_guide, render_panel, seat_layout
from kitchen.play.turn.websocket_messages import MessageError, SayMessage, read_message
from kitchen.worlds.collab_overcooked.display_text import command_words, recipe_steps, thing_words
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import known_macros, with_waits
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.page import PAGE
from tests.kitchen.worlds.collab_overcooked.games import command, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import view

TEMPLATES = Path(collab_overcooked.__file__).parent / "templates" / "worlds" / "collab_overcooked"
TIMES = "\N{MULTIPLICATION SIGN}"
FETCH = ["pickup", "egg", "ingredient_dispenser"]


def test_every_macro_and_thing_has_words_of_its_own() -> None:
    rules = food_rules()
    for seat in (0, 1):
        macros = known_macros(rules, seat)
        assert len({command_words(macro) for macro in macros}) == len(macros)
    assert len({thing_words(thing) for thing in rules.things}) == len(rules.things)
    assert thing_words("baked_potato_soup_in_dish") == "baked potato soup in a dish"


@pytest.mark.parametrize("name", tasks())
def test_every_task_has_a_recipe_in_words(name: str) -> None:
    world = game(name)
    steps = recipe_steps(world.brief(0))
    assert len(steps) == len(world.task.jobs) + 1 and not recipe_steps(world.brief(1))
    assert ("dish" in steps[-1]) and ("Fill" in steps[-1]) == world.task.needs_dish
    assert recipe_steps(game(name, knowledge="both").brief(1)) == steps
    assert "recipe" not in game(name, knowledge="both").public_brief()


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_guide_says_how_to_ask_to_accept_and_to_wait_in_the_words_of_the_page(
    seat: int, typed: bool
) -> None:
    brief = game("boiled_egg", typed=typed).brief(seat)
    guide, leader = (
        str(render_guide(PAGE, brief, clocked=False, drawn=True, asks_first=False, leads=leads))
        for leads in (False, True)
    )
    buttons = ("Send to your teammate", "Do this", *([] if typed else ["Add to the request"]))
    page = "".join((TEMPLATES / name).read_text() for name in ("ask.jinja", "requests.jinja"))
    named = (*buttons, f"Ask Cook {2 - seat}", "Say", "Conversation", "Messages")
    assert all(f"“{name}”" in guide for name in named) and ("wait(3)" in guide) == typed
    assert (f"“Wait for Cook {2 - seat}”" in guide) != typed
    assert all(name in page for name in buttons)
    assert "can accept with one press" in guide and "Do this" not in leader
    assert ("type each action" in guide) == typed


@pytest.mark.parametrize("drawn", [False, True])
def test_the_guide_tells_to_press_the_kitchen_only_where_it_is_drawn(drawn: bool) -> None:
    guide = str(render_guide(PAGE, game("boiled_egg").brief(0), clocked=False, drawn=drawn))
    assert [words in guide for words in ("Press a place", "the other cook in", "bubble")] == [drawn] * 3


def test_the_bubble_to_ask_is_on_every_page_and_in_neither_of_its_views() -> None:
    for shown in ("tables", "drawn", "both"):
        seen = replace(view(game("boiled_egg"), 0, []), shown=shown)
        panels = {panel.id: render_panel(panel) for panel in (*shared_panels(PAGE, seen), *PAGE.panels(seen))}
        page = seat_layout(PAGE, seen, panels)
        assert 'id="quick-ask-form"' in page.partition("data-view=")[0]
        assert 'role="dialog"' not in page and "aria-haspopup" not in page, "it may be there all the time"


@pytest.mark.parametrize(("held", "is_right"), [("boiled_egg", True), ("boiled_corn_slices", False)])
@pytest.mark.parametrize("has_ended", [True, False])
def test_the_drawing_is_told_whether_a_delivery_was_right_whether_or_not_the_game_has_ended(
    held: str, is_right: bool, has_ended: bool
) -> None:
    world = game("boiled_egg")
    world.hold[0] = held
    (event,) = [event for event in play(world, 0, "deliver") if event.kind == "delivered"]
    after = view(world, 0, [])
    past = (StepView(9, {}, ()), StepView(8, {}, (event,)))
    for seen, told in ((replace(after, history=past), {"0": is_right}), (after, None)):
        shown = PAGE.seen_now(replace(seen, phase="over" if has_ended else "choose")).shows
        assert isinstance(shown, DrawnObservation)
        assert json.loads(shown.observation).get("delivered") == told
    assert PAGE.event_sentence(event, after).endswith("This was not what was ordered") != is_right


def test_equal_steps_in_which_both_cooks_carry_on_are_one_line() -> None:
    both, one = {0: ("go_on",), 1: ("go_on",)}, {0: ("go_on",), 1: ("cut", "chopping_board0")}
    news = Event("ready", None, {"utensil": "pot0", "product": "boiled_egg"})
    history = [StepView(number, both, ()) for number in (9, 8, 7, 5, 4)]
    history[2:2] = [StepView(6, one, ())]
    history[3] = StepView(7, both, (news,))
    seen = replace(view(game("boiled_egg"), 0, []), history=tuple(history))
    steps: list[Any] = [part.shows for part in PAGE.story(seen).parts]
    assert [(step.number, step.last) for step in steps] == [(8, 9), (6, 0), (7, 0), (4, 5)]
    shown = render_panel(PAGE.story(seen).parts[0])
    assert (
        "Steps 8 to 9" in shown
        and f"You: goes on with the same action {TIMES} 2" in shown
        and f"Cook 2: goes on with the same action {TIMES} 2" in shown
    )


@pytest.mark.parametrize("steps", ["²", "", "many", "0", "9" * 5000])
def test_a_wait_without_a_number_of_steps_has_words(steps: str) -> None:
    assert command_words(("wait", steps)) == "Wait this many steps"


def test_an_accepted_request_waits_while_the_utensil_runs() -> None:
    asked = [command(one) for one in ("cut chopping_board0", "pickup corn_slices chopping_board0")]
    assert with_waits(asked) == [asked[0], ("wait", "2"), asked[1]]
    assert with_waits([asked[0], ("wait", "2"), asked[1]]) == [asked[0], ("wait", "2"), asked[1]]


@pytest.mark.parametrize("sent", [json.dumps(FETCH), [json.dumps(FETCH)], [FETCH]])
def test_requests_of_a_page_are_read_apart_from_the_words(sent: object) -> None:
    message = read_message(json.dumps({"type": "say", "to": "1", "text": "Please.", "requests": sent}))
    assert isinstance(message, SayMessage) and message.data == {REQUESTS_KEY: [FETCH]}


@pytest.mark.parametrize("sent", [1, {"a": 1}, [1], [[1]], ["x"], [[]], [FETCH] * 51, [["a" * 2001]]])
def test_malformed_requests_are_errors(sent: object) -> None:
    with pytest.raises(MessageError):
        read_message(json.dumps({"type": "say", "text": "Please.", "requests": sent}))


def test_of_ten_thousand_malformed_requests_none_is_accepted() -> None:
    members = (Member(0, (0,), True), Member(1, (1,), False))
    mailbox = Mailbox(make_organisation("pair", members, seats=2, settings={"within": True}))
    world, chance = game("boiled_egg"), Random(1)
    words = ["pickup", "egg", "cook", "pot0", "cut", "counter", "deliver", "", "wait", "9", "oven0", "\u202e"]
    known = set(known_macros(food_rules(), 1))
    for _ in range(10_000):
        macro = tuple(chance.choices(words, k=chance.randint(0, 4)))
        if macro not in known and macro != ("wait", "1"):
            say = MessageDraft("", data={REQUESTS_KEY: [list(FETCH), list(macro)]})
            assert mailbox.refusal(world, 1, 0, say)[1] == "no_such_request"
    assert mailbox.refusal(world, 1, 0, MessageDraft("", data={REQUESTS_KEY: [FETCH]}))[1] == ""
    assert not mailbox.posted


def test_what_can_be_fetched_comes_last_in_the_menu_and_possible_verbs_come_first_in_the_pickers() -> None:
    world = game("boiled_egg")
    seen = view(world, 1, [])
    groups, parts = PAGE.command_groups(seen)
    assert [group.title for group in groups][-1] == "Fetch" and len(groups) > 1
    fetched = {part.id for part in parts if '"egg","ingredient_dispenser"' in str(part.shows)}
    assert fetched <= set(groups[-1].actions), "its actions are in the same order for the keyboard"
    (state,) = PAGE.ask(seen).parts
    shows: Any = state.shows
    assert shows.own_first[0] == "fetch" and "place_obj_on_counter" not in shows.own_first, "hands are empty"
    assert "deliver" not in shows.first and "wait 1" in shows.own_first


def test_a_plan_is_shown_whole_with_the_action_under_way() -> None:
    """When it was chosen, while it is in progress, and when nothing follows it."""
    world, fetch, put = game("boiled_egg"), command(" ".join(FETCH)), command("place_obj_on_counter")
    first, then = map(command_words, (fetch, put))

    def shown(chosen: Any, *left: Any, phase: str = "waiting") -> tuple[str, Any]:
        seen = view(world, 1, [])
        plans = replace(seen.plans, offered=True, by_seat={1: left})
        seen = replace(seen, phase=phase, plans=plans, choice=replace(seen.choice, chosen=chosen))
        (plan,) = (panel for panel in shared_panels(PAGE, seen) if panel.id == "plan")
        items = re.findall("<li>(.*?)</li>", str(render_panel(plan)))
        return re.sub(" <span.*?>(.*)</span>", r" \1", "; ".join(items)), PAGE.queues(seen).shows[0][1]

    for chosen in (fetch, None):
        text, cook = shown(chosen, put)
        assert text == f"{first} (under way); {then}" and (cook.doing, cook.plan) == (first, (then,))
        world.step({1: fetch})
    assert shown(None)[0] == f"{first} (under way)"
    while world.doing[1]:
        world.step({})
    assert shown(None, put)[0] == then and "(under way)" not in shown(None, phase="choose")[0]
    assert shown(("go_on",))[1].doing == "Ready for the next action", "staying is no action of a plan"


def test_a_drawing_has_the_names_of_what_lies_about_below_it() -> None:
    """In the drawing there is room for three letters only."""
    world = game("boiled_egg")

    def lying(shown: str = "drawn") -> Any:
        panels = PAGE.panels(replace(view(world, 0, []), shown=shown))
        return next((panel.shows[0] for panel in panels if panel.id == "contents"), None)

    assert lying() == () and lying("tables") is None
    play(world, 1, " ".join(FETCH), "place_obj_on_counter", "pickup green_bean ingredient_dispenser")
    play(world, 1, "put_obj_in_utensil chopping_board0")
    assert lying("both") == ("Counters: egg", "Chopping board: green bean; can be started")


def test_the_card_before_a_game_tells_the_part_of_each_cook() -> None:
    chef, assistant = (PAGE.part_words(game("boiled_egg").brief(seat)) for seat in (0, 1))
    assert "you know the recipe" in chef and "what the chef asks for" in assistant
    both = game("boiled_egg", knowledge="assistant")
    assert [PAGE.part_words(both.brief(seat)) for seat in (0, 1)] == ["", ""]
