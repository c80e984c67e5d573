"""What `SimpleWorld` gives a world: seat checks, refusal codes, a stored state, a score from attributes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import pytest

from kitchen.contract.declared_settings import Setting
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.contract.world_errors import SettingsError, StateError


class Buckets(SimpleWorld):
    """Two seats fill buckets; a full one spills."""

    kind: ClassVar[str] = "buckets"
    settings: ClassVar[tuple[Setting, ...]] = (Setting("steps", "int", "Steps", 2, minimum=1),)
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric("filled", "count", "Filled"),
        Metric("spilt", "count", "Spilt"),
        Metric("kept", "share", "Kept", undefined="blank before the first", of=("filled", "spilt")),
    )
    state: ClassVar[tuple[str, ...]] = ("filled", "spilt", "litres")

    def begin(self) -> None:
        self.filled, self.spilt = 0, 0
        self.litres = {"red": [self.chance("red").randint(1, 5)]}

    def observe(self, seat: int) -> dict[str, Json]:
        return {"filled": self.filled}

    def legal_actions(self, seat: int) -> list[Command]:
        return [("fill",), ("spill",), self.idle]

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        self.filled += command == ("fill",)
        self.spilt += command == ("spill",)
        self.litres["red"].append(seat)
        return [Event("splash", None)] if command == ("spill",) else []


def made(seed: int = 3) -> Buckets:
    world = Buckets.create(seats=2, settings={})
    world.reset(seed)
    return world


@pytest.mark.parametrize("seats", [0, 3, True])
def test_other_numbers_of_seats_are_refused(seats: int) -> None:
    with pytest.raises(SettingsError, match="seats"):
        Buckets.create(seats=seats, settings={})


def test_each_seat_acts_once_and_a_refusal_names_its_code() -> None:
    events = made().step([(0, ("fill",)), (0, ("fill",)), (2, ("fill",)), (1, ("fly",))])
    codes = [event.data.get("reasons") for event in events]
    assert codes == [None, ["duplicate_seat"], ["unknown_seat"], ["not_possible"]]


def test_events_of_a_command_follow_it() -> None:
    assert [event.kind for event in made().step({0: ("spill",), 1: ("fill",)})] == [
        "performed",
        "splash",
        "performed",
    ]


def test_the_score_is_read_from_attributes_and_a_share_from_its_counts() -> None:
    world = made()
    assert world.score() == {"filled": 0, "spilt": 0, "kept": None}
    world.step({0: ("fill",), 1: ("spill",)})
    assert world.score() == {"filled": 1, "spilt": 1, "kept": 0.5}


def test_nothing_happens_after_the_last_step() -> None:
    world = made()
    assert [bool(world.step({0: ("fill",)})) for _ in range(3)] == [True, True, False]
    assert (world.clock, world.length, world.over) == (2, 2, True)


def test_a_stored_state_shares_nothing_with_the_world() -> None:
    world = made()
    stored = world.to_dict()
    read = Buckets.from_dict(stored)
    read.step({1: ("fill",)})
    assert world.to_dict() == stored and read.to_dict() != stored


@pytest.mark.parametrize("damage", [{"version": 2}, {"kind": "pails"}, {"seats": 9}, {"settings": []}])
def test_a_damaged_state_is_refused(damage: dict[str, Json]) -> None:
    with pytest.raises(StateError):
        Buckets.from_dict({**made().to_dict(), **damage})


def test_a_state_that_lacks_something_is_refused() -> None:
    stored = made().to_dict()
    del stored["litres"]
    with pytest.raises(StateError, match="litres"):
        Buckets.from_dict(stored)


def test_a_secret_is_public_in_no_world_of_one_seat_or_of_equal_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Buckets, "brief", lambda self, seat: {"steps": 2, "code": 7})
    assert Buckets.create(seats=1, settings={}).public_brief() == {"steps": 2, "code": 7}
    monkeypatch.setattr(Buckets, "secret", ("code",))
    for seats in (1, 2):
        assert Buckets.create(seats=seats, settings={}).public_brief() == {"steps": 2}


def test_chance_follows_from_seed_and_labels_alone() -> None:
    world = made()
    drawn = world.chance("a", 1).random()
    world.step({0: ("fill",)})
    assert world.chance("a", 1).random() == drawn
    assert made(4).chance("a", 1).random() != drawn != world.chance("a", 2).random()
