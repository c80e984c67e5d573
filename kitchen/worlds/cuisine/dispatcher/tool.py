"""The structured reply: a strict JSON schema over the agents, locations and items of one kitchen.

Everything is required and nothing else allowed, and there are no other keywords than those that strict modes
of providers take; `none` stands where a command has no location or item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kitchen.contract.model import Tool
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.dispatcher import jobs
from kitchen.worlds.cuisine.dispatcher.moment import Team, agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import NONE
from kitchen.worlds.cuisine.rules import VERBS

TOOL_NAME = "dispatch"


def dispatch_tool(brief: Mapping[str, Json], team: Team, *, talks: bool = False, led: bool = False) -> Tool:
    """The tool by which the model commands the agents of this team, where it `talks` says a line, and where
    it is `led` answers jobs."""
    command = _object(
        {
            "agent": _enum(agent_name(seat) for seat in team.mine),
            "verb": _enum(VERBS),
            "location": _enum([*brief["locations"], NONE]),
            "item": _enum([*brief["base"], *brief["recipes"], NONE]),
        }
    )
    plan = {"type": "string", "description": "One or two sentences: what the agents work towards now."}
    commands = {
        "type": "array",
        "description": "One command for each agent, in the order in which they run.",
        "items": command,
    }
    say = {"type": "string", "description": "One short line to the people, or nothing."}
    more = {**({"say": say} if talks else {}), **({"jobs": jobs.schema()} if led else {})}
    schema = _object({"plan": plan, **more, "commands": commands})
    return Tool(TOOL_NAME, "Give every agent that you command its command for this step.", schema)


def _object(properties: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _enum(values: Iterable[str]) -> dict[str, Json]:
    return {"type": "string", "enum": list(values)}
