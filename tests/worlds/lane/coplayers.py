"""Define the agents of the test world Lane."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, Situation


class Walker(Agent):
    """Goes east, and back at the end of the lane; counts its decisions in its memory."""

    kind: ClassVar[str] = "walker"
    worlds: ClassVar[tuple[str, ...] | None] = ("lane",)
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True

    async def decide(self, situation: Situation) -> Decision:
        """Return the command to go east while that is legal."""
        seat, count = situation.seats[0], (situation.memory or 0) + 1
        way = ("east",) if ("east",) in situation.legal[seat] else ("west",)
        return Decision({seat: way}, memory=count)


class Stumbler(Walker):
    """Fails, always."""

    kind: ClassVar[str] = "stumbler"

    async def decide(self, situation: Situation) -> Decision:
        """Fail always."""
        raise RuntimeError("stumbled")


class Ponderer(Walker):
    """Never answers in time: it is asked in another process, and sleeps there."""

    kind: ClassVar[str] = "ponderer"
    light: ClassVar[bool] = False


class Thinker(Walker):
    """Asks a model, which it is said to do in its own time: the test answers. Meanwhile it stays; what it
    decided late it does then."""

    kind: ClassVar[str] = "thinker"
    instant: ClassVar[bool] = False
    light: ClassVar[bool] = False
    names_model: ClassVar[str] = "model"

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return the command to stay, and remember it."""
        return Decision({situation.seats[0]: ("stay",)}, memory=[*(situation.memory or []), "stayed"])

    def arrived(self, situation: Situation, late: Decision) -> Decision | None:
        """Return the late decision, with both memories joined."""
        return Decision(late.commands, memory=[*situation.memory, *late.memory], calls=late.calls)


class Slow(Walker):
    """Needs time."""

    kind: ClassVar[str] = "slow"
    instant: ClassVar[bool] = False
    light: ClassVar[bool] = False
