"""Plain instructions: what is understood of them, and that planner and stand-in do as they are told."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision, run_without_waiting
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Json
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.cuisine.planner.instruction_parser import (
    current_wishes,
    open_wishes,
    parse_wishes,
    people_messages,
)
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen

TEAM = (Member(0, (0,), is_person=True), Member(1, (1, 2), is_person=False))
LEAVES = (Member(1, (1,), is_person=False), Member(2, (2,), is_person=False))
TALK = make_organisation("central", TEAM, seats=3, settings={"talk": True})


def said(*texts: str, sender: int = 0, step: int = 1) -> tuple[TeamMessage, ...]:
    return tuple(
        TeamMessage(number, step, sender, (1,), "say", text) for number, text in enumerate(texts, start=1)
    )


def decided(
    world: CuisineWorld,
    *texts: str,
    kind: str = "planner",
    memory: Any = None,
    organisation: Organisation | None = TALK,
    sender: int = 0,
    step: int = 0,
    tells: bool = False,
    taken_over: int = 0,
    **settings: Any,
) -> Decision:
    """What a mind for robots 2 and 3 does while the person waits."""
    situation = make_situation(world, (1, 2), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
    heard = said(*texts, sender=sender)
    situation = changed(situation, organisation=organisation, member=1, messages=heard, seconds=20.0)
    situation = changed(situation, step=step, tells=tells, taken_over=taken_over)
    return asyncio.run(make_agent(kind, settings).decide(situation))


def facts_of(say: MessageDraft) -> dict[str, Json]:
    """The data of a message, without its translatable sentences."""
    return {key: value for key, value in say.data.items() if key not in ("code", "parts", "names")}


def code_of(say: MessageDraft) -> Json:
    """The code of a message about a job; None for sentences."""
    return None if "parts" in say.data else say.data.get("code")


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Robot 3, fetch rice", ("fetch", "rice", (2,))),
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
        ("I'll get the salmon", ("leave_item", "salmon", ())),
        ("let me fetch rice first", ("leave_item", "rice", ())),
        ("I will take the salmon sashimi myself", ("leave_item", "salmonSashimi", ())),
        ("I take the rice", ("leave_item", "rice", ())),
        ("I get the salmon", ("leave_item", "salmon", ())),
        ("I am cooking the rice", ("leave_product", "cookedRice", ())),
        ("I will chop", ("leave_tool", "chopboard", ())),
        ("I'll use the pot for the rice", ("leave_tool", "pot", ())),
        ("I want robot 2 to get rice", ("fetch", "rice", (1,))),
        ("I am waiting for the rice", None),
        ("I need rice", ("make", "cookedRice", ())),
        ("I won't take the rice", None),
        ("should I get the salmon?", None),
        ("let me know when the rice is done", None),
        ("fetch the moon", None),
        ("you are doing well", None),
        ("", None),
        ("robot 99999999999999 fetch", None),
    ],
)
def test_plain_words_are_parsed_as_wishes(text: str, wish: tuple[str, str, tuple[int, ...]] | None) -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    read = [(one.do, one.what, one.seats) for one in parse_wishes(said(text), brief)]
    assert read == ([wish] if wish else [])


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("Robot 2, fetch rice. Robot 3, stop!", [("fetch", "rice", (1,)), ("stop", "", (2,))]),
        ("robot 2: get rice and robot 3: get salmon", [("fetch", "rice", (1,)), ("fetch", "salmon", (2,))]),
        ("robot 1 and robot 3 wait", [("stop", "", (0, 2))]),
        ("robot 3, fetch rice, then stop", [("fetch", "rice", (2,)), ("stop", "", (2,))]),
        ("robots 2 and 3: bring rice!", [("fetch", "rice", (1,)), ("fetch", "rice", (2,))]),
        ("bring rice and salmon", [("fetch", "rice", ()), ("fetch", "salmon", ())]),
        ("bring the salmon sushi", [("fetch", "salmonSushi", ())]),
        ("Do I have to wait? Fetch rice", [("fetch", "rice", ())]),
        ("don't stop; salmon sushi first", [("first", "salmonSushi", ())]),
        ("I'll use the pot. Bring rice.", [("leave_tool", "pot", ()), ("fetch", "rice", ())]),
        ("I take the rice, you get the tuna", [("leave_item", "rice", ()), ("fetch", "tuna", ())]),
        ("I take rice and salmon", [("leave_item", "rice", ()), ("leave_item", "salmon", ())]),
    ],
)
def test_one_message_may_ask_for_several_things(
    text: str, wishes: list[tuple[str, str, tuple[int, ...]]]
) -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    assert [(one.do, one.what, one.seats) for one in parse_wishes(said(text), brief)] == wishes


def test_a_request_holds_after_its_message_is_gone() -> None:
    world = kitchen(level="level_3", seats=3)
    stopped = decided(world, "robot 2, stop. Let me use the pot.")
    memory = json.loads(json.dumps(stopped.memory))
    situation = make_situation(world, (1, 2), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
    later = tuple(TeamMessage(number, 2, 0, (1,), "say", "well done") for number in range(60, 62))
    situation = changed(situation, organisation=TALK, member=1, messages=later)
    decision = run_without_waiting(make_agent("planner", {}).decide(situation))
    assert decision.commands[1] == ("noop",)
    assert [one["do"] for one in decision.memory["heeded"]["wishes"]] == ["stop", "leave_tool"]


def test_a_repeated_request_is_remembered_once() -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)
    wishes = parse_wishes(said("stop", "go on", "stop", "robot 2, fetch rice", "go on", "stop"), brief)
    left = open_wishes(wishes, step=2, done=[wishes[3]])
    assert [one.do for one in left] == ["go_on", "stop"]
    assert current_wishes(left, (1, 2), step=2) == current_wishes(wishes, (1, 2), step=2)


def test_only_the_first_of_several_addressed_agents_fetches() -> None:
    members = (Member(0, (0,), is_person=True), *LEAVES)
    team = make_organisation("each", members, seats=3, settings={"talk": True})
    for text, kind, doing in (
        ("fetch rice", "say", [1]),
        ("fetch rice", "inform", [1, 2]),
        ("stop", "say", [1, 2]),
    ):
        says = []
        for seat in (1, 2):
            situation = make_situation(kitchen(level="level_3", seats=3), (seat,), people=(0,), seed=1)
            heard = (TeamMessage(1, 1, 0, (1, 2), kind, text),)
            situation = changed(situation, organisation=team, member=seat, messages=heard)
            decision = run_without_waiting(make_agent("planner", {}).decide(situation))
            says += [seat] if decision.says else []
        assert says == doing


def test_wishes_hold_until_they_are_done_or_replaced() -> None:
    brief = kitchen(level="level_3", seats=3).brief(0)

    def now(*texts: str, step: int = 2) -> Any:
        return current_wishes(parse_wishes(said(*texts), brief), (1, 2), step=step)

    assert now("stop").stopped == {1, 2}
    assert now("stop", "robot 2, go on").stopped == {2}
    assert now("stop", "robot 2, fetch rice").stopped == {2}
    assert now("stop", "salmon sushi first", "go on") == current_wishes([], (1, 2), step=2)
    assert len(now("fetch rice").tasks) == 1
    assert now("fetch rice", step=40).tasks == []
    assert now("robot 1, stop").stopped == set()  # somebody else's
    assert now("fetch rice", "I take the rice").tasks == []
    assert now("I take the rice", "robot 2, fetch rice").items == set()
    assert now("I take the rice", step=61).items == set()
    assert now("don't take the rice", step=61).items == {"rice"}
    assert now("robot 2, serve salmon sushi", "I'll serve").tasks == []
    one = now("robot 2, chop the salmon", "robot 3, chop the tuna", "robot 3, don't chop the tuna")
    assert [each.seats for each in one.tasks] == [(1,)]
    assert one.products == one.of_seat(1).products == set() and one.of_seat(2).products == {"tunaSashimi"}


def test_a_robot_fetches_on_request_and_confirms_it_once() -> None:
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
    assert lines == ["Understood: Robot 3 fetches rice."]
    after = decided(world, "Robot 3, fetch rice", memory=memory)
    assert after.memory["heeded"]["wishes"] == [] and after.says == ()


def test_a_stopped_robot_waits_for_go_on() -> None:
    world = kitchen(level="level_3", seats=3)
    stopped = decided(world, "robot 2, stop")
    assert stopped.commands[1] == ("noop",) and stopped.commands[2] != ("noop",)
    assert decided(world, "stop").commands == {1: ("noop",), 2: ("noop",)}
    before = decided(world, "well done").memory
    assert decided(world, "well done", "stop", memory=before).memory.keys() == before.keys()
    assert decided(world, "stop", "go on").commands == decided(world, "well done").commands


@pytest.mark.parametrize(
    ("text", "own", "others"),
    [
        ("well done", "", ("chopboard0", "rice", "salmon")),
        ("let me do the chopping", "chopboard", ("rice", "mixer0")),
        ("I cook the rice", "pot", ("salmon", "chopboard0")),
        ("don't cook rice", "pot", ("salmon", "chopboard0")),
        ("别煮米饭", "pot", ("salmon", "chopboard0")),
        ("I take the rice", "rice", ("salmon", "chopboard0")),
        ("I'll make the cooked rice", "pot", ("salmon", "chopboard0")),
    ],
)
def test_what_somebody_has_for_themselves_is_left_to_them_and_the_rest_is_done(
    text: str, own: str, others: tuple[str, ...]
) -> None:
    """A robot neither goes where it has nothing to do, nor says that it will."""
    world, memory, done = kitchen(level="level_3", seats=3, seed=3), None, []
    for _ in range(12):
        decision = decided(world, text, memory=memory, tells=True)
        memory = json.loads(json.dumps(decision.memory))
        done += [" ".join(command) for command in decision.commands.values()]
        done += [" ".join(intent.values()) for intent in decision.intents.values()]
        world.step(list(decision.commands.items()))
    assert not own or not any(own in each for each in done)
    assert all(any(one in each for each in done) for one in others)


def test_reserved_items_are_neither_taken_nor_thrown_away() -> None:
    world = kitchen(level="level_3", seats=3, seed=3)
    for words in ("goto storage0", "get storage0 salmon", "goto chopboard0", "put chopboard0"):
        world.step([(1, tuple(words.split()))])
    world.step([(1, ("activate", "chopboard0"))])
    taken = {text: _takes(world, text) for text in ("well done", "I take the salmon sashimi")}
    assert taken == {"well done": True, "I take the salmon sashimi": False}


def _takes(world: CuisineWorld, text: str) -> bool:
    again, memory, taken = deepcopy(world), None, False
    for _ in range(15):
        decision = decided(again, text, memory=memory)
        memory = json.loads(json.dumps(decision.memory))
        taken |= ("get", "chopboard0") in {command[:2] for command in decision.commands.values()}
        again.step(list(decision.commands.items()))
    return taken


def test_a_promise_holds_while_its_author_plays() -> None:
    world = kitchen(level="level_3", seats=3)
    memory = decided(world, "I take the rice").memory
    assert [one["what"] for one in memory["heeded"]["wishes"]] == ["rice"]
    alone = replace(TALK, members=tuple(replace(one, is_person=False) for one in TALK.members))
    assert decided(world, memory=memory, organisation=alone).memory["heeded"]["wishes"] == []


def test_a_missing_item_is_reported_and_the_request_withdrawn() -> None:
    world = kitchen(level="level_3", seats=3)
    first = decided(world, "robot 2, bring tuna sashimi")
    assert [one.text for one in first.says] == [
        "There is no tuna sashimi now. Robot 2 fetches it as soon as there is some."
    ]
    later = decided(world, memory=json.loads(json.dumps(first.memory)), step=30)
    assert [(one.text, one.to) for one in later.says] == [("Robot 2 could not do this: tuna sashimi.", (0,))]
    stopped = decided(world, "", "stop", memory=json.loads(json.dumps(first.memory)))
    assert decided(world, memory=json.loads(json.dumps(stopped.memory)), step=30).says == ()


def test_messages_to_the_previous_person_of_the_seat_are_ignored() -> None:
    world = kitchen(level="level_3", seats=3)
    before = decided(world, "fetch rice", "stop", taken_over=2)
    assert "heeded" not in before.memory and before.says == ()
    after = decided(world, "stop", "robot 2, fetch rice", taken_over=1)
    assert [one.text for one in after.says] == ["Understood: Robot 2 fetches rice."]


STOPS = [
    ("say", "robot 2, stop", (1,), True),
    ("inform", "stop", (1,), True),
    ("say", "robot 3, stop", (1,), False),
    ("say", "well done", (1,), False),
]


@pytest.mark.parametrize(("kind", "text", "to", "stops"), STOPS)
def test_a_stopped_robot_gives_up_its_job(kind: str, text: str, to: tuple[int, ...], stops: bool) -> None:
    team = make_organisation("tree", (Member(0, (0,), is_person=True), *LEAVES), seats=3)
    world, memory, said_of_it = kitchen(level="level_3", seats=3), None, []
    heard = [TeamMessage(1, 1, 0, to, "inform", "", {"aim": ["fetch", "rice"]})]
    for more in (
        (),
        (TeamMessage(2, 2, 0, to, kind, text),),
        (TeamMessage(3, 3, 0, to, "inform", "", {"aim": ["fetch", "tuna"]}),),
    ):
        heard += more
        situation = make_situation(world, (1,), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
        situation = changed(situation, organisation=team, member=1, messages=tuple(heard), step=len(heard))
        decision = run_without_waiting(make_agent("planner", {}).decide(situation))
        memory = json.loads(json.dumps(decision.memory))
        said_of_it.append([(one.kind, one.data.get("job"), code_of(one)) for one in decision.says])
        if len(heard) == 2:
            assert decision.commands[1] == (("noop",) if stops else ("goto", "storage0"))
    assert (("report", 1, "stopped") in said_of_it[1]) is stops
    assert (("answer", None, None) in said_of_it[1] or ("accept", 2, None) in said_of_it[1]) is (
        text != "robot 3, stop"
    )
    assert ("accept", 3, None) in said_of_it[2] and decision.commands[1] == ("goto", "storage0")


def test_a_robot_at_a_job_does_first_what_it_is_asked_in_words_since() -> None:
    world = kitchen(level="level_3", seats=3)
    job = TeamMessage(1, 1, 0, (1,), "inform", "", {"aim": ["free", "pot0"]})
    situation = make_situation(world, (1, 2), commanded={0: ("noop",)}, people=(0,), seed=1)
    for text, seat in (("robot 2, fetch rice", 1), ("fetch rice", 2)):
        heard = (job, TeamMessage(2, 1, 0, (1,), "say", text))
        decision = run_without_waiting(
            make_agent("planner", {}).decide(changed(situation, organisation=TALK, member=1, messages=heard))
        )
        assert decision.commands[seat] == ("goto", "storage0")
        assert decision.memory["jobs"]["seats"] == {"1": 1}


def test_a_job_that_takes_too_long_has_failed() -> None:
    team = make_organisation("tree", (Member(0, (0,), is_person=True), *LEAVES), seats=3)
    world, memory, reported = kitchen(level="level_3", seats=3), None, []
    for step in (0, 21, 22):
        situation = make_situation(world, (1,), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
        jobs = (TeamMessage(1, 1, 0, (1,), "inform", "fetch rice and salmon"),)
        decision = run_without_waiting(
            make_agent("planner", {}).decide(
                changed(situation, organisation=team, member=1, messages=jobs, step=step)
            )
        )
        memory = json.loads(json.dumps(decision.memory))
        reported += [(step, facts_of(say)) for say in decision.says]
    assert reported == [(0, {"job": 1}), (21, {"job": 1, "status": "failed"})]


def test_a_job_is_accepted_done_and_reported_or_declined() -> None:
    team = make_organisation("tree", (Member(0, (0,), is_person=True), *LEAVES), seats=3)
    world, memory, lines = kitchen(level="level_3", seats=3), None, []
    jobs = [
        TeamMessage(1, 1, 0, (1,), "inform", "fetch rice"),
        TeamMessage(2, 1, 0, (1,), "inform", "fetch the moon"),
    ]
    for _ in range(4):
        situation = make_situation(world, (1,), commanded={0: ("noop",)}, people=(0,), memory=memory, seed=1)
        situation = changed(situation, organisation=team, member=1, messages=tuple(jobs))
        decision = run_without_waiting(make_agent("planner", {}).decide(situation))
        memory = json.loads(json.dumps(decision.memory))
        lines += [(say.kind, facts_of(say)) for say in decision.says]
        assert all(say.to == (0,) and say.text for say in decision.says)
        world.step(list(decision.commands.items()))
    assert lines == [
        ("accept", {"job": 1}),
        ("decline", {"job": 2}),
        ("report", {"job": 1, "status": "done"}),
    ]
    gone = (*jobs, TeamMessage(3, 2, 0, (1,), "withdraw", "", {"job": 1}))
    assert [one.number for one in people_messages(gone, team)] == [2]


def test_only_people_are_heeded_and_without_talk_nothing_is_remembered() -> None:
    world = kitchen(level="level_3", seats=3)
    plain = decided(world)
    assert "heeded" not in plain.memory and plain.says == ()
    assert decided(world, "stop", sender=1) == plain
    assert decided(world, "stop", organisation=None) == plain


def test_an_unclear_message_gets_two_examples_about_the_open_orders() -> None:
    world = kitchen(level="level_3", seats=3, seed=3)
    dish = world.observe(0)["orders"][0]["dish"]
    fish = dish.removesuffix("Sushi")
    first = decided(world, "wibble wobble")
    assert [(say.text, say.to) for say in first.says] == [
        (
            "I did not understand that. Try, for example: "
            f"“Robot 2: chop {fish}” or “{fish.title()} sushi first”.",
            (0,),
        )
    ]
    other = decided(world, "wibble wobble", "robot 2, stop", memory=first.memory)
    assert [say.text for say in other.says] == [
        "Understood: Robot 2 waits. This holds until you write “Go on”."
    ]


def test_the_stand_in_does_as_the_planner_does_and_answers() -> None:
    world = kitchen(level="level_3", seats=3)
    decision = decided(world, "robot 2, stop", kind="dispatcher", model="stand-in", stand_in_errors=0.0)
    assert decision.played_by == "stand-in"
    assert decision.commands[1] == ("noop",)
    assert [say.text for say in decision.says] == [
        "Understood: Robot 2 waits. This holds until you write “Go on”."
    ]
