"""Everything of one world, named in one place: its `WorldKit`, which is its line in the registry.

The world's folder holds what the kit names, and beside it `templates/` and `static/`, which are found like
those of the house, and `instruments/`, questions about the world (`study/design/questions/instruments.py`),
such as a check of understanding. Names are `package.module:attribute`, looked up when first needed: a kit is
read by every process, the planner of a world only by those who ask it. Plain Python, no Django.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kitchen.contract.world import Json


@dataclass(frozen=True, slots=True)
class Practice:
    """The episode in which people practise this world, unless a researcher says otherwise: in seat 0, with
    `teammates` others in the seats after it, all commanded by one mind of the kind `coplayer`."""

    settings: Mapping[str, Json] = field(default_factory=dict)
    coplayer: str = ""
    """Empty: nobody, the person plays alone."""
    coplayer_settings: Mapping[str, Json] = field(default_factory=dict)
    teammates: int = 0
    until: Mapping[str, int] = field(default_factory=dict)
    """Figures of the world, and what each is to reach: then practice is over. Empty: it lasts all steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldKit:
    """One world. Only `rules` and `page` must be there."""

    rules: str
    """The class of the world: a `kitchen.contract.world.World`."""
    page: str
    """How it is shown in a browser: a `kitchen.contract.page.Page`."""
    coplayers: Mapping[str, str] = field(default_factory=dict)
    """Kinds of co-player that play this world alone: the class of each by its kind, which no other world
    and no co-player of all worlds has."""
    adviser: str = ""
    """Who knows what is good to do in it: a `kitchen.contract.agent.Adviser`; empty if nobody does."""
    pursuer: str = ""
    """Who knows the way to its aims (`World.aims`): a `kitchen.contract.agent.Pursuer`; empty if it has
    none."""
    skills: str = ""
    """What agents that think in skills need to know of it: a `kitchen.contract.skills.Skills`; empty if it
    has none."""
    practice: Practice = Practice()
    steps: str = ""
    """The setting that says how many steps an episode has; empty if none does."""
    bench: str = ""
    """What agents alone are compared on in it: a `kitchen.contract.bench.Ground`; empty if there is
    nothing."""
    recordings: str = ""
    """Episodes recorded in another engine, to compare with: a `kitchen.contract.recordings.Recordings`; empty
    if there are none."""
    log_metrics: str = ""
    """Figures beside `World.score`, computed from the whole log of an episode: a
    `kitchen.contract.episode_log.LogMetrics`; empty if there are none."""
    organisations: tuple[str, ...] = ()
    """Kinds of organisation (`kitchen.contract.organisation.KINDS`) that this world can be played with.
    Empty: every kind."""
    canvases: Mapping[str, str] = field(default_factory=dict)
    """Text settings that can be drawn: by name, the `kitchen.contract.canvas.Canvas` of each."""
