"""Quarry, version 1: seats load stones from a heap into two carts. `load CART AMOUNT` moves 1 to 5 stones,
as far as the heap has them; `paint CART` makes a cart red; `wait` does nothing. Score: `loaded`, stones in
carts."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar, Self

from kitchen.contract import world as contract
from kitchen.contract.world import Command, Event, Figure, Json, Setting

CARTS = ("left_cart", "right_cart")
MOST = 5


class Quarry(contract.World):
    """A heap of stones, and carts."""

    kind: ClassVar[str] = "quarry"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (Setting("steps", "int", "Steps", 10, minimum=1, maximum=100),)
    idle: ClassVar[Command] = ("wait",)
    max_seats: ClassVar[int] = 3
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("loaded", "count", "Stones loaded", words=("stone loaded", "stones loaded")),
    )
    clock, length = 0, 0

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        self.seats, self.chosen = seats, contract.clean_settings(self.settings, settings)
        self.length = self.chosen["steps"]
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """SettingsError for settings that are none."""
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        """A heap of 12 to 20 stones, empty carts."""
        self.clock, self.heap = 0, Random(seed).randint(12, 20)
        self.carts: dict[str, Json] = {cart: {"stones": 0, "red": False} for cart in CARTS}

    @property
    def over(self) -> bool:
        """After the last step."""
        return self.clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        """The settings."""
        return {**self.chosen, "most_at_once": MOST}

    def observe(self, seat: int) -> dict[str, Json]:
        """The heap and the carts."""
        return {"heap": self.heap, "carts": {cart: dict(one) for cart, one in self.carts.items()}}

    def legal_actions(self, seat: int) -> list[Command]:
        """Load what is there, paint what is not red, wait."""
        load = [(*command, "1") for command in self.amounts(seat)]
        return [*load, *(("paint", cart) for cart in CARTS if not self.carts[cart]["red"]), self.idle]

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """One to five stones."""
        return {("load", cart): (1, min(MOST, self.heap)) for cart in CARTS if self.heap}

    def step(self, turn: contract.Turn) -> tuple[Event, ...]:
        """One after the other."""
        events = [
            event for seat, command in contract.ordered(turn) for event in self._act(seat, tuple(command))
        ]
        self.clock += 1
        return tuple(events)

    def _act(self, seat: int, command: Command) -> tuple[Event, ...]:
        if not self.allows(seat, command):
            return (Event("refused", seat, {"command": list(command), "reasons": ["not_possible"]}),)
        done = Event("performed", seat, {"command": list(command)})
        if command[0] == "load":
            self.heap -= int(command[2])
            self.carts[command[1]]["stones"] += int(command[2])
        if command[0] == "paint":
            self.carts[command[1]]["red"] = True
            return done, Event("painted", seat, {"cart": command[1]})
        return (done,)

    def score(self) -> dict[str, Json]:
        """`loaded`."""
        return {"loaded": sum(cart["stones"] for cart in self.carts.values())}

    def to_dict(self) -> dict[str, Json]:
        """All of it."""
        named = {"kind": self.kind, "version": self.version, "seats": self.seats, "settings": self.chosen}
        carts = {cart: dict(one) for cart, one in self.carts.items()}
        return {**named, "clock": self.clock, "heap": self.heap, "carts": carts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """StateError for what is no state of it."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise contract.StateError("not a state of quarry, version 1")
        world = cls(stored["seats"], stored["settings"])
        world.clock, world.heap = stored["clock"], stored["heap"]
        world.carts = {cart: dict(one) for cart, one in stored["carts"].items()}
        return world
