"""The skills of the grids: conditions, texts, moves, and ProAgent that plays by them."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.agents.skill_agents.skill_text import read_plan
from kitchen.contract.agent_skills import EARLY, FREELY, NEVER, ONCE, READY, PlayStyle, SeatObservation
from kitchen.contract.decision_notes import PredictionAccuracy, predictions_in
from kitchen.contract.world import Command, Event
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.overcooked.bench.pairing_benchmark import published_means
from kitchen.worlds.overcooked.skills import SKILLS
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.agents.proagent.thinking import Beside, decide, script
from tests.kitchen.worlds.overcooked.pairs import LAYOUTS

BRINGS = (
    "north west interact east north interact west interact east north interact "
    "west interact east north interact"
)
"""Seat 0 of cramped_room puts three onions into the pot (spec, case E 1)."""


def start(layout: str = "cramped_room", **settings: Any) -> Overcooked:
    game = Overcooked.create(seats=2, settings={"layout": layout, **settings})
    game.reset(0)
    return game


def sight(game: Overcooked, seat: int = 0, events: tuple[Event, ...] = ()) -> SeatObservation:
    return SeatObservation.of(make_situation(game, (seat,), events=events), seat)


def failed(game: Overcooked, *skill: str, seat: int = 0) -> list[str]:
    return [one.code for one in SKILLS.conditions(sight(game, seat), skill) if not one.holds]


def play(game: Overcooked, words: str, seat: int = 0) -> tuple[Event, ...]:
    events: tuple[Event, ...] = ()
    for word in words.split():
        events = game.step({seat: (word,)})
    return events


def carried_out(game: Overcooked, *skill: str, seat: int = 0) -> int:
    """Steps until this skill is done, the other seat staying."""
    mark, chance = SKILLS.mark(sight(game, seat), skill), Random(1)
    for steps in range(60):
        if SKILLS.status(sight(game, seat), skill, mark) == "success":
            return steps
        command = SKILLS.command(sight(game, seat), skill, chance)
        game.step({seat: command} if command else {})
    raise AssertionError(skill)


def test_every_skill_says_what_it_lacks_and_is_carried_out_until_it_is_done() -> None:
    game = start()
    assert failed(game, "pickup", "onion") == [] and failed(game, "deliver_soup") == ["no_soup"]
    assert failed(game, "put_onion_in_pot") == ["no_onion"]
    assert failed(game, "place_obj_on_counter") == ["hands_empty"]
    for _ in range(3):
        assert carried_out(game, "pickup", "onion") and failed(game, "pickup", "dish") == ["hands_full"]
        assert carried_out(game, "put_onion_in_pot")
    assert carried_out(game, "pickup", "dish") and failed(game, "fill_dish_with_soup") == []
    assert carried_out(game, "fill_dish_with_soup") > 10
    assert carried_out(game, "deliver_soup") and game.score()["points"] == 20
    assert carried_out(game, "pickup", "dish") and failed(game, "fill_dish_with_soup") == ["not_started"]
    assert carried_out(game, "place_obj_on_counter")


@pytest.mark.parametrize("taken", ["dish", "onion"])
def test_nobody_is_hinted_to_wait_with_full_hands(taken: str) -> None:
    game = start()
    play(game, BRINGS if taken == "onion" else "")
    assert SKILLS.errand(sight(game)) == (("pickup", "dish") if taken == "onion" else ("pickup", "onion"))
    assert carried_out(game, "pickup", taken)
    assert SKILLS.rule(sight(game), 0, SKILLS.manner(sight(game)))[0] == "wait"
    assert SKILLS.errand(sight(game)) == ("place_obj_on_counter",)
    assert carried_out(game, *SKILLS.errand(sight(game)))


def test_alone_by_its_errands_a_cook_delivers() -> None:
    game = start()
    assert carried_out(game, "pickup", "dish")
    for _ in range(11):
        errand = SKILLS.errand(sight(game))
        game.step({}) if errand[0] == "wait" else carried_out(game, *errand)
    assert game.score()["points"] == 20


def test_with_the_new_cooking_a_pot_is_started() -> None:
    game = start(cooking="interact")
    assert failed(game, "start_cooking") == ["no_order"]
    play(game, BRINGS)
    assert failed(game, "start_cooking") == []
    assert carried_out(game, "start_cooking") == 1
    assert SKILLS.rule(sight(game), 0, PlayStyle(FREELY, READY)) == ("pickup", "dish")


def test_what_an_interact_did_is_a_skill_that_was_finished() -> None:
    game = start()
    taken = play(game, "north west interact")
    assert list(SKILLS.finished(sight(game, 1, taken), 0)) == [("pickup", "onion")]
    assert list(SKILLS.finished(sight(game, 1, taken), 1)) == []
    full = start()
    play(full, BRINGS)
    refused = play(full, "west west interact east north north interact".replace("west west", "west"))
    assert "refused" in {event.kind for event in refused}
    assert list(SKILLS.finished(sight(full, 1, refused), 0)) == []


@pytest.mark.parametrize(
    ("layout", "manner", "parted"),
    [
        ("cramped_room", PlayStyle(NEVER, EARLY), False),
        ("asymmetric_advantages_tomato", PlayStyle(FREELY, READY), False),
        ("forced_coordination", PlayStyle(ONCE, READY), True),
    ],
)
def test_what_is_told_differs_as_the_published_prompts_do(
    layout: str, manner: PlayStyle, parted: bool
) -> None:
    game = start(layout)
    seen = sight(game, 1)
    assert SKILLS.manner(seen) == manner
    assert (SKILLS.shortest_wait(seen) == 3) == parted
    scene, primer = SKILLS.scene(seen), SKILLS.primer(seen, manner)
    assert ("Player 0 holds" in scene) != parted and ("counters that both can reach" in scene) == parted
    skills = {skill[0] for skill, _ in primer.skills}
    assert ("deliver_soup" in skills) != parted
    assert (skills == {"pickup", "place_obj_on_counter"}) == parted
    assert primer.examples and all("(" not in example.scene for example in primer.examples)


def test_a_scene_tells_hands_and_pots_and_no_positions() -> None:
    game = start()
    play(game, BRINGS)
    scene = SKILLS.scene(sight(game))
    assert "Pot 0 cooks 3 onions, ready after 19 ticks." in scene and "Player 0 holds nothing." in scene
    assert not any(mark in scene for mark in "[](")


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Plan for Player 0: pickup(onion).", ("pickup", "onion")),
        ('player 0: "pick up a dish"', ("pickup", "dish")),
        ("Player 0: pick up dishes", ("pickup", "dish")),
        ("Player 0: Fetches onions", ("pickup", "onion")),
        ("PLAYER_0: [put_onion_in_pot()]", ("put_onion_in_pot",)),
        ("Player 0: place_obj_on_counter()", ("place_obj_on_counter",)),
        ("Player 0: fill the dish with soup, then deliver_soup()", ("fill_dish_with_soup",)),
        ("Player 0: deliver soup", ("deliver_soup",)),
        ("Player 0: wait(3)", ("wait", "3")),
        ("Player 1: pickup(onion)\nPlayer 0: pickup(dish)", ("pickup", "dish")),
        ("Player 0: pickup(tomato)", None),
    ],
)
def test_an_answer_is_read(text: str, plan: Command | None) -> None:
    assert read_plan(text, SKILLS, sight(start())).plan == plan


def test_four_failures_are_explained_and_then_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec, case E 8."""
    model = script(monkeypatch, *(["Plan for Player 0: deliver_soup()", "Player 0 has no soup."] * 4))
    decision = decide(make_situation(start(), (0,)), wait_moves="still")
    assert [("assert" in request.messages[-1].text) for request in model.requests] == [False, True] * 4
    assert decision.note["seats"]["0"]["at"]["skill"] == "wait(1)" and decision.commands == {}
    tries = decision.note["seats"]["0"]["tries"]
    assert [one["failed"] for one in tries] == [["no_soup"]] * 4
    assert {one["explanation"] for one in tries} == {"Player 0 has no soup."}
    script(monkeypatch, "Plan for Player 0: deliver_soup()")
    assert len(decide(make_situation(start(), (0,)), explainer="rule").calls) == 4


