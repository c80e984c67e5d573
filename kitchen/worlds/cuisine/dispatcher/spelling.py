"""How commands are written for the model: `goto_agent1_pot0`, or as one object of the structured reply."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.dispatcher.moment import Given, agent_name

NONE = "none"
"""What stands for no location or item in the structured reply."""


def spell(seat: int, command: Command) -> str:
    """`get_agent1_storage0_tuna`."""
    return "_".join([command[0] if command else "", agent_name(seat), *command[1:]])


def as_object(seat: int, command: Command) -> dict[str, str]:
    """The same as one entry of the structured reply."""
    verb, location, item = (*command, NONE, NONE, NONE)[:3]
    return {"agent": agent_name(seat), "verb": verb, "location": location, "item": item}


def spell_all(given: Iterable[Given], *, as_tool: bool) -> str:
    """Several commands in the form in which the model is to give them."""
    if as_tool:
        return json.dumps({"commands": [as_object(*each) for each in given]})
    return "\n".join(spell(*each) for each in given)
