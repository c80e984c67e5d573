"""Declare the settings of the agent `SkillDispatcher`.

One call of its language model plans for all its players.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting

SETTINGS: tuple[Setting, ...] = (
    shared.MODEL,
    replace(shared.TEMPERATURE, default=0.1, help=shared.TEMPERATURE.help.replace("uses 0", "uses 0.1")),
    replace(shared.MAX_TOKENS, default=512),
    Setting(
        "analysis",
        "bool",
        "Ask for an analysis first",
        True,
        help="A few sentences before the plans. It is one mind: it commands all its teammates, in one call.",
    ),
    shared.RULES,
    shared.MAKING,
    shared.REMARKS,
    Setting(
        "choices",
        "bool",
        "List what each teammate can do now",
        True,
        help="Every skill that can be begun, for each teammate that needs one. The prompt gets longer.",
    ),
    shared.EXAMPLES,
    shared.WAITS,
    shared.FETCHES,
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
    shared.WAIT_MOVES,
    shared.THINK_TICKS,
    shared.FALLBACK,
    *shared.STAND_IN_SETTINGS,
)


@dataclass(frozen=True, slots=True)
class SkillDispatcherOptions(shared.SkilledOptions):
    """The chosen settings as typed fields; `SETTINGS` explains each of them."""

    analysis: bool
    choices: bool
    again: int
