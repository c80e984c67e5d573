"""Declare the settings of the dispatcher, and read the sentences of its prompt from TOML files.

The dispatcher is a language model that commands several robots. Each part of its prompt can be switched on or
off (MindAgent, arXiv 2309.09971, Table 7). The module also knows which settings each model refuses.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.language_model import RecordedAnswers
from kitchen.contract.world import Json
from kitchen.llm.provider_registry import (
    ANTHROPIC,
    STAND_IN,
    accepted_efforts,
    calls_tools,
    keeps_to_schema,
    parse_model_setting,
    takes_seed,
    takes_temperature,
    unlisted_model_remarks,
)
from kitchen.llm.providers.stand_in_model import stand_in_settings
from kitchen.worlds.cuisine.settings import read_settings

_PATH = Path(__file__).with_suffix(".toml")
_FILE = tomllib.loads(_PATH.read_text("utf-8"))
SENTENCES: Mapping[str, Json] = tomllib.loads(_PATH.with_name("sentences.toml").read_text("utf-8"))
"""The fixed sentences of the prompt, of the feedback, and of the stand-in's replies."""

PROMPT_PARTS: Mapping[str, str] = _FILE["prompt_parts"]
"""The parts of the fixed text and what they say, in their usual order."""
PLACEHOLDERS = (*PROMPT_PARTS.items(), *_FILE["prompt_pieces"].items())
USUAL_PROMPT = "\n\n".join(f"{{{name}}}" for name in PROMPT_PARTS)
"""The own text that gives the same prompt as the default."""

LEAST = "least"
"""The amount of thinking for which nothing is asked of the model."""
STRICT = "strict"
"""The form of the reply that is structured where the provider guarantees the structure."""

_DECLARED = {setting.name: setting for setting in read_settings(_PATH)}
_PROMPT = replace(_DECLARED["prompt"], placeholders=PLACEHOLDERS, usual=USUAL_PROMPT)
SETTINGS = (*{**_DECLARED, "prompt": _PROMPT}.values(), *stand_in_settings("commands"))
EFFORT_LABELS = dict(_DECLARED["effort"].choices)


@dataclass(frozen=True, slots=True)
class DispatcherOptions:
    """The dispatcher's settings as typed values. SETTINGS explains each of them."""

    model: str
    temperature: float
    top_p: float
    seeded: bool
    effort: str
    cache_hour: bool
    max_tokens: int
    reply: str
    recipes: bool
    instructions: bool
    hints: bool
    demonstration: str
    demonstration_agents: int
    demonstration_play: str
    feedback: bool
    confirm: bool
    memory: int
    repair: int
    ask_unclear: bool
    fallback: str
    tell_thoughts: bool
    persona: str
    prompt: str
    stand_in_errors: float
    stand_in_nonsense: float
    stand_in_latency: float
    stand_in_failures: float

    @classmethod
    def read(cls, chosen: Mapping[str, Json]) -> Self:
        """Return the options from stored or submitted settings. Raises SettingsError if a value is wrong."""
        return cls(**clean_settings(SETTINGS, chosen))

    @property
    def sampling(self) -> float | None:
        """Return the temperature to send to the model; None if none is set."""
        return self.temperature if self.temperature >= 0 else None

    @property
    def nucleus(self) -> float | None:
        """Return the top_p to send to the model; None if none is set."""
        return self.top_p if self.top_p >= 0 else None

    @property
    def as_tool(self) -> bool:
        """Return True if the model must reply by calling the tool for commands, instead of in text. With
        `strict`, it must if its provider guarantees the form of such a reply."""
        if self.reply == STRICT:
            return keeps_to_schema(*parse_model_setting(self.model))
        return self.reply == "tool"

    def as_recorded(self, answers: RecordedAnswers | None) -> Self:
        """Return the options with which these recorded answers were asked for. The form `strict` depends on
        the server at that time, so it is read from the recorded request."""
        sent = answers.sent_tool() if answers is not None and self.reply == STRICT else None
        return self if sent is None else replace(self, reply="tool" if sent else "text")


MIN_REPLY_TOKENS: Mapping[str, int] = {
    "low": 2048,
    "medium": 4096,
    "high": 8192,
    "xhigh": 16384,
    "max": 32768,
}
"""Minimum number of tokens of a reply for each effort, because thoughts count too. A rule of thumb of this
project."""


def unsent_settings(options: DispatcherOptions) -> tuple[str, ...]:
    """Return a sentence for each setting that is not sent because the model does not accept it, and one if
    our list does not have the model.

    Return an empty tuple for the stand-in, a substitute for the model.
    """
    provider, model = parse_model_setting(options.model)
    if provider == STAND_IN:
        return ()
    names = _not_taken(options, provider, model)
    unsent = (f"{provider}:{model} takes no {name}: none is sent." for name in names)
    return (*unlisted_model_remarks(provider, model), *unsent)


def _not_taken(options: DispatcherOptions, provider: str, model: str) -> Iterator[str]:
    if options.sampling is not None and not takes_temperature(provider, model):
        yield f"temperature ({options.temperature:g})"
    if options.nucleus is not None and not takes_seed(provider):
        yield f"top p ({options.top_p:g})"
    if options.cache_hour and provider != ANTHROPIC:
        yield "cache of an hour"
    if options.seeded and not takes_seed(provider):
        yield "seed"


def effort_problem(options: DispatcherOptions) -> str:
    """Return `effort: reason` if the model does not accept the selected amount of thinking: every call would
    fail. Otherwise return an empty string."""
    provider, model = parse_model_setting(options.model)
    accepted = None if provider == STAND_IN else accepted_efforts(provider, model)
    if options.effort == LEAST or accepted is None or options.effort in accepted:
        return ""
    others = [EFFORT_LABELS.get(each, each) for each in accepted]
    instead = f"{model} accepts {', '.join(others)}" if others else f"{model} accepts no amount of thinking"
    return f"effort: {instead}, not “{EFFORT_LABELS[options.effort]}”; choose “{EFFORT_LABELS[LEAST]}”"


def reply_room_problem(options: DispatcherOptions) -> str:
    """Return `max_tokens: reason` if the token limit is too small for the selected amount of thinking.
    Otherwise return an empty string."""
    needed = MIN_REPLY_TOKENS.get(options.effort, 0)
    if options.max_tokens >= needed:
        return ""
    return (
        f"max_tokens: {options.max_tokens} leave no room for a reply: what the model thinks counts towards "
        f"them. With thinking set to “{EFFORT_LABELS[options.effort]}”, let it have {needed} at "
        f"least, or let it "
        "think less"
    )


def calls_tool(options: DispatcherOptions) -> bool:
    """Return whether the model gets the schema of the reply as a tool. If False, it gets the schema as a JSON
    format."""
    return calls_tools(*parse_model_setting(options.model), thinks=options.effort != "least")
