"""List every kind of agent, and create agents by the name of their kind.

If a kind can play only one world, the world's kit lists it (`kitchen.contract.kit`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec

from kitchen.contract.advisers import Adviser, AimPursuer
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.agent_skills import Skills
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.dotted_paths import UnknownNameError, load_path, registry_entry
from kitchen.registry.world_registry import get_kit, known_worlds

AGENTS: dict[str, str] = {
    "blocks_planner": "kitchen.worlds.blocks.block_planner:BlocksPlanner",
    "follower": "kitchen.agents.job_follower:Follower",
    "hourglass": "kitchen.agents.hourglass.agent:Hourglass",
    "human_like": "kitchen.agents.human_like.agent:HumanLike",
    "pairwise": "kitchen.agents.pairwise.agent:PairwiseAgent",
    "policy": "kitchen.agents.policy.agent:Policy",
    "proagent": "kitchen.agents.proagent.agent:ProAgent",
    "random": "kitchen.agents.random_agent:RandomAgent",
    "recorded": "kitchen.agents.recorded:RecordedAgent",
    "skill_dispatcher": "kitchen.agents.skill_dispatcher.agent:SkillDispatcher",
}
"""Class path of each kind of agent that does not belong to a single world."""

log = logging.getLogger(__name__)

NO_ADVISER = Adviser()


def agent_kinds(world: str = "") -> dict[str, Callable[[], type[Agent]]]:
    """Return every kind of agent with a function that imports its class, sorted by name. With `world`,
    only kinds that can play this world."""
    owned = _kinds_of_worlds(tuple(known_worlds().items()))
    shared: dict[str, Callable[[], type[Agent]]] = {
        kind: partial(load_path, path) for kind, path in AGENTS.items()
    }
    kinds = sorted({**shared, **owned}.items())
    return {kind: made for kind, made in kinds if not world or can_play(made(), world)}


@cache
def _kinds_of_worlds(worlds: tuple[tuple[str, str], ...]) -> Mapping[str, Callable[[], type[Agent]]]:
    """Return the kinds of agent that belong to one of these worlds, given as (name, path of the kit)."""
    return {kind: made for name, _ in worlds for kind, made in get_kit(name).coplayers.items()}


def can_play(coplayer: type[Agent], world: str) -> bool:
    """Return whether agents of this class can play this world."""
    kit = get_kit(world)
    if (coplayer.pursues and not kit.pursuer) or (coplayer.skilled and not kit.skills):
        return False
    return coplayer.worlds is None or world in coplayer.worlds


def has_package(coplayer: type[Agent]) -> bool:
    """Return whether the optional package is installed without which agents of this class cannot play."""
    return not coplayer.package or find_spec(coplayer.package) is not None


def leading_kinds(world: str = "") -> list[str]:
    """Return the kinds of agent that can lead without a seat, sorted. With `world`, only those that can play
    this world."""
    return [kind for kind, made in agent_kinds(world).items() if made().leads]


def leader_refusal(kind: str, world: str = "", *, seat: str = "seat") -> str:
    """Return a text that says why agents of this kind cannot lead without a seat, and which kinds can. Empty
    if they can. `seat` is the word for a seat in this text."""
    if get_agent(kind).leads:
        return ""
    able = " or ".join(leading_kinds(world)) or "another world"
    return f"{kind} cannot lead without a {seat}. Give it a {seat}, or choose {able}"


def get_adviser(world: str) -> Adviser:
    """Return the world's adviser, which recommends commands for hints. If the world has none, return an
    adviser that recommends nothing."""
    adviser = get_kit(world).adviser
    return adviser() if adviser else NO_ADVISER


def get_pursuer(world: str) -> AimPursuer:
    """Return the world's planner, which chooses commands to reach an assigned goal (aim). Raises
    UnknownNameError if the world has none."""
    pursuer = get_kit(world).pursuer
    if not pursuer:
        raise UnknownNameError(f"nobody pursues aims in {world!r}")
    return pursuer()


def get_skills(world: str) -> Skills:
    """Return the world's skills: actions of several steps, for agents that choose among them. Raises
    UnknownNameError if the world has none."""
    skills = get_kit(world).skills
    if not skills:
        raise UnknownNameError(f"there are no skills in {world!r}")
    return skills()


def get_agent(kind: str) -> type[Agent]:
    """Return the class of this kind of agent. Raises UnknownNameError if there is no such kind."""
    made = _kinds_of_worlds(tuple(known_worlds().items())).get(kind)
    return made() if made else registry_entry(agent_kinds(), kind)()


def preload_agents() -> None:
    """Import the classes of all agents, so that no first decision waits for it. An error is only logged. It
    occurs again when the agent is needed."""
    for kind, made in agent_kinds().items():
        try:
            made()
        except Exception:  # a third-party world may raise any error
            log.exception("the agent %s cannot be loaded", kind)


def plays_in_real_time(kind: str) -> bool:
    """Return whether agents of this kind can play real-time worlds. Such agents decide instantly, or can
    use a late decision (`Agent.arrived`)."""
    found = get_agent(kind)
    return found.instant or found.arrived is not Agent.arrived


def make_agent(kind: str, settings: Mapping[str, Json]) -> Agent:
    """Create an agent of this kind with these settings. Raises SettingsError if a setting is invalid,
    UnknownNameError for an unknown kind."""
    return get_agent(kind)(settings)


def agent_facts(kind: str, settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the facts that data state about an agent with these settings (`Agent.facts`). Empty if it cannot
    be made."""
    try:
        if get_agent(kind).facts is Agent.facts:
            return {}
        return make_agent(kind, settings).facts()
    except (SettingsError, UnknownNameError):
        return {}


def must_prepare(kind: str) -> bool:
    """Return whether agents of this kind load something before their first decision (`Agent.prepare`)."""
    return get_agent(kind).prepare is not Agent.prepare


def prepare_agent(kind: str, settings: Mapping[str, Json], world: str) -> None:
    """Let an agent of this kind load what its first decision in this world needs, in this process."""
    make_agent(kind, settings).prepare(world)


def make_agents(kinds: Sequence[str], settings: Mapping[str, Json]) -> list[Agent]:
    """Create one agent of each kind. A single agent gets all settings. Of several agents, each gets only the
    settings that its kind declares.

    Raises SettingsError if a setting is invalid, UnknownNameError for an unknown kind.
    """
    if len(kinds) == 1:
        return [make_agent(kinds[0], settings)]
    return [make_agent(kind, declared_settings(kind, settings)) for kind in kinds]


def declared_settings(kind: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return only those settings whose names this kind of agent declares."""
    names = {each.name for each in get_agent(kind).settings}
    return {name: value for name, value in settings.items() if name in names}


def decide_with_settings(kind: str, settings: Mapping[str, Json], situation: Situation) -> Decision:
    """Create an agent of this kind, and return its decision in this situation. Raises any error of the agent.

    Call it in a thread or process without a running event loop.
    """
    return asyncio.run(make_agent(kind, settings).decide(situation))


def decide_and_measure(
    kind: str, settings: Mapping[str, Json], situation: Situation
) -> tuple[Decision, float]:
    """Return the decision as `decide_with_settings` does, and the milliseconds that it took here."""
    began = time.monotonic()
    decision = decide_with_settings(kind, settings, situation)
    return decision, (time.monotonic() - began) * 1000
