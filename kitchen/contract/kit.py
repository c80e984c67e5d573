"""Define `WorldKit`, the list of all parts of one world, such as rules, page, agents and benchmark.

`kitchen.registry.world_registry` lists one kit per world. A kit gives each part as a function that imports
it, so that unused parts are never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kitchen.contract.advisers import Adviser, AimPursuer
from kitchen.contract.agent import Agent
from kitchen.contract.agent_skills import Skills
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.drawable_setting import DrawableSetting
from kitchen.contract.encoding import Encoding
from kitchen.contract.episode_log import LogMetrics
from kitchen.contract.page import Page
from kitchen.contract.policy_language import PolicyLanguage
from kitchen.contract.recorded_trial import TrialFormat
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Json, World

if TYPE_CHECKING:
    from numpy import ndarray

PixelPicture = Callable[[World], "ndarray"]
"""A function that draws a world's present state as red, green and blue from 0 to 255."""


@dataclass(frozen=True, slots=True)
class Practice:
    """The default practice episode of a world. The participant has seat 0, unless the study says otherwise.
    One agent of kind `coplayer` commands the other seats, `teammates` in number."""

    settings: Mapping[str, Json] = field(default_factory=dict)
    coplayer: str = ""
    """Kind of the co-player; empty: the person plays alone."""
    coplayer_settings: Mapping[str, Json] = field(default_factory=dict)
    teammates: int = 0
    organisation: Mapping[str, Json] = field(default_factory=dict)
    """The rules about who may do what with whom, in the form of a condition's `organisation` in a study
    file."""
    until: Mapping[str, int] = field(default_factory=dict)
    """Target values of metrics that end the practice when reached. Empty: it lasts all steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldKit:
    """All parts of one world. Only `rules` and `page` are required."""

    rules: Callable[[], type[World]]
    """Return the class of the world."""
    page: Callable[[], Page]
    """Return the page that shows the world in a browser."""
    coplayers: Mapping[str, Callable[[], type[Agent]]] = field(default_factory=dict)
    """Kinds of co-player that play only this world: name → function that returns the class. A name is unique
    over all worlds and all general co-players."""
    adviser: Callable[[], Adviser] | None = None
    """Return the adviser, which recommends commands; None if there is none."""
    pursuer: Callable[[], AimPursuer] | None = None
    """Return the class that works out commands for aims (`World.aims`); None if the world has no aims."""
    skills: Callable[[], Skills] | None = None
    """Return the skills for agents that plan in skills; None if there are none."""
    practice: Practice = Practice()
    encodings: Mapping[str, Callable[[], Encoding]] = field(default_factory=dict)
    """The world's encodings, for programs that learn: name without version → function that returns it. The
    first is the default."""
    reward: str = ""
    """The metric (`World.figures`) whose change in a step is the reward that learning programs get. Empty:
    the first metric."""
    pixels: Callable[[], PixelPicture] | None = None
    """Return a function that draws the world as an array (height, width, 3), without a browser; None if it
    has none."""
    steps: str = ""
    """The setting that holds the number of steps of an episode; empty if there is none."""
    bench: Callable[[], Benchmark] | None = None
    """Return the benchmark that compares agents playing alone; None if there is none."""
    recordings: Callable[[], Recordings[Any]] | None = None
    """Return the reader of episodes recorded in another engine, for comparison; None if there are none."""
    canvases: Mapping[str, Callable[[], DrawableSetting]] = field(default_factory=dict)
    """The drawing rules of text settings that can be drawn, by the setting's name."""
    log_metrics: Callable[[], LogMetrics] | None = None
    """Return further metrics, computed from the whole log of an episode; None if there are none."""
    policy_language: Callable[[], PolicyLanguage] | None = None
    """Return the language in which a model writes a policy for a co-player of this world; None if there is
    none."""
    trials: Callable[[], TrialFormat] | None = None
    """Return the form in which games of this world are published, for exports and imports; None if there is
    none."""
    requests_actions: bool = False
    """True if members request actions of each other, and a participant accepts a request as a plan."""
    organisations: tuple[str, ...] = ()
    """Kinds of organisation (`ORGANISATION_KINDS`) that this world supports. Empty: every kind."""
    is_environment: bool = False
    """True if an adapter makes the world from a foreign environment (`kitchen.opened`). It is checked before
    it is registered."""
    schedules: tuple[str, ...] = ()
    """Schedules (`schedules.SCHEDULES`) that this world supports. Empty: every schedule."""
