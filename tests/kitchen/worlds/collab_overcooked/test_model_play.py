"""Two agents play ten steps through the model layer, against a server: all of it is followed and stored."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import decide_answer, send_message
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.log_metrics import read_log
from kitchen.play.models import Decision, Episode, Message, ModelCall
from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES
from tests.kitchen.factories import submit
from tests.stand_in_server import Answer, Body, StandInServer, reply

STEPS = 10
FETCH, PLACE = "pickup egg ingredient_dispenser", "place_obj_on_counter"
LESSON = "Fill the pot before you start it."


def answer(body: Body) -> Answer:
    """What a model answers: the chef asks for an egg and starts an empty pot, the assistant does it."""
    system, *_, last = [message["content"] for message in body["messages"]]
    if "Write one lesson" in last:
        return reply(LESSON)
    is_chef = "You are the chef" in system
    if "cannot begin now" in last or f"Your last actions: {FETCH}" in last:
        return turn(["wait 1"])
    if "Nobody has said" in last and is_chef and last.startswith("Step 1,"):
        return turn(["cook pot0"], [FETCH, PLACE], "Please bring it.")
    return turn(["wait 1"]) if is_chef else turn([FETCH, PLACE])


def turn(plan: list[str], requests: list[str] | None = None, say: str = "") -> Answer:
    """The same answer as a call of the tool and in lines; the server gives what was asked for."""
    parts: dict[str, Any] = {"analysis": "I see.", "plan": plan, "requests": requests or [], "say": say}
    lines = ["Analysis: I see.", "Plan:", *plan, "Requests:", *parts["requests"], f"Say: {say}"]
    return reply("\n".join(lines), call=parts)


@pytest.mark.django_db
def test_it_answers_a_person_and_then_does_so_without_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    minds = (MindPlan("collab", (1,), {"model": "openai:small"}),)
    made = make_organisation("pair", members_of_plans(minds, seats=2), seats=2, settings={"within": True})
    episode = create_episode(
        world="collab_overcooked",
        settings={"task": "boiled_egg"},
        seats=2,
        seed=1,
        minds=minds,
        organisation=made,
    )
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    plan = [FETCH.split(), [PLACE]]
    with StandInServer(turn([FETCH, PLACE], say="I will.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        asks = MessageDraft("Please.", data={"requests": plan})
        assert send_message(episode_id=episode.pk, seat=0, say=asks).accepted
        assert decide_answer(episode_id=episode.pk, step=1, mind=0)
        submit(episode, 1, "wait", "1", seat=0)
        assert decide_step(episode_id=episode.pk, step=1)
        run_due_step(episode_id=episode.pk, step=1)
    assert len(server.asked) == 1
    assert [message.sender for message in Message.objects.order_by("number")] == [0, 1]
    episode.refresh_from_db()
    state: Any = episode.plans
    assert episode.step == 1 and state["1"]["then"] == [[PLACE]]


@pytest.mark.django_db
@pytest.mark.parametrize("structured", [True, False])
def test_ten_steps_are_played_and_all_of_it_is_stored(
    structured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"model": "openai:small", "structured": structured}
    minds = tuple(MindPlan("collab", (seat,), settings) for seat in (0, 1))
    made = make_organisation("pair", members_of_plans(minds, seats=2), seats=2, settings={"within": True})
    episode = create_episode(
        world="collab_overcooked",
        settings={"task": "boiled_egg"},
        seats=2,
        seed=1,
        minds=minds,
        organisation=made,
    )
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandInServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        for step in range(1, STEPS + 1):
            decide_step(episode_id=episode.pk, step=step)
            run_due_step(episode_id=episode.pk, step=step)
    assert Episode.objects.get().step == STEPS
    plays = [
        asked.body
        for asked in server.asked
        if "Write one lesson" not in asked.body["messages"][-1]["content"]
    ]
    assert all(("tools" in body) is structured for body in plays)
    assert not structured or plays[0]["tools"][0]["function"]["strict"]
    told = [body["messages"][0]["content"] for body in plays]
    assert all(("in the pot: " in text) is ("You are the chef" in text) for text in told), "sealed"
    assert ModelCall.objects.count() == len(server.asked), "every prompt and every reply"
    assert any(f"Lesson: {LESSON}" in body["messages"][1]["content"] for body in plays)
    last: Any = Decision.objects.get(step=1, mind__number=0).note
    (note,) = last["talk"]  # the silent answer let it speak again, and it had nothing to add
    assert note["correction"] == {
        "macro": "cook pot0",
        "code": "utensil_empty",
        "plan": "wait 1",
        "lesson": LESSON,
    }
    assert (note["analysis"], note["process"]["failed_checks"]) == ("I see.", ["utensil_empty"])
    assert Message.objects.get().data["requests"] == [FETCH.split(), [PLACE]]
    measured = LOG_MEASURES.measure(read_log(Episode.objects.get()))
    assert measured["initiating_capability"] == measured["responding_capability"] == 1
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
