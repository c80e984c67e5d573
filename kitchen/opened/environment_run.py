"""Step one PettingZoo environment from its reset on, and keep its log, its digest and what pages show.

Environments cannot be copied: `copy` and `pickle` give back one that was never reset. So a state is the seed
and the log of actions, and a later process plays the log again. The digest is a SHA-256 chain over all
observations, rewards and ends. It shows whether the environment plays the same again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from kitchen.contract.world import Event, Json
from kitchen.contract.world_errors import WorldError
from kitchen.opened.environment_adapter import INSTALL_HINT, ActionEntry, EnvironmentAdapter

MOST_SEED = 2**31
"""Seeds of environments are smaller."""
ENVIRONMENT_LOCK = threading.RLock()
"""Held while an environment runs: many draw with pygame, which is not safe for several threads."""
DRIVERS = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
"""Settings of pygame, so that it opens no window, no sound device, and prints nothing."""
DESCRIPTIONS = "told"
"""The fact with the adapter's descriptions of the state, by seat. Stored states have this name."""


class EnvironmentMissingError(WorldError):
    """A package that the environment needs is not installed. The message is one line."""


def make_environment(adapter: EnvironmentAdapter, settings: Mapping[str, Json]) -> Any:
    """Return a new environment. An AEC environment that also has a parallel form is returned in that form.
    Raises EnvironmentMissingError if its package is not installed."""
    for name, value in DRIVERS.items():
        os.environ.setdefault(name, value)
    try:
        made = adapter.make(**settings)
    except ImportError as error:
        raise EnvironmentMissingError(f"{adapter.kind}: {error.name} is missing; {INSTALL_HINT}") from error
    if hasattr(made, "agent_iter") and getattr(made, "metadata", {}).get("is_parallelizable"):
        from pettingzoo.utils import aec_to_parallel

        return aec_to_parallel(made)
    return made


