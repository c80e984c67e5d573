"""Declare the settings and metrics of CuisineWorld, and find the level and timing that the settings select.

Orders that are still open at the end count in no metric.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kitchen.contract.declared_settings import Setting, clean_settings
from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.world import Json, Metric
from kitchen.contract.world_errors import SettingsError
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.cuisine.level import DIFFICULTIES, Catalogue, Level, shipped_catalogue
from kitchen.worlds.cuisine.level_generator import generate_level
from kitchen.worlds.cuisine.order_book import Timing, timing_of

PROCEDURAL = "procedural"


def read_settings(path: Path) -> tuple[Setting, ...]:
    """Return the settings that a TOML file declares in its `[[setting]]` tables."""
    entries = tomllib.loads(path.read_text("utf-8"))["setting"]
    choices = [tuple(map(tuple, entry.pop("choices", ()))) for entry in entries]
    return tuple(Setting(**entry, choices=each) for entry, each in zip(entries, choices, strict=True))


_DECLARED = read_settings(Path(__file__).with_suffix(".toml"))


def declared_settings(catalogue: Catalogue) -> tuple[Setting, ...]:
    """Return the settings of CuisineWorld. The choices of `level` are the levels of this catalogue."""
    levels = [(level.code, _label(level)) for level in catalogue.levels.values()]
    choices = {
        "level": (*levels, (PROCEDURAL, "Made from a seed")),
        "difficulty": tuple(DIFFICULTIES.items()),
    }
    settings = [replace(each, choices=choices.get(each.name, ())) for each in _DECLARED]
    if settings[0].default not in catalogue.levels:
        settings[0] = replace(settings[0], default=levels[0][0])
    return tuple(settings)


@dataclass(frozen=True, slots=True)
class Options:
    """Validated settings with the level and timing that they select."""

    values: Mapping[str, Json]
    level: Level
    timing: Timing
    max_steps: int


def read_options(given: Mapping[str, Json], catalogue: Catalogue | None = None) -> Options:
    """Return the options for these settings. Raises SettingsError for an unknown setting or a wrong value.

    `catalogue` has the levels to choose from; None uses the project's own.
    """
    catalogue = catalogue or shipped_catalogue()
    try:
        values = clean_settings(declared_settings(catalogue), given)
    except OverflowError as error:
        raise SettingsError(f"a setting is no number that can be used: {error}") from error
    if values["level"] == PROCEDURAL:
        level = generate_level(values["level_seed"], values["difficulty"], catalogue.stock)
    else:
        level = catalogue.level(values["level"])
    timing = timing_of(level.stock.work, level.dishes, values["alpha"], values["beta"])
    return Options(values, level, timing, values["max_steps"])


def _label(level: Level) -> str:
    rating = f" ({DIFFICULTIES[level.difficulty].lower()})" if level.difficulty else ""
    return f"{level.code}: {level.title}{rating}"


METRICS = (
    Metric(
        "success_rate",
        "share",
        "Success rate",
        undefined="blank where both are 0",
        unit="share",
        of=("completed", "failed"),
    ),
    Metric(
        "completed",
        "count",
        "Dishes completed",
        meaning="Orders completed",
        so_far="Orders completed so far",
        unit="orders",
        words=ngettext_noop("dish served", "dishes served"),
    ),
    Metric(
        "failed",
        "count",
        "Orders that ran out of time",
        so_far="Orders failed so far",
        unit="orders",
        better="lower",
        measured=False,
        words=ngettext_noop("order missed", "orders missed"),
    ),
)


def order_limits(timing: Timing, steps: int) -> MetricLimits:
    """Return how many orders arrive in an episode of this number of steps, and how many of them can expire.

    One order is open at the start. Another one arrives every `timing.interval` steps.
    """
    shortest, longest = min(timing.lifetimes.values()), max(timing.lifetimes.values())
    coming = range(0, steps, timing.interval)
    stands = f"{shortest} steps" if shortest == longest else f"{shortest} to {longest} steps"
    return MetricLimits(
        things="orders",
        most=len(coming),
        missable=sum(came + shortest < steps for came in coming),
        because=f"Orders stand {stands} and an episode has {steps}",
    )
