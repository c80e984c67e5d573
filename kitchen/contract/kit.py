"""Define `WorldKit`, which names everything that belongs to one world.

The registry has one line for each kit. A world's folder also holds `templates/`, `static/` and
`instruments/` (questions about the world).

The parts of a kit are functions that import and return them. Every process reads all kits, but imports a
planner only when it needs it. Plain Python, no Django.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kitchen.contract.agent import Adviser, Agent, AimPursuer
from kitchen.contract.agent_skills import Skills
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.drawable_setting import DrawableSetting
from kitchen.contract.episode_log import LogMetrics
from kitchen.contract.page import Page
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Json, World


@dataclass(frozen=True, slots=True)
class Practice:
    """The episode in which people practise this world, unless a researcher says otherwise: in seat 0, with
    `teammates` others in the seats after it, all commanded by one mind of the kind `coplayer`."""

    settings: Mapping[str, Json] = field(default_factory=dict)
    coplayer: str = ""
    """Empty: nobody, the person plays alone."""
    coplayer_settings: Mapping[str, Json] = field(default_factory=dict)
    teammates: int = 0
    organisation: Mapping[str, Json] = field(default_factory=dict)
    """Who may do what with whom, in the form of a condition's `organisation` in a study file."""
    until: Mapping[str, int] = field(default_factory=dict)
    """Figures of the world, and what each is to reach: then practice is over. Empty: it lasts all steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldKit:
    """One world. Only `rules` and `page` are required."""

    rules: Callable[[], type[World]]
    """The class of the world."""
    page: Callable[[], Page]
    """How it is shown in a browser."""
    coplayers: Mapping[str, Callable[[], type[Agent]]] = field(default_factory=dict)
    """Kinds of co-player that play this world alone: the class of each by its kind, which no other world
    and no co-player of all worlds has."""
    adviser: Callable[[], Adviser] | None = None
    """Knows what is good to do in it; None if nobody does."""
    pursuer: Callable[[], AimPursuer] | None = None
    """Knows the way to its aims (`World.aims`); None if it has none."""
    skills: Callable[[], Skills] | None = None
    """What agents that think in skills need to know of it; None if it has none."""
    practice: Practice = Practice()
    steps: str = ""
    """The setting that says how many steps an episode has; empty if none does."""
    bench: Callable[[], Benchmark] | None = None
    """What agents alone are compared on in it; None if there is nothing."""
    recordings: Callable[[], Recordings[Any]] | None = None
    """Episodes recorded in another engine, to compare with; None if there are none."""
    canvases: Mapping[str, Callable[[], DrawableSetting]] = field(default_factory=dict)
    """How text settings that can be drawn are drawn, by the setting's name."""
    log_metrics: Callable[[], LogMetrics] | None = None
    """Figures beside `World.score`, computed from the whole log of an episode; None if there are none."""
    organisations: tuple[str, ...] = ()
    """Kinds of organisation (`kitchen.contract.organisation.ORGANISATION_KINDS`) that this world can be
    played with. Empty: every kind."""
    schedules: tuple[str, ...] = ()
    """Schedules (`kitchen.contract.organisation.SCHEDULES`) that this world can be played with. Empty: every
    schedule."""
