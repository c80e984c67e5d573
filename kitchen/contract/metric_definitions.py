"""Define `Metric`, which describes one metric of a world: its name, label, meaning and range of values.

`MetricLimits` applies to a metric that is a share, such as the share of tasks completed. It holds the largest
possible denominator, here the number of tasks in one episode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from kitchen.contract.canonical_json import Json

METRIC_NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Metric:
    """The description of one metric of `World.score()`, for pages, files and the analysis.

    `kind` is `count` (a whole number from 0), `share` (from 0 to 1) or `number` (from `low` to `high`). If
    two worlds have equal metrics, the metrics share a column in files. `words` may differ between equal
    metrics. Raises ValueError for contradictory fields.
    """

    name: str
    """The key in `World.score()`, which is also the column in files: lower-case words joined by `_`."""
    kind: Literal["count", "share", "number"]
    label: str
    """The name in tables and charts: `Success rate`. Unique within a world."""
    meaning: str = ""
    """The description in the codebook, without a full stop; by default the label."""
    so_far: str = ""
    """The description of the value after a step. Empty: only a whole episode has a value."""
    undefined: str = ""
    """The condition under which it is undefined (None): `blank where both are 0`. Empty if it is always
    defined."""
    unit: str = ""
    better: Literal["higher", "lower", "neither"] = "higher"
    of: tuple[str, str] | None = None
    """The two counts of this world that a share is made of: (done, missed). The share is done / (done +
    missed). Over several episodes it is the share of their sums."""
    mean_of: str = ""
    """The column of scored events (`EventColumn`) of which it is the mean in an episode."""
    measured: bool = True
    """True if it is compared between conditions."""
    words: tuple[str, str] | None = field(default=None, compare=False)
    """The nouns for participants after 1 and after other numbers. None: not shown to them."""
    of_seat: tuple[str, str] | None = field(default=None, compare=False)
    """(what is measured, whose seat) for the metric of one seat, for tables by seat: (`Messages`, `chef`)."""
    of_agents: tuple[str, ...] = field(default=(), compare=False)
    """The kinds of agent that it is about: without one of them it is always undefined. Empty: every agent."""
    needs_clock: bool = field(default=False, compare=False)
    """True if it is always undefined where the world waits for people."""
    low: float | None = 0.0
    """Inclusive bounds of a number; None if it is unbounded."""
    high: float | None = None

    def __post_init__(self) -> None:
        if not METRIC_NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"figure {self.name!r}: not words of small letters and digits with _ between")
        if self.kind not in ("count", "share", "number"):
            raise ValueError(f"figure {self.name!r}: {self.kind!r} is no kind of figure")
        if self.of and self.kind != "share":
            raise ValueError(f"figure {self.name!r}: only a share is made of two counts")

    @property
    def formula(self) -> str:
        """Return the formula of the metric, such as `done / (done + missed)`. Empty if it is not computed
        from two counts."""
        return "{0} / ({0} + {1})".format(*self.of) if self.of else ""

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Return the minimum and the maximum of the metric's values. An end is None if there is no limit."""
        return {"share": (0.0, 1.0), "count": (0.0, None)}.get(self.kind, (self.low, self.high))

    def holds(self, value: Json) -> bool:
        """Return whether `value` is a possible value of this metric: of the right type, and between its
        bounds."""
        low, high = self.ends
        whole = self.kind != "count" or type(value) is int
        return whole and (low is None or low <= value) and (high is None or value <= high)

    @property
    def better_words(self) -> str:
        """Return `higher is better` or `lower is better`; empty if neither is better."""
        return "" if self.better == "neither" else f"{self.better} is better"

    def shown(self, value: float) -> str:
        """Return a value as text for people: `3`, `67 %`, `12.5`."""
        if self.kind == "share":
            return f"{value:.0%}".replace("%", " %")
        return f"{value:.0f}" if self.kind == "count" else f"{round(value, 2):g}"


@dataclass(frozen=True, slots=True)
class MetricLimits:
    """Limits of a share metric (`Metric.of`) in one episode. The limits follow from the settings alone, so
    no player can exceed them."""

    things: str
    """The plural noun for the things that are counted."""
    most: int
    """Maximum number of them that can be done or missed in one episode, together."""
    missable: int
    """Maximum number of them that can be missed before the episode ends; 0: the share is blank or 1."""
    because: str
    """The reason why no more can be missed, without full stop: `Ships wait 24 steps and an episode has
    20`."""
