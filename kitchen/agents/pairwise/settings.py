"""Declare the settings of the agent `pairwise`, which talks with one partner at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting

BUSY_ANSWERS, RULE, BY_MODEL = "busy_answers", "rule", "model"
"""A setting and its values: who decides whether a busy agent answers (MINDcraft: a model)."""
SETTINGS: tuple[Setting, ...] = (
    shared.MODEL,
    replace(shared.TEMPERATURE, help=shared.TEMPERATURE.help.replace("; the paper uses 0", "")),
    replace(shared.MAX_TOKENS, default=400),
    Setting("structured", "bool", "Ask for a structured answer", True, help="Else for two lines."),
    Setting(
        "memory",
        "int",
        "Messages in the prompt",
        15,
        help="If there are more, the model sums up the oldest 5 or more in at most 500 characters, in a "
        "call of its own.",
        minimum=5,
        maximum=40,
    ),
    Setting(
        BUSY_ANSWERS,
        "choice",
        "Who decides whether a message is answered during a command",
        RULE,
        help="By the rule, questions and requests are answered at once, and other messages afterwards. "
        "The model decides in a small call of its own.",
        choices=((RULE, "the rule"), (BY_MODEL, "the model")),
    ),
    shared.RULES,
    shared.MAKING,
    shared.REMARKS,
    replace(shared.EXAMPLES, default=0),
    shared.WAITS,
    shared.FETCHES,
    shared.WAIT_MOVES,
    shared.THINK_TICKS,
    shared.FALLBACK,
    *shared.STAND_IN_SETTINGS,
)


@dataclass(frozen=True, slots=True)
class PairwiseOptions(shared.SkilledOptions):
    """The settings in their own types; see SETTINGS for their meaning."""

    structured: bool
    busy_answers: str
