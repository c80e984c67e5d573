"""The loop of ProAgent: foresee, plan a skill, verify, carry out, compare."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.call_forecast import CALL_TRIES, expected_calls, sample_calls, worst_cost
from kitchen.agents.make_situation import make_situation
from kitchen.agents.proagent import skill_planning
from kitchen.agents.prompt_rehearsal import RehearsedEpisode
from kitchen.agents.skill_agents.skill_text import read_plan
from kitchen.contract.agent import Decision
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.decision_notes import PredictionAccuracy, predictions_in, reading_from_note
from kitchen.contract.language_model import OverloadedError
from kitchen.contract.world_errors import SettingsError
from kitchen.llm.call_costs import load_prices, max_prompt_tokens
from kitchen.registry.agent_registry import agent_kinds, can_play, get_skills, make_agent
from kitchen.worlds.cuisine.world import CuisineWorld
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.agents.proagent.thinking import MODEL, Beside, decide, script
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen

ORDERED, OTHER = "tunaSushi", "salmonSushi"
"""What level 3 with this seed orders first, and what nobody has ordered then."""


PRICES = load_prices()


def start() -> CuisineWorld:
    game = kitchen(seats=2, seed=5, max_steps=60)
    assert [order["dish"] for order in game.observe(0)["orders"]] == [ORDERED]
    return game


def sight(game: CuisineWorld, seat: int = 1) -> SeatObservation:
    return SeatObservation.of(make_situation(game, (seat,)), seat)


def plan_in(text: str, seat: int = 1) -> Any:
    game = start()
    return read_plan(text, get_skills("cuisine"), sight(game, seat)).plan


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Plan for agent1: fetch(rice)", ("fetch", "rice")),
        ('PLAN FOR AGENT 1: "Fetch [rice]".', ("fetch", "rice")),
        ("agent_1: pick up the rice, then make(cookedRice)", ("fetch", "rice")),
        ("Analysis: agent1: serve?\nPlan for agent1: make_cooked_rice()", ("make", "cookedRice")),
        ("Plan for agent0: fetch(tuna)\nPlan for agent1: free(pot1)", ("free", "pot1")),
        ("Plan for agent1: wait(4)", ("wait", "4")),
        ("Plan for agent1: wait", ("wait", "1")),
        ("Plan for agent1: wait(900)", ("wait", "20")),
        ("fetch(salmon)", ("fetch", "salmon")),
        ("Plan: serve(tunaSushi)", ("serve", "tunaSushi")),
        ("Plan for agent1: fetch(rice)\nScene 8\nPlan for agent1: fetch(tuna)", ("fetch", "rice")),
        ("Plan for agent1: sing(loudly)", None),
        ("I am sorry,\nbut I cannot help.", None),
        ("", None),
    ],
)
def test_an_answer_is_read_as_it_is_meant(text: str, plan: tuple[str, ...] | None) -> None:
    assert plan_in(text) == plan


def test_a_plan_that_fails_is_explained_by_the_model_and_planned_again_four_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans, why = f"Plan for agent1: serve({OTHER})", "Nobody wants that."
    model = script(monkeypatch, *([plans, why] * 4))
    decision = decide(make_situation(start(), (1,)), memory=3)
    assert len(model.requests) == len(decision.calls) == 8
    assert "agent1 failed at serve(salmonSushi)" in model.said(1) and "assert" in model.said(1)
    assert model.said(2).startswith(why) and "plan again" in model.said(2)
    note: Any = decision.note
    seat = note["seats"]["1"]
    assert [one["failed"] for one in seat["tries"]] == [["not_ordered"]] * 4
    assert {one["explained_by"] for one in seat["tries"]} == {"model"}
    assert seat["at"]["skill"] == "wait(1)" and decision.commands == {}
    assert decision.memory["1"]["dialogue"][-1] == ["user", why]
    reading = reading_from_note(decision.note, 1)
    assert reading and (reading.unread, reading.invalid) == (0, 1)


def test_after_two_decisions_in_vain_the_model_is_asked_once_until_a_plan_can_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = script(monkeypatch, f"Plan for agent1: serve({OTHER})")
    beside = Beside(start(), 1, model=MODEL, explainer="model")
    for _ in range(3):
        beside.step()
    model.answers = [f"Plan for agent1: serve({ORDERED})"]
    beside.step()
    assert [len(each.calls) for each in beside.decisions] == [8, 8, 1, 1]
    notes: list[Any] = [each.note for each in beside.decisions]
    assert [each["seats"]["1"].get("asked_once_after") for each in notes] == [None, None, 2, 2]
    memory: Any = beside.memory
    assert beside.decisions[-1].commands and "vain" not in memory["1"]


@pytest.mark.parametrize(
    ("explainer", "said"), [("rule", "nobody has ordered salmonSushi"), ("none", "failed at")]
)
def test_without_a_model_that_explains_no_second_call_is_made(
    monkeypatch: pytest.MonkeyPatch, explainer: str, said: str
) -> None:
    model = script(monkeypatch, f"Plan for agent1: serve({OTHER})", f"Plan for agent1: serve({ORDERED})")
    decision = decide(make_situation(start(), (1,)), explainer=explainer)
    assert len(model.requests) == 2 and said in model.said()
    assert decision.commands == {1: ("goto", "storage0")} and decision.played_by == "proagent"


def test_a_skill_lasts_until_it_is_done_and_is_one_call() -> None:
    beside = Beside(start(), seat=0)
    calls = [len(beside.step().calls) for _ in range(12)]
    assert calls[0] == 1 and sum(calls) == 1
    assert {decision.note["seats"]["0"]["at"]["skill"] for decision in beside.decisions} == {
        f"serve({ORDERED})"
    }
    while not (beside.decisions[-1].calls and beside.game.clock > 12):
        beside.step()
    assert beside.note()["ended"] == {"skill": f"serve({ORDERED})", "status": "success", "since": 1}
    assert beside.game.score()["completed"] == 1


def test_what_it_foresaw_is_compared_with_what_is_finished_next() -> None:
    """The rule foresees that agent0 serves what is ordered: fetching its rice is on the way there, fetching
    something else is not."""
    for item, right in (("rice", []), ("salmon", [False])):
        beside = Beside(start(), level="aip")
        for command in (("goto", "storage0"), ("get", "storage0", item), ("noop",)):
            beside.step(command)
        told = predictions_in(decision.note for decision in beside.decisions)
        assert told[0].predicted == ("serve", ORDERED) and (told[0].by, told[0].of, told[0].step) == (1, 0, 1)
        assert [one.right for one in told if one.right is not None][: len(right)] == right
        assert PredictionAccuracy.of(told).judged == (2 if right else 0)
    assert beside.note()["judged"] == 2 and beside.note()["right"] == 0


@pytest.mark.parametrize(
    ("belief", "held", "absent"),
    [
        ("annotate", ["serve(tunaSushi) (that was wrong: it did fetch(salmon) instead)"], []),
        ("replace", ["step 1, agent0: fetch(salmon)"], ["step 1, agent0: serve(tunaSushi)"]),
        ("off", [], ["What you foresaw", "What was really done"]),
    ],
)
def test_what_was_wrong_is_corrected_in_the_next_prompt(
    belief: str, held: list[str], absent: list[str]
) -> None:
    beside = Beside(start(), level="aip", belief=belief)
    for command in (("goto", "storage0"), ("get", "storage0", "salmon"), ("noop",)):
        beside.step(command)
    prompt = beside.decisions[-1].calls[0].request.messages[-1].text
    assert all(line in prompt for line in held) and not any(line in prompt for line in absent)


@pytest.mark.parametrize(("level", "lines"), [("p", 1), ("ap", 2), ("aip", 3)])
def test_each_level_asks_for_its_lines(level: str, lines: int) -> None:
    call = decide(make_situation(start(), (1,)), model="stand-in", level=level).calls[0]
    assert call.reply and len(call.reply.text.splitlines()) == lines
    form = call.request.messages[0].text.partition("# Your answer")[2].partition("# Examples")[0]
    assert len(form.strip().splitlines()) == 1 + lines


def test_every_part_of_the_prompt_can_be_switched_off() -> None:
    def parts(**settings: Any) -> list[str]:
        text = (
            decide(make_situation(start(), (1,)), model="stand-in", **settings)
            .calls[0]
            .request.messages[0]
            .text
        )
        return [line[2:] for line in text.splitlines() if line.startswith("# ")]

    assert parts() == ["Your part", "Rules", "How things are made", "Skills", "Your answer", "Examples"]
    bare = parts(rules=False, making=False, examples=0, remarks=False)
    assert bare == ["Your part", "Skills", "Your answer"]
    fixed = (
        decide(make_situation(start(), (1,)), model="stand-in", waits="never")
        .calls[0]
        .request.messages[0]
        .text
    )
    assert "wait(n)" not in fixed


def test_memory_is_recalled_where_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, f"Plan for agent1: serve({OTHER})", "No.", "Plan for agent1: fetch(rice)")
    first = decide(make_situation(start(), (1,)), memory=4)
    assert [len(call.request.messages) for call in first.calls] == [2, 2, 2 + 4]
    held = script(monkeypatch, "Plan for agent1: wait(1)")
    again = replace(make_situation(start(), (1,)), memory=_idle(first))
    decide(again, memory=4)
    assert len(held.requests[-1].messages) == 2
    decide(again, memory=4, recall="always")
    assert held.requests[-1].messages[1].role == "user" and len(held.requests[-1].messages) in (6, 7)


def _idle(decision: Decision) -> Any:
    return {"1": {**decision.memory["1"], "plan": None}}


def test_without_an_answer_the_rule_plans_and_the_log_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, OverloadedError("no"))
    decision = decide(make_situation(start(), (0,)))
    assert (decision.fallback, decision.played_by) == ("529", "stand-in")
    assert decision.note["seats"]["0"]["at"]["skill"] == f"serve({ORDERED})"
    waits = decide(make_situation(start(), (0,)), fallback="none")
    assert (waits.played_by, waits.commands) == ("noop", {})


def test_who_is_late_goes_on_with_the_skill_at_hand() -> None:
    beside = Beside(start(), seat=0)
    beside.step()
    late = make_agent("proagent", beside.settings).fall_back(beside.seen(), "timeout")
    assert late.commands[0][:2] == ("get", "storage0")
    assert late.memory["0"]["plan"] == beside.memory["0"]["plan"] and late.calls == ()


def test_a_plan_that_arrives_later_is_taken_up_if_it_still_holds() -> None:
    beside = Beside(start(), seat=0)
    mind = make_agent("proagent", beside.settings)
    asked = beside.seen()
    decision = asyncio.run(mind.decide(asked))
    beside.game.step({})
    now = replace(beside.seen(), memory=None)
    taken = mind.arrived(now, decision)
    assert taken and taken.commands == {0: ("goto", "storage0")} and taken.memory["0"]["plan"]["since"] == 1
    gone = kitchen(seats=2, seed=5, max_steps=60, level="level_1")
    other = mind.arrived(replace(make_situation(gone, (0,)), memory=None), decision)
    assert other and other.memory["0"]["plan"] is None
    assert other.note["seats"]["0"]["dropped"] == f"serve({ORDERED})"


def test_the_same_situation_gives_the_same_errors_of_the_stand_in() -> None:
    wrong = [
        decide(make_situation(start(), (1,), seed=n), model="stand-in", stand_in_errors=1.0)
        for n in (1, 1, 2, 3, 4)
    ]
    skills = [decision.note["seats"]["1"]["tries"][0]["skill"] for decision in wrong]
    assert skills[0] == skills[1] and len(set(skills)) > 1 and "wait(1)" not in skills
    senseless = decide(make_situation(start(), (1,)), model="stand-in", stand_in_nonsense=1.0)
    reading = reading_from_note(senseless.note, 1)
    assert reading and reading.how == "none" and senseless.note["seats"]["1"]["at"]["skill"] == "wait(1)"


def test_people_are_told_what_it_is_at_and_what_it_expects_of_them_where_that_is_set() -> None:
    seen = changed(make_situation(start(), (1,), people=(0,)), tells=True)
    told = decide(seen, model="stand-in", level="aip").intents
    assert told == {1: {"do": "wait"}}
    more = decide(seen, model="stand-in", level="aip", tell_foreseen=True).intents[1]
    assert more == {"do": "wait", "of": "0", "foresees": "serve", "what": ORDERED}
    assert decide(changed(seen, tells=False), model="stand-in", level="aip").intents == {}


def test_it_plays_only_worlds_with_skills_and_models_that_there_are() -> None:
    assert "proagent" in agent_kinds("cuisine")
    assert can_play(type(make_agent("proagent", {})), "cuisine")
    with pytest.raises(SettingsError, match="no provider"):
        make_agent("proagent", {"model": "nobody:x"})


@pytest.mark.parametrize(
    ("explainer", "recall", "memory", "longest", "steps"),
    [("model", "always", 4, 300, 20), ("rule", "replans", 0, 64, 20), ("rule", "replans", 20, 64, 1)],
)
def test_nothing_costs_more_than_the_forecast_says_at_worst(
    monkeypatch: pytest.MonkeyPatch, explainer: str, recall: str, memory: int, longest: int, steps: int
) -> None:
    """Each step four plans that fail, with as many words as it may use, and all that it foresaw is wrong."""
    provider, _, model = MODEL.partition(":")
    monkeypatch.setattr(skill_planning, "BRAKE_AFTER", steps)  # with the brake it costs less
    chosen = {"explainer": explainer, "recall": recall, "memory": memory, "max_tokens": longest}
    grid = Overcooked.create(seats=2, settings={"layout": "forced_coordination", "ticks": steps})
    for mate_is, game, me, other, skill in [
        ("grid_planner", grid, "Player 1", "Player 0", "deliver_soup()"),
        ("planner", kitchen(seats=2, seed=5, max_steps=steps), "agent1", "agent0", f"serve({OTHER})"),
    ]:
        paid = {"model": MODEL, **chosen}
        bound = worst_cost(sample_calls(game, "proagent", paid, (1,)), PRICES, provider, model)
        plan = f"Intention of {other}: {skill}\nPlan for {me}: {skill}\n".rjust(2 * longest, "x")
        whys = ["because ".ljust(2 * longest, "x")] if explainer == "model" else []
        script(monkeypatch, *[plan, *whys] * 400)
        game.reset(5)
        beside, mate, memory_of_mate = Beside(game, 1, **paid), make_agent(mate_is, {}), None
        while not game.over and not game.cut_off:
            made = asyncio.run(
                mate.decide(make_situation(game, (0,), memory=memory_of_mate, seed=game.clock))
            )
            memory_of_mate = made.memory
            beside.step(made.commands.get(0, game.idle))
        calls = [call for decision in beside.decisions for call in decision.calls]
        assert len(calls) == 4 * (1 + len(whys)) * len(beside.decisions)
        price = PRICES.price(provider, model)
        spent = CALL_TRIES * sum(price.at_worst(max_prompt_tokens(call.request), longest) for call in calls)
        assert spent <= bound


def test_what_it_will_cost_is_known_before_and_what_it_is_told_can_be_shown() -> None:
    """At worst four plans in every step, and each of them explained."""
    paid = {"model": "anthropic:claude-sonnet-5-5"}
    found = sample_calls(kitchen(seats=2), "proagent", paid, (1,))
    assert {call.provider for call in found.calls} == {"stand-in"} and len(found.calls) == 2
    cheaper = sample_calls(kitchen(seats=2), "proagent", {**paid, "explainer": "rule"}, (1,))
    assert (found.bounds.repairs, cheaper.bounds.repairs) == (7, 3)
    both = sample_calls(kitchen(seats=3), "proagent", paid, (1, 2))
    assert (both.at_once, expected_calls(both, steps=10, episodes=1).calls) == (2, 20)
    assert worst_cost(found, PRICES, "anthropic", "claude-sonnet-5-5") > 0
    told = RehearsedEpisode(start(), [((1,), make_agent("proagent", paid))]).asked(0, 1)
    assert told.request and "You are agent1" in told.request.messages[0].text
    assert told.request.messages[-1].text.startswith("Scene 1")
    mind = make_agent("proagent", paid)
    assert mind.model() == paid["model"]
    assert mind.fixed_messages(make_situation(start(), (1,)))[0].startswith("# Your part")
