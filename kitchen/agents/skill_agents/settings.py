"""Declare the settings that are common to all agents that plan skills (actions of several steps)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.agent_skills import EARLY, FREELY, NEVER, ONCE, READY, PlayStyle
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.llm.provider_registry import STAND_IN
from kitchen.llm.providers.stand_in_model import stand_in_settings

BY_RULE, BY_NOBODY = "rule", "none"
RANDOM, STILL = "random", "still"
OF_PLACE = "place"
NO_TEMPERATURE = -1.0

MODEL = Setting(
    "model",
    "text",
    "Language model",
    "",
    help="Provider and model, such as “anthropic:claude-sonnet-5-5”, or “openai:” with a name for any "
    "server that is compatible; “stand-in” needs no key and follows a rule. Empty: the default of "
    "this server.",
)
TEMPERATURE = Setting(
    "temperature",
    "float",
    "Temperature",
    0.0,
    help="How much the model's replies vary; the paper uses 0. -1 sends no temperature. Models known "
    "not to accept one never get one.",
    minimum=NO_TEMPERATURE,
    maximum=2,
)
MAX_TOKENS = Setting(
    "max_tokens",
    "int",
    "Longest reply (tokens)",
    256,
    help="A longer reply is cut off, and the part before the cut is read.",
    minimum=64,
    maximum=64000,
)
RULES = Setting("rules", "bool", "Tell the rules", True, help="How the game is played and what counts.")
MAKING = Setting("making", "bool", "Tell how things are made", True)
REMARKS = Setting(
    "remarks", "bool", "Tell what holds for this place", True, help="What this layout makes necessary."
)
EXAMPLES = Setting("examples", "int", "Worked examples", 2, minimum=0, maximum=6)
WAITS = Setting(
    "waits",
    "choice",
    "Offer to wait",
    OF_PLACE,
    help="The model can plan to wait even if waiting is not offered.",
    choices=(
        (OF_PLACE, "As is usual in the place"),
        (FREELY, "For a number of steps"),
        (ONCE, "For one step at a time"),
        (NEVER, "No"),
    ),
)
FETCHES = Setting(
    "fetches",
    "choice",
    "When to fetch what something is filled into",
    OF_PLACE,
    help="Takes effect only in worlds with such containers.",
    choices=(
        (OF_PLACE, "As is usual in the place"),
        (READY, "When that is ready"),
        (EARLY, "While it is still being made"),
    ),
)
WAIT_MOVES = Setting(
    "wait_moves",
    "choice",
    "While it waits",
    RANDOM,
    help="It moves only in worlds in which moving costs nothing.",
    choices=((RANDOM, "It moves at random"), (STILL, "It stands still")),
)
THINK_TICKS = Setting(
    "think_ticks",
    "int",
    "Ticks from a question to its effect",
    0,
    help="If a clock runs: each plan takes effect this many ticks after the model was asked, so that "
    "games can be replayed. 0: as soon as the reply arrives.",
    minimum=0,
    maximum=600,
)
FALLBACK = Setting(
    "fallback",
    "choice",
    "When the model does not answer",
    BY_RULE,
    help="Who plans if the model does not answer. This is recorded.",
    choices=((BY_RULE, "The stand-in's rule"), (BY_NOBODY, "Nobody: it waits a step")),
)
STAND_IN_SETTINGS = stand_in_settings("skills")
"""Settings of the stand-in."""
INSTANT_SETTINGS: Mapping[str, Json] = {
    "model": STAND_IN,
    "memory": 0,
    "stand_in_errors": 0.0,
    "stand_in_nonsense": 0.0,
    "stand_in_latency": 0.0,
    "stand_in_failures": 0.0,
}
"""Settings for a cost forecast: the stand-in, without errors or memory."""


@dataclass(frozen=True, slots=True)
class SkilledOptions:
    """The settings of agents that plan skills, as typed fields."""

    model: str
    temperature: float
    max_tokens: int
    rules: bool
    making: bool
    remarks: bool
    examples: int
    waits: str
    fetches: str
    memory: int
    wait_moves: str
    think_ticks: int
    fallback: str
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float

    def manner(self, usual: PlayStyle) -> PlayStyle:
        """Return the style of play that these settings define. Where a setting is `OF_PLACE`, the value comes
        from `usual`, the world's usual style."""
        waits = usual.waits if self.waits == OF_PLACE else self.waits
        return PlayStyle(waits, usual.fetches if self.fetches == OF_PLACE else self.fetches)
