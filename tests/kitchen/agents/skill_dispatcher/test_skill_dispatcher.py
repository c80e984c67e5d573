"""The dispatcher by skills: one call for all seats that need a skill, verified, asked again, carried out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.call_forecast import CALL_TRIES, expected_calls, sample_calls, worst_cost
from kitchen.agents.make_situation import make_situation
from kitchen.agents.prompt_rehearsal import RehearsedEpisode
from kitchen.agents.skill_dispatcher.settings import SETTINGS
from kitchen.contract.agent import REASON_TO_ANSWER, Decision, Situation
from kitchen.contract.decision_notes import reading_from_note
from kitchen.contract.language_model import OverloadedError
from kitchen.contract.world import Event, World
from kitchen.contract.world_errors import SettingsError
from kitchen.llm.call_costs import load_prices, max_prompt_tokens
from kitchen.llm.recorded_calls import RecordedCalls
from kitchen.registry.agent_registry import agent_kinds, make_agent, plays_in_real_time
from kitchen.worlds.cuisine.world import CuisineWorld
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.agents.proagent.thinking import MODEL, script
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen

KIND = "skill_dispatcher"
ORDERED, OTHER = "tunaSushi", "salmonSushi"
"""What level 3 with this seed orders first, and what nobody has ordered then."""
PRICES = load_prices()


def start(seats: int = 3, steps: int = 60) -> CuisineWorld:
    game = kitchen(seats=seats, seed=5, max_steps=steps)
    assert [order["dish"] for order in game.observe(0)["orders"]] == [ORDERED]
    return game


def grid(layout: str = "cramped_room", ticks: int = 120, **settings: Any) -> Overcooked:
    return Overcooked.create(seats=2, settings={"layout": layout, "ticks": ticks, **settings})


def decide(situation: Situation, **settings: Any) -> Decision:
    return asyncio.run(make_agent(KIND, {"model": MODEL, **settings}).decide(situation))


def play(game: World, seats: tuple[int, ...], **settings: Any) -> list[Decision]:
    """A whole game in which the other seats do nothing."""
    mind = make_agent(KIND, {"model": "stand-in", **settings})
    memory, events, made = None, tuple[Event, ...](), list[Decision]()
    while not game.over and not game.cut_off:
        made.append(
            asyncio.run(
                mind.decide(make_situation(game, seats, memory=memory, events=events, seed=game.clock))
            )
        )
        memory = made[-1].memory
        events = tuple(game.step({**dict.fromkeys(range(game.seats), game.idle), **made[-1].commands}))
    return made


def plans(**skills: str) -> str:
    return "\n".join(f"Plan for {name}: {skill}" for name, skill in skills.items())


def seats_of(decision: Decision) -> Any:
    note: Any = decision.note
    return note["seats"]


@pytest.mark.parametrize(("layout", "least"), [("cramped_room", 60), ("forced_coordination", 40)])
def test_it_serves_soups_in_the_grids_by_the_stand_in(layout: str, least: int) -> None:
    game = grid(layout)
    made = play(game, (0, 1))
    assert game.score()["points"] >= least
    assert {decision.played_by for decision in made} == {"stand-in"}


def test_it_serves_orders_in_cuisine_by_the_stand_in_the_same_ones_again() -> None:
    first, again = start(), start()
    made = play(first, (0, 1, 2))
    assert first.score()["completed"] >= 2
    assert [one.commands for one in play(again, (0, 1, 2))] == [one.commands for one in made]


def test_it_commands_its_own_seats_beside_somebody_else_and_is_told_what_they_do() -> None:
    seen = replace(make_situation(start(), (1, 2), people=(0,)), commanded={0: ("goto", "pot0")})
    decision = decide(seen, model="stand-in")
    system, question = (message.text for message in decision.calls[0].request.messages)
    assert "You direct agent1 and agent2" in system and "You do not direct agent0" in system
    assert "agent0 does goto(pot0) in this step." in question
    assert question.endswith("Plan one skill for agent1 and agent2.") and set(seats_of(decision)) == {
        "1",
        "2",
    }


def test_one_call_plans_for_all_seats_and_only_those_that_need_a_skill_are_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = plans(agent0="fetch(rice)", agent1="wait(1)", agent2="make(cookedRice)")
    model = script(monkeypatch, said, plans(agent1="fetch(tuna)"))
    game = start()
    first = decide(make_situation(game, (0, 1, 2)))
    assert len(first.calls) == 1 and first.played_by == KIND
    assert first.commands == {0: ("goto", "storage0"), 2: ("goto", "storage0")}
    events = tuple(game.step({**first.commands, 1: game.idle}))
    second = decide(make_situation(game, (0, 1, 2), memory=first.memory, events=events))
    asked = model.said()
    assert asked.endswith("Plan one skill for agent1.") and "agent0 is at fetch(rice)." in asked
    assert seats_of(second)["1"]["at"]["skill"] == "fetch(tuna)" and "tries" not in seats_of(second)["0"]
    assert [message.role for message in model.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert model.requests[1].messages[2].text == said


def test_what_is_refused_is_explained_and_asked_again_and_the_rest_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = plans(agent0=f"serve({OTHER})", agent1="fetch(rice)")
    model = script(monkeypatch, bad, plans(agent0=f"serve({ORDERED})", agent1="fetch(salmon)"))
    decision = decide(make_situation(start(2), (0, 1)))
    assert len(model.requests) == 2
    assert model.said() == (
        f"agent0 cannot do serve({OTHER}) now: nobody has ordered {OTHER}.\n"
        "All other plans stand. Plan again for agent0."
    )
    assert {seat: one["at"]["skill"] for seat, one in seats_of(decision).items()} == {
        "0": f"serve({ORDERED})",
        "1": "fetch(rice)",
    }
    reading = reading_from_note(decision.note, 2)
    assert reading and (reading.commands, reading.unread) == (2, 0)
    assert (reading.invalid_before, reading.invalid) == (1, 0)


@pytest.mark.parametrize("again", [0, 2])
def test_who_has_no_skill_after_the_last_try_waits(monkeypatch: pytest.MonkeyPatch, again: int) -> None:
    model = script(monkeypatch, plans(agent0=f"serve({OTHER})", agent1="fetch(rice)"))
    decision = decide(make_situation(start(2), (0, 1)), again=again)
    assert len(model.requests) == len(decision.calls) == 1 + again
    assert seats_of(decision)["0"]["at"]["skill"] == "wait(1)" and 0 not in decision.commands
    assert decision.commands[1] == ("goto", "storage0")
    reading = reading_from_note(decision.note, 2)
    assert reading and (reading.unread, reading.invalid) == (0, 1)


def test_nonsense_is_asked_again_and_then_all_wait_and_a_seat_that_was_left_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, "I cannot help.", "")
    decision = decide(make_situation(start(2), (0, 1)), again=1)
    assert "No skill could be read for agent0.\nNo skill could be read for agent1." in model.said()
    reading = reading_from_note(decision.note, 2)
    assert reading and reading.how == "none" and decision.commands == {}
    monkeypatch.undo()
    senseless = decide(make_situation(start(2), (0, 1)), model="stand-in", stand_in_nonsense=1.0)
    assert len(senseless.calls) == 3 and reading_from_note(senseless.note, 2) == reading
    script(monkeypatch, plans(agent0="fetch(rice)"))
    part = reading_from_note(decide(make_situation(start(2), (0, 1)), again=0).note, 2)
    assert part and part.how == "part"


def test_a_plan_without_a_name_counts_where_one_seat_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, "fetch(rice)")
    assert decide(make_situation(start(2), (1,))).commands == {1: ("goto", "storage0")}


def test_without_an_answer_the_rule_plans_and_the_log_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, plans(agent1="fetch(rice)"), OverloadedError("no"))
    decision = decide(make_situation(start(2), (0, 1)))
    assert (decision.fallback, decision.played_by) == ("529", "stand-in")
    at = {seat: one["at"]["skill"] for seat, one in seats_of(decision).items()}
    assert at == {"0": f"serve({ORDERED})", "1": "fetch(rice)"}
    waits = decide(make_situation(start(2), (0, 1)), fallback="none")
    assert (waits.played_by, waits.commands) == ("noop", {})


def test_who_answers_somebody_or_is_late_asks_no_model() -> None:
    game = start(2)
    mind = make_agent(KIND, {"model": "stand-in"})
    first = asyncio.run(mind.decide(make_situation(game, (0, 1))))
    events = tuple(game.step({**first.commands, 1: game.idle}))
    seen = make_situation(game, (0, 1), memory=first.memory, events=events)
    late = mind.fall_back(seen, "timeout")
    assert late.commands[0][:2] == ("get", "storage0") and late.calls == ()
    assert asyncio.run(mind.decide(changed(seen, because=REASON_TO_ANSWER))).calls == ()


def test_plans_that_arrive_later_are_taken_up_where_they_were_asked_for_and_still_hold() -> None:
    assert plays_in_real_time(KIND)
    game = start(2)
    mind = make_agent(KIND, {"model": "stand-in"})
    asked = asyncio.run(mind.decide(make_situation(game, (0, 1))))
    game.step(dict.fromkeys((0, 1), game.idle))
    now = mind.arrived(make_situation(game, (0, 1)), asked)
    assert now and now.calls == asked.calls and now.commands == {0: ("goto", "storage0")}
    assert seats_of(now)["0"]["at"] == {"skill": f"serve({ORDERED})", "since": 2, "asked_in": 1}
    assert now.memory["history"] == asked.memory["history"]
    seats = {**seats_of(asked), "0": {"at": seats_of(asked)["0"]["at"]}}
    before = replace(asked, note={"seats": seats})
    unasked = mind.arrived(make_situation(game, (0, 1)), before)
    assert unasked and unasked.memory["seats"]["0"]["plan"] is None
    gone = kitchen(seats=2, seed=5, max_steps=60, level="level_1")
    dropped = mind.arrived(make_situation(gone, (0, 1)), asked)
    assert dropped and seats_of(dropped)["0"]["dropped"] == f"serve({ORDERED})"


def test_a_plan_takes_effect_after_so_many_ticks_where_a_clock_runs() -> None:
    made = play(grid(ticks=6, clock="tick", tick_ms=100), (0, 1), think_ticks=3, wait_moves="still")
    at = [seats_of(decision)["1"]["at"] for decision in made]
    assert at[:3] == [None] * 3 and at[3] == {"skill": "pickup(onion)", "since": 4, "asked_in": 1}
    assert [len(decision.calls) for decision in made[:4]] == [1, 0, 0, 0]


def test_stored_replies_give_the_same_decision_without_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = make_situation(start(2), (0, 1))
    script(monkeypatch, plans(agent0=f"serve({OTHER})"), plans(agent0="fetch(tuna)", agent1="wait(2)"))
    first = decide(seen)
    monkeypatch.undo()
    stored = RecordedCalls(first.calls, lambda then, now: then.messages == now.messages)
    again = decide(changed(seen, answers=stored))
    assert (again.commands, again.memory, again.note) == (first.commands, first.memory, first.note)
    assert len(first.calls) == len(again.calls) == 2 and not list(stored.differences())


def test_people_are_told_what_it_is_at() -> None:
    seen = make_situation(start(2), (1,), people=(0,))
    assert decide(changed(seen, tells=True), model="stand-in").intents == {1: {"do": "wait"}}
    assert decide(seen, model="stand-in").intents == {}


def test_every_part_of_the_prompt_can_be_switched_off_and_errors_of_the_stand_in_are_drawn() -> None:
    def parts(**settings: Any) -> list[str]:
        text = (
            decide(make_situation(start(2), (0, 1)), model="stand-in", **settings)
            .calls[0]
            .request.messages[0]
            .text
        )
        return [line[2:] for line in text.splitlines() if line.startswith("# ")]

    assert parts() == ["Your part", "Rules", "How things are made", "Skills", "Your answer", "Examples"]
    assert parts(rules=False, making=False, examples=0) == ["Your part", "Skills", "Your answer"]
    bare = decide(make_situation(start(2), (0, 1)), model="stand-in", choices=False, analysis=False).calls[0]
    assert "can begin" not in bare.request.messages[-1].text
    assert bare.reply and bare.reply.text.splitlines() == [
        f"Plan for agent0: serve({ORDERED})",
        "Plan for agent1: wait(1)",
    ]
    wrong = [
        decide(make_situation(start(2), (0, 1), seed=n), model="stand-in", stand_in_errors=1.0).note
        for n in (1, 1, 2)
    ]
    assert wrong[0] == wrong[1] != wrong[2]


def test_it_is_there_in_both_worlds_and_plays_only_models_that_there_are() -> None:
    assert KIND in agent_kinds("cuisine") and KIND in agent_kinds("overcooked")
    with pytest.raises(SettingsError, match="no provider"):
        make_agent(KIND, {"model": "nobody:x"})


def test_what_it_will_cost_is_known_before_and_what_it_is_told_can_be_shown() -> None:
    paid = {"model": "anthropic:claude-sonnet-5-5"}
    found = sample_calls(start(), KIND, paid, (1, 2))
    assert {call.provider for call in found.calls} == {"stand-in"}
    assert (found.at_once, found.bounds.repairs, expected_calls(found, steps=10, episodes=1).calls) == (
        1,
        2,
        10,
    )
    told = RehearsedEpisode(start(), [((1, 2), make_agent(KIND, paid))]).asked(0, 5)
    assert told.request and "You direct agent1 and agent2" in told.request.messages[0].text
    assert make_agent(KIND, paid).model() == paid["model"]


@pytest.mark.parametrize(("again", "memory", "longest"), [(2, 4, 300), (0, 0, 64), (5, 20, 64)])
def test_nothing_costs_more_than_the_forecast_says_at_worst(
    monkeypatch: pytest.MonkeyPatch, again: int, memory: int, longest: int
) -> None:
    """In each step as many plans that fail as there may be, with as many words as it may use."""
    provider, _, model = MODEL.partition(":")
    paid = {"model": MODEL, "again": again, "memory": memory, "max_tokens": longest}
    names = {"cuisine": ("agent", f"serve({OTHER})"), "overcooked": ("Player ", "deliver_soup()")}
    for game in (start(2, steps=12), grid("forced_coordination", ticks=12)):
        bound = worst_cost(sample_calls(game, KIND, paid, (0, 1)), PRICES, provider, model)
        who, skill = names[game.kind]
        script(monkeypatch, plans(**{f"{who}{n}": skill for n in (0, 1)}).rjust(2 * longest, "x"))
        game.reset(5)
        calls = [call for decision in play(game, (0, 1), **paid) for call in decision.calls]
        price = PRICES.price(provider, model)
        assert calls and len(calls) >= 3 * (1 + again)
        spent = CALL_TRIES * sum(price.at_worst(max_prompt_tokens(call.request), longest) for call in calls)
        assert spent <= bound


def test_the_help_of_the_temperature_names_the_default_of_this_agent() -> None:
    temperature = next(one for one in SETTINGS if one.name == "temperature")
    assert f"the paper uses {temperature.default}." in temperature.help
