"""What a researcher may set about ProAgent: each part of the loop can be switched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from kitchen.contract.skills import EARLY, FREELY, NEVER, ONCE, READY, Manner
from kitchen.contract.world import Json, Setting, clean_settings

PLAN, ANALYSIS, INTENTION = "p", "ap", "aip"
BY_MODEL, BY_RULE, BY_NOBODY = "model", "rule", "none"
OFF, REPLACE, ANNOTATE = "off", "replace", "annotate"
REPLANS, ALWAYS = "replans", "always"
RANDOM, STILL = "random", "still"
OF_PLACE = "place"
NO_TEMPERATURE = -1.0
TRIES = 4
"""Plans that the model is asked for within one step."""

OF_STAND_IN = "Of effect for the stand-in only."

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model",
        "text",
        "Language model",
        "",
        help="Provider and model, such as “anthropic:claude-sonnet-5-5”, or “openai:” with a name for any "
        "server that is compatible; “stand-in” needs no key, it follows a rule. Empty: what this server uses "
        "by default.",
    ),
    Setting(
        "temperature",
        "float",
        "Temperature",
        0.0,
        help="How freely the model varies; the paper plays 0. -1 sends none, and none is sent to models that "
        "are known to take none.",
        minimum=NO_TEMPERATURE,
        maximum=2,
    ),
    Setting(
        "max_tokens",
        "int",
        "Longest reply (tokens)",
        256,
        help="A reply that needs more is cut off; what came until then is read.",
        minimum=64,
        maximum=64000,
    ),
    Setting(
        "level",
        "choice",
        "What the model is asked for",
        ANALYSIS,
        help="What it believes that the others will do is recorded and compared with what they do then.",
        choices=(
            (PLAN, "A plan"),
            (ANALYSIS, "An analysis, then a plan"),
            (INTENTION, "An analysis, what the others will do, then a plan"),
        ),
    ),
    Setting("rules", "bool", "Tell the rules", True, help="How the game is played and what counts."),
    Setting("making", "bool", "Tell how things are made", True),
    Setting("remarks", "bool", "Tell what holds for this place", True, help="What its plan makes necessary."),
    Setting("examples", "int", "Worked examples", 2, minimum=0, maximum=6),
    Setting(
        "waits",
        "choice",
        "Offer to wait",
        OF_PLACE,
        help="Waiting can be planned even where it is not offered.",
        choices=(
            (OF_PLACE, "As is usual in the place"),
            (FREELY, "For a number of steps"),
            (ONCE, "For one step at a time"),
            (NEVER, "No"),
        ),
    ),
    Setting(
        "fetches",
        "choice",
        "When to fetch what something is filled into",
        OF_PLACE,
        help="Of effect where a world knows such a thing.",
        choices=(
            (OF_PLACE, "As is usual in the place"),
            (READY, "When that is ready"),
            (EARLY, "While it is still being made"),
        ),
    ),
    Setting(
        "explainer",
        "choice",
        "Who explains why a plan fails",
        BY_MODEL,
        help="A skill that cannot be done now is planned again, three times at most.",
        choices=(
            (BY_MODEL, "The model, in a call of its own"),
            (BY_RULE, "A fixed sentence"),
            (BY_NOBODY, "Nobody: it only failed"),
        ),
    ),
    Setting(
        "memory",
        "int",
        "Memory (messages)",
        1,
        help="The last messages of the dialogue that the model sees again: scenes, its answers, what became "
        "of them, explanations.",
        minimum=0,
        maximum=20,
    ),
    Setting(
        "recall",
        "choice",
        "When it sees them",
        REPLANS,
        choices=((REPLANS, "When it plans again, as published"), (ALWAYS, "Whenever it plans")),
    ),
    Setting(
        "belief",
        "choice",
        "What it foresaw wrongly",
        ANNOTATE,
        help="Of effect where it is asked what the others will do.",
        choices=(
            (OFF, "It is told nothing of it"),
            (REPLACE, "It is told what happened instead"),
            (ANNOTATE, "It is told both, and that it was wrong"),
        ),
    ),
    Setting(
        "wait_moves",
        "choice",
        "While it waits",
        RANDOM,
        help="It moves only in worlds where that costs nothing.",
        choices=((RANDOM, "It moves at random"), (STILL, "It stands still")),
    ),
    Setting(
        "think_ticks",
        "int",
        "Ticks from a question to its effect",
        0,
        help="Where a clock takes the steps: every plan takes effect so many ticks after the model was "
        "asked, so that games can be played again. 0: as soon as it is there.",
        minimum=0,
        maximum=600,
    ),
    Setting(
        "tell_foreseen",
        "bool",
        "Tell people what it expects of them",
        False,
        help="Where they are shown what teammates are about to do, and it is asked what others will do.",
    ),
    Setting(
        "fallback",
        "choice",
        "When the model does not answer",
        BY_RULE,
        help="Who plans then; it is recorded.",
        choices=((BY_RULE, "The stand-in's rule"), (BY_NOBODY, "Nobody: it waits a step")),
    ),
    Setting(
        "stand_in_errors",
        "float",
        "Stand-in: share of wrong skills",
        0.0,
        help=OF_STAND_IN,
        minimum=0,
        maximum=1,
    ),
    Setting(
        "stand_in_nonsense",
        "float",
        "Stand-in: share of senseless replies",
        0.0,
        help=OF_STAND_IN,
        minimum=0,
        maximum=1,
    ),
    Setting(
        "stand_in_latency",
        "float",
        "Stand-in: seconds to answer",
        0.0,
        help=OF_STAND_IN,
        minimum=0,
        maximum=600,
    ),
    Setting(
        "stand_in_failures",
        "float",
        "Stand-in: share of failing calls",
        0.0,
        help=OF_STAND_IN,
        minimum=0,
        maximum=1,
    ),
)


@dataclass(frozen=True, slots=True)
class Options:
    """The settings in their own types; see SETTINGS for their meaning."""

    model: str
    temperature: float
    max_tokens: int
    level: str
    rules: bool
    making: bool
    remarks: bool
    examples: int
    waits: str
    fetches: str
    explainer: str
    memory: int
    recall: str
    belief: str
    wait_moves: str
    think_ticks: int
    tell_foreseen: bool
    fallback: str
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float

    @classmethod
    def read(cls, chosen: Mapping[str, Json]) -> Self:
        """From what was stored or typed; what is left out has its default. SettingsError."""
        return cls(**clean_settings(SETTINGS, chosen))

    @property
    def foresees(self) -> bool:
        """The model says what the others will do."""
        return self.level == INTENTION

    @property
    def corrects(self) -> bool:
        """The model is told what became of that."""
        return self.foresees and self.belief != OFF

    def manner(self, usual: Manner) -> Manner:
        """As it is usual, but for what is set."""
        waits = usual.waits if self.waits == OF_PLACE else self.waits
        return Manner(waits, usual.fetches if self.fetches == OF_PLACE else self.fetches)
