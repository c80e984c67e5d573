"""One step is looked ahead: what cannot be done becomes noop with words, and harms nobody else's command."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from kitchen.contract.world import Command, Event
from kitchen.worlds.cuisine.dispatcher.command_check import CheckedCommands, check_commands
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.dispatcher.prompt import feedback_sentences
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import LEVELS, fetch, kitchen, play, wander
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import moment


def check(now: KitchenMoment, given: Sequence[GivenCommand]) -> CheckedCommands:
    """Check commands after those that run before them in this step."""
    scene = SimulatedKitchen(now.brief, now.observation)
    scene.run_all(now.commanded)
    return check_commands(scene, now.team, given)


def test_one_bad_command_becomes_noop_and_the_others_stand() -> None:
    verdict = check(moment(), [(2, ("put", "pot0")), (1, ("goto", "storage0"))])
    assert verdict.commands == ((2, ("noop",)), (1, ("goto", "storage0")))
    (fault,) = verdict.faults
    assert (fault.seat, fault.command) == (2, ("put", "pot0"))
    assert fault.text == (
        "agent2 could not put_agent2_pot0: agent2 stands at servingtable0, not at pot0; "
        "first goto_agent2_pot0; agent2 holds nothing, so there is nothing to put."
    )


def test_an_agent_commanded_twice_keeps_its_first_command() -> None:
    verdict = check(moment(), [(1, ("goto", "pot0")), (1, ("goto", "pot1")), (2, ("noop",))])
    assert verdict.commands == ((1, ("goto", "pot0")), (2, ("noop",)))
    assert [fault.code for fault in verdict.faults] == ["duplicate_agent"]
    assert "agent ids cannot be the same" in verdict.faults[0].text


def test_the_same_command_said_twice_is_no_error() -> None:
    goto = (1, ("goto", "pot0"))
    assert check(moment(), [goto, (2, ("noop",)), goto]).faults == ()


def test_commands_for_the_person_and_for_nobody_are_ignored_with_feedback() -> None:
    verdict = check(moment(), [(0, ("goto", "pot0")), (7, ("noop",)), (1, ("noop",)), (2, ("noop",))])
    assert [seat for seat, _ in verdict.commands] == [1, 2]
    assert [fault.code for fault in verdict.faults] == ["not_yours", "unknown_agent"]
    assert "agent0 is a person" in verdict.faults[0].text


def test_agents_without_a_command_are_left_out_and_named() -> None:
    verdict = check(moment(), [(1, ("noop",))])
    assert verdict.commands == ((1, ("noop",)),)
    assert [(fault.code, fault.seat) for fault in verdict.faults] == [("left_out", 2)]
    assert [fault.code for fault in check(moment(), []).faults] == ["no_command"]


def test_the_persons_command_runs_before_ours() -> None:
    world = kitchen(seats=2)
    fetch(world, "rice", "pot0")
    world.step({1: ("goto", "pot0")})
    ours = [(1, ("activate", "pot0"))]
    assert check(moment(world, 1), ours).faults == ()
    taken = moment(world, 1, commanded={0: ("activate", "pot0")})
    assert "location_busy" in check(taken, ours).faults[0].code


def test_a_later_command_meets_what_an_earlier_one_has_done() -> None:
    world = kitchen(seats=2)
    play(world, "goto storage0", "get storage0 rice", "goto pot0")
    world.step({1: ("goto", "pot0")})
    put, activate = (0, ("put", "pot0")), (1, ("activate", "pot0"))
    now = moment(world, 0, 1)
    assert check(now, [put, activate]).faults == ()
    assert check(now, [activate, put]).commands == ((1, ("noop",)), put)


@pytest.mark.parametrize("level", LEVELS)
def test_what_passes_is_what_the_engine_carries_out(level: str) -> None:
    """Whatever commands come together, the look-ahead refuses exactly what the engine refuses."""
    world, chance = kitchen(level, seats=4), Random(level)
    for _ in range(25):
        now = moment(world, 0, 1, 2, 3)
        turn = [(seat, chance.choice(_wishes(world, seat))) for seat in chance.sample(range(4), 4)]
        verdict = check(now, turn)
        events = [e for e in world.step(turn) if e.kind in ("performed", "refused")]
        refused = {event.seat for event in events if event.kind == "refused"}
        assert {fault.seat for fault in verdict.faults} == refused
        assert [seat for seat, _ in verdict.commands] == [seat for seat, _ in turn]
        assert dict(verdict.accepted) == {seat: c for seat, c in turn if seat not in refused}


def _wishes(world: CuisineWorld, seat: int) -> list[Command]:
    at = world.observe(seat)["agents"][seat]["at"]
    legal = world.legal_actions(seat)
    doing = [command for command in legal if command[0] in ("get", "put", "activate")]
    odd = [
        ("put", at),
        ("activate", at),
        ("get", at),
        ("get", at, "gold"),
        ("cook",),
        ("noop",),
        ("goto", "moon"),
    ]
    return [*legal, *doing * 3, *odd]


def test_every_refusal_has_words_that_name_the_agent() -> None:
    world = kitchen("level_5", seats=4)
    wander(world, 20, seed=3)
    now = moment(world, 0, 1, 2, 3)
    verbs = ("goto", "get", "put", "activate", "noop", "cook")
    places = ("storage0", "pot0", "mixer0", "servingtable0", "moon")
    for seat in range(4):
        for command in [
            (v, p, i)[:n] for v in verbs for p in places for i in ("rice", "gold") for n in (1, 2, 3)
        ]:
            for fault in check(now, [(seat, command)]).faults:
                assert f"agent{fault.seat}" in fault.text and "{" not in fault.text


def test_the_kitchen_is_rebuilt_as_it_is() -> None:
    world = kitchen("level_5", seats=3)
    for _ in range(30):
        wander(world, 1, seed=world.clock)
        scene = SimulatedKitchen(world.brief(0), world.observe(0))
        places = world.to_dict()["places"]
        assert {id: (list(p.items), p.busy, p.done) for id, p in scene.places.items()} == {
            id: (place["items"], place["busy"], place["done"]) for id, place in places.items()
        }


def test_feedback_advises_to_throw_away_what_nobody_needs() -> None:
    world = kitchen(seats=2)
    play(world, "goto storage0", "get storage0 pork")
    assert feedback_sentences(moment(world, 0, 1), []) == [
        "agent0 holds pork, which no recipe here needs: bring it to storage0 and put it there; "
        "next put_agent0_storage0."
    ]
    assert feedback_sentences(moment(world, 1), []) == []


def test_feedback_tells_what_the_kitchen_refused_and_served() -> None:
    events = (
        Event("refused", 1, {"command": ["get", "pot0"], "reasons": ["location_busy"]}),
        Event("refused", 0, {"command": ["get", "pot0"], "reasons": ["location_busy"]}),
        Event("completed", None, {"dish": "tunaSushi"}),
        Event("all_idle"),
    )
    lines = feedback_sentences(moment(events=events), ["agent2 got no command"])
    assert lines[0] == "agent2 got no command"
    assert lines[1].startswith("agent1 could not get_agent1_pot0: pot0 is occupied")
    assert lines[2:] == [
        "tunaSushi was served: an order is complete.",
        "No agent did anything in the last step.",
    ]


def test_what_the_agents_collected_is_confirmed_where_the_setting_says_so() -> None:
    world = kitchen(seats=2)
    now = moment(world, 0, 1, events=play(world, "goto storage0", "get storage0 tuna"))
    assert feedback_sentences(now, [], confirms=True)[:1] == ["agent0 collected tuna: collect finish."]
    assert not any("collect finish" in line for line in feedback_sentences(now, []))
