"""Hints for practice: a chef who follows them delivers; an assistant learns nothing of the recipe."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

import pytest

from kitchen.contract.page_view import ChoiceView, PlayerView, ResultView, SeatView, StepView, TalkView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command
from kitchen.play.live.render_page import render_guide
from kitchen.play.live.seat_view import MESSAGES_SHOWN, hints_for
from kitchen.worlds.collab_overcooked.display_text import command_words, picker_words, thing_words
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import known_macros, visible_things
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.practice_hints import hinted_requests
from kitchen.worlds.collab_overcooked.quick_requests import AskBubble, bubble_panel
from kitchen.worlds.collab_overcooked.request_panels import AskForm, PickerState, RequestCards
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import GO_ON, command, game, play

BY_LEVEL = (
    "boiled_egg",
    "boiled_corn_slices",
    "baked_pumpkin_soup",
    "sliced_eggplant_and_chickpea_stew",
    "mashed_carrot_and_chickpea_patty",
    "taro_bean_and_bell_pepper_patty",
)


def view(world: CollabOvercooked, seat: int, messages: list[TeamMessage]) -> SeatView:
    """The view of a seat that has these messages."""
    names = {number: f"Cook {number + 1}" for number in (0, 1)}
    return SeatView(
        seat=seat,
        phase="over" if world.has_ended else "choose",
        step=world.clock,
        length=None,
        label="Practice",
        players=tuple(PlayerView(number, name, number == seat) for number, name in names.items()),
        waiting_for=(),
        brief=world.brief(seat),
        observation=world.observe(seat),
        history=(),
        result=ResultView(world.score()),
        choice=ChoiceView(legal=world.legal_actions(seat)),
        talk=TalkView(
            seat, names, (1 - seat,), messages=tuple(messages[-MESSAGES_SHOWN:]), requests=tuple(messages)
        ),
    )


def request(number: int, sender: int, macros: list[Command], step: int = 1) -> TeamMessage:
    """A request of these macros."""
    data = {REQUESTS_KEY: [list(macro) for macro in macros]}
    return TeamMessage(number, step, sender, (1 - sender,), "say", "", data)


def named(hint: str, seen: SeatView) -> list[Command]:
    """The macros of the assistant that a hint to ask names: a piece of work of the bubble."""
    name = hint.split(" for it: ")[-1].split(". ")[0]
    bubble = cast(AskBubble, bubble_panel(replace(seen, choice=ChoiceView(hints=("Ask.",)))).shows)
    (entry,) = (one for one in bubble.offered if one.name == name)
    assert entry.is_hinted
    return [tuple(json.loads(text)) for text in entry.requests]


def can_be_picked(world: CollabOvercooked, messages: list[TeamMessage], macros: list[Command]) -> bool:
    """Whether the lists of things offer each of these macros, from what is seen and what came before it."""
    before = [macro for said in messages for macro in commands_in(said.data, REQUESTS_KEY)]
    for macro in macros:
        things = visible_things(world.observe(0), before)
        made = {one for thing in things for one in food_rules().made_with().get(thing, ())}
        if picker_words(macro)[0][0] == "pickup" and macro[1] not in {*things, *made}:
            return False
        before.append(macro)
    return True


@pytest.mark.parametrize("task", BY_LEVEL)
def test_a_chef_who_asks_for_the_work_that_the_hints_name_delivers(task: str) -> None:
    world, todo = game(task, gamma=3.0), list[Command]()
    messages, rounds = list[TeamMessage](), list[tuple[int, list[Command]]]()
    world.reset(1)
    assert PAGE.outcome(view(world, 0, messages)) == "The time is up: the dish was not delivered"
    while not world.has_ended:
        if world.doing[0] is None:
            found = hints_for(world, view(world, 0, messages))
            while " for it: " in found.sentences[-1]:
                seen = view(world, 0, messages)
                rounds.append((world.clock, macros := named(found.sentences[-1], seen)))
                assert can_be_picked(world, messages, macros)
                messages.append(request(len(messages) + 1, 0, macros))
                todo += macros
                found = hints_for(world, view(world, 0, messages))
        begins = bool(todo) and world.doing[1] is None and world.allows(1, todo[0])
        world.step({0: found.command or GO_ON, 1: todo.pop(0) if begins else GO_ON})
    assert world.delivered and world.score()["tes_chef"] == world.score()["tes_assistant"] == 1
    assert [step for step, _ in rounds].count(0) == 1
    assert PAGE.outcome(view(world, 0, messages)) == "The dish was delivered in time"


def test_a_chef_who_types_is_told_what_to_type() -> None:
    world = game("boiled_egg", typed=True)
    (hint,) = hints_for(world, view(world, 0, [])).sentences
    assert "place_obj_on_counter(). Go to “Ask Cook 2”, type each action" in hint


def test_each_hint_says_why() -> None:
    world = game("boiled_egg")
    for text, reason in (
        ("pickup egg counter", "shared counter"),
        ("cook pot0", "start it"),
        ("pickup boiled_egg pot0", "ready"),
        ("deliver", "delivery ends the game"),
    ):
        assert reason in PAGE.hint(view(world, 0, []), command(text), {})


def test_an_assistant_is_led_through_requests_and_told_nothing_of_the_recipe() -> None:
    world = game("baked_pumpkin_soup")
    unit = [command("pickup pumpkin ingredient_dispenser"), command("place_obj_on_counter")]
    messages = list[TeamMessage]()

    def hint() -> str:
        found = hints_for(world, view(world, 1, messages))
        assert found.command is None
        (sentence,) = found.sentences
        return sentence

    assert "until you are asked for something" in hint()
    assert not any(thing_words(raw) in hint().split() for raw in food_rules().raw)
    messages.append(request(1, 0, unit))
    assert "Press “Do this”" in hint()
    play(world, 1, "pickup pumpkin ingredient_dispenser")
    assert "Next: Put it on a counter" in hint()
    play(world, 1, "place_obj_on_counter")
    assert "You have done what Cook 1 asked for" in hint(), "though it could fetch another one"
    messages.append(request(2, 0, unit))
    assert "You have done what" in hint(), "the same request once more"
    messages.append(request(3, 0, [command("cut chopping_board0")]))
    assert "not possible yet: Cut on the chopping board" in hint()
    messages.append(request(4, 0, unit))
    assert "Press “Do this”" in hint(), "a second pumpkin"


EGG = [command("pickup egg ingredient_dispenser"), command("place_obj_on_counter")]


def test_a_chef_who_lost_the_food_is_told_to_ask_for_it_again() -> None:
    world, messages = game("boiled_egg", gamma=3.0), [request(1, 0, EGG)]
    play(world, 1, *map(" ".join, EGG))
    play(world, 0, "pickup egg counter", "put_obj_in_utensil oven0", "bake oven0")
    assert list(hinted_requests(view(world, 0, messages))) == EGG


def test_a_chef_whose_teammate_lost_the_food_asks_for_the_whole_of_it() -> None:
    world, messages = game("boiled_egg", gamma=3.0), [request(1, 0, EGG)]
    play(world, 1, " ".join(EGG[0]), "put_obj_in_utensil blender0", "stir blender0")
    assert list(hinted_requests(view(world, 0, messages))) == EGG


def test_a_chef_waits_for_a_teammate_that_works_and_asks_an_idle_one_again() -> None:
    world, messages = game("boiled_egg", gamma=3.0), [request(1, 0, EGG)]
    for _ in range(7):
        world.step({})
    seen = view(world, 0, messages)
    assert not hinted_requests(seen)
    for verb, wanted in (("go_on", []), ("wait", EGG)):
        step = StepView(world.clock, {1: (verb,)}, ())
        assert list(hinted_requests(replace(seen, history=(step,)))) == wanted


def test_an_assistant_who_lost_the_food_is_told_to_fetch_it_again() -> None:
    world, messages = game("boiled_egg", gamma=3.0), [request(1, 0, EGG)]
    play(world, 1, " ".join(EGG[0]), "put_obj_in_utensil blender0", "stir blender0")
    (hint,) = hints_for(world, view(world, 1, messages)).sentences
    assert "Next: Fetch egg" in hint
    play(world, 1, "pickup dish dish_dispenser")
    (hint,) = hints_for(world, view(world, 1, messages)).sentences
    assert "Next: Put it on a counter" in hint, "the hands must be free first"


def test_the_hint_names_the_button_and_the_entry_of_the_bubble() -> None:
    (hint,) = hints_for(world := game("boiled_egg"), view(world, 0, [])).sentences
    assert "ask Cook 2 for it: Bring egg. Press “Ask Cook 2”" in hint


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("shown", ["tables", "drawn", "both"])
@pytest.mark.parametrize("seat", [0, 1])
def test_hints_name_nothing_that_the_page_does_not_have(seat: int, shown: str, typed: bool) -> None:
    world, fetch = game("boiled_egg", typed=typed), command("pickup egg ingredient_dispenser")
    running = game("boiled_egg", typed=typed, gamma=3.0)
    play(running, 1, " ".join(fetch), "place_obj_on_counter")
    play(running, 0, "pickup egg counter", "put_obj_in_utensil pot0")
    running.step({0: command("cook pot0")})
    ready = game("boiled_egg", typed=typed)
    play(ready, 1, " ".join(fetch))
    said = [request(1, 0, [fetch])]
    stages: list[tuple[CollabOvercooked, list[TeamMessage]]]
    stages = [(world, []), (world, said), (running, []), (ready, said)]
    for stage, messages in stages:
        seen = replace(view(stage, seat, messages), shown=shown)
        hint = PAGE.hint_without_advice(seen)
        bubble = cast(AskBubble, bubble_panel(seen).shows)
        assert ("“What next?”" in hint) <= ("What next?" in [one.name for one in bubble.offered])
        assert ("“More”" in hint or " or the cook" in hint) <= (not typed)
        assert (" or the cook" in hint or "ring around" in hint) <= (shown != "tables")


def test_a_chef_who_asked_for_a_part_is_told_the_rest() -> None:
    world, fetch = game("boiled_egg"), command("pickup egg ingredient_dispenser")
    (hint,) = hints_for(world, view(world, 0, [request(1, 0, [fetch])])).sentences
    assert "Ask for the rest in the same way: Put it on a counter." in hint


@pytest.mark.parametrize("seat", [0, 1])
def test_lists_read_as_the_words_of_the_action_and_no_two_entries_are_called_the_same(seat: int) -> None:
    firsts = dict[str, str]()
    for macro in known_macros(food_rules(), seat):
        words = picker_words(macro)
        read = " ".join(text for _, text in words).lower()
        assert read == command_words(macro).lower().replace("a dish", "dish")
        assert firsts.setdefault(words[0][1], words[0][0]) == words[0][0]
    assert not any(text.startswith("Start") for text in firsts)


def test_what_lies_is_held_or_cooks_can_be_picked_with_what_one_job_makes_of_it() -> None:
    world, made = game("boiled_egg"), food_rules().made_with()
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter", "pickup dish dish_dispenser")
    assert visible_things(world.observe(1), []) == ("dish", "egg")
    assert "boiled_egg" in made["egg"] and max(map(len, made.values())) < 8


def test_the_lists_begin_with_what_the_hint_asks_for() -> None:
    world = game("boiled_egg")
    seen = view(world, 0, [])
    practised = replace(seen, choice=replace(seen.choice, hints=("Ask.",)))
    state, usual = (cast(PickerState, PAGE.ask(each).parts[0].shows) for each in (practised, seen))
    assert state.hinted == ('["pickup","egg","ingredient_dispenser"]', '["place_obj_on_counter"]')
    assert usual == state._replace(hinted=()), "no hints outside of practice"


@pytest.mark.parametrize("task", BY_LEVEL)
def test_the_lists_of_an_assistant_name_products_of_its_own_room_only(task: str) -> None:
    """What the other utensils make is the recipe."""
    world = game(task)
    shown = [cast(AskForm, PAGE.ask(view(world, seat, [])).shows) for seat in (0, 1)]
    chef, assistant = (dict(each.made_with) for each in shown)
    cooked = {made for products in chef.values() for made in products if made.startswith(("baked", "boiled"))}
    assert cooked and not cooked & {made for products in assistant.values() for made in products}


@pytest.mark.parametrize("task", BY_LEVEL)
def test_the_lists_of_a_chef_without_the_recipe_name_no_products(task: str) -> None:
    """What its utensils make of several things is the recipe."""
    shown = cast(AskForm, PAGE.ask(view(game(task, knowledge="assistant"), 0, [])).shows)
    assert shown.macros and not shown.made_with


def test_a_request_under_way_has_no_button_and_a_done_one_says_so() -> None:
    fetch: list[Command] = [("pickup", "egg", "ingredient_dispenser"), ("place_obj_on_counter",)]
    world, said = game("boiled_egg"), [request(1, 0, fetch)]

    def states(said: list[TeamMessage], *plan: Command) -> list[str]:
        seen = view(world, 1, said)
        seen = replace(seen, plans=replace(seen.plans, by_seat={1: plan}))
        return [card.state for card in cast(RequestCards, PAGE.requests(seen).shows).cards]

    assert states(said) == [""]
    assert states(said, *fetch) == ["underway"]
    play(world, 1, "pickup egg ingredient_dispenser")
    assert (states(said), states(said, *fetch[1:])) == ([""], ["underway"])
    play(world, 1, "place_obj_on_counter")
    assert states(said) == ["done"]
    assert states([*said, request(2, 0, fetch)]) == ["", "done"], "asked a second time"
    talk = [replace(request(number, 0, []), data={}) for number in range(2, 40)]
    assert states([*said, *talk, request(40, 0, fetch)]) == [""], "the first one counts, out of sight"
    play(world, 1, *map(" ".join, fetch))
    assert states([*said, request(2, 0, fetch)]) == ["done", "done"]
    assert states([*said, *talk, request(40, 0, fetch)]) == ["done"]


def test_actions_that_were_finished_before_a_request_do_not_count_for_it() -> None:
    world, fetch = game("boiled_egg"), [command("pickup egg ingredient_dispenser")]
    play(world, 1, *map(" ".join, fetch))
    now = world.clock + 1

    def states(*steps: int) -> list[str]:
        said = [request(number, 0, fetch, step) for number, step in enumerate(steps, start=1)]
        return [card.state for card in cast(RequestCards, PAGE.requests(view(world, 1, said)).shows).cards]

    assert (states(now), states(now - 1)) == ([""], ["done"]), "in the step of the request or later"
    assert states(now - 1, now) == ["", "done"]
    play(world, 1, "place_obj_on_counter", *map(" ".join, fetch))
    assert (states(now), states(1, now), states(now, now)) == (["done"], ["done", "done"], ["", "done"])


def test_the_guide_names_the_seat_of_its_reader() -> None:
    roles = [PAGE.handbook(game("boiled_egg").brief(seat))["role"] for seat in (0, 1)]
    assert roles == ["chef", "assistant"]
    assert PAGE.handbook(game("boiled_egg", knowledge="assistant").brief(0))["role"] == "chef"
    assert PAGE.handbook(game("boiled_egg", knowledge="both").brief(1))["role"] == "assistant"


def test_a_guide_that_is_read_before_the_seats_are_dealt_names_no_seat() -> None:
    shown = render_guide(PAGE, game("boiled_egg").public_brief(), clocked=False, drawn=True)
    assert "You are the" not in shown and "whether you are the chef or the assistant" in shown
    assert "Only the chef has the recipe" in shown


def test_an_assistant_asks_for_nothing_out_of_the_utensils_of_the_chef() -> None:
    shown = cast(AskForm, PAGE.ask(view(game("baked_pumpkin_soup"), 1, [])).shows)
    asked = [tuple(json.loads(one.value)) for one in shown.macros]
    assert {macro[0] for macro in asked} >= {"pickup", "put_obj_in_utensil", "cook", "bake"}
    assert not [macro for macro in asked if macro[0] == "pickup" and macro[-1] in ("pot0", "oven0")]
