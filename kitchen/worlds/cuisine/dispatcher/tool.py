"""The structured reply: a strict JSON schema over the agents, locations and items of one kitchen, and back.

Everything is required and nothing else allowed, and there are no other keywords than those that strict modes
of providers take; `none` stands where a command has no location or item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kitchen.contract.model import Tool
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.dispatcher.extraction import Names, extract, plain
from kitchen.worlds.cuisine.dispatcher.moment import Given, Team, agent_name
from kitchen.worlds.cuisine.dispatcher.spelling import NONE
from kitchen.worlds.cuisine.rules import VERBS

TOOL_NAME = "dispatch"


def dispatch_tool(brief: Mapping[str, Json], team: Team, *, talks: bool = False) -> Tool:
    """The tool by which the model commands the agents of this team, and where it `talks` says a line."""
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
    schema = _object({"plan": plan, **({"say": say} if talks else {}), "commands": commands})
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


def read_call(call: Mapping[str, Json], names: Names) -> tuple[Given, ...]:
    """The commands of a structured reply, in order. A provider may not keep to the schema: commands that are
    spelled are read too, and what is no command at all is passed over. Never raises."""
    entries = call.get("commands")
    listed = entries if isinstance(entries, list | tuple) else ()
    return tuple(given for entry in listed for given in _entry(entry, names))


def _entry(entry: Json, names: Names) -> tuple[Given, ...]:
    if isinstance(entry, str):
        return extract(entry, names)
    given = _read(entry, names) if isinstance(entry, Mapping) else None
    return (given,) if given else ()


def _read(entry: Mapping[str, Json], names: Names) -> Given | None:
    agent = plain(str(entry.get("agent", ""))).removeprefix("agent")
    verb = str(entry.get("verb", "")).lower()
    if not (agent.isascii() and agent.isdigit() and len(agent) < 4 and verb):
        return None
    return int(agent), _command(verb[:40], entry, names)


def _command(verb: str, entry: Mapping[str, Json], names: Names) -> Command:
    most = VERBS[verb].most if verb in VERBS else 2
    written = [str(entry.get(key) or "")[:40] for key in ("location", "item")]
    place, item = ("" if plain(each) in ("", NONE) else each for each in written)
    arguments = [names.place(place), names.item(item)] if place else []
    return (verb, *[each for each in arguments if each][:most])
