"""An episode of agents alone under way: its world, and what the one mind that commands all remembers."""

from __future__ import annotations

import json

from kitchen.agents.alone import Alone
from kitchen.contract.world import Json
from kitchen.experiments.entries import Entry, Head
from kitchen.experiments.log import Log, LogError
from kitchen.registry.worlds import get_world


class Course(Alone):
    """Where an episode is. It begins at its start."""

    def __init__(self, head: Head) -> None:
        """WorldError where its world cannot be made."""
        self.head = head
        game = get_world(head.world).create(seats=head.agents, settings=head.world_settings)
        game.reset(head.seed)
        super().__init__(game, head.seed)

    def repeat(self, entry: Entry) -> bool:
        """One step as it was kept; whether it leads to the same state."""
        self.take(entry.commands, entry.memory, entry.plans, entry.played_by, entry.fallback)
        return self.game.state_hash() == entry.state_hash

    def catch_up(self, log: Log) -> None:
        """Go to where this log of it ends, whichever version of Brigade wrote it; LogError where it is
        another episode's, or leads elsewhere."""
        if _told(log.head) != json.loads(json.dumps(_told(self.head))):
            raise LogError(f"is not the log of {self.head}, as it is played now")
        for entry in log.entries:
            if not self.repeat(entry):
                raise LogError(f"leads elsewhere from step {entry.step} on")


def _told(head: Head) -> dict[str, Json]:
    return {**head.to_json(), "program": ""}
