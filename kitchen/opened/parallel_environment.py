"""Define the PettingZoo environment of a world. Needs the packages `pettingzoo` and `gymnasium`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from kitchen.contract.world import Json, World
from kitchen.opened.learning_episode import EpisodeSetup, LearningEpisode
from kitchen.registry.world_registry import get_pixels

IN_INFO, IN_OBSERVATION = "info", "observation"
"""Where masks are: `infos[agent]["action_mask"]`, or the observation's entry `action_mask`."""
ANSI, RGB, HUMAN = "ansi", "rgb_array", "human"


class WorldEnvironment(ParallelEnv[str, Any, int]):
    """A world as a PettingZoo parallel environment. The agents are its seats: `seat_0`, `seat_1`, …

    `infos[agent]` has `events`, which the seat may know, and `action_mask` if `mask` is `info`.
    """

    def __init__(self, setup: EpisodeSetup, *, mask: str = IN_INFO, render_mode: str | None = None) -> None:
        """Create the world. Raises SettingsError, UnknownNameError or ValueError for a wrong argument."""
        if mask not in (IN_INFO, IN_OBSERVATION):
            raise ValueError(f"mask: {mask!r} is not {IN_INFO} or {IN_OBSERVATION}")
        self._episode = LearningEpisode(setup)
        self._draw = get_pixels(setup.world)
        modes = [ANSI, RGB] if self._draw else [ANSI]
        if render_mode not in (None, HUMAN, *modes):
            raise ValueError(f"render_mode: {render_mode!r} is not one of {', '.join(modes)}")
        self.metadata = {"name": setup.world, "render_modes": modes, "render_fps": self._fps()}
        self.render_mode = render_mode
        self._masked_observation = mask == IN_OBSERVATION
        self.possible_agents = [f"seat_{seat}" for seat in self._episode.seats]
        self.agents: list[str] = []
        self._make_spaces()

    def _fps(self) -> int:
        tick_ms = self.world.tick_ms
        return max(1, round(1000 / tick_ms)) if tick_ms else 4

    def _make_spaces(self) -> None:
        encoding, shape, count = self._episode.encoding, self._episode.shape, self._episode.action_count
        self.state_space = spaces.Box(0, encoding.largest, shape, np.dtype(encoding.dtype).type)
        self._dtype, self._shape = np.dtype(encoding.dtype), (len(self.possible_agents), *shape)
        self.action_spaces = {agent: spaces.Discrete(count) for agent in self.possible_agents}
        self.observation_spaces = {agent: self._observation_space(count) for agent in self.possible_agents}

    def _observation_space(self, actions: int) -> spaces.Space[Any]:
        box = self.state_space
        plain = spaces.Box(box.low, box.high, box.shape, box.dtype)
        if not self._masked_observation:
            return plain
        return spaces.Dict({"observation": plain, "action_mask": spaces.Box(0, 1, (actions,), np.int8)})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of this agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of this agent's actions."""
        return self.action_spaces[agent]

    @property
    def world(self) -> World:
        """The world in play, with `to_dict`, `from_dict` and `state_hash`."""
        return self._episode.world

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode. A study's episode with the same seed begins alike. `options` have no effect."""
        self._episode.begin(seed)
        self.agents = list(self.possible_agents)
        return self._seen(())

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out one step with an action of every agent. After the end, nothing happens."""
        agents = self.agents
        if not agents:
            return {}, {}, {}, {}, {}
        result = self._episode.act([actions[agent] for agent in agents])
        observations, infos = self._seen(result.events)
        if result.terminated or result.truncated:
            self.agents = []
        return (
            observations,
            dict.fromkeys(agents, float(result.reward)),
            dict.fromkeys(agents, result.terminated),
            dict.fromkeys(agents, result.truncated),
            infos,
        )

    def _seen(self, events: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the observations and the infos of all agents."""
        episode, agents = self._episode, self.possible_agents
        arrays = np.empty(self._shape, self._dtype)
        episode.observe(arrays)
        masks, seen = episode.masks(), episode.events_seen(events)
        if self._masked_observation:
            pairs = zip(arrays, masks, strict=True)
            dicts = [{"observation": array, "action_mask": mask} for array, mask in pairs]
            infos = [{"events": known} for known in seen]
            return dict(zip(agents, dicts, strict=True)), dict(zip(agents, infos, strict=True))
        noted = [{"events": known, "action_mask": mask} for known, mask in zip(seen, masks, strict=True)]
        return dict(zip(agents, arrays, strict=True)), dict(zip(agents, noted, strict=True))

    def state(self) -> np.ndarray:
        """Return what seat 0 observes, as one array."""
        arrays = np.empty((1, *self._episode.shape), self._dtype)
        self._episode.encoding.encode_seats(self.world, {0: self.world.brief(0)}, arrays)
        array: np.ndarray = arrays[0]
        return array

    def render(self) -> str | np.ndarray | None:
        """Return the picture in the chosen `render_mode`: text, or pixels of shape (height, width, 3)."""
        if self.render_mode == RGB and self._draw:
            return self._draw(self.world)
        return _as_text(self.world) if self.render_mode == ANSI else None

    def close(self) -> None:
        """Do nothing: an environment holds no files or windows."""


def _as_text(world: World) -> str:
    """Return the step and what seat 0 observes, as lines of text."""
    seen: dict[str, Json] = world.observe(0)
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in seen.items()]
    return "\n".join([f"{world.kind}, step {world.clock}", *lines])
