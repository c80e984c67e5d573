"""Declare the settings of the agent `fast_and_slow`, which acts in every tick and thinks beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting
from kitchen.llm.providers.stand_in_model import stand_in_settings

SETTINGS: tuple[Setting, ...] = (
    shared.MODEL,
    replace(shared.TEMPERATURE, help=shared.TEMPERATURE.help.replace("; the paper uses 0", "")),
    shared.MAX_TOKENS,
    Setting("structured", "bool", "Ask for a structured answer", True, help="Else for JSON in plain text."),
    Setting(
        "at_once",
        "bool",
        "Follow plain sentences at once",
        True,
        help="A fixed grammar reads what people write, and changes the aims in the next tick. The model may "
        "change them again later. If off, only the model reads it; the stand-in reads it by the grammar.",
    ),
    Setting(
        "reflect_every",
        "int",
        "Ticks between two reflections",
        60,
        help="It then thinks about what both cooks did. 0: only after messages.",
        minimum=0,
        maximum=2000,
    ),
    Setting(
        "oldest_thought",
        "int",
        "Oldest thought that still counts (ticks)",
        120,
        help="An answer of the model that arrives later changes nothing.",
        minimum=1,
        maximum=2000,
    ),
    *stand_in_settings("aims"),
)


@dataclass(frozen=True, slots=True)
class FastSlowOptions:
    """The settings in their own types; see SETTINGS for their meaning."""

    model: str
    temperature: float
    max_tokens: int
    structured: bool
    at_once: bool
    reflect_every: int
    oldest_thought: int
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float
