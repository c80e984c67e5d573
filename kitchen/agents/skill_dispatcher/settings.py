"""Declare the settings of the skill dispatcher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from kitchen.agents.skill_agents.settings import (
    EXAMPLES,
    FALLBACK,
    FETCHES,
    MAKING,
    MAX_TOKENS,
    MODEL,
    REMARKS,
    RULES,
    STAND_IN_SETTINGS,
    TEMPERATURE,
    THINK_TICKS,
    WAIT_MOVES,
    WAITS,
    SkilledOptions,
)
from kitchen.contract.world import Json, Setting, clean_settings

SETTINGS: tuple[Setting, ...] = (
    MODEL,
    replace(TEMPERATURE, default=0.1, help=TEMPERATURE.help.replace("plays 0", "plays 0.1")),
    replace(MAX_TOKENS, default=512),
    Setting(
        "analysis",
        "bool",
        "Ask for an analysis first",
        True,
        help="A few sentences before the plans. It is one mind: it commands all its teammates, in one call.",
    ),
    RULES,
    MAKING,
    REMARKS,
    Setting(
        "choices",
        "bool",
        "List what each teammate can do now",
        True,
        help="Every skill that can be begun, for each teammate that needs one. The prompt gets longer.",
    ),
    EXAMPLES,
    WAITS,
    FETCHES,
    Setting(
        "again",
        "int",
        "Ask again after a refusal",
        2,
        help="The most attempts in one step: the model is told why a skill cannot be done, or that "
        "none was read, and plans again for those teammates. A teammate without a skill after "
        "that waits a step.",
        minimum=0,
        maximum=5,
    ),
    Setting(
        "memory",
        "int",
        "Memory (exchanges)",
        2,
        help="The last scenes for which it was asked, and what it planned then.",
        minimum=0,
        maximum=20,
    ),
    WAIT_MOVES,
    THINK_TICKS,
    FALLBACK,
    *STAND_IN_SETTINGS,
)


@dataclass(frozen=True, slots=True)
class SkillDispatcherOptions(SkilledOptions):
    """The settings in their own types; see SETTINGS for their meaning."""

    analysis: bool
    choices: bool
    again: int

    @classmethod
    def read(cls, chosen: Mapping[str, Json]) -> Self:
        """Read the settings; missing ones have their defaults. SettingsError for wrong ones."""
        return cls(**clean_settings(SETTINGS, chosen))
