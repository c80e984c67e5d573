"""Two environments that draw nothing with a library: one is played as a world, one must be refused."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.opened.environment_kit import environment_kit

made: Counter[str] = Counter()
"""How many environments were made, by kind."""


class Relay:
    """Two runners. The second one is out after step 2. The first one may not rest twice."""

    metadata: ClassVar[dict[str, Any]] = {}
    possible_agents = ("first", "second")

    def __init__(self, steps: int) -> None:
        self.steps = steps
        made["relay"] += 1

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        self.chance = numpy.random.default_rng(seed)
        self.agents, self.taken, self.rested = list(self.possible_agents), 0, False
        return self._seen()

    def _seen(self) -> tuple[dict[str, Any], dict[str, Any]]:
        seen = {agent: self.chance.integers(9, size=3) for agent in self.agents}
        mask = numpy.array([not self.rested, True], numpy.int8)
        return seen, {"first": {"action_mask": mask}}

    def step(self, acts: dict[str, int]) -> Any:
        self.taken += 1
        self.rested = acts["first"] == 0
        ended = {"second": self.taken == 2} if "second" in acts else {}
        stopped = {"first": self.taken == self.steps}
        rewards = {agent: 0.5 * act for agent, act in acts.items()}
        out = {agent for agent, flag in {**ended, **stopped}.items() if flag}
        self.agents = [agent for agent in self.agents if agent not in out]
        seen, infos = self._seen()
        return seen, rewards, ended, stopped, infos

    def render(self) -> Any:
        return numpy.full((20, 30, 3), 10 * self.taken, numpy.uint8)


class Careless(Relay):
    """The same, but drawn from the generator that all programs share."""

    def _seen(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {agent: numpy.random.randint(9, size=3) for agent in self.agents}, {}


def describe_state(environment: Relay, agent: str) -> dict[str, Json]:
    return {"taken": environment.taken}


def adapter(kind: str, made_by: Any, **more: Any) -> EnvironmentAdapter:
    return EnvironmentAdapter(
        kind=kind,
        title="Relay",
        guide=("Run.",),
        make=made_by,
        agents=Relay.possible_agents,
        actions={"rest": (0, "Rest", "x"), "run": (1, "Run", "ArrowUp")},
        idle="rest",
        settings=(Setting("steps", "int", "Steps", 4, minimum=1, maximum=9000),),
        length="steps",
        description=describe_state,
        replay_ms=1.0,
        **more,
    )


RELAY, CARELESS = adapter("relay", Relay), adapter("careless", Careless)
CLOCKED = adapter("clocked_relay", Relay, tick_ms=100)
KIT, CLOCKED_KIT, CARELESS_KIT = environment_kit(RELAY), environment_kit(CLOCKED), environment_kit(CARELESS)
LINE = "relay=tests.worlds.relay:KIT,clocked_relay=tests.worlds.relay:CLOCKED_KIT"
"""The line for `BRIGADE_WORLDS` that adds the first one, by turns and by a clock."""
