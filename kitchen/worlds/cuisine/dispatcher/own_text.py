"""A fixed text of the researcher's own: what has to stand in it, and how it is filled for a kitchen.

What a model cannot do without is asked for: whom it commands, the form of a reply, and each part that is
switched on. So a condition never plays without something that its settings say is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kitchen.contract.world import PLACEHOLDER, placeholders_in
from kitchen.words.counting import and_list
from kitchen.worlds.cuisine.dispatcher.options import Options
from kitchen.worlds.cuisine.dispatcher.placeholders import PARTS

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def filled(text: str, meant: Mapping[str, str]) -> str:
    """The text with what its placeholders mean, nothing for those that mean nothing here. A paragraph of
    nothing else is left out then. What is put in is not read again."""
    paragraphs = (_filled(each, meant) for each in _BLANK.split(text.strip()))
    return "\n\n".join(each for each in paragraphs if each.strip())


def _filled(paragraph: str, meant: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: meant.get(found[1], ""), paragraph)


def missing(options: Options) -> str:
    """What a text of one's own lacks, as `prompt: why`; empty where it lacks nothing or there is none."""
    if not options.prompt:
        return ""
    there = set(placeholders_in(options.prompt))
    lacks = list(_lacks(options, there))
    return f"prompt: {'; '.join(lacks)}" if lacks else ""


def _lacks(options: Options, there: set[str]) -> Iterator[str]:
    if "task" not in there and not {"agents", "team"} <= there:
        yield "it does not say whom the model commands: put in {task}, or both {agents} and {team}"
    parts = [f"{{{name}}}" for name in _needed(options) if name not in there]
    if parts:
        are = "is" if len(parts) == 1 else "are"
        yield f"{and_list(parts)} {are} missing: put in what is switched on, or switch it off"
    if "talk" not in there:
        yield "{talk} is missing: without it nothing is said of people who write; it is empty where none may"
    if not options.as_tool and not _shows_form(options, there):
        yield "nothing tells the form of a reply: put in {answer}"


def _needed(options: Options) -> Iterator[str]:
    """The parts that the settings say are told."""
    told = {
        "persona": bool(options.persona),
        "recipes": options.recipes,
        "instructions": options.instructions,
        "hints": options.hints,
        "demonstration": options.demonstration != "none",
    }
    return (name for name, is_told in told.items() if is_told)


def _shows_form(options: Options, there: set[str]) -> bool:
    """By the instructions, by an example, or by itself."""
    return options.instructions or options.demonstration != "none" or "answer" in there


def idle(options: Options) -> tuple[str, ...]:
    """Parts in a text of one's own that are switched off, in a sentence."""
    needed = set(_needed(options)) | {"task", "talk"}
    off = [f"{{{name}}}" for name in PARTS if name in placeholders_in(options.prompt) and name not in needed]
    if not off:
        return ()
    return (
        f"Of the system text {and_list(off)} {'stays' if len(off) == 1 else 'stay'} empty: switched off.",
    )
