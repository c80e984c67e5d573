"""Define the test world Quarry, a small world on the default page, with amounts and tables.

Rules, version 1. Seats load stones from a heap into two carts. `load CART AMOUNT` moves 1 to 5 stones, if the
heap has as many. `paint CART` makes a cart red; `wait` does nothing. Score: `loaded`, stones in carts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.kit import WorldKit
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.pages.default_page import DefaultPage

CARTS = ("left_cart", "right_cart")
MOST = 5


class Quarry(SimpleWorld):
    """The world: a heap of stones, and carts."""

    kind: ClassVar[str] = "quarry"
    settings: ClassVar[tuple[Setting, ...]] = (Setting("steps", "int", "Steps", 10, minimum=1, maximum=100),)
    idle: ClassVar[Command] = ("wait",)
    max_seats: ClassVar[int] = 3
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric("loaded", "count", "Stones loaded", words=("stone loaded", "stones loaded")),
    )
    state: ClassVar[tuple[str, ...]] = ("heap", "carts", "loaded")

    def begin(self) -> None:
        """Make a heap of 12 to 20 stones, and empty carts."""
        self.heap, self.loaded = self.chance("heap").randint(12, 20), 0
        self.carts: dict[str, Json] = {cart: {"stones": 0, "red": False} for cart in CARTS}

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the settings, and how many stones can be loaded at once."""
        return {**super().brief(seat), "most_at_once": MOST}

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the heap and the carts."""
        return {"heap": self.heap, "carts": {cart: dict(one) for cart, one in self.carts.items()}}

    def legal_actions(self, seat: int) -> list[Command]:
        """Return the commands to load if there are stones, to paint carts that are not red, and to wait."""
        load = [(*command, "1") for command in self.amounts(seat)]
        return [*load, *(("paint", cart) for cart in CARTS if not self.carts[cart]["red"]), self.idle]

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return the range of amounts: one to five stones."""
        return {("load", cart): (1, min(MOST, self.heap)) for cart in CARTS if self.heap}

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Load stones, or paint a cart."""
        if command[0] == "load":
            self.heap -= int(command[2])
            self.loaded += int(command[2])
            self.carts[command[1]]["stones"] += int(command[2])
        if command[0] == "paint":
            self.carts[command[1]]["red"] = True
            return (Event("painted", seat, {"cart": command[1]}),)
        return ()


PAGE = DefaultPage(
    title="The quarry",
    rules=("Bring as many stones to the carts as you can.", "A cart holds stones of everybody."),
)
KIT = WorldKit(rules=lambda: Quarry, page=lambda: PAGE, steps="steps")
LINE = "quarry=tests.worlds.quarry:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
