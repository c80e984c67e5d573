"""Partners that need no thought: who stays, who walks at random, who follows a script. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command, Json, Setting, SettingsError
from kitchen.worlds.overcooked.stands import COMMANDS, MOVES, STAY

WORLDS = ("overcooked",)


class Stay(Agent):
    """Stays where it is."""

    kind: ClassVar[str] = "stay"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True

    def decide(self, situation: Situation) -> Decision:
        """`stay`."""
        return Decision(dict.fromkeys(situation.seats, STAY))


class RandomWalk(Agent):
    """The released *Random*: one of the four directions or `stay`, all equally likely, never an interact."""

    kind: ClassVar[str] = "random_walk"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True

    def decide(self, situation: Situation) -> Decision:
        """Drawn by the situation's seed alone."""
        rng = Random(situation.seed)  # noqa: S311
        return Decision({seat: rng.choice((*MOVES, STAY)) for seat in situation.seats})


class Script(Agent):
    """Does what a list says, for tests and demonstrations."""

    kind: ClassVar[str] = "script"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "commands",
            "text",
            "Commands",
            "stay",
            help="One for each tick, with spaces or lines between: north, south, east, west, interact, stay.",
            maximum=20_000,
            lines=8,
        ),
        Setting("repeats", "bool", "Begin anew at the end", False, help="If not, it stays from then on."),
    )
    instant: ClassVar[bool] = True
    light: ClassVar[bool] = True

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """SettingsError for a word that is no command."""
        super().__init__(chosen)
        self.script: tuple[Command, ...] = tuple((word,) for word in self.chosen["commands"].split())
        for number, command in enumerate(self.script, 1):
            if command not in COMMANDS:
                raise SettingsError(f"commands: {command[0]!r} (number {number}) is no command")

    def decide(self, situation: Situation) -> Decision:
        """The command whose number is that of the tick."""
        return Decision(dict.fromkeys(situation.seats, self._command(situation.step)))

    def _command(self, tick: int) -> Command:
        if self.chosen["repeats"] and self.script:
            return self.script[tick % len(self.script)]
        return self.script[tick] if tick < len(self.script) else STAY
