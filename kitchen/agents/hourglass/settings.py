"""Declare the settings of the agent `hourglass`, which researchers can change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kitchen.agents.skill_agents import settings as shared
from kitchen.contract.declared_settings import Setting
from kitchen.llm.providers.stand_in_model import stand_in_settings

BY_RULE, BY_MODEL, BY_NOBODY = "rule", "model", "none"
TEXT, STRUCTURED = "text", "tool"

SETTINGS: tuple[Setting, ...] = (
    replace(shared.MODEL, label="Language model for plans"),
    Setting(
        "rest_model",
        "text",
        "Language model for everything else",
        "",
        help="For the progress monitor and the action planner. Empty: the model for plans.",
    ),
    shared.TEMPERATURE,
    replace(shared.MAX_TOKENS, default=1024),
    Setting(
        "reply",
        "choice",
        "Form of the reply",
        STRUCTURED,
        help="Models that call tools can reply with a structured object.",
        choices=((STRUCTURED, "Structured object"), (TEXT, "Free text, lines under headings")),
    ),
    Setting(
        "planner",
        "choice",
        "Who plans the tasks",
        BY_MODEL,
        help="The rule gives everybody without a task the next useful aim, and does jobs as they are given.",
        choices=((BY_MODEL, "The language model"), (BY_RULE, "The stand-in's rule")),
    ),
    Setting(
        "monitor",
        "choice",
        "Who judges whether a task is done",
        BY_RULE,
        help="The rule reads the state of the game, then reports in the worker's words.",
        choices=((BY_RULE, "A rule"), (BY_MODEL, "The language model")),
    ),
    Setting(
        "actions",
        "choice",
        "Who turns tasks into actions",
        BY_RULE,
        help="Actions of a leader are jobs for its workers, actions of a worker are commands of the game.",
        choices=((BY_RULE, "A rule"), (BY_MODEL, "The language model")),
    ),
    Setting(
        "works",
        "bool",
        "A leader with a player of its own works, too",
        True,
        help="Off: it only leads, as in S-Agents.",
    ),
    Setting(
        "whole_stage",
        "bool",
        "Plan again when all tasks of the stage have ended",
        True,
        help="Or one has failed. Off: when one of them has ended, as in the schedule “free”, and by rule "
        "where jobs do not belong together.",
    ),
    Setting(
        "patience",
        "int",
        "Steps after which a task is given up",
        30,
        help="Its worker says then that it was not possible, and its leader plans again. 0: never.",
        minimum=0,
        maximum=1000,
    ),
    Setting(
        "again",
        "int",
        "Ask again after an unreadable reply",
        1,
        help="The most further attempts in one step.",
        minimum=0,
        maximum=3,
    ),
    replace(shared.FALLBACK, help="Who plans then, or after an unreadable reply. This is recorded."),
    *stand_in_settings("tasks"),
)


@dataclass(frozen=True, slots=True)
class HourglassOptions:
    """The settings in their own types; see SETTINGS for their meaning."""

    model: str
    rest_model: str
    temperature: float
    max_tokens: int
    reply: str
    planner: str
    monitor: str
    actions: str
    works: bool
    whole_stage: bool
    patience: int
    again: int
    fallback: str
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float
