"""The grids' page: what buttons say and do, the drawing's data, its twin in words, what is said aloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from django.utils.translation import override

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent_skills import SeatObservation, wait_skill
from kitchen.contract.page import Panel
from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, SeatView, StepView
from kitchen.contract.world import Command
from kitchen.worlds.overcooked import page as menus
from kitchen.worlds.overcooked.display_text import SENTENCES
from kitchen.worlds.overcooked.game_rules import INTERACT, STAY
from kitchen.worlds.overcooked.page import PAGE, faced_cell, interact_effect
from kitchen.worlds.overcooked.skills import SKILLS
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import seen

LAYOUTS = ("cramped_room", "forced_coordination", "counter_circuit_tomato")
SOUP = (
    "north west interact east north interact west interact east north interact west interact east north "
    "interact west south interact north east north" + " stay" * 13 + " interact south east south interact"
).split()
"""What brings one soup to the serving place of `cramped_room` (overcooked.md, E 1)."""


def make(layout: str, **settings: Any) -> Overcooked:
    world = Overcooked.create(seats=2, settings={"layout": layout, **settings})
    world.reset(0)
    return world


def step(world: Overcooked, *commands: Command) -> StepView:
    turn = dict(enumerate(commands))
    return StepView(world.clock + 1, turn, world.step(turn))


def played(layout: str, steps: int = 300) -> Iterator[Overcooked]:
    """An episode in which whoever can do something often does."""
    world, chance = make(layout, ticks=steps), Random(5)
    while not world.over:
        yield world
        offered = [world.legal_actions(seat) for seat in (0, 1)]
        step(
            world,
            *(
                INTERACT if INTERACT in each and chance.random() < 0.7 else chance.choice(each)
                for each in offered
            ),
        )


def panel(view: SeatView, name: str) -> Any:
    """What a panel of this view shows."""
    return next(each for each in PAGE.panels(view) if each.id == name).shows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_button_for_using_says_what_using_does(layout: str) -> None:
    told = set()
    for world in played(layout):
        for seat in (0, 1):
            if INTERACT not in world.legal_actions(seat):
                continue
            view = seen(world, seat)
            found = faced_cell(view.brief, view.observation, seat)
            holds = view.observation["players"][seat]["holds"]
            copy = Overcooked.from_dict(world.to_dict())
            event = next(each for each in copy.step({seat: INTERACT}) if each.seat == seat)
            did, thing = interact_effect(found, holds)
            assert did == event.data["did"]
            assert thing is None or thing == event.data["thing"]
            told.add(menus.use_label(view, found))
    assert {"Take an onion", "Take a dish", "Put an onion down"} <= told


def test_every_deed_and_refusal_has_words() -> None:
    codes, deeds = set(), set()
    for layout in LAYOUTS:
        for world in played(layout):
            copy = Overcooked.from_dict(world.to_dict())
            for event in copy.step({0: INTERACT, 1: INTERACT}):
                codes.update(event.data.get("reasons", ()))
                deeds.update([event.data["did"]] if "did" in event.data else [])
    assert codes <= set(SENTENCES["refusals"]) and len(codes) > 5
    assert deeds <= set(SENTENCES["done"]) == set(SENTENCES["uses"])


def test_the_drawing_is_told_what_is_seen_and_nothing_else() -> None:
    for world in played("cramped_room", 60):
        view = replace(seen(world, 1), shown=DRAWING_ONLY)
        data = json.loads(panel(view, "seen").observation)
        assert data == {name: view.observation[name] for name in ("players", "counters", "pots")}
        assert panel(view, "seen").seat == 1


def test_in_words_alone_nothing_is_drawn_and_the_words_are_always_there() -> None:
    world = make("cramped_room")
    drawn = {each.id for each in PAGE.panels(replace(seen(world, 0), shown=DRAWING_ONLY))}
    words = {each.id for each in PAGE.panels(replace(seen(world, 0), shown=DRAWING_TABLES))}
    assert drawn - words == {"board", "seen"} and words < drawn
    assert {"grid", "actors"} <= words


def test_somebody_without_a_seat_sees_the_same_without_a_pad() -> None:
    view = replace(seen(make("cramped_room"), 0), shown=DRAWING_ONLY, acts=False)
    ids = [each.id for each in PAGE.overview(view)]
    assert "menu" not in ids and {"board", "seen", "grid", "happened"} <= set(ids)


def test_a_soup_from_the_first_onion_to_the_guests_is_told_but_not_every_move() -> None:
    world, said = make("cramped_room"), []
    news: list[Any] = []
    for verb in SOUP:
        past = step(world, (verb,), STAY)
        view = seen(world, 0, (past,))
        said.append(panel(view, "spoken").text)
        happened = next(each for each in PAGE.panels(view) if each.id == "happened")
        news.append(next(iter(happened.parts)).shows)
    assert [text for text in said if text] == [
        "A soup is ready.",
        "You have delivered a soup: 20 points.",
    ]
    assert news[-1].news == (("completed", "You have delivered a soup: 20 points."),)
    assert panel(seen(world, 1, (past,)), "spoken").text == "Robot 1 has delivered a soup: 20 points."
    assert [line.text for line in news[0].lines] == ["went up", "waited"]
    assert news[-1].lines[0].text == "delivered the soup"
    assert (panel(view, "score").points, panel(view, "score").soups) == (20, 1)


def test_the_spanish_log_has_one_form_for_you_and_for_others() -> None:
    world = make("cramped_room")
    view = seen(world, 0, (step(world, ("north",), STAY),))
    with override("es"):
        happened = next(each for each in PAGE.panels(view) if each.id == "happened")
        shown: Any = next(iter(happened.parts)).shows
    assert [line.text for line in shown.lines] == ["ir hacia arriba", "esperar"]


def test_why_nothing_came_of_it_is_said_to_who_wanted_it() -> None:
    world = make("cramped_room")
    past = step(world, INTERACT, ("north",))
    assert "there is nothing to use" in panel(seen(world, 0, (past,)), "spoken").text
    assert panel(seen(world, 1, (past,)), "spoken").text == ""


def test_pots_and_hands_are_told_in_words() -> None:
    world = make("cramped_room")
    for verb in SOUP[:16]:
        step(world, (verb,), STAY)
    view = seen(world, 0)
    assert panel(view, "grid").rows[0][2].there == "onion, onion, onion; ready in 19 steps"
    assert panel(view, "menu").ahead == "pot: onion, onion, onion; ready in 19 steps"
    assert panel(view, "actors").actors[0].description == "column 3, row 2, looks up, holds nothing"


def test_where_a_clock_takes_the_ticks_times_are_seconds() -> None:
    view = seen(make("cramped_room", clock="tick", tick_ms=200), 0)
    assert panel(view, "orders").orders[0].time == "4 seconds"
    assert PAGE.handbook(view.brief)["whole"] == "80 seconds"


def test_what_nobody_has_changed_is_not_drawn_anew() -> None:
    world = make("cramped_room")
    before: dict[str, Panel] = {each.id: each for each in PAGE.panels(seen(world, 0))}
    step(world, ("north",), STAY)
    same = {each.id for each in PAGE.panels(seen(world, 0)) if each == before[each.id]}
    assert {"orders", "happened", "spoken"} <= same and "grid" not in same


def test_what_the_others_are_about_to_do_is_said_where_the_page_says_so() -> None:
    view = seen(make("cramped_room"), 0)
    assert all(each.id != "intents" for each in PAGE.panels(view))
    said = {"do": "pickup", "item": "dish", "of": "0", "foresees": "put_onion_in_pot"}
    for intent, text in (
        (said, "Next: take a dish. It expects you to put an onion into a pot"),
        ({**said, "of": "1"}, "Next: take a dish"),
        ({"do": "dance"}, ""),
    ):
        told = panel(changed(view, shows_intents=True, intents={1: intent}), "intents")
        assert [(one.seat, one.text) for one in told.partners] == [(1, text)]
    assert (
        SENTENCES["next"].keys()
        == SENTENCES["expected"].keys()
        == {" ".join(SKILLS.intent(one).values()) for one in _skills()}
    )


def _skills() -> Iterator[tuple[str, ...]]:
    """All that the grids have, and to wait."""
    for layout in LAYOUTS:
        world = make(layout, cooking="interact")
        yield from SKILLS.offered(SeatObservation.of(make_situation(world, (0,)), 0), 0)
    yield wait_skill()
