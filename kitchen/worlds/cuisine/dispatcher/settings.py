"""Declare the dispatcher's settings, the placeholders of a custom prompt, and what a model supports.

The dispatcher follows MindAgent (arXiv 2309.09971). Each part of it can be switched on or off (Table 7 of the
paper).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from kitchen.contract.world import Json, Setting, clean_settings
from kitchen.llm.provider_registry import (
    STAND_IN,
    calls_tools,
    parse_model_setting,
    takes_seed,
    takes_temperature,
)
from kitchen.llm.providers.stand_in_model import stand_in_settings

PROMPT_PARTS: Mapping[str, str] = {
    "task": "what this is about, whom the model commands, and whom not",
    "persona": "the persona, where there is one",
    "recipes": "the recipes",
    "instructions": "commands, places, rules, and the form of the reply",
    "hints": "the inference knowledge",
    "talk": "how to deal with people who write; empty where nobody may write",
    "demonstration": "the demonstration",
}
"""The parts of the fixed text, each with its heading, in their usual order."""
PROMPT_PIECES: Mapping[str, str] = {
    "agents": "the names of the agents that the model commands, without a heading",
    "team": "who else plays, in sentences; empty where nobody does",
    "steps": "how many steps an episode has",
    "commands": "the commands and what they do",
    "places": "the places of the kitchen",
    "answer": "the form of the reply",
}
"""Single pieces of those parts, for researchers who write the rest themselves."""
PLACEHOLDERS = (*PROMPT_PARTS.items(), *PROMPT_PIECES.items())
USUAL_PROMPT = "\n\n".join(f"{{{name}}}" for name in PROMPT_PARTS)
"""The own text that gives the same prompt as the default."""

MAX_PROMPT_CHARACTERS = 20_000
MAX_PERSONA_CHARACTERS = 2_000
"""Largest number of characters of the persona."""

PROVIDER_DEFAULT = -1.0
"""The temperature or top_p that means: send none."""

EFFORT_LABELS = {
    "least": "As little as possible",
    "low": "Low",
    "medium": "Medium",
    "high": "High",
    "xhigh": "Very high",
    "max": "All it can",
}

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model",
        "text",
        "Language model",
        "",
        help="Provider and model, such as “anthropic:claude-sonnet-5-5”, or “openai:” with a name for any "
        "server that is compatible; “stand-in” needs no key, its commands come from the planner. Empty: "
        "what this server uses by default.",
    ),
    Setting(
        "temperature",
        "float",
        "Temperature",
        0.1,
        help="How freely the model varies; the paper plays 0.1. -1 sends none, and none is sent to models "
        "that are known to take none.",
        minimum=PROVIDER_DEFAULT,
        maximum=2,
    ),
    Setting(
        "top_p",
        "float",
        "Top p",
        PROVIDER_DEFAULT,
        help="Of how much of the likeliest words the model draws. -1 sends none, and none is sent to models "
        "that are known to take none: Claude does not.",
        minimum=PROVIDER_DEFAULT,
        maximum=1,
        later=True,
    ),
    Setting(
        "seeded",
        "bool",
        "Send a seed",
        False,
        help="A number that follows from the episode's seed and the step, so that the same prompt can give "
        "the same reply again. Claude takes none; other providers keep to it as far as they can.",
        later=True,
    ),
    Setting(
        "effort",
        "choice",
        "Thinking before the reply",
        "least",
        help="How much the model is to think by itself, where it can. It takes time and counts as "
        "output: more than as little as possible needs a longer reply.",
        choices=tuple((name, label) for name, label in EFFORT_LABELS.items()),
    ),
    Setting(
        "max_tokens",
        "int",
        "Longest reply (tokens)",
        1024,
        help="A reply that needs more is cut off; what came until then is read.",
        minimum=64,
        maximum=64000,
    ),
    Setting(
        "reply",
        "choice",
        "Form of the reply",
        "text",
        help="Free text is what the paper has; the structured list can be used by models that call tools.",
        choices=(("text", "Free text, commands are picked out"), ("tool", "Structured list of commands")),
    ),
    Setting("recipes", "bool", "Tell the recipes", True, help="Every product with its tool and ingredients."),
    Setting(
        "instructions",
        "bool",
        "Tell the instructions",
        True,
        help="Commands, tools, ingredients, and that each agent gets exactly one command.",
    ),
    Setting(
        "hints",
        "bool",
        "Tell the inference knowledge",
        True,
        help="Hints that keep the model from common errors. Off: the paper's “without inference knowledge”.",
    ),
    Setting(
        "demonstration",
        "choice",
        "Demonstration",
        "full",
        help="An example, played by the planner, of a dish that is not on this level's menu.",
        choices=(
            ("full", "Full: until the dish is served"),
            ("few", "Its first two steps"),
            ("none", "None"),
        ),
    ),
    Setting(
        "demonstration_agents",
        "int",
        "Agents in the demonstration",
        0,
        help="0: as many as play. Fewer shows whether the model can command more agents than it saw.",
        minimum=0,
        maximum=8,
    ),
    Setting(
        "demonstration_play",
        "choice",
        "What the demonstration shows",
        "dish",
        help="How a team plays: everybody is at work, and who has nothing to do for one order begins the "
        "next; that is longer. One dish: only what it needs, so that most agents wait in most steps.",
        choices=(("dish", "One dish, and nothing else"), ("team", "How a team plays")),
        later=True,
        fresh="team",
    ),
    Setting(
        "feedback",
        "bool",
        "Give feedback",
        True,
        help="What of the last step did not work and why, with advice.",
    ),
    Setting(
        "memory",
        "int",
        "Memory (messages)",
        5,
        help="Messages of the running conversation that the model sees, the present state among them: 5 is "
        "the present state and the two exchanges before it, 1 is no memory.",
        minimum=1,
        maximum=199,
    ),
    Setting(
        "repair",
        "int",
        "Second tries in a step",
        0,
        help="How often the model may replace commands that cannot be read or carried out, within the same "
        "step. Each costs a call. 0: such agents wait, as in the paper.",
        minimum=0,
        maximum=1,
    ),
    Setting(
        "fallback",
        "choice",
        "When the model does not answer",
        "planner",
        help="Who commands in that step; it is recorded.",
        choices=(("planner", "The planner commands"), ("noop", "The agents wait")),
    ),
    Setting(
        "tell_thoughts",
        "bool",
        "Tell people what the model thought",
        False,
        help="Where people are shown what teammates are about to do: with what the model thought before it "
        "answered, as far as its provider gives that; in a fold that they can open.",
        later=True,
    ),
    Setting(
        "persona",
        "text",
        "Persona",
        "",
        help="Who this teammate is to be, in words for the model, such as “You are cautious, and ask before "
        "you change a plan.” They stand after its task, as they are written. Empty: nothing is said of it.",
        maximum=MAX_PERSONA_CHARACTERS,
        later=True,
        lines=4,
    ),
    Setting(
        "prompt",
        "text",
        "System text of your own",
        "",
        help="What the model is told at every step, in place of the usual text; the page “What the model is "
        "told” has that, to copy from. Names in braces stand for parts that are made for each kitchen and "
        "team; every part that is switched on has to be there, and one that is off leaves nothing behind. "
        "Empty: the usual text.",
        maximum=MAX_PROMPT_CHARACTERS,
        later=True,
        lines=14,
        placeholders=PLACEHOLDERS,
        usual=USUAL_PROMPT,
    ),
    *stand_in_settings("commands"),
)


@dataclass(frozen=True, slots=True)
class DispatcherOptions:
    """The settings in their own types; see SETTINGS for their meaning."""

    model: str
    temperature: float
    top_p: float
    seeded: bool
    effort: str
    max_tokens: int
    reply: str
    recipes: bool
    instructions: bool
    hints: bool
    demonstration: str
    demonstration_agents: int
    demonstration_play: str
    feedback: bool
    memory: int
    repair: int
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
        """Return the options of stored or typed values (`5.0` for 5); missing ones have their defaults.

        Raise SettingsError for wrong values.
        """
        return cls(**clean_settings(SETTINGS, chosen))

    @property
    def sampling(self) -> float | None:
        """The temperature to send; None for none."""
        return self.temperature if self.temperature >= 0 else None

    @property
    def nucleus(self) -> float | None:
        """The top_p to send; None for none."""
        return self.top_p if self.top_p >= 0 else None

    @property
    def as_tool(self) -> bool:
        """Whether the reply is a call of the tool."""
        return self.reply == "tool"


MIN_REPLY_TOKENS: Mapping[str, int] = {
    "low": 2048,
    "medium": 4096,
    "high": 8192,
    "xhigh": 16384,
    "max": 32768,
}
"""Least number of tokens of a reply for each effort, because thoughts count too. Our own rule of thumb."""


def unsent_settings(options: DispatcherOptions) -> tuple[str, ...]:
    """Return a sentence for settings that are not sent; none for the stand-in, which describes itself."""
    provider, model = parse_model_setting(options.model)
    if provider == STAND_IN:
        return ()
    names = _not_taken(options, provider, model)
    return tuple(f"{provider}:{model} takes no {name}: none is sent." for name in names)


def _not_taken(options: DispatcherOptions, provider: str, model: str) -> Iterator[str]:
    if options.sampling is not None and not takes_temperature(provider, model):
        yield f"temperature ({options.temperature:g})"
    if options.nucleus is not None and not takes_seed(provider):
        yield f"top p ({options.top_p:g})"
    if options.seeded and not takes_seed(provider):
        yield "seed"


def reply_room_problem(options: DispatcherOptions) -> str:
    """Return `setting: why` if thinking would use the whole reply; empty if there is room."""
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
    """Return whether the model gets the tool of a structured reply, and not the tool's schema as a format."""
    return calls_tools(*parse_model_setting(options.model), thinks=options.effort != "least")
