"""Every kind of co-player: one line each, sorted by name; those of one world stand in the world's kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kitchen.contract.agent import Adviser, Agent, Decision, Pursuer, Situation
from kitchen.contract.skills import Skills
from kitchen.contract.world import Json
from kitchen.registry.names import UnknownNameError, entry, load
from kitchen.registry.worlds import get_kit, known_worlds

AGENTS: dict[str, str] = {
    "follower": "kitchen.agents.follower:Follower",
    "proagent": "kitchen.agents.proagent.mind:ProAgent",
    "random": "kitchen.agents.random:RandomAgent",
    "skill_dispatcher": "kitchen.agents.skill_dispatcher.mind:SkillDispatcher",
}
"""Name of the kind to its class, of those that no single world owns."""

NO_ADVISER = Adviser()


def agent_kinds(world: str = "") -> dict[str, Callable[[], type[Agent]]]:
    """Return every kind with a function that gives its class, sorted by name; with a world only the kinds
    that can play it."""
    owned = {kind: made for name in known_worlds() for kind, made in get_kit(name).coplayers.items()}
    shared: dict[str, Callable[[], type[Agent]]] = {
        kind: partial(load, path) for kind, path in AGENTS.items()
    }
    kinds = sorted({**shared, **owned}.items())
    return {kind: made for kind, made in kinds if not world or plays(made(), world)}


def plays(coplayer: type[Agent], world: str) -> bool:
    """Whether this kind can play this world."""
    kit = get_kit(world)
    if (coplayer.pursues and not kit.pursuer) or (coplayer.skilled and not kit.skills):
        return False
    return coplayer.worlds is None or world in coplayer.worlds


def get_adviser(world: str) -> Adviser:
    """Who knows what is good to do in this world: one who knows nothing if it has none."""
    adviser = get_kit(world).adviser
    return adviser() if adviser else NO_ADVISER


def get_pursuer(world: str) -> Pursuer:
    """Who knows the way to the aims of a world that has such; UnknownNameError if it has none."""
    pursuer = get_kit(world).pursuer
    if not pursuer:
        raise UnknownNameError(f"nobody pursues aims in {world!r}")
    return pursuer()


def get_skills(world: str) -> Skills:
    """What agents that think in skills need to know of a world that has such; UnknownNameError if it has
    none."""
    skills = get_kit(world).skills
    if not skills:
        raise UnknownNameError(f"there are no skills in {world!r}")
    return skills()


def get_agent(kind: str) -> type[Agent]:
    """The class of a co-player; UnknownNameError if there is none."""
    return entry(agent_kinds(), kind)()


def keeps_up(kind: str) -> bool:
    """Whether this kind can play where a clock takes the steps: it is instant, or goes on with what it had
    while it thinks."""
    found = get_agent(kind)
    return found.instant or found.arrived is not Agent.arrived


def make_agent(kind: str, settings: Mapping[str, Json]) -> Agent:
    """A co-player with these settings; SettingsError if they are wrong."""
    return get_agent(kind)(settings)


def make_agents(kinds: Sequence[str], settings: Mapping[str, Json]) -> list[Agent]:
    """Make the agents of an episode without people. One alone has all of the settings, several have those
    that they know. SettingsError if they are wrong."""
    if len(kinds) == 1:
        return [make_agent(kinds[0], settings)]
    return [make_agent(kind, known(kind, settings)) for kind in kinds]


def known(kind: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Those of the settings that this kind declares."""
    names = {each.name for each in get_agent(kind).settings}
    return {name: value for name, value in settings.items() if name in names}


def decided(kind: str, settings: Mapping[str, Json], situation: Situation) -> Decision:
    """What a co-player with these settings decides: for whoever has it decide in another process. Whatever
    it raises."""
    return make_agent(kind, settings).decide(situation)
