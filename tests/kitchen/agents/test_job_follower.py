"""Doing the jobs that one is given: which of several, by which seat, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kitchen.agents.job_follower import Follower
from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.organisation import ACCEPT, INFORM, REPORT, WITHDRAW, Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, World
from kitchen.registry.agent_registry import agent_kinds, get_pursuer, make_agent
from kitchen.registry.world_registry import get_world
from tests.kitchen.changed_facts import changed

LEAD = 3


def start() -> World:
    game = get_world("cuisine").create(seats=3, settings={"level": "level_3", "max_steps": 60})
    game.reset(7)
    return game


def told(number: int, kind: str = INFORM, *aim: str, sender: int = LEAD, **data: object) -> TeamMessage:
    to = (0,) if sender == LEAD else (LEAD,)
    more = {"aim": list(aim), "since": {"0": 0 if aim[0] == "serve" else None}} if aim else {}
    return TeamMessage(number, 1, sender, to, kind, "", {**data, **more})


def asked(game: World, seats: tuple[int, ...], *said: TeamMessage, memory: object = None) -> Situation:
    return changed(make_situation(game, seats, memory=memory), messages=said, member=0, step=game.clock)


def decide(situation: Situation, **settings: object) -> Decision:
    return run_without_waiting(Follower(settings).decide(situation))


def said(decision: Decision) -> list[tuple[str, object, object]]:
    return [(one.kind, one.data.get("job"), one.data.get("status")) for one in decision.says]


def test_without_a_job_nothing_is_done() -> None:
    assert decide(asked(start(), (0, 1))) == Decision({}, memory={"jobs": [], "seats": {}}, planned=False)


def test_who_writes_to_a_follower_is_told_once_that_it_takes_jobs() -> None:
    game, members = (
        start(),
        (Member(0, (0, 1, 2), is_person=False), Member(LEAD, (), is_person=True, name="L")),
    )
    team = make_organisation("graph", members, seats=3)
    heard = (told(1, "say"), told(2, "ask"))
    first = decide(changed(asked(game, (0,), *heard), organisation=team))
    assert [(one.kind, one.to, one.data) for one in first.says] == [
        ("answer", (LEAD,), {"code": "only_jobs"})
    ]
    again = changed(asked(game, (0,), *heard, told(3, "say"), memory=first.memory), organisation=team)
    assert decide(again).says == () and decide(again).memory == first.memory
    assert decide(changed(again, memory=None, taken_over=3)).says == ()


def test_the_newest_goes_first_and_what_is_taken_back_is_left() -> None:
    game, fetch, serve = start(), told(1, INFORM, "fetch", "rice"), told(2, INFORM, "free", "pot0")
    first = decide(asked(game, (0,), fetch))
    assert (first.commands, said(first)) == ({0: ("goto", "storage0")}, [(ACCEPT, 1, None)])
    both = decide(asked(game, (0,), fetch, told(3, ACCEPT, sender=0, job=1), serve, memory=first.memory))
    assert said(both) == [(ACCEPT, 2, None)] and both.commands == {}
    gone = decide(asked(game, (0,), fetch, serve, told(4, WITHDRAW, job=2), memory=both.memory))
    assert gone.commands == {0: ("goto", "storage0")}


def test_several_seats_do_a_job_each_and_keep_theirs() -> None:
    game, items = start(), ("rice", "tuna", "salmon")
    jobs = [told(number, INFORM, "fetch", item) for number, item in enumerate(items, 1)]
    one = decide(asked(game, (0, 1), jobs[0]))
    assert one.commands.keys() == {0}
    two = decide(asked(game, (0, 1), *jobs[:2], memory=one.memory))
    assert two.memory["seats"] == {"1": 0, "2": 1} and two.commands.keys() == {0, 1}
    three = decide(asked(game, (0, 1), *jobs, memory=two.memory))
    assert three.memory["seats"].keys() >= {"3"} and len(set(three.memory["seats"].values())) == 2


def test_a_job_that_is_told_no_more_goes_on_and_one_that_takes_too_long_is_given_up() -> None:
    game = start()
    memory = decide(asked(game, (0,), told(1, INFORM, "fetch", "rice"))).memory
    later = asked(game, (0,), told(60, "say"), memory=memory)
    assert decide(later).commands == {0: ("goto", "storage0")}
    over = told(61, REPORT, sender=0, job=1, status="done")
    assert decide(changed(later, messages=(told(60, "say"), over))).commands == {}
    late = decide(replace(later, step=9), patience=9)
    assert said(late) == [(REPORT, 1, "failed")] and late.says[0].data["code"] == "late"
    assert late.memory["jobs"] == []


def test_only_worlds_that_say_how_can_be_played_by_who_follows(beacon: None) -> None:
    assert "follower" in agent_kinds("cuisine") and "follower" not in agent_kinds("beacon")


@pytest.mark.parametrize("aim", [("serve", "tunaSushi"), ("make", "tunaSashimi"), ("free", "chopboard0")])
def test_every_aim_is_reached_by_its_way_alone(aim: tuple[str, str]) -> None:
    game, pursuer = start(), get_pursuer("cuisine")
    assert aim in game.aims(0)
    for words in ("goto storage0", "get storage0 salmon", "goto chopboard0", "put chopboard0"):
        game.step({0: tuple(words.split())})
    since = game.aim_mark(0, aim)
    for _ in range(50):
        pursuit = pursuer.pursue(make_situation(game, (0,)), 0, aim, since)
        if pursuit.status != UNKNOWN:
            break
        assert pursuit.command is None or pursuit.command in game.legal_actions(0)
        game.step({0: pursuit.command or game.idle})
    assert pursuit.status == game.aim_status(0, aim, since) == SUCCESS


def test_what_nobody_made_cannot_be_fetched_and_what_is_no_aim_cannot_be_pursued() -> None:
    game, pursuer = start(), get_pursuer("cuisine")
    assert game.aim_status(0, ("fetch", "tunaSashimi"), None) == FAIL
    for aim in (("fetch", "moon"), ("fetch",), ("dance", "rice0")):
        assert pursuer.pursue(make_situation(game, (0,)), 0, aim, None).status == FAIL
    assert jobs_in([told(1, INFORM, "fetch", "rice")])[0].aim == ("fetch", "rice")


def test_a_planner_does_what_it_is_told_to_and_goes_on_with_the_rest() -> None:
    game, planner = start(), make_agent("planner", {"tries": 2})
    alone = run_without_waiting(planner.decide(make_situation(game, (0, 1))))
    job = told(1, INFORM, "fetch", "salmon")
    made = run_without_waiting(planner.decide(asked(game, (0, 1), job)))
    assert said(made) == [(ACCEPT, 1, None)] and made.commands.keys() == {0, 1}
    seat = made.memory["jobs"]["seats"]["1"]
    assert made.commands[seat] == ("goto", "storage0") and made.memory["errands"] is not None
    later = run_without_waiting(planner.decide(asked(game, (0, 1), told(60, "say"), memory=made.memory)))
    assert later.commands[seat] == ("goto", "storage0")
    over = (told(60, "say"), told(61, REPORT, sender=0, job=1, status="done"))
    free = run_without_waiting(planner.decide(asked(game, (0, 1), *over, memory=alone.memory)))
    assert (
        free.commands
        == run_without_waiting(planner.decide(make_situation(game, (0, 1), memory=alone.memory))).commands
    )