@pytest.mark.parametrize("belief", ["replace", "annotate"])
def test_a_dish_where_an_onion_was_foreseen_is_one_wrong_prediction(belief: str) -> None:
    """Spec, case E 8: the partner in seat 0 takes a dish."""
    beside = Beside(start(), seat=1, level="aip", belief=belief)
    for word in ("south", "south", "interact", *["stay"] * 12):
        beside.step((word,))
    told = predictions_in(decision.note for decision in beside.decisions)
    first = told[0]
    assert (first.predicted, first.done, first.right) == (("pickup", "onion"), ("pickup", "dish"), False)
    asked = [one for one in beside.decisions[3:] if one.calls]
    prompt = asked[0].calls[0].request.messages[-1].text
    believed = prompt.partition("What you foresaw:")[2].partition("What was really done:")[0]
    assert "pickup(dish)" in believed and ("pickup(onion)" in believed) == (belief == "annotate")
    assert ("that was wrong" in believed) == (belief == "annotate")
    assert PredictionAccuracy.of(told[:1]) == PredictionAccuracy(0, 1)


def test_where_a_clock_runs_a_plan_takes_effect_so_many_ticks_after_it_was_asked_for() -> None:
    beside = Beside(start(clock="tick"), seat=0, think_ticks=3)
    asked = [(bool(beside.step().calls), 0 in beside.decisions[-1].commands) for _ in range(5)]
    assert asked == [(True, False), (False, False), (False, False), (False, True), (False, True)]
    assert beside.note()["at"] == {"skill": "pickup(onion)", "since": 4, "asked_in": 1}
    turns = Beside(start(), seat=0, think_ticks=3)
    assert 0 in turns.step().commands


