"""Advise seats of the test world Beacon: recommend good commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.advisers import Advice, Adviser
from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from tests.worlds.beacon.world import KEEPER, PILOT


class BeaconAdviser(Adviser):
    """An adviser that knows the haven. It gives no advice about pilots."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return the light that leads to the haven."""
        (seat,) = situation.seats
        if seat != KEEPER:
            return None
        seen = situation.observations[seat]
        where = "left" if seen["haven"] < seen["ship"] else "right"
        return Advice(("light", where), {"where": where})

    def expected(self, situation: Situation, seats: Sequence[int]) -> Mapping[int, Command]:
        """Return the action of a good pilot: steer where the light was."""
        light = situation.observations[situation.seats[0]]["light"]
        return {PILOT: ("steer", light)} if light in ("left", "right") else {}

    def came_true(self, seat: int, command: Command, observation: Mapping[str, Json]) -> bool:
        """Return whether a predicted course was right: whether the ship is now in that half of the bay."""
        return bool(observation["ship"] > 0) is (command[1] == "right")

    def success(self, score: Mapping[str, Json]) -> float | None:
        """Return the success from 0 to 1: 1 if the ship never left the haven, 0 from a mean distance of 4."""
        return None if score["drift"] is None else max(0.0, 1 - score["drift"] / 4)

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Return the output from 0 to 1: 1 if a haven was reached in every second step, which is the highest
        possible number."""
        return float(min(2 * score["havens"] / steps, 1.0))


ADVISER = BeaconAdviser()
