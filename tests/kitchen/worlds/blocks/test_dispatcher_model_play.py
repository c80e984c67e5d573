"""The dispatcher of blocks plays ten steps through the model layer, against a server. All of it is stored."""

from __future__ import annotations

import json
import re

import pytest

from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Message, ModelCall, SeatCommand
from kitchen.replay.replay_verification import verify_replays
from kitchen.worlds.blocks.dispatcher.action_reply import action_object, spell_action
from tests.kitchen.factories import submit
from tests.stand_in_server import Answer, Body, StandInServer, reply, status

STEPS, FAULTY, SILENT, WORDLESS = 10, 2, 8, 9
"""The number of steps; then the steps in which the model errs once, does not answer, and names no action."""
PLAN: tuple[tuple[str, str], ...] = (
    ("goto oak_log", "goto chicken"),
    ("mineBlock oak_log", "killMob chicken"),
    ("goto furnace", "goto furnace"),
    ("putFuelFurnace oak_log", "putItemFurnace chicken"),
    ("takeOutFurnace", "go_on"),
    ("goto chest", "go_on"),
    ("putInChest cooked_chicken", "go_on"),
)
"""The actions of agent1 and agent2 by step. Afterwards they wait, as in the steps without an answer."""
WORDS = "Chicken, please!"
NOTHING = reply("I wait.", call={"plan": "I wait.", "say": "", "actions": []})
"""A reply without an action."""
COULD_NOT = "agent2 could not killMob(agent2, sheep)"


def planned(step: int) -> tuple[Command, Command]:
    first, second = PLAN[step - 1] if step <= len(PLAN) else ("go_on", "go_on")
    return tuple(first.split()), tuple(second.split())


def answer(body: Body) -> Answer:
    """What a model answers to the state of a step, and to the question for another action."""
    last = body["messages"][-1]["content"]
    if "Give other actions for agent2 only" in last:
        return acted("", (2, planned(FAULTY)[1]))
    if "Give other actions for" in last:
        return NOTHING
    found = re.search(r"Step (\d+) of 20", last)
    assert found
    step = int(found[1])
    first, second = planned(step)
    if step == SILENT:
        return status(400)
    if step == WORDLESS:
        return NOTHING
    if step == FAULTY:
        second = ("killMob", "sheep")
    return acted("We cook." if step == 1 else "", (1, first), (2, second))


def acted(say: str, *given: tuple[int, Command]) -> Answer:
    """The same answer as a call of the tool and in lines. The server gives what was asked for."""
    call = {"plan": "I see.", "say": say, "actions": [action_object(*each) for each in given]}
    return reply("\n".join([f"Say: {say}", "Actions:", *(spell_action(*each) for each in given)]), call=call)


def commands(step: int) -> dict[int, Command]:
    """The stored commands of the dispatcher's seats."""
    return {one.seat: tuple(one.command) for one in SeatCommand.objects.filter(step=step, seat__gt=0)}


def play(form: str, monkeypatch: pytest.MonkeyPatch) -> list[Body]:
    """Play the steps. Return the requests that the server got. The person writes before the first step, and
    waits in each."""
    chosen = {"model": "openai:small", "reply": form, "repair": 1, "fallback": "none"}
    minds = (MindPlan("blocks_dispatcher", (1, 2), chosen),)
    team = make_organisation("central", members_of_plans(minds, seats=3), seats=3, settings={"talk": True})
    episode = create_episode(
        world="blocks_kitchen",
        settings={"interval": 10, "steps": 20},
        seats=3,
        seed=123,
        minds=minds,
        organisation=team,
    )
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandInServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft(WORDS)).accepted
        for step in range(1, STEPS + 1):
            submit(episode, step, "go_on", seat=0)
            assert decide_step(episode_id=episode.pk, step=step)
            run_due_step(episode_id=episode.pk, step=step)
    return [asked.body for asked in server.asked]


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["tool", "text"])
def test_an_order_is_completed_beside_a_person_and_all_of_it_is_stored(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = play(form, monkeypatch)
    episode = Episode.objects.get()
    assert (episode.step, episode.score["completed"]) == (STEPS, 1)
    assert all(commands(step) == dict(enumerate(planned(step), 1)) for step in range(1, STEPS + 1))
    check_requests(bodies, form)
    decisions = {one.step: one for one in Decision.objects.all()}
    assert len(decisions) == STEPS
    assert [step for step, one in decisions.items() if one.played_by != "blocks_dispatcher"] == [SILENT]
    assert decisions[SILENT].fallback and COULD_NOT in json.dumps(decisions[FAULTY].note)
    assert [message.text for message in Message.objects.order_by("number")][:2] == [WORDS, "We cook."]
    assert ModelCall.objects.filter(model_asked="small").count() == len(bodies), "each prompt and reply"
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
    (replayed,) = verify_replays(Episode.objects.all())
    assert (replayed.fault, replayed.decisions, replayed.replies) == ("", STEPS, len(bodies))


def check_requests(bodies: list[Body], form: str) -> None:
    """The prompts have the form, the person's words, the feedback, and the last exchanges."""
    assert len(bodies) == STEPS + 2, "two second tries: one for the fault, one for the missing actions"
    assert all(("tools" in body) is (form == "tool") for body in bodies)
    assert form == "text" or bodies[0]["tools"][0]["function"]["strict"]
    assert all(body["temperature"] == 0 for body in bodies)
    assert all("putItemFurnace(" in body["messages"][0]["content"] for body in bodies)
    assert f'agent0 (a person): "{WORDS}"' in bodies[0]["messages"][-1]["content"]
    assert COULD_NOT in bodies[FAULTY]["messages"][-1]["content"]
    roles = [[message["role"] for message in body["messages"]] for body in bodies]
    assert roles[0] == ["system", "user"] and roles[-1] == ["system", *["user", "assistant"] * 2, "user"]
