"""People type plans and requests, which are read as models' replies are; unreadable ones change nothing."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from django.utils import translation

from kitchen.contract.organisation import make_organisation
from kitchen.contract.page import TypedTextError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.live.page_session import OpenPage, PageAnswer, open_page
from kitchen.play.models import Episode, Message
from kitchen.play.turn.websocket_messages import CommandMessage, MessageError, SayMessage, read_message
from kitchen.replay.episode_file import export_episode
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import seat_page_after
from kitchen.tasks import answer as answer_of_agent
from kitchen.words import gettext_without_django
from kitchen.words.gettext_without_django import use_translations
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import typed_forms
from kitchen.worlds.collab_overcooked.page import PAGE
from tests.kitchen.worlds.collab_overcooked.games import command, game, play

RECIPE = re.compile("in the oven: |in the pot: |chopping board: ")
FETCH, PLACE = "pickup egg ingredient_dispenser", "place_obj_on_counter"


def typed_game(*done: str) -> Any:
    world = game("boiled_egg", typed=True)
    play(world, 1, *done)
    return world


@pytest.mark.parametrize(
    ("text", "asks", "read"),
    [
        (f"{FETCH}\n{PLACE}\nwait 3", False, (FETCH, PLACE, "wait 3")),
        ("1. pickup(egg, ingredient_dispenser);\n- place_obj_on_counter()", False, (FETCH, PLACE)),
        (f"1) {FETCH}\n2) place_obj_on_counter()", False, (FETCH, PLACE)),
        (f"• {FETCH}\n\u2013 {PLACE}", False, (FETCH, PLACE)),
        ("2.) wait(1)\n-) wait(2)\n•wait(3)", False, ("wait 1", "wait 2", "wait 3")),
        ("request('cook(pot0)')\nrequest(deliver())", True, ("cook pot0", "deliver")),
    ],
)
def test_the_syntax_of_the_paper_is_read(text: str, asks: bool, read: tuple[str, ...]) -> None:
    assert PAGE.read_typed(typed_game(), 1, text, asks=asks, most=3) == tuple(map(command, read))


@pytest.mark.parametrize(
    ("text", "asks", "why"),
    [
        ("...", False, "Type at least one action."),
        ("request", True, "Type at least one action."),
        ("request()", True, "Type at least one action."),
        (
            f"{FETCH}\npickup(egg, counter",
            False,
            "“pickup(egg, counter” was not accepted: a parenthesis is m",
        ),
        ("2) pickup egg, counter); wait 1", False, "“pickup egg, counter)” was not accepted: a parenthesis"),
        ("request(cook(pot0)", True, "“request(cook(pot0)” was not accepted: a parenthesis is missing."),
        (")cook pot0(", True, "“)cook pot0(” was not accepted: a parenthesis is missing."),
        (f"{FETCH}\n" * 4, False, "Type at most 3 actions."),
        (f"{FETCH}\nfly(away)", False, "“fly away” was not accepted: there is no such action."),
        ("cook(pot0)", False, "“cook pot0” was not accepted: this is an action of the other cook."),
        ("pickup stone counter", False, "“pickup stone counter” was not accepted: there is no such thing."),
        ("cut(blender0)", False, "“cut blender0” was not accepted: this action belongs to another utensil."),
        ("wait 6", False, "“wait 6” was not accepted: a wait has at most 5 steps."),
        (PLACE, False, f"“{PLACE}” was not accepted: the cook's hands are empty."),
        ("request(cook(pot0))", False, "“request cook pot0” was not accepted: there is no such action."),
        ("cut chopping_board0", True, "“cut chopping_board0” was not accepted: this is an action of the"),
    ],
)
def test_other_lines_are_refused_with_the_reason(text: str, asks: bool, why: str) -> None:
    with pytest.raises(TypedTextError) as refused:
        PAGE.read_typed(typed_game(), 1, text, asks=asks, most=3)
    assert str(refused.value).startswith(why)


@pytest.mark.django_db
@pytest.mark.parametrize("seat", [0, 1])
def test_every_form_that_the_page_names_can_be_typed(seat: int) -> None:
    forms = typed_forms(food_rules(), seat, "egg")
    assert "pickup(egg, counter)" in forms and "wait(3)" in forms and len(forms) == len(set(forms))
    assert {"place_obj_on_counter", ("pickup(dish, dish_dispenser)", "deliver")[seat == 0]} <= {*forms}
    world = typed_game()
    assert all(len(PAGE.read_typed(world, seat, form, asks=True, most=50)) == 1 for form in forms[:1])
    assert f"<code>{forms[0].replace('egg', 'thing')}</code>" in opened(seat, as_json=False)[2]


def test_of_many_odd_lines_only_actions_of_the_cook_are_read() -> None:
    world, chance = typed_game(), Random(2)
    words = [
        "pickup",
        "egg",
        "cook",
        "cut",
        "request",
        "counter",
        "(",
        ");",
        "wait",
        "9",
        "1.",
        "\u202e",
        "x" * 5000,
    ]
    for _ in range(300):
        text = " ".join(chance.choices(words, k=chance.randint(1, 5)))
        try:
            read = PAGE.read_typed(world, 1, text, asks=True, most=3)
        except TypedTextError as refused:
            assert len(str(refused)) < 200
        else:
            assert all(macro in world.plannable(1) or macro[0] == "wait" for macro in read)


def test_nobody_types_where_actions_are_picked() -> None:
    with pytest.raises(TypedTextError, match="Choose an action first"):
        PAGE.read_typed(game("boiled_egg"), 1, FETCH, asks=False, most=3)


def test_the_socket_reads_a_typed_text_and_nothing_else() -> None:
    sent = read_message(json.dumps({"type": "command", "step": "2", "typed": f" {FETCH}\x00\ud800 "}))
    assert sent == CommandMessage(2, (), typed=FETCH)
    for wrong in ({"type": "command", "step": 1, "typed": 1}, {"type": "say", "typed": ["a"]}):
        with pytest.raises(MessageError):
            read_message(json.dumps(wrong))


def opened(seat: int, *, as_json: bool) -> tuple[Episode, OpenPage, str]:
    """A person in this seat beside the stand-in, where plans and requests are typed; what the page gets."""
    minds = (MindPlan("recipe_partner", (1 - seat,)),)
    members = members_of_plans(minds, seats=2)
    made = make_organisation("pair", members, seats=2, settings={"within": True})
    settings = {"task": "baked_pumpkin_soup", "typed": True}
    episode = create_episode(
        world="collab_overcooked",
        settings=settings,
        seats=2,
        seed=1,
        minds=minds,
        organisation=made,
        offers_plans=True,
    )
    page, answer = open_page(episode.seats.get(number=seat).key, "page-of-test", newest=True, json=as_json)
    assert page
    return episode, page, "".join(answer.texts)


@pytest.mark.django_db
def test_a_person_plays_by_typing_and_what_is_refused_changes_nothing() -> None:
    episode, page, shown = opened(1, as_json=True)
    for text in (f"{FETCH}\nbake oven0", PLACE):
        refused = page.read_typed(CommandMessage(1, (), typed=text))
        assert isinstance(refused, PageAnswer) and json.loads(refused.texts[0])["code"] == "not_read"
    answer = page.say(SayMessage("I can.", (), typed="cut chopping_board0"))
    assert "this is an action of the other cook" in answer.texts[0]
    assert not Message.objects.exists() and "pumpkin_slices" not in shown and '"recipe"' not in shown
    answer_of_agent(episode.pk, 1, 0)  # the chef speaks first
    page.say(SayMessage("I can.", (), typed="request(bake(oven0))"))
    assert Message.objects.get(sender=1).data["requests"] == [["bake", "oven0"]]
    answer_of_agent(episode.pk, 1, 0)
    read = page.read_typed(CommandMessage(1, (), typed=f"{FETCH}\n{PLACE}"))
    assert isinstance(read, CommandMessage)
    page.decided(read, None)
    decide_step(episode_id=episode.pk, step=1)
    episode.refresh_from_db()
    plans: Any = episode.plans
    assert episode.step == 1 and plans["1"]["then"] == [[PLACE]]
    (record,) = read_episode_records(Episode.objects.all())
    replay = seat_page_after(record, 1, 0)
    assert not RECIPE.search(f"{replay.layout}{replay.panels}{export_episode(record).decode()}")
    assert RECIPE.search(seat_page_after(record, 0, 0).layout)


@pytest.mark.django_db
def test_what_a_person_typed_does_not_stay_among_the_translations() -> None:
    _, page, _ = opened(1, as_json=False)
    use_translations(translation)  # empties the cache
    answers = [page.read_typed(CommandMessage(1, (), typed=f"fly {number}")) for number in range(20)]
    answers.append(page.say(SayMessage("I can.", (), typed="fly 20")))
    shown = "".join(text for one in answers if isinstance(one, PageAnswer) for text in one.texts)
    assert all(f"“fly {number}” was not accepted" in shown for number in range(21))
    assert gettext_without_django._translated.cache_info().currsize < 20


@pytest.mark.django_db
def test_the_page_has_boxes_to_type_in_and_no_word_of_the_recipe() -> None:
    chef, assistant = (opened(seat, as_json=False)[2] for seat in (0, 1))
    for shown in (chef, assistant):
        assert 'id="plan-typed" name="typed"' in shown and 'id="ask-typed" name="typed"' in shown
        assert "data-macro-picker" not in shown
    assert RECIPE.search(chef) and not RECIPE.search(assistant)
