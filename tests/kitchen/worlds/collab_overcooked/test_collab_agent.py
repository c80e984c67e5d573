"""The agent `collab`: prompts with the recipe for the chef alone, answers in three forms, one correction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.agent import REASON_TO_ANSWER, Decision, DecisionRequest, Situation, TeamTalk
from kitchen.contract.language_model import LanguageModel, OverloadedError, Reply, Request
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event
from kitchen.worlds.collab_overcooked.collab_agent import agent as agent_module
from kitchen.worlds.collab_overcooked.collab_agent.agent import CollabAgent
from kitchen.worlds.collab_overcooked.collab_agent.turn_reply import UnreadableTurnError, read_turn_reply
from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner
from tests.kitchen.worlds.collab_overcooked.games import agents_game, agents_loop, command, game, play

ORGANISATION = make_organisation(
    "pair", (Member(0, (0,), False), Member(1, (1,), False)), seats=2, settings={"within": True}
)
FETCH, PLACE = "pickup pumpkin ingredient_dispenser", "place_obj_on_counter"


class Scripted(LanguageModel):
    """A model that gives these answers in turn."""

    provider = "openai"

    def __init__(self, *answers: Any) -> None:
        self.answers, self.requests = list(answers), list[Request]()

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer) if isinstance(answer, str) else Reply("", answer)


def turn(
    plan: Sequence[str], requests: Sequence[str] = (), say: str = "", analysis: str = "I see."
) -> dict[str, Any]:
    return {"analysis": analysis, "plan": list(plan), "requests": list(requests), "say": say}


def situation(seat: int, messages: tuple[TeamMessage, ...] = (), **more: Any) -> Situation:
    world = game("baked_pumpkin_soup")
    told = Situation(
        world=world.kind,
        step=0,
        seats=(seat,),
        briefs={seat: world.brief(seat)},
        observations={seat: world.observe(seat)},
        legal={seat: world.legal_actions(seat)},
        talk=TeamTalk(ORGANISATION, seat, messages),
    )
    return replace(told, **more)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(*answers: Any) -> tuple[CollabAgent, Scripted]:
        model = Scripted(*answers)
        monkeypatch.setattr(agent_module, "open_model", lambda *given: model)
        return CollabAgent({"model": "openai:small"}), model

    return use


def test_the_prompt_of_the_chef_has_the_recipe_and_that_of_the_assistant_no_word_of_it() -> None:
    agent = CollabAgent({"model": "stand-in"})
    (chef,), (assistant,) = (agent.fixed_messages(situation(seat)) for seat in (0, 1))
    assert "Recipe:\n- Cut on the chopping board: pumpkin\n- Bake in the oven: pumpkin slices" in chef
    assert "Recipe:" not in assistant and "You do not have the recipe." in assistant
    assert "pumpkin slices" not in assistant


def test_a_turn_becomes_a_command_a_plan_and_a_message_with_its_requests(asked: Any) -> None:
    agent, model = asked(turn(["wait 2", "wait 1"], [FETCH, PLACE, "cook pot0", "fly"], "Please help. END"))
    made = asyncio.run(agent.decide(situation(0)))
    assert made.commands == {0: ("wait", "2")} and made.plans == {0: [("wait", "1")]}
    (said,) = made.says
    assert (said.kind, said.text) == ("end", "Please help. END")
    assert said.data["requests"] == [FETCH.split(), [PLACE]], "only what the assistant could ever do"
    assert model.requests[0].tool and len(made.calls) == 1


def test_one_correction_is_asked_for_and_a_lesson_is_kept(asked: Any) -> None:
    agent, model = asked(turn([PLACE]), turn([FETCH, PLACE]), "Take something first.")
    made = asyncio.run(agent.decide(situation(1)))
    assert made.commands == {1: command(FETCH)}
    assert made.note["process"] == {"format_errors": 0, "failed_checks": ["hands_empty"], "helped": 1}
    assert made.memory["lessons"] == ["Take something first."]
    assert "cannot begin now: the cook's hands are empty" in model.requests[1].messages[1].text
    agent, model = asked(turn([FETCH]))
    asyncio.run(agent.decide(situation(1, step=1, memory=made.memory)))
    assert "Lesson: Take something first." in model.requests[0].messages[1].text


def test_a_correction_without_a_lesson_is_logged_with_none(asked: Any) -> None:
    agent, _ = asked(turn([PLACE]), turn([FETCH]), OverloadedError("busy"))
    made = asyncio.run(agent.decide(situation(1, memory={"lessons": ["An older one."]})))
    assert made.note["correction"]["lesson"] == "" and made.memory["lessons"] == ["An older one."]


def test_the_prompt_says_what_lies_on_the_counters_of_each_room(asked: Any) -> None:
    world, (agent, model) = game("boiled_egg"), asked(turn(["wait 1"]))
    world.counters = ["egg", "dish", *world.counters[2:]]
    asyncio.run(agent.decide(situation(1, observations={1: world.observe(1)})))
    said = model.requests[0].messages[1].text
    lines = [line for line in said.splitlines() if line.startswith("Shared counters")]
    on = {tuple(each["at"]): each["thing"] for each in world.observe(1)["counters"]}
    assert on == {(1, 0): "egg", (2, 1): "dish"}
    assert lines == ["Shared counters: dish. Counters of the chef: empty. Counters of the assistant: egg."]


def test_a_correction_says_nothing_and_a_lesson_is_short(asked: Any) -> None:
    for settings, lessons in (({}, [" ".join(["word"] * 50)]), ({"reflection": False}, [])):
        _, model = asked(turn([PLACE]), turn([FETCH], [PLACE], "But why?"), "word " * 60)
        made = asyncio.run(CollabAgent({"model": "openai:small", **settings}).decide(situation(1)))
        assert (made.commands, made.says) == ({1: command(FETCH)}, ())
        assert made.memory["lessons"] == lessons and len(model.requests) == 2 + len(lessons)


def test_the_last_four_actions_and_three_lessons_are_shown(asked: Any) -> None:
    world = game("boiled_egg")
    play(world, 1, *(FETCH, PLACE) * 2, "pickup dish dish_dispenser")
    agent, model = asked(turn(["wait 1"]))
    asyncio.run(
        agent.decide(
            situation(
                1, observations={1: world.observe(1)}, memory={"lessons": ["one", "two", "three", "four"]}
            )
        )
    )
    told = model.requests[0].messages[1].text
    assert f"Your last actions: {PLACE}; {FETCH}; {PLACE}; pickup dish dish_dispenser." in told
    assert "Lesson: one" not in told and "Lesson: two\nLesson: three\nLesson: four" in told


def test_without_a_correction_that_passes_it_waits_a_step(asked: Any) -> None:
    agent, _ = asked(turn([PLACE]), turn(["pickup egg counter"]))
    made = asyncio.run(agent.decide(situation(1)))
    assert made.commands == {1: ("wait", "1")}
    assert made.note["process"]["failed_checks"] == ["hands_empty", "not_there"]


def test_an_unreadable_answer_is_repaired_once(asked: Any) -> None:
    agent, model = asked("Hello!", f"Analysis: I fetch it.\nPlan:\n1. {FETCH}\n2. {PLACE}\nRequests:\nSay:")
    made = asyncio.run(agent.decide(situation(1)))
    assert made.commands == {1: command(FETCH)} and made.note["process"]["format_errors"] == 1
    assert "`analysis` is missing" in model.requests[1].messages[-1].text
    agent, _ = asked("Hello!", "Hello!")
    made = asyncio.run(agent.decide(situation(1)))
    assert (made.commands, made.note["process"]["format_errors"]) == ({1: ("wait", "1")}, 2)


def test_a_model_that_fails_makes_it_wait_and_the_log_says_so(asked: Any) -> None:
    agent, _ = asked(OverloadedError("busy"))
    made = asyncio.run(agent.decide(situation(1)))
    assert (made.commands, made.fallback) == ({1: ("wait", "1")}, "529")


def test_the_first_plan_of_the_responder_counts_and_the_last_of_the_opener(asked: Any) -> None:
    opened = TeamMessage(1, 1, 0, (1,), "say", "Please.", {"requests": [FETCH.split()]})
    agent, model = asked(turn([FETCH], say="Yes."), turn(["wait 1"]))
    first = asyncio.run(agent.decide(situation(1, messages=(opened,))))
    assert (
        "Teammate: Please. [requests: pickup pumpkin ingredient_dispenser]"
        in model.requests[0].messages[1].text
    )
    news = TeamMessage(3, 1, 0, (1,), "say", "Please!", is_new=True)
    again = asyncio.run(agent.decide(situation(1, messages=(opened, news), memory=first.memory)))
    assert again.commands == {1: command(FETCH)}
    agent, _ = asked(turn(["wait 1"], say="Please."), turn([FETCH]))
    first = asyncio.run(agent.decide(situation(1)))
    mine = TeamMessage(1, 1, 1, (0,), "say", "Please.")
    yes = TeamMessage(2, 1, 0, (1,), "say", "Yes.", is_new=True)
    again = asyncio.run(agent.decide(situation(1, messages=(mine, yes), memory=first.memory)))
    assert again.commands == {1: command(FETCH)}


def test_a_model_that_has_answered_in_a_step_is_called_again_for_news_only(asked: Any) -> None:
    opened = TeamMessage(1, 1, 0, (1,), "say", "Please.", is_new=True)
    told = situation(1, messages=(opened,))
    agent, _ = asked(turn([PLACE], say="Yes."), turn([FETCH]), "Take it first.")
    answer = asyncio.run(agent.decide(replace(told, request=DecisionRequest(because=REASON_TO_ANSWER))))
    heard = replace(told, talk=TeamTalk(ORGANISATION, 1, (replace(opened, is_new=False),)))
    made = asyncio.run(agent.decide(replace(heard, memory=answer.memory)))
    assert made.commands == {1: command(FETCH)} and made.says == (), "the plan is checked now"
    assert [len(each.calls) for each in (answer, made)] == [1, 2]
    agent, _ = asked(OverloadedError("busy"), turn([FETCH]))
    failed = asyncio.run(agent.decide(told))
    assert asyncio.run(agent.decide(replace(heard, memory=failed.memory))).commands == {1: command(FETCH)}


def test_a_plan_of_a_turn_without_words_is_taken_and_only_a_wait_gives_way(asked: Any) -> None:
    news = TeamMessage(1, 1, 0, (1,), "say", "Please.", is_new=True)
    for silent, then in (([FETCH], command(FETCH)), (["wait 2"], ("pickup", "dish", "dish_dispenser"))):
        agent, _ = asked(turn(silent), turn([], say="Yes?"), turn(["pickup dish dish_dispenser"]))
        memory = asyncio.run(agent.decide(situation(1))).memory
        for _ in range(2):
            made = asyncio.run(agent.decide(situation(1, messages=(news,), memory=memory)))
            memory = made.memory
        assert made.commands == {1: then}


def test_it_is_told_both_queues_and_what_went_wrong(asked: Any) -> None:
    agent, model = asked(turn([FETCH]))
    events = (
        Event("destroyed", None, {"utensil": "blender0", "contents": ["egg", "corn_slices"]}),
        Event("gone", 1, {"macro": ["pickup", "egg", "counter"]}),
        Event("gone", 0, {"macro": ["pickup", "dish", "counter"]}),
        Event("refused", 1, {"command": ["cut", "blender0"], "reasons": ["wrong_utensil"]}),
        Event("plan_broken", 1, {"why": "illegal", "left": [[PLACE]], "planned_in": 1}),
    )
    plans = {0: [("cook", "pot0"), ("wait", "2")], 1: [(PLACE,)]}
    asyncio.run(agent.decide(situation(1, events=events, plans=plans)))
    told = model.requests[0].messages[1].text
    assert "The chef holds nothing, then planned: cook pot0; wait 2." in told
    assert f"The assistant (you) holds nothing, then planned: {PLACE}." in told
    assert "blender0: the contents (egg, corn slices) made nothing and are lost." in told
    assert "Your action `pickup egg counter` ended: what it needed is gone." in told and "dish" not in told
    assert "Your action `cut blender0` did not begin: this action belongs to another utensil." in told
    assert f"`{PLACE}` did not begin: the cook's hands are empty. Your plan has ended." in told


def test_the_queue_of_the_other_seat_reaches_it_in_play() -> None:
    seen: dict[int, Situation] = {}

    class Looks(RecipePartner):
        async def decide(self, situation: Situation) -> Decision:
            seen[situation.step] = situation
            plans = {0: [("wait", "1")] * 3} if situation.seats == (0,) else {}
            return Decision({situation.seats[0]: ("wait", "1")}, plans=plans)

    loop = agents_loop("boiled_egg", Looks({}))
    for _ in range(2):
        loop.take(loop.step_of(asyncio.run(loop.ask(dict.fromkeys((0, 1), Looks({}))))))
    assert seen[0].plans == {} and seen[1].plans == {0: (("wait", "1"),) * 2}
    assert seen[1].seats == (1,)


@pytest.mark.parametrize("nothing", ["", '""', "none", "**Nothing.**", "N/A"])
def test_markdown_headings_and_words_for_nothing_are_read(nothing: str) -> None:
    text = f"**Analysis:** I see.\n**Plan:** {FETCH}\n## Requests: {nothing}\n**Say:** {nothing}"
    read = read_turn_reply(Reply(text))
    assert (read.analysis, read.plan, read.requests, read.say) == ("I see.", (command(FETCH),), (), "")


@pytest.mark.parametrize("plan", [None, 5, True])
def test_a_plan_that_is_neither_text_nor_a_list_is_missing(plan: object) -> None:
    with pytest.raises(UnreadableTurnError, match="`plan` is missing"):
        read_turn_reply(Reply(json.dumps({"analysis": "I see.", "plan": plan})))


@pytest.mark.parametrize("analysis", [None, 5, [], " "])
def test_an_analysis_that_is_no_text_is_missing(analysis: object) -> None:
    with pytest.raises(UnreadableTurnError, match="`analysis` is missing"):
        read_turn_reply(Reply(json.dumps({"analysis": analysis, "plan": []})))


def test_words_for_nothing_in_a_structured_answer_are_no_action() -> None:
    text = json.dumps({"analysis": "I see.", "plan": ["none"], "requests": ["N/A", PLACE], "say": ""})
    read = read_turn_reply(Reply(text))
    assert (read.plan, read.requests) == ((), ((PLACE,),))


def test_a_plan_ends_before_an_action_that_the_seat_can_never_do(asked: Any) -> None:
    for wrong in ("wait ²", "wait 99", "fly home", "cook pot0", "wait " + "9" * 5000):
        agent, _ = asked(turn([FETCH, PLACE, wrong, "wait 2"]))
        made = asyncio.run(agent.decide(situation(1)))
        assert (made.commands, made.plans) == ({1: command(FETCH)}, {1: [command(PLACE)]})


def test_two_unreadable_answers_are_a_fallback(asked: Any) -> None:
    agent, _ = asked("Hm.", "Hm?")
    made = asyncio.run(agent.decide(situation(1)))
    assert (made.commands, made.fallback) == ({1: ("wait", "1")}, "unreadable")


def test_without_the_structured_form_it_is_asked_for_lines(asked: Any) -> None:
    agent, model = asked(f"Analysis: I see.\nPlan:\n{FETCH}\nrequest('cook(pot0)')\nRequests:\nSay: Now.")
    agent = CollabAgent({"model": "openai:small", "structured": False})
    made = asyncio.run(agent.decide(situation(1)))
    assert made.commands == {1: command(FETCH)} and made.plans == {}
    assert made.says[0].data["requests"] == [["cook", "pot0"]], "as the paper writes it"
    (asked_for,) = model.requests
    assert asked_for.tool is None and "one action on each line" in asked_for.messages[0].text


def test_who_knows_the_recipe_is_told_to_direct() -> None:
    agent, world = CollabAgent({"model": "openai:small"}), game("boiled_egg", knowledge="assistant")
    told = [agent.fixed_messages(situation(seat, briefs={seat: world.brief(seat)}))[0] for seat in (0, 1)]
    assert "You depend on the assistant" in told[0] and "Ask the chef for what you need" in told[1]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(turn([FETCH, f"- {PLACE}()"])),
        f"```json\n{json.dumps(turn([FETCH, PLACE]))}\n```",
        f"**Analysis**: I see.\nPlan: {FETCH}\n* {PLACE}\nSay: nothing",
        json.dumps({"analysis": "I see.", "plan": f"{FETCH}; {PLACE}"}),
    ],
)
def test_answers_are_read_in_several_forms(text: str) -> None:
    assert read_turn_reply(Reply(text)).plan == (command(FETCH), (PLACE,))


@pytest.mark.parametrize(
    "text", ["", "{}", '{"plan": []}', '{"analysis": " ", "plan": []}', "[" * 9999, "Plan: a"]
)
def test_an_answer_without_analysis_or_plan_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableTurnError):
        read_turn_reply(Reply(text))


def test_the_stand_in_model_plays_through_the_same_path() -> None:
    world, log = agents_game("baked_pumpkin_soup", CollabAgent({"model": "stand-in"}))
    measured = LOG_MEASURES.measure(log)
    assert world.delivered and world.score()["progress_completeness"] == 1
    assert measured["initiating_capability"] == measured["responding_capability"] == 1
    quiet = CollabAgent({"model": "stand-in", "stand_in_nonsense": 1.0})
    world, log = agents_game("boiled_egg", quiet)
    assert not world.delivered and LOG_MEASURES.measure(log)["format_errors_chef"] > 0