class EnvironmentRun:
    """One environment in play. `log` has one entry per step: the values of all seats, None for a seat that
    does not act; or one value where agents act in turn, None if nobody acted."""

    def __init__(self, adapter: EnvironmentAdapter, settings: Mapping[str, Json], seed: int) -> None:
        """Make a new environment and reset it with this seed."""
        self.adapter, self.log = adapter, list[Json]()
        self._entries = adapter.entries
        self._sums = [0.0] * len(adapter.agents)
        with ENVIRONMENT_LOCK:
            self.environment = make_environment(adapter, settings)
            self.in_turns = hasattr(self.environment, "agent_iter")
            observations, infos = self._reset(seed % MOST_SEED)
            self.digest = _link("", observations, {}, {})
            self.facts = self._facts(observations, infos)

    def _reset(self, seed: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        found = self.environment.reset(seed=seed)
        return self._observed() if self.in_turns else found

    def step(self, entry: Json) -> list[Event]:
        """Take one step with an entry of the log, and return the events of rewards and ends."""
        self.log.append(entry)
        if self.in_turns and entry is None:
            return []
        with ENVIRONMENT_LOCK:
            taken = self._act(entry) if self.in_turns else self._act_together(entry)
            observations, infos, rewards, ended, stopped = taken
            self.digest = _link(self.digest, observations, rewards, {"ended": ended, "stopped": stopped})
            self.facts = self._facts(observations, infos)
        return list(self._events(rewards, ended, stopped))

    def _act_together(self, entry: Any) -> tuple[Any, Any, Mapping[str, float], list[str], list[str]]:
        """Step a parallel environment with the values of all living agents."""
        agents = self.adapter.agents
        values = dict(zip(agents, entry, strict=True))
        acts = {agent: self._value(agent, values[agent]) for agent in self.environment.agents}
        observations, rewards, ended, stopped, infos = self.environment.step(acts)
        sums = self._add_rewards(rewards)
        return observations, infos, sums, [a for a in agents if ended.get(a)], _true(agents, stopped)

    def _act(self, entry: Json) -> tuple[Any, Any, Mapping[str, float], list[str], list[str]]:
        """Step an AEC environment with the value of the agent whose turn it is. Agents that are out are then
        stepped with None at once."""
        environment, agents = self.environment, self.adapter.agents
        before = [agent for agent in agents if agent in environment.agents]
        environment.step(self._value(environment.agent_selection, entry))
        rewards = self._add_rewards(environment.rewards)
        ended = [agent for agent in before if environment.terminations.get(agent)]
        stopped = [agent for agent in before if environment.truncations.get(agent)]
        observations, infos = self._observed()
        while environment.agents and self._is_out(environment.agent_selection):
            environment.step(None)
        if environment.agents:
            observations, infos = self._observed()
        return observations, infos, rewards, ended, stopped

    def _is_out(self, agent: str) -> bool:
        return bool(self.environment.terminations[agent] or self.environment.truncations[agent])

    def _observed(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the observations and infos of all agents of an AEC environment."""
        agents = list(self.environment.agents)
        return {agent: self.environment.observe(agent) for agent in agents}, dict(self.environment.infos)

    def _value(self, agent: str, value: Any) -> Any:
        """Return an action in the form that the environment takes."""
        if not isinstance(value, list):
            return value
        import numpy

        return numpy.array(value, dtype=self.environment.action_space(agent).dtype)

    def _add_rewards(self, rewards: Mapping[str, Any]) -> dict[str, float]:
        found = {agent: float(rewards.get(agent, 0)) for agent in self.adapter.agents}
        self._sums = [one + found[agent] for one, agent in zip(self._sums, self.adapter.agents, strict=True)]
        return found

    def _facts(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, Json]:
        """Return all that pages and players need to know of the present state, as JSON."""
        environment, agents = self.environment, self.adapter.agents
        living = set(environment.agents)
        turn = agents.index(environment.agent_selection) if self.in_turns and living else None
        masks = (_mask(observations.get(agent), infos.get(agent)) for agent in agents)
        return {
            "alive": [agent in living for agent in agents],
            "turn": turn,
            "legal": [self._legal(mask) for mask in masks],
            DESCRIPTIONS: [self.adapter.description(environment, agent) for agent in agents],
            "rewards": list(self._sums),
            "score": self.adapter.score(environment),
        }

    def _legal(self, mask: Any) -> Json:
        """Return the codes of the actions that a mask allows. None if there is no mask: all are."""
        if mask is None:
            return None
        return [code for code, entry in self._entries.items() if _allows(mask, entry)]

    def _events(self, rewards: Mapping[str, float], ended: list[str], stopped: list[str]) -> list[Event]:
        seats = {agent: seat for seat, agent in enumerate(self.adapter.agents)}
        given = [
            Event("reward", seats[agent], {"reward": value}) for agent, value in rewards.items() if value
        ]
        return [
            *given,
            *(Event("finished", seats[agent]) for agent in ended),
            *(Event("stopped", seats[agent]) for agent in stopped),
        ]

    @property
    def over(self) -> bool:
        """Return whether no agent is left."""
        return not any(self.facts["alive"])

    def image(self) -> Any:
        """Return the environment's own drawing of the present state: an array (height, width, 3) of uint8."""
        with ENVIRONMENT_LOCK:
            return self.environment.render()


def _true(agents: Any, flags: Mapping[str, Any]) -> list[str]:
    return [agent for agent in agents if flags.get(agent)]


def _allows(mask: Any, entry: ActionEntry) -> bool:
    return bool(isinstance(entry.value, int) and entry.value < len(mask) and mask[entry.value])


def _mask(observation: Any, info: Any) -> Any:
    """Return the action mask in an observation or an info. None if there is none."""
    for found in (observation, info):
        if isinstance(found, Mapping) and "action_mask" in found:
            return found["action_mask"]
    return None


def _link(
    before: str,
    observations: Mapping[str, Any],
    rewards: Mapping[str, float],
    ends: Mapping[str, list[str]],
) -> str:
    """Return the next link of the digest, as 64 hex digits."""
    link = sha256(before.encode())
    _add(link, observations)
    link.update(repr((sorted(rewards.items()), sorted(ends.items()))).encode())
    return link.hexdigest()


def _add(link: Any, value: Any) -> None:
    """Add an observation to a hash: the names, and of each array the type, the shape and the bytes."""
    if isinstance(value, Mapping):
        for name in sorted(value):
            link.update(f"\x1f{name}".encode())
            _add(link, value[name])
    elif isinstance(value, list | tuple):
        link.update(f"\x1e{len(value)}".encode())
        for one in value:
            _add(link, one)
    else:
        import numpy

        array = numpy.ascontiguousarray(value)
        link.update(f"\x1d{array.dtype.str}{array.shape}".encode())
        link.update(repr(value).encode() if array.dtype.hasobject else array.tobytes())
