"""Declare the settings of the agent ProAgent, which plans skills and predicts its teammates.

Each part of its decision loop, such as predictions, can be switched off.
"""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting

PLAN, ANALYSIS, INTENTION = "p", "ap", "aip"
BY_MODEL = "model"
OFF, REPLACE, ANNOTATE = "off", "replace", "annotate"
REPLANS, ALWAYS = "replans", "always"
TRIES = 4
"""Maximum number of plans that the model is asked for within one step."""
BRAKE_AFTER = 2
"""Decisions in a row in which no plan could begin, after which the model is asked only once in each."""

SETTINGS: tuple[Setting, ...] = (
    shared.MODEL,
    shared.TEMPERATURE,
    shared.MAX_TOKENS,
    Setting(
        "level",
        "choice",
        "What the model is asked for",
        ANALYSIS,
        help="Its predictions of the others are recorded and compared with what they then do.",
        choices=(
            (PLAN, "A plan"),
            (ANALYSIS, "An analysis, then a plan"),
            (INTENTION, "An analysis, what the others will do, then a plan"),
        ),
    ),
    shared.RULES,
    shared.MAKING,
    shared.REMARKS,
    shared.EXAMPLES,
    shared.WAITS,
    shared.FETCHES,
    Setting(
        "explainer",
        "choice",
        "Who explains why a plan fails",
        BY_MODEL,
        help="If a skill cannot be done now, it plans again, at most three times.",
        choices=(
            (BY_MODEL, "The model, in a call of its own"),
            (shared.BY_RULE, "A fixed sentence"),
            (shared.BY_NOBODY, "Nobody: it only failed"),
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
        help="Takes effect only if the model is asked what the others will do.",
        choices=(
            (OFF, "It is told nothing of it"),
            (REPLACE, "It is told what happened instead"),
            (ANNOTATE, "It is told both, and that it was wrong"),
        ),
    ),
    shared.WAIT_MOVES,
    shared.THINK_TICKS,
    Setting(
        "tell_foreseen",
        "bool",
        "Tell people what it expects of them",
        False,
        help="Takes effect if people see what teammates are about to do and the model is asked what "
        "others will do.",
    ),
    shared.FALLBACK,
    *shared.STAND_IN_SETTINGS,
)


@dataclass(frozen=True, slots=True)
class ProAgentOptions(shared.SkilledOptions):
    """The chosen settings as typed fields; `SETTINGS` explains each of them."""

    level: str
    explainer: str
    recall: str
    belief: str
    tell_foreseen: bool

    @property
    def foresees(self) -> bool:
        """Return True if the settings ask the model to predict what other seats will do next."""
        return self.level == INTENTION

    @property
    def corrects(self) -> bool:
        """Return True if later prompts show the model which of its predictions were right."""
        return self.foresees and self.belief != OFF
