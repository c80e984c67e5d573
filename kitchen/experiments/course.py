"""An episode of agents alone under way: its world, and what the one mind that commands all remembers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kitchen.agents.evaluate import see
from kitchen.contract.agent import Situation
from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Command, Event, Json, World
from kitchen.experiments.entries import Entry, Head
from kitchen.experiments.log import Log, LogError
from kitchen.registry.worlds import get_world


class Course:
    """Where an episode is. It begins at its start."""

    def __init__(self, head: Head) -> None:
        """WorldError where its world cannot be made."""
        self.head = head
        self.game: World = get_world(head.world).create(seats=head.agents, settings=head.world_settings)
        self.game.reset(head.seed)
        self.memory: Json = None
        self.events: tuple[Event, ...] = ()

    @property
    def is_over(self) -> bool:
        """No step is left."""
        return self.game.over or self.game.cut_off

    def situation(self, **more: Any) -> Situation:
        """What the mind is told now; `more` is what else it says (`seconds`, `purse`, `answers`)."""
        seats, drawn = range(self.game.seats), derived_seed(self.head.seed, self.game.clock)
        seen = see(self.game, seats, memory=self.memory, events=self.events, seed=drawn)
        return replace(seen, **more)

    def take(self, commands: Mapping[int, Command], memory: Json) -> None:
        """One step with these commands."""
        self.events, self.memory = self.game.step(commands), memory

    def repeat(self, entry: Entry) -> bool:
        """One step as it was kept; whether it leads to the same state."""
        self.take(entry.commands, entry.memory)
        return self.game.state_hash() == entry.state_hash

    def catch_up(self, log: Log) -> None:
        """Go to where this log of it ends; LogError where it is another episode's, or leads elsewhere."""
        if log.head.to_json() != json.loads(json.dumps(self.head.to_json())):
            raise LogError(f"is not the log of {self.head}, as it is played now")
        for entry in log.entries:
            if not self.repeat(entry):
                raise LogError(f"leads elsewhere from step {entry.step} on")
