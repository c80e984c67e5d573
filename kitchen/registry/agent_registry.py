"""List every kind of agent, and make agents by name. A world's kit lists the agents that play only that
world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kitchen.contract.agent import Adviser, Agent, AimPursuer, Decision, Situation
from kitchen.contract.agent_skills import Skills
from kitchen.contract.world import Json
from kitchen.registry.dotted_paths import UnknownNameError, load_path, registry_entry
from kitchen.registry.world_registry import get_kit, known_worlds

AGENTS: dict[str, str] = {
    "blocks_planner": "kitchen.worlds.blocks.block_planner:BlocksPlanner",
    "follower": "kitchen.agents.job_follower:Follower",
    "hourglass": "kitchen.agents.hourglass.agent:Hourglass",
    "proagent": "kitchen.agents.proagent.agent:ProAgent",
    "random": "kitchen.agents.random_agent:RandomAgent",
    "skill_dispatcher": "kitchen.agents.skill_dispatcher.agent:SkillDispatcher",
}
"""Class path of each kind of agent that does not belong to a single world."""

NO_ADVISER = Adviser()


def agent_kinds(world: str = "") -> dict[str, Callable[[], type[Agent]]]:
    """Return the loader of each kind's class, sorted by name; with `world`, of kinds that can play it."""
    owned = {kind: made for name in known_worlds() for kind, made in get_kit(name).coplayers.items()}
    shared: dict[str, Callable[[], type[Agent]]] = {
        kind: partial(load_path, path) for kind, path in AGENTS.items()
    }
    kinds = sorted({**shared, **owned}.items())
    return {kind: made for kind, made in kinds if not world or can_play(made(), world)}


def can_play(coplayer: type[Agent], world: str) -> bool:
    """Return True if this kind can play this world."""
    kit = get_kit(world)
    if (coplayer.pursues and not kit.pursuer) or (coplayer.skilled and not kit.skills):
        return False
    return coplayer.worlds is None or world in coplayer.worlds


def get_adviser(world: str) -> Adviser:
    """Return the world's adviser, or one that advises nothing."""
    adviser = get_kit(world).adviser
    return adviser() if adviser else NO_ADVISER


def get_pursuer(world: str) -> AimPursuer:
    """Return the world's planner for its goals (aims). Raises UnknownNameError if it has none."""
    pursuer = get_kit(world).pursuer
    if not pursuer:
        raise UnknownNameError(f"nobody pursues aims in {world!r}")
    return pursuer()


def get_skills(world: str) -> Skills:
    """Return the world's skills, for agents that decide in skills. Raises UnknownNameError if it has none."""
    skills = get_kit(world).skills
    if not skills:
        raise UnknownNameError(f"there are no skills in {world!r}")
    return skills()


def get_agent(kind: str) -> type[Agent]:
    """Return the class of an agent kind. Raises UnknownNameError if there is none."""
    return registry_entry(agent_kinds(), kind)()


def plays_in_real_time(kind: str) -> bool:
    """Return True if this kind decides instantly or keeps acting while it thinks (`Agent.arrived`)."""
    found = get_agent(kind)
    return found.instant or found.arrived is not Agent.arrived


def make_agent(kind: str, settings: Mapping[str, Json]) -> Agent:
    """Make an agent with these settings. Raises SettingsError if they are wrong."""
    return get_agent(kind)(settings)


def make_agents(kinds: Sequence[str], settings: Mapping[str, Json]) -> list[Agent]:
    """Make the agents of these kinds. A single agent gets all settings; several get the settings that they
    declare. Raises SettingsError if one is invalid."""
    if len(kinds) == 1:
        return [make_agent(kinds[0], settings)]
    return [make_agent(kind, declared_settings(kind, settings)) for kind in kinds]


def declared_settings(kind: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return those of the settings that this kind declares."""
    names = {each.name for each in get_agent(kind).settings}
    return {name: value for name, value in settings.items() if name in names}


def decide_with_settings(kind: str, settings: Mapping[str, Json], situation: Situation) -> Decision:
    """Make an agent and return its decision, for a thread or process without an event loop. Raises what the
    agent raises."""
    return asyncio.run(make_agent(kind, settings).decide(situation))
