"""Plain instructions: what is understood of them, and that planner and stand-in do as they are told."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.evaluate import see
from kitchen.contract.agent import Decision
from kitchen.contract.organisation import Member, Organisation, organise
from kitchen.contract.talk import Said
from kitchen.registry.agents import make_agent
from kitchen.worlds.cuisine.wishes import of_people, standing, still_asked, wishes_of
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import kitchen

TEAM = (Member(0, (0,), is_person=True), Member(1, (1, 2), is_person=False))
LEAVES = (Member(1, (1,), is_person=False), Member(2, (2,), is_person=False))
TALK = organise("central", TEAM, seats=3, settings={"talk": True})


def said(*texts: str, sender: int = 0, step: int = 1) -> tuple[Said, ...]:
    return tuple(Said(number, step, sender, (1,), "say", text) for number, text in enumerate(texts, start=1))


def decided(
    world: CuisineWorld,
    *texts: str,
    kind: str = "planner",
    memory: Any = None,
    organisation: Organisation | None = TALK,
    sender: int = 0,
    **settings: Any,
) -> Decision:
    """What a mind for robots 2 and 3 does while the person waits."""
    situation = see(world, (1, 2), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
    heard = said(*texts, sender=sender)
    situation = replace(situation, organisation=organisation, member=1, messages=heard, seconds=20.0)
    return make_agent(kind, settings).decide(situation)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Robot 3, fetch rice", ("fetch", "rice", (2,))),
        ("robots 2 and 3: bring rice!", ("fetch", "rice", (1, 2))),
        ("can somebody get the Salmon?", ("fetch", "salmon", ())),
        ("salmon sushi first", ("first", "salmonSushi", ())),
        ("make SALMONSUSHI the priority", ("first", "salmonSushi", ())),
        ("Stop!", ("stop", "", ())),
        ("robot 2 wait", ("stop", "", (1,))),
        ("let me do the chopping", ("leave_tool", "chopboard", ())),
        ("I\u2019ll use the pot", ("leave_tool", "pot", ())),
        ("I'll make the salmon sushi", ("leave_dish", "salmonSushi", ())),
        ("ok, go on", ("go_on", "", ())),
        ("don't stop", None),
        ("I wait for you", None),
        ("do I have to wait?", None),
        ("I'll get the salmon", None),
        ("let me fetch rice first", None),
        ("I will take the salmon sashimi myself", None),
        ("fetch the moon", None),
        ("you are doing well", None),
        ("", None),
        ("robot 99999999999999 fetch", None),
    ],
)
def test_what_is_understood_of_plain_words(text: str, wish: tuple[str, str, tuple[int, ...]] | None) -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    read = [(one.do, one.what, one.seats) for one in wishes_of(said(text), brief)]
    assert read == ([wish] if wish else [])


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("Robot 2, fetch rice. Robot 3, stop!", [("fetch", "rice", (1,)), ("stop", "", (2,))]),
        ("robot 2: get rice and robot 3: get salmon", [("fetch", "rice", (1,)), ("fetch", "salmon", (2,))]),
        ("robot 1 and robot 3 wait", [("stop", "", (0, 2))]),
        ("robot 3, fetch rice, then stop", [("fetch", "rice", (2,)), ("stop", "", (2,))]),
        ("bring rice and salmon", [("fetch", "rice", ()), ("fetch", "salmon", ())]),
        ("bring the salmon sushi", [("fetch", "salmonSushi", ())]),
        ("Do I have to wait? Fetch rice", [("fetch", "rice", ())]),
        ("don't stop; salmon sushi first", [("first", "salmonSushi", ())]),
        ("I'll use the pot. Bring rice.", [("leave_tool", "pot", ()), ("fetch", "rice", ())]),
    ],
)
def test_one_message_may_ask_for_several_things(
    text: str, wishes: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    assert [(one.do, one.what, one.seats) for one in wishes_of(said(text), brief)] == wishes


def test_what_was_asked_stands_although_it_is_told_no_more() -> None:
    world = kitchen(level="level_3", seats=3)
    stopped = decided(world, "robot 2, stop. Let me use the pot.")
    memory = json.loads(json.dumps(stopped.memory))
    situation = see(world, (1, 2), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
    later = tuple(Said(number, 2, 0, (1,), "say", "well done") for number in range(60, 62))
    situation = replace(situation, organisation=TALK, member=1, messages=later)
    decision = make_agent("planner", {}).decide(situation)
    assert decision.commands[1] == ("noop",)
    assert [one["do"] for one in decision.memory["heeded"]["wishes"]] == ["stop", "leave_tool"]


def test_what_is_asked_again_and_again_is_remembered_once() -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    wishes = wishes_of(said("stop", "go on", "stop", "robot 2, fetch rice", "go on", "stop"), brief)
    left = still_asked(wishes, step=2, done=[wishes[3]])
    assert [one.do for one in left] == ["go_on", "stop"]
    assert standing(left, (1, 2), step=2) == standing(wishes, (1, 2), step=2)


def test_of_several_who_are_told_only_the_first_fetches() -> None:
    members = (Member(0, (0,), is_person=True), *LEAVES)
    team = organise("each", members, seats=3, settings={"talk": True})
    for text, kind, doing in (
        ("fetch rice", "say", [1]),
        ("fetch rice", "inform", [1, 2]),
        ("stop", "say", [1, 2]),
    ):
        says = []
        for seat in (1, 2):
            situation = see(kitchen(level="level_3", seats=3), (seat,), people=(0,), seed=1)
            heard = (Said(1, 1, 0, (1, 2), kind, text),)
            situation = replace(situation, organisation=team, member=seat, messages=heard)
            decision = make_agent("planner", {}).decide(situation)
            says += [seat] if decision.says else []
        assert says == doing


def test_wishes_stand_until_they_are_done_or_somebody_wishes_otherwise() -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)

    def now(*texts: str, step: int = 2) -> Any:
        return standing(wishes_of(said(*texts), brief), (1, 2), step=step)

    assert now("stop").stopped == {1, 2}
    assert now("stop", "robot 2, go on").stopped == {2}
    assert now("stop", "robot 2, fetch rice").stopped == {2}
    assert now("stop", "salmon sushi first", "go on") == standing([], (1, 2), step=2)
    assert len(now("fetch rice").fetches) == 1
    assert now("fetch rice", step=40).fetches == []
    assert now("robot 1, stop").stopped == set()  # somebody else's


def test_a_robot_fetches_what_it_is_told_to_and_says_so_once() -> None:
    world, memory, done, lines = kitchen(level="level_3", seats=3), None, [], []
    for _ in range(4):
        decision = decided(world, "Robot 3, fetch rice", memory=memory)
        memory = json.loads(json.dumps(decision.memory))
        lines += [say.text for say in decision.says]
        done.append(decision.commands[2])
        world.step(list(decision.commands.items()))
        if world.observe(0)["agents"][2]["holds"] == "rice":
            break
    assert done[-1] == ("get", "storage0", "rice")
    assert lines == ["Robot 3: fetching rice."]
    after = decided(world, "Robot 3, fetch rice", memory=memory)
    assert after.memory["heeded"]["wishes"] == [] and after.says == ()


def test_who_is_told_to_stop_waits_until_it_is_told_to_go_on() -> None:
    world = kitchen(level="level_3", seats=3)
    stopped = decided(world, "robot 2, stop")
    assert stopped.commands[1] == ("noop",) and stopped.commands[2] != ("noop",)
    assert decided(world, "stop").commands == {1: ("noop",), 2: ("noop",)}
    before = decided(world, "well done").memory
    assert decided(world, "well done", "stop", memory=before).memory.keys() == before.keys()
    assert decided(world, "stop", "go on").commands == decided(world, "well done").commands


def test_a_tool_that_somebody_has_for_themselves_is_left_alone() -> None:
    for texts in ((), ("let me use the pot",)):
        world, memory, used = kitchen(level="level_3", seats=3, seed=3), None, set()
        for _ in range(25):
            decision = decided(world, *texts, memory=memory)
            memory = json.loads(json.dumps(decision.memory))
            used |= {
                command[:2] for command in decision.commands.values() if command[0] in {"put", "activate"}
            }
            world.step(list(decision.commands.items()))
        assert (("put", "pot0") in used) is not bool(texts)


def test_a_job_that_takes_too_long_has_failed() -> None:
    team = organise("tree", (Member(0, (0,), is_person=True), *LEAVES), seats=3)
    world, memory, reported = kitchen(level="level_3", seats=3), None, []
    for step in (0, 21, 22):
        situation = see(world, (1,), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
        jobs = (Said(1, 1, 0, (1,), "inform", "fetch rice and salmon"),)
        decision = make_agent("planner", {}).decide(
            replace(situation, organisation=team, member=1, messages=jobs, step=step)
        )
        memory = json.loads(json.dumps(decision.memory))
        reported += [(step, dict(say.data)) for say in decision.says]
    assert reported == [(0, {"job": 1}), (21, {"job": 1, "status": "failed"})]


def test_a_job_is_accepted_done_and_reported_or_declined() -> None:
    team = organise("tree", (Member(0, (0,), is_person=True), *LEAVES), seats=3)
    world, memory, lines = kitchen(level="level_3", seats=3), None, []
    jobs = [Said(1, 1, 0, (1,), "inform", "fetch rice"), Said(2, 1, 0, (1,), "inform", "fetch the moon")]
    for _ in range(4):
        situation = see(world, (1,), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
        situation = replace(situation, organisation=team, member=1, messages=tuple(jobs))
        decision = make_agent("planner", {}).decide(situation)
        memory = json.loads(json.dumps(decision.memory))
        lines += [(say.kind, dict(say.data)) for say in decision.says]
        assert all(say.to == (0,) and say.text for say in decision.says)
        world.step(list(decision.commands.items()))
    assert lines == [
        ("accept", {"job": 1}),
        ("decline", {"job": 2}),
        ("report", {"job": 1, "status": "done"}),
    ]
    gone = (*jobs, Said(3, 2, 0, (1,), "withdraw", "", {"job": 1}))
    assert [one.number for one in of_people(gone, team)] == [2]


def test_only_people_are_heeded_and_without_talk_nothing_is_remembered() -> None:
    world = kitchen(level="level_3", seats=3)
    plain = decided(world)
    assert "heeded" not in plain.memory and plain.says == ()
    assert decided(world, "stop", sender=1) == plain
    assert decided(world, "stop", organisation=None) == plain


def test_who_is_not_understood_is_told_once_what_is() -> None:
    world = kitchen(level="level_3", seats=3)
    first = decided(world, "hello you")
    assert [say.to for say in first.says] == [(0,)] and "robot 2, fetch rice" in first.says[0].text
    again = decided(world, "hello you", "how are you", memory=first.memory)
    assert again.says == ()


def test_the_stand_in_does_as_the_planner_does_and_answers() -> None:
    world = kitchen(level="level_3", seats=3)
    decision = decided(world, "robot 2, stop", kind="dispatcher", model="stand-in", stand_in_errors=0.0)
    assert decision.played_by == "stand-in"
    assert decision.commands[1] == ("noop",)
    assert [say.text for say in decision.says] == ["Robot 2: waiting."]
