"""The worked examples of IC and RC, and the process counts, from logs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import EVERYBODY, Decision, Situation
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, LoggedStep
from kitchen.contract.organisation import END, Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event
from kitchen.worlds.collab_overcooked.collab_agent.agent import CollabAgent
from kitchen.worlds.collab_overcooked.collaboration_events import (
    EVENT_COLUMNS,
    CollaborationEvent,
    collaboration_events,
)
from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner
from tests.kitchen.worlds.collab_overcooked.games import agents_loop, command, play_on

CHEF, ASSISTANT = 0, 1
MEMBERS = (Member(CHEF, (0,), True), Member(ASSISTANT, (1,), True))
ORGANISATION = make_organisation("pair", MEMBERS, seats=2)
PEPPER = ("pickup bell_pepper ingredient_dispenser", "place_obj_on_counter")
PUT, CUT = "put_obj_in_utensil chopping_board0", "cut chopping_board0"


def message(step: int, sender: int, text: str = "Hello", **data: tuple[str, ...]) -> TeamMessage:
    macros = {name: [list(command(one)) for one in given] for name, given in data.items()}
    return TeamMessage(1, step, sender, (1 - sender,), "say", text, macros)


def done(number: int, *macros: str, seat: int = ASSISTANT) -> LoggedStep:
    events = tuple(Event("done", seat, {"macro": list(command(one))}) for one in macros)
    return LoggedStep(number, (), events, {})


def log(
    task: str, steps: tuple[LoggedStep, ...], *messages: TeamMessage, decisions: Any = (), **settings: str
) -> EpisodeLog:
    return EpisodeLog(
        "collab_overcooked", {"task": task, **settings}, 2, 0, steps, messages, decisions, ORGANISATION
    )


def event(task: str, history: tuple[str, ...], **data: tuple[str, ...]) -> CollaborationEvent:
    asked = message(2, CHEF, requests=data["requests"])
    answered = message(2, ASSISTANT, plan=data["plan"])
    (found,) = collaboration_events(log(task, (done(1, *history),), asked, answered))
    return found


def test_a_request_and_the_same_plan_at_the_start_are_both_right() -> None:
    found = event("baked_bell_pepper", (), requests=PEPPER, plan=PEPPER)
    assert (found.request_gain, found.response_gain, found.code) == (1, 1, 0)


def test_a_repeated_request_is_wrong() -> None:
    found = event("baked_bell_pepper", PEPPER, requests=PEPPER[:1], plan=("wait 1",))
    assert found.request_gain == pytest.approx(-0.191715, abs=1e-6)
    assert (found.response, found.code) == ((), 3)


def test_a_premature_request_is_wrong_and_the_whole_one_is_right() -> None:
    taken = ("pickup potato ingredient_dispenser",)
    early = event("baked_potato_slices", taken, requests=(CUT,), plan=(PUT, CUT))
    whole = event("baked_potato_slices", taken, requests=(PUT, CUT), plan=(CUT,))
    assert (early.code, whole.code) == (2, 1)
    assert early.request_gain == pytest.approx(-0.042747, abs=1e-6)
    assert whole.request_gain == pytest.approx(0.418191, abs=1e-6)


def test_words_without_a_request_are_an_event_that_counts_as_wrong() -> None:
    said = message(1, CHEF, "pickup bell_pepper ingredient_dispenser, please!")
    measured = LOG_MEASURES.measure(log("baked_bell_pepper", (), said))
    assert (measured["initiating_capability"], measured["requests_wrong"]) == (0, 1)


def test_only_known_macros_of_the_responder_count_in_all_messages_of_the_opener() -> None:
    odd = ("fly", "wait 2", "cook pot0", "pickup egg counter please", "deliver")
    first = message(1, CHEF, requests=(*odd, PEPPER[0]))
    second, answer = message(1, CHEF, requests=PEPPER[1:]), message(1, ASSISTANT, requests=("cook pot0",))
    (found,) = collaboration_events(log("baked_bell_pepper", (), first, answer, second))
    assert found.requests == tuple(map(command, PEPPER)) and found.request_right


def test_the_first_answer_with_a_macro_counts_as_the_response() -> None:
    answers = [message(1, ASSISTANT, plan=plan) for plan in (("wait 2",), PEPPER, ("cut chopping_board0",))]
    (found,) = collaboration_events(log("baked_bell_pepper", (), message(1, CHEF), *answers))
    assert found.response == tuple(map(command, PEPPER)) and found.code == 2


def test_malformed_data_of_a_message_is_no_request() -> None:
    for data in ({"requests": "all"}, {"requests": [1, [], ["cut", 2], "cut"]}, {"plan": {"a": 1}}):
        said = TeamMessage(1, 1, CHEF, (ASSISTANT,), "say", "Hello", data)
        (found,) = collaboration_events(log("baked_bell_pepper", (), said))
        assert found.requests == () and found.code == 3


def given(number: int, macro: str, planned_in: int | None = None, by: str = "person") -> LoggedCommand:
    return LoggedCommand(ASSISTANT, command(macro), by, planned_in)


def test_without_a_stated_plan_the_commands_of_this_step_are_the_response() -> None:
    dropped = {"why": "illegal", "left": [["place_obj_on_counter"]], "planned_in": 1}
    broken = Event("plan_broken", ASSISTANT, dropped)
    steps = (
        LoggedStep(1, (given(1, PEPPER[0]),), (), {}),
        LoggedStep(2, (given(2, "go_on", by="world"),), (broken,), {}),
        LoggedStep(3, (given(3, "cut chopping_board0"),), (), {}),
    )
    (found,) = collaboration_events(log("baked_bell_pepper", steps, message(1, CHEF, requests=PEPPER)))
    assert found.response == tuple(map(command, PEPPER)) and found.code == 0
    planned = (steps[0], LoggedStep(2, (given(2, PEPPER[1], planned_in=1),), (), {}))
    (found,) = collaboration_events(log("baked_bell_pepper", planned, message(1, CHEF, requests=PEPPER)))
    assert found.response_right


@pytest.mark.parametrize("busy", [given(1, "go_on", by="world"), given(1, PEPPER[1], planned_in=0)])
def test_a_busy_cook_that_had_no_turn_is_left_out_of_rc_but_not_of_ic(busy: LoggedCommand) -> None:
    asked, step = message(1, CHEF, requests=PEPPER), LoggedStep(1, (busy,), (), {})
    episode = log("baked_bell_pepper", (step,), asked)
    (found,) = collaboration_events(episode)
    scored = found.scored()
    assert scored.values["request_right"] and scored.values["response_right"] is scored.values["code"] is None
    assert scored.result == "the request right, no turn to answer"
    assert "no turn" in scored.explanation[-1] and len(scored.explanation) == 3
    measured = LOG_MEASURES.measure(episode)
    assert measured["initiating_capability"] == 1 and measured["responding_capability"] is None
    assert measured["responses_wrong"] == measured["responses_right"] == 0

    answered = log("baked_bell_pepper", (step,), asked, message(1, ASSISTANT, "later"))
    decided = LoggedDecision(1, ASSISTANT, "answer", "collab", "", 1.0)
    replanned = LoggedStep(2, (given(2, PEPPER[0], planned_in=1),), (), {})
    for had_turn in (
        answered,
        log("baked_bell_pepper", (step,), asked, decisions=(decided,)),
        log("baked_bell_pepper", (step, replanned), asked),
    ):
        (found,) = collaboration_events(had_turn)
        assert found.had_turn and LOG_MEASURES.measure(had_turn)["responding_capability"] is not None


def test_a_repeated_message_is_no_round() -> None:
    said = [message(1, CHEF, text) for text in ("Cut it", "cut IT", "and now?")] + [
        message(2, CHEF, "Cut it")
    ]
    assert LOG_MEASURES.measure(log("baked_bell_pepper", (), *said))["rounds_chef"] == 3


def test_conversations_of_the_assistant_count_by_a_setting_only() -> None:
    said = message(1, ASSISTANT, requests=("pickup bell_pepper counter",))
    assert collaboration_events(log("baked_bell_pepper", (), said)) == []
    (found,) = collaboration_events(log("baked_bell_pepper", (), said, score_openers="both"))
    assert found.opener == ASSISTANT and found.request_right
    measured = LOG_MEASURES.measure(log("baked_bell_pepper", (), said))
    assert measured["initiating_capability"] is None and measured["messages_assistant"] == 1
    assert (measured["rounds"], measured["rounds_chef"], measured["rounds_assistant"]) == (1, 0, 1)
    ended = TeamMessage(2, 1, ASSISTANT, (CHEF,), END, "", {})
    measured = LOG_MEASURES.measure(log("baked_bell_pepper", (), said, ended))
    assert (measured["rounds"], measured["messages_assistant"]) == (1, 2), "an end is no round"


def test_process_counts_come_from_notes_and_refusals() -> None:
    process = {"format_errors": 1, "failed_checks": ["hands_full", "busy"], "helped": 1, "tokens": 700}
    note = {"process": process, "talk": [{"process": process}, {"other": 1}]}
    decisions = (LoggedDecision(1, ASSISTANT, "seat", "collab", "", 1.0, note),)
    refused = Event("refused", CHEF, {"command": ["fly"], "reasons": ["unknown_verb"]})
    ended = Event("plan_broken", CHEF, {"why": "illegal", "left": [["deliver"]], "planned_in": 0})
    replaced = Event("plan_broken", CHEF, {"why": "replaced", "left": [], "planned_in": 0})
    steps = (LoggedStep(1, (), (refused, ended, replaced), {}),)
    played = log("boiled_egg", steps, decisions=decisions)
    assert LOG_MEASURES.failed_checks(played) == [
        (1, CHEF, "unknown_verb", "command"),
        (1, CHEF, "hands_empty", "plan"),
        *((1, ASSISTANT, code, "reply") for code in ("hands_full", "busy") * 2),
    ]
    measured = LOG_MEASURES.measure(played)
    assert (measured["failed_checks_chef"], measured["failed_checks_assistant"]) == (2, 4)
    assert (measured["format_errors_assistant"], measured["corrections_helped_assistant"]) == (2, 2)
    assert (measured["tokens_chef"], measured["tokens_assistant"]) == (0, 1400)


def test_an_agent_with_both_seats_has_the_process_counts_of_each() -> None:
    loop = agents_loop("boiled_egg", agent := CollabAgent({"model": "stand-in", "stand_in_nonsense": 1.0}))
    both = Team((Member(0, (0, 1), False),), ("collab",), None, EVERYBODY)
    loop = EpisodeLoop(loop.game, 0, both, {"task": "boiled_egg"})
    while not loop.is_over:
        loop.take(loop.step_of(asyncio.run(loop.ask({0: agent}))))
    measured = LOG_MEASURES.measure(loop.log())
    assert measured["format_errors_chef"] == measured["format_errors_assistant"] > 0


def test_processes_by_seat_are_read_from_all_turns() -> None:
    one, other = {"process": {"helped": 1}}, {"process": {"helped": 2, "failed_checks": ["busy"]}}
    note = {"0": one, "1": other, "talk": [{"0": one, "1": None}, 7, other]}
    decisions = (LoggedDecision(1, CHEF, "seat", "collab", "", 1.0, note),)
    played = log("boiled_egg", (), decisions=decisions)
    measured = LOG_MEASURES.measure(played)
    assert (measured["corrections_helped_chef"], measured["corrections_helped_assistant"]) == (4, 2)
    assert [check.seat for check in LOG_MEASURES.failed_checks(played)] == [CHEF, ASSISTANT]


def test_an_event_has_a_value_for_each_column_and_says_why_it_is_right_or_wrong() -> None:
    right = event("baked_bell_pepper", (), requests=PEPPER, plan=()).scored()
    assert right.values["requests"] == "; ".join(PEPPER) and right.values["response"] == ""
    assert (right.step, right.messages, right.values["code"]) == (2, (1, 1), 1)
    assert right.values.keys() == {column.name for column in EVENT_COLUMNS}
    assert (right.result, right.explanation) == (
        "only the request right",
        (
            f"The chef requested: {'; '.join(PEPPER)}.",
            "Right: it brings the assistant further along a reference trajectory "
            "(TES of the assistant 0.000 \N{RIGHTWARDS ARROW} 1.000).",
            "The assistant planned: nothing.",
            "Wrong: without a macro, nothing counts as right.",
        ),
    )
    wrong = event("baked_bell_pepper", PEPPER, requests=PEPPER[:1], plan=()).scored()
    assert wrong.explanation[1] == (
        "Wrong: it is repeated, premature or not needed "
        "(TES of the assistant 1.000 \N{RIGHTWARDS ARROW} 0.808)."
    )


class Cutter(RecipePartner):
    """An assistant that fetches an egg, and plans to cut on the empty board."""

    async def decide(self, situation: Situation) -> Decision:
        if situation.memory or situation.seats != (1,):
            return Decision({}, memory=1)
        plan = (("cut", "chopping_board0"),)
        return Decision({1: ("pickup", "egg", "ingredient_dispenser")}, plans={1: plan}, memory=1)


def test_the_code_of_a_dropped_plan_is_that_of_the_state_in_which_it_was_checked() -> None:
    loop = agents_loop("boiled_egg", Cutter({}))
    play_on(loop, Cutter({}))
    checks = [(one.seat, one.code, one.checked) for one in LOG_MEASURES.failed_checks(loop.log())]
    assert checks == [(1, "utensil_empty", "plan")]
    assert LOG_MEASURES.measure(loop.log())["failed_checks_assistant"] == 1
