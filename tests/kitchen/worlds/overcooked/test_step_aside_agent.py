"""The teammate of practice goes out of the way, and a person alone can deliver a soup beside it."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.world import Command, Event
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.overcooked.partners.step_aside_agent import refuges
from kitchen.worlds.overcooked.skills import SKILLS
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.worlds.overcooked.pairs import LAYOUTS
from tests.nightly import thinned


class Pair:
    """A world in which the teammate of practice plays one seat."""

    def __init__(self, layout: str, own: int = 0, kind: str = "step_aside") -> None:
        self.world = Overcooked.create(seats=2, settings={"layout": layout, "ticks": 400})
        self.own, self.mind, self.memory = own, make_agent(kind, {}), None
        self.events: tuple[Event, ...] = ()

    def step(self, command: Command) -> None:
        """Take a tick with this command of the person."""
        other: Any = make_situation(self.world, (1 - self.own,), memory=self.memory)
        object.__setattr__(other, "events", self.events)
        decision = run_without_waiting(self.mind.decide(other))
        self.memory = decision.memory
        self.events = self.world.step({**decision.commands, self.own: command})

    def at(self) -> tuple[int, int]:
        """Return where the teammate is."""
        x, y = self.world.observe(0)["players"][1 - self.own]["at"]
        return x, y


def soups_by_hints(pair: Pair, ticks: int) -> int:
    """Follow the hints of a real-time game for this many ticks. Return the number of soups."""
    from random import Random

    for _ in range(ticks):
        world, seat = pair.world, pair.own
        sight = SeatObservation(seat, world.brief(seat), world.observe(seat), world.legal_actions(seat))
        skill = SKILLS.errand(sight)
        pair.step(("stay",) if skill[0] == "wait" else SKILLS.command(sight, skill, Random(1)) or ("stay",))
    soups: int = pair.world.score()["soups"]
    return soups


@pytest.mark.parametrize("own", [0, 1])
def test_whoever_follows_the_hints_delivers_soups_beside_it(own: int) -> None:
    assert soups_by_hints(Pair("cramped_room", own), 100) >= 1


@pytest.mark.parametrize("layout", thinned([one for one in LAYOUTS if one != "forced_coordination"], 2))
def test_it_stands_where_all_furniture_can_be_reached_without_its_cell(layout: str) -> None:
    pair = Pair(layout)
    for _ in range(30):
        pair.step(("stay",))
    before = pair.at()
    for _ in range(5):
        pair.step(("stay",))
    assert pair.at() == before, "it comes to rest"


def test_it_makes_room_when_somebody_walks_into_it() -> None:
    pair = Pair("cramped_room")
    for _ in range(10):
        pair.step(("stay",))
    assert pair.at() == (2, 2)
    for _ in range(2):  # the first one turns to it or bumps into it
        pair.step(("east",))
    pair.step(("east",))
    assert pair.world.observe(0)["players"][0]["at"] == [2, 2]


def test_the_best_cell_of_a_small_room_is_beside_no_furniture_that_is_used() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room"})
    assert refuges(world.layout)[0] == (2, 2)


def test_a_hint_marks_the_nearest_cells_that_the_skill_uses() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room"})
    sight = SeatObservation(0, world.brief(0), world.observe(0), world.legal_actions(0))
    assert SKILLS.errand(sight) == ("pickup", "onion")
    assert SKILLS.hint_cells(sight) == [(0, 1), (4, 1)]
