"""Declare the settings of the agent `blocks_dispatcher`, whose language model commands several players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.llm.provider_registry import STAND_IN
from kitchen.llm.providers.stand_in_model import stand_in_settings

AS_TOOL, AS_TEXT = "tool", "text"
SETTINGS: tuple[Setting, ...] = (
    shared.MODEL,
    shared.TEMPERATURE,
    replace(
        shared.MAX_TOKENS,
        default=512,
        help="A longer reply is cut off. The authors' program allows 100 tokens; a list needs more.",
    ),
    Setting(
        "reply",
        "choice",
        "Form of the reply",
        AS_TOOL,
        help="The structured list has a strict schema. The paper uses text.",
        choices=((AS_TOOL, "Structured list of actions"), (AS_TEXT, "Text, actions are picked out")),
    ),
    Setting("dishes", "bool", "Tell how dishes are made", True),
    Setting(
        "hints", "bool", "Tell the inference knowledge", True, help="Hints that prevent the common errors."
    ),
    Setting(
        "demonstration",
        "bool",
        "Show a demonstration",
        True,
        help="Eight steps, played by the planner, in which another dish is made.",
    ),
    Setting(
        "feedback",
        "bool",
        "Give feedback",
        True,
        help="What did not work in the last step and why, and whether the same actions were given twice.",
    ),
    Setting(
        "memory",
        "int",
        "Memory (exchanges)",
        2,
        help="The last states and replies that the model sees again. The authors' program shows two.",
        minimum=0,
        maximum=20,
    ),
    Setting(
        "repair",
        "int",
        "Second tries in a step",
        0,
        help="How often the model may replace actions that cannot be read or carried out, within the same "
        "step. Each time costs a call. 0: such players wait, as in the paper.",
        minimum=0,
        maximum=2,
    ),
    Setting(
        "only_on_request",
        "bool",
        "Act only on request",
        False,
        help="The players wait until people ask them for something. Of effect where people can write.",
    ),
    Setting(
        "addressed",
        "bool",
        "Lines to one member",
        False,
        help="The model may write its line to one member only. Of effect where it can write to several.",
        later=True,
        fresh=True,
    ),
    replace(
        shared.FALLBACK,
        help="Who commands if the model does not answer. This is recorded.",
        choices=((shared.BY_RULE, "The planner commands"), (shared.BY_NOBODY, "Nobody: the players wait")),
    ),
    *stand_in_settings("actions"),
)
TRIAL_SETTINGS: Mapping[str, Json] = {
    "model": STAND_IN,
    "memory": 0,
    "repair": 0,
    **{f"stand_in_{name}": 0.0 for name in ("errors", "nonsense", "latency", "failures")},
}
"""Settings of the trial for a forecast: the stand-in, without errors or memory."""


@dataclass(frozen=True, slots=True)
class BlocksDispatcherOptions:
    """The settings as typed values. SETTINGS explains each of them."""

    model: str
    temperature: float
    max_tokens: int
    reply: str
    dishes: bool
    hints: bool
    demonstration: bool
    feedback: bool
    memory: int
    repair: int
    only_on_request: bool
    addressed: bool
    fallback: str
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float

    @property
    def as_tool(self) -> bool:
        """Return True if the model must reply by a structured list, instead of in text."""
        return self.reply == AS_TOOL
