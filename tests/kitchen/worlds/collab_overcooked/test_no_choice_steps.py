"""The history counts the steps of a plan once, and names what was finished in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.world import Event
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import known_macros
from kitchen.worlds.collab_overcooked.no_choice_steps import DONE_WORDS, done_words
from kitchen.worlds.collab_overcooked.page import PAGE
from tests.kitchen.worlds.collab_overcooked.games import GO_ON, command, game
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import view

FETCH = command("pickup pumpkin ingredient_dispenser")
PUT = command("put_obj_in_utensil chopping_board0")
READY = Event("ready", None, {"utensil": "pot0", "product": "boiled_egg"})


def done(seat: int, macro: tuple[str, ...]) -> Event:
    """The event of a finished command."""
    return Event("done", seat, {"macro": list(macro)})


def planned(phase: str = "choose", since: int = 1) -> SeatView:
    """The view of an assistant whose plan took the steps 2 to 8, from the step `since` on."""
    steps = [
        StepView(1, {1: ("wait", "1")}, ()),
        StepView(2, {0: ("wait", "3"), 1: FETCH}, ()),
        StepView(3, {0: GO_ON, 1: GO_ON}, (), unasked=True),
        StepView(4, {0: GO_ON, 1: GO_ON}, (done(1, FETCH),), unasked=True),
        StepView(5, {0: ("cook", "pot0"), 1: PUT}, (), unasked=True),
        StepView(6, {0: GO_ON, 1: GO_ON}, (done(0, ("cook", "pot0")),), unasked=True),
        StepView(7, {0: GO_ON, 1: GO_ON}, (READY,), unasked=True),
        StepView(8, {0: GO_ON, 1: GO_ON}, (done(1, PUT),), unasked=True),
    ]
    seen = view(game("baked_pumpkin_soup"), 1, [])
    return replace(seen, phase=phase, history=tuple(step for step in reversed(steps) if step.number >= since))


SENTENCE = "7 steps passed: you fetched pumpkin and put it onto the chopping board"


def test_the_steps_of_a_plan_are_one_entry_with_what_each_cook_finished() -> None:
    entries: list[Any] = [part.shows for part in PAGE.story(planned()).parts]
    assert [(entry.number, entry.last) for entry in entries] == [(2, 8), (1, 0)]
    shown = render_panel(PAGE.story(planned()).parts[0])
    assert "Steps 2 to 8" in shown and "Pot, ready: boiled egg" in shown
    assert f">{SENTENCE}<" in shown and ">Cook 1 waited and started the pot<" in shown
    alone = replace(planned(), history=(StepView(1, {0: GO_ON, 1: GO_ON}, ()),))
    assert "Cook 1: goes on" in render_panel(PAGE.story(alone).parts[0]).replace("</b>", "")
    assert "Continue" not in shown and "\N{MULTIPLICATION SIGN}" not in shown


@pytest.mark.parametrize(("phase", "spoken"), [("choose", True), ("over", True), ("thinking", False)])
def test_a_screen_reader_hears_the_sentence_once_at_the_end(phase: str, *, spoken: bool) -> None:
    assert (SENTENCE in render_panel(PAGE.spoken(planned(phase)))) == spoken


def test_steps_before_the_shown_ones_are_not_counted_as_if_they_were_none() -> None:
    shown = render_panel(PAGE.story(planned(since=3)).parts[0])
    assert "Several steps passed: you fetched pumpkin and put it onto the chopping board" in shown


def test_a_wait_of_several_steps_is_one_entry() -> None:
    steps = [
        StepView(1, {1: ("wait", "3")}, ()),
        *(StepView(n, {1: GO_ON}, (), unasked=True) for n in (2, 3)),
    ]
    seen = replace(planned(), history=tuple(reversed(steps)))
    shown = render_panel(PAGE.story(seen).parts[0])
    assert "3 steps passed: you waited<" in shown and "Cook 1 finished no action" in shown


def test_every_command_has_words_for_the_past() -> None:
    for seat in (0, 1):
        for macro in known_macros(food_rules(), seat):
            assert macro[0] in DONE_WORDS and "{" not in done_words(macro)
