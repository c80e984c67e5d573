"""Define the agents of the test world Lane."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, Situation


class Walker(Agent):
    """An agent that goes east, and back from the end of the row. It counts its decisions in its memory."""

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
    """An agent that always fails."""

    kind: ClassVar[str] = "stumbler"

    async def decide(self, situation: Situation) -> Decision:
        """Fail always."""
        raise RuntimeError("stumbled")


class Ponderer(Walker):
    """An agent that never answers in time. It is asked in another process, and sleeps there."""

    kind: ClassVar[str] = "ponderer"
    light: ClassVar[bool] = False


class Thinker(Walker):
    """An agent that pretends to ask a model; the test answers. Until then it stays. A late decision is
    carried out when it arrives."""

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
    """An agent that needs some time to decide."""

    kind: ClassVar[str] = "slow"
    instant: ClassVar[bool] = False
    light: ClassVar[bool] = False
