"""Commands with an amount: which are allowed, which a person may hand in, and which plans may hold."""

from __future__ import annotations

import pytest

from kitchen.contract.automatic_commands import Plan, open_turn
from kitchen.contract.world import Command
from tests.worlds.beacon.world import Beacon
from tests.worlds.quarry import Quarry


def quarry(heap: int = 9) -> Quarry:
    world = Quarry.create(seats=2, settings={})
    world.heap = heap
    return world


@pytest.mark.parametrize("amount", ["1", "2", "5"])
def test_every_amount_in_the_range_is_allowed_and_may_be_handed_in(amount: str) -> None:
    command = ("load", "left_cart", amount)
    assert quarry().allows(0, command) and quarry().accepts(0, command)


@pytest.mark.parametrize("amount", ["0", "6", "-1", "+1", "01", "1.0", "", "one", "٣", "9" * 5000])
def test_no_other_amount_is(amount: str) -> None:
    command = ("load", "left_cart", amount)
    assert not quarry().allows(0, command) and not quarry().accepts(0, command)


def test_the_range_is_that_of_this_moment() -> None:
    assert quarry(heap=3).allows(0, ("load", "left_cart", "3"))
    assert not quarry(heap=3).allows(0, ("load", "left_cart", "4"))
    assert ("load", "left_cart", "1") not in quarry(heap=0).legal_actions(0)


@pytest.mark.parametrize("command", [(), ("load",), ("load", "2"), ("paint", "2"), ("wait", "1")])
def test_only_a_command_that_has_an_amount_may_have_one(command: Command) -> None:
    assert not quarry().allows(0, command)


def test_without_amounts_exactly_legal_commands_are_allowed() -> None:
    world = Beacon.create(seats=2, settings={})
    world.reset(1)
    assert all(world.allows(0, command) for command in world.legal_actions(0))
    assert not world.allows(0, ("light", "1"))


def test_a_plan_may_hold_amounts() -> None:
    then = (("load", "left_cart", "4"), ("load", "right_cart", "2"))
    made = open_turn(quarry(), [0], {0: Plan(then, "person", "", 0)}, passes_by=False)
    assert [filled.command for filled in made.filled] == [("load", "left_cart", "4")]
    made = open_turn(quarry(heap=3), [0], {0: Plan(then, "person", "", 0)}, passes_by=False)
    assert not made.filled and made.broken
