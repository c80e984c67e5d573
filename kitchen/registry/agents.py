"""Every kind of co-player: one line each, sorted by name; those of one world stand in the world's kit."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.agent import Adviser, Agent, Decision, Pursuer, Situation
from kitchen.contract.world import Json
from kitchen.registry.names import load, look_up
from kitchen.registry.worlds import get_kit, known_worlds

AGENTS: dict[str, str] = {
    "follower": "kitchen.agents.follower:Follower",
    "random": "kitchen.agents.random:RandomAgent",
}
"""Name of the kind to its class, of those that no single world owns."""

NO_ADVISER = Adviser()


def agent_kinds(world: str = "") -> dict[str, str]:
    """Every kind to its class, sorted by name; with a world only those that can play it."""
    owned = {kind: path for name in known_worlds() for kind, path in get_kit(name).coplayers.items()}
    paths = sorted({**AGENTS, **owned}.items())
    return {kind: path for kind, path in paths if not world or plays(load(path), world)}


def plays(coplayer: type[Agent], world: str) -> bool:
    """Whether this kind can play this world."""
    if coplayer.pursues and not get_kit(world).pursuer:
        return False
    return coplayer.worlds is None or world in coplayer.worlds


def get_adviser(world: str) -> Adviser:
    """Who knows what is good to do in this world: one who knows nothing if it has none."""
    path = get_kit(world).adviser
    return load(path) if path else NO_ADVISER


def get_pursuer(world: str) -> Pursuer:
    """Who knows the way to the aims of a world that has such."""
    pursuer: Pursuer = load(get_kit(world).pursuer)
    return pursuer


def get_agent(kind: str) -> type[Agent]:
    """The class of a co-player; UnknownNameError if there is none."""
    coplayer: type[Agent] = look_up(agent_kinds(), kind)
    return coplayer


def make_agent(kind: str, settings: Mapping[str, Json]) -> Agent:
    """A co-player with these settings; SettingsError if they are wrong."""
    return get_agent(kind)(settings)


def decided(kind: str, settings: Mapping[str, Json], situation: Situation) -> Decision:
    """What a co-player with these settings decides: for whoever has it decide in another process. Whatever
    it raises."""
    return make_agent(kind, settings).decide(situation)
