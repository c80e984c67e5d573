"""Define `EnvironmentAdapter`, the description by which a PettingZoo environment becomes a world.

One object describes one environment. `environment_kit` turns it into the kit of a world, which
`BRIGADE_WORLDS` or an entry point of the group `brigade.worlds` registers:

    ADAPTER = EnvironmentAdapter(
        kind="pong", title="Pong", guide=("Keep the ball in play.",), make=make_pong,
        agents=("paddle_0", "paddle_1"), idle="stay", tick_ms=67, replay_ms=3.6,
        actions={"up": (1, "Up", "ArrowUp"), "down": (2, "Down", "ArrowDown"), "stay": (0, "Stay", "x")},
    )
    KIT = environment_kit(ADAPTER)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json, Metric
from kitchen.words.gettext_without_django import ngettext_noop

INSTALL_HINT = "`make open` installs what this world needs"
"""Said where an optional package is missing."""


class ActionEntry(NamedTuple):
    """One action of an environment: what it receives, the label of the button, and the key."""

    value: Json
    """The number of a discrete action, or a list of numbers for an action of a `Box`."""
    label: str
    """The text of the button, marked with `gettext_noop` if it has translations."""
    key: str
    """Name of the key as browsers give it: `ArrowUp`, `x` or `Space`."""


def no_description(environment: Any, agent: str) -> dict[str, Json]:
    """Return nothing: the environment has no version in words."""
    return {}


def no_score(environment: Any) -> dict[str, Json]:
    """Return no metrics besides the rewards."""
    return {}


@dataclass(frozen=True, eq=False, kw_only=True)
class EnvironmentAdapter:
    """The description of one PettingZoo environment. `make` imports the environment, so that the description
    loads without it."""

    kind: str
    """Name of the world in the registry."""
    version: int = 1
    """Version of the rules. Increase it when the same actions would no longer give the same states."""
    title: str
    guide: Sequence[str]
    """Paragraphs of the guide, the goal first."""
    make: Callable[..., Any]
    """Return a new environment with `render_mode="rgb_array"`. It gets the settings by name, and is called
    for every reset. An environment with a parallel and an AEC form is used in the parallel one."""
    agents: Sequence[str]
    """Names of the agents in the order of the seats."""
    actions: Mapping[str, tuple[Json, str, str]]
    """Each action by its code, in the order of the menu: value, label and key (`ActionEntry`)."""
    idle: str = ""
    """Code of the action of a seat without a command. Empty where agents act in turn."""
    settings: Sequence[Setting] = ()
    """Settings of a condition. `make` gets their values."""
    length: str = ""
    """The setting that limits the steps of an episode. Empty if there is none."""
    most_steps: int = 0
    """The largest number of steps of an episode, where no setting limits them. 0: not known."""
    tick_ms: int | None = None
    """Milliseconds between two steps under a clock. None: by turns. `metadata["render_fps"]` suggests it."""
    description: Callable[[Any, str], dict[str, Json]] = no_description
    """Return what an agent sees, in words and numbers: for screen readers, language models and logs."""
    figures: Sequence[Metric] = ()
    """Metrics besides the rewards."""
    score: Callable[[Any], dict[str, Json]] = no_score
    """Return the values of `figures` by name."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Words for the codes in `description`, marked with `gettext_noop` if they have translations."""
    body: str = ""
    """The thing that a seat commands, in one word, such as `paddle`. Empty: `player`."""
    replay_ms: float = 4.0
    """Milliseconds that one step takes when a log is played again. `check_environment` measures it."""

    @property
    def entries(self) -> dict[str, ActionEntry]:
        """Return the actions by code."""
        return {code: ActionEntry(*entry) for code, entry in self.actions.items()}

    @property
    def has_text(self) -> bool:
        """Return whether the environment has a version in words."""
        return self.description is not no_description

    def all_figures(self) -> tuple[Metric, ...]:
        """Return the adapter's metrics, the sum of all rewards, and the reward of each seat."""
        rewards = (_seat_reward(seat) for seat in range(len(self.agents)))
        return (*self.figures, TOTAL_REWARD, *rewards)


TOTAL_REWARD = Metric(
    "total",
    "number",
    "Total reward",
    meaning="Sum of the rewards of all seats",
    so_far="Sum of the rewards of all seats so far",
    words=ngettext_noop("point in total", "points in total"),
    low=None,
)
"""The sum of all rewards of an episode."""


def _seat_reward(seat: int) -> Metric:
    return Metric(
        f"reward_seat_{seat}",
        "number",
        f"Reward of seat {seat}",
        meaning=f"Sum of the rewards of seat {seat}",
        so_far=f"Sum of the rewards of seat {seat} so far",
        low=None,
    )
