"""Declare the settings of CuisineWorld, and derive the level and the timing from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.world import Json, Setting, SettingsError, clean_settings
from kitchen.worlds.cuisine.level import DIFFICULTIES, Catalogue, Level, shipped_catalogue
from kitchen.worlds.cuisine.level_generator import MAX_LEVEL_SEED, generate_level
from kitchen.worlds.cuisine.order_book import Timing, timing_of

PROCEDURAL = "procedural"


def declared_settings(catalogue: Catalogue) -> tuple[Setting, ...]:
    """Return the settings of CuisineWorld for a catalogue of levels."""
    levels = tuple((level.code, _label(level)) for level in catalogue.levels.values())
    return (
        Setting(
            "level",
            "choice",
            "Level",
            "level_3" if "level_3" in catalogue.levels else levels[0][0],
            help="The kitchen and the dishes that can be ordered in it.",
            choices=(*levels, (PROCEDURAL, "Made from a seed")),
        ),
        Setting(
            "alpha",
            "float",
            "Difficulty (alpha)",
            2.0,
            help="Time between orders; smaller is harder. The paper plays 1.0, 1.5, 2.0, 2.5 and 3.0.",
            minimum=0.01,
            maximum=100,
        ),
        Setting(
            "beta",
            "float",
            "Patience (beta)",
            2.5,
            help="How long orders stand, as a multiple of the time that the dish takes.",
            minimum=0.01,
            maximum=100,
        ),
        Setting("max_steps", "int", "Steps of an episode", 60, minimum=1, maximum=1000),
        Setting(
            "difficulty",
            "choice",
            "Class of a level made from a seed",
            "simple",
            help="Of no effect for the other levels.",
            choices=tuple(DIFFICULTIES.items()),
        ),
        Setting(
            "level_seed",
            "int",
            "Seed of a level made from a seed",
            0,
            help="The same seed and class give the same level. Of no effect for the other levels.",
            minimum=0,
            maximum=MAX_LEVEL_SEED,
        ),
    )


@dataclass(frozen=True, slots=True)
class Options:
    """Validated settings with the level and timing that they select."""

    values: Mapping[str, Json]
    level: Level
    timing: Timing
    max_steps: int


def read_options(given: Mapping[str, Json], catalogue: Catalogue | None = None) -> Options:
    """Validate settings and return the options; raise SettingsError for a wrong or unknown setting."""
    catalogue = catalogue or shipped_catalogue()
    try:
        values = clean_settings(declared_settings(catalogue), given)
    except OverflowError as error:
        raise SettingsError(f"a setting is no number that can be used: {error}") from error
    level = _level(values, catalogue)
    timing = timing_of(level.stock.work, level.dishes, values["alpha"], values["beta"])
    return Options(values, level, timing, values["max_steps"])


def _level(values: Mapping[str, Json], catalogue: Catalogue) -> Level:
    if values["level"] == PROCEDURAL:
        return generate_level(values["level_seed"], values["difficulty"], catalogue.stock)
    return catalogue.level(values["level"])


def _label(level: Level) -> str:
    rating = f" ({DIFFICULTIES[level.difficulty].lower()})" if level.difficulty else ""
    return f"{level.code}: {level.title}{rating}"