def test_what_comes_late_tells_what_it_foresaw() -> None:
    beside = Beside(start(clock="tick"), seat=0, level="aip")
    mind = make_agent("proagent", beside.settings)
    late = asyncio.run(mind.decide(beside.seen()))
    for _ in range(3):
        beside.memory = mind.fall_back(beside.seen(), "timeout").memory
        beside.game.step({})
    taken = mind.arrived(beside.seen(), late)
    assert taken and taken.note["foreseen"] == late.note["foreseen"] and taken.calls == late.calls
    assert taken.commands and taken.note["seats"]["0"]["at"]["asked_in"] == 1
    assert len(taken.memory["0"]["foreseen"]) == 1


@pytest.mark.parametrize("goes_on", ["east north interact", "north interact interact " * 6])
def test_what_comes_late_is_judged_by_what_was_finished_first_since_it_was_asked(goes_on: str) -> None:
    """Also where more was finished since than is remembered otherwise."""
    beside = Beside(start(clock="tick"), seat=1, level="aip")
    mind = make_agent("proagent", beside.settings)
    late = asyncio.run(mind.decide(beside.seen()))
    for word in f"north west interact {goes_on}".split():
        beside.memory = mind.fall_back(beside.seen(), "timeout").memory
        beside.events = beside.game.step({0: (word,)})
    taken = mind.arrived(beside.seen(), late)
    assert taken is not None
    (told,) = predictions_in([taken.note])
    assert (told.step, told.predicted, told.done) == (1, ("pickup", "onion"), ("pickup", "onion"))
    assert (told.done_in, told.right) == (3, True)
    assert (taken.memory["1"]["right"], taken.memory["1"]["judged"]) == (1, 1)
    assert taken.memory["1"]["meanwhile"] == []


def points(layout: str, seed: int, **settings: Any) -> int:
    """Of two that play beside each other."""
    events: tuple[Event, ...] = ()
    game, memory = start(layout, **settings), [None, None]
    mind = make_agent("proagent", {"model": "stand-in"})
    while not game.over:
        seen = [
            make_situation(
                game, (seat,), memory=memory[seat], events=events, seed=1000 * seed + 2 * game.clock + seat
            )
            for seat in (0, 1)
        ]
        decided = [asyncio.run(mind.decide(each)) for each in seen]
        memory = [decision.memory for decision in decided]
        events = game.step({**decided[0].commands, **decided[1].commands})
    return int(game.score()["points"])


@pytest.mark.parametrize(("layout", "least"), list(zip(LAYOUTS, (20, 140, 20, 100, 40), strict=True)))
def test_the_loop_with_rules_for_a_model_plays_about_as_the_prototype(layout: str, least: int) -> None:
    assert points(layout, 0, ticks=200) >= least


def test_tomatoes_are_cooked_and_delivered() -> None:
    assert points("asymmetric_advantages_tomato", 0, ticks=150) > 0


def test_what_the_paper_prints_is_there_for_comparison() -> None:
    assert published_means("cramped_room", 0)["ProAgent"] == (197.3, 6.1)
    assert published_means("forced_coordination", 1)["PBT"] == (61.7, 46)
    best = [
        max(published_means(layout, seat).items(), key=lambda one: one[1])[0]
        for layout in LAYOUTS
        for seat in (0, 1)
    ]
    assert best.count("ProAgent") == 8 and (best[1], best[7]) == ("FCP", "PBT")
    assert published_means("cramped_room_tomato", 0) == {}
