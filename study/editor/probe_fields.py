"""Form fields for the probes and the slider of a condition, which researchers write as plain lines.

A blank line separates probes. The first line of a probe says when it is asked, each other line is a question
with its answers in square brackets::

    every 10 steps, 60 seconds
    I trust my partner. [likert 7: not at all | completely]

The slider is one line: `Trust in your partner: none | complete`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from kitchen.contract.probes import (
    CHOICE,
    EVENT,
    EVERY_SECONDS,
    EVERY_STEPS,
    ITEM_KINDS,
    LIKERT,
    REFUSED,
    SLIDER,
    STEP,
    TEXT,
    USUAL_LIMIT_SECONDS,
    USUAL_POINTS,
    stored_probes,
)
from kitchen.contract.world import Json
from kitchen.registry.world_registry import get_world, known_worlds
from study.editor.answers_in_brackets import BracketedQuestion, bracketed_question

PROBES_HELP = (
    "The game holds and asks. Leave a blank line between two probes. The first line says when, and how many "
    "seconds there are for an answer: “every 10 steps, 60 seconds”. Also “after step 5”, “every 30 seconds”, "
    "“when {event}” and “at most 3 times”. Write one or two questions below it, one on a line: “I trust my "
    "partner. [likert 7: not at all | completely]”. Other answers: [slider: low | high], [choice: one | two] "
    "and [text]. Events: {events}."
)
SLIDER_HELP = (
    "A slider that is always beside the game, such as “Trust in your partner: none | complete”. Empty: none."
)
_PATTERNS = {
    STEP: re.compile(r"after step (\d{1,6})"),
    EVERY_STEPS: re.compile(r"every (\d{1,6}) steps?"),
    EVERY_SECONDS: re.compile(r"every (\d{1,6}) seconds?"),
    EVENT: re.compile(r"when ([a-z][a-z_0-9]{0,40})"),
    "limit_seconds": re.compile(r"(?:for )?(\d{1,4}) seconds?"),
    "at_most": re.compile(r"at most (\d{1,6})(?: times?)?"),
    "key": re.compile(r"named ([a-z][a-z0-9_]{0,29})"),
}


def probes_help(world: str) -> str:
    """Return the help text of the field for probes, with the kinds of event of this world."""
    kinds = get_world(world).event_kinds if world in known_worlds() else {}
    events = "; ".join(
        f"{kind} ({label})" for kind, label in {**kinds, REFUSED: "an action was refused"}.items()
    )
    return PROBES_HELP.format(event=next(iter(kinds), REFUSED), events=events)


class ProbesField(forms.CharField):
    """A form field for probes, written as lines. The value is the list that a condition stores."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea({"rows": 5, "spellcheck": "true"}), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return the probes as lines."""
        return probes_as_lines(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Return the probes as the list that a condition stores. Raises ValidationError that names the first
        line that cannot be read."""
        if isinstance(value, list):
            return value
        blocks = re.split(r"\n\s*\n", (super().to_python(value) or "").replace("\r\n", "\n").strip())
        return [_probe(block, number) for number, block in enumerate(blocks, start=1) if block.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted probes differ from the initial ones."""
        try:
            return bool((initial or []) != self.to_python(data))
        except forms.ValidationError:
            return True


class RatingSliderField(forms.CharField):
    """A form field for the slider beside the game: `text: low | high` on one line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=300, help_text=SLIDER_HELP, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return the slider as one line."""
        if not isinstance(value, dict):
            return value
        return f"{value['text']}: {value['low']} | {value['high']}" if value else ""

    def to_python(self, value: Any) -> Any:
        """Return the slider as a condition stores it. Raises ValidationError if an end is missing."""
        if isinstance(value, dict):
            return value
        line = super().to_python(value) or ""
        text, _, ends = line.rpartition(":")
        low, _, high = ends.partition("|")
        if line and not (text.strip() and low.strip() and high.strip()):
            raise forms.ValidationError("Write it as “Trust in your partner: none | complete”.")
        return {"text": text.strip(), "low": low.strip(), "high": high.strip()} if line else {}

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted slider differs from the initial one."""
        try:
            return bool((initial or {}) != self.to_python(data))
        except forms.ValidationError:
            return True


def probes_as_lines(stored: list[Json]) -> str:
    """Return stored probes as the lines in which a researcher writes them."""
    blocks = []
    for probe in stored_probes(stored):
        filled = {
            f"after step {probe.step}": probe.step,
            f"every {probe.every_steps} steps": probe.every_steps,
            f"every {probe.every_seconds} seconds": probe.every_seconds,
            f"when {probe.event}": probe.event,
        }
        first = [text for text, given in filled.items() if given]
        first.append(f"{probe.limit_seconds} seconds")
        first += [f"at most {probe.at_most} times"] if probe.at_most else []
        blocks.append("\n".join([", ".join([*first, f"named {probe.key}"]), *map(_line, probe.items)]))
    return "\n\n".join(blocks)


def _line(item: Any) -> str:
    ends = f": {item.low} | {item.high}" if item.kind in (LIKERT, SLIDER) else ""
    answers = f": {' | '.join(item.options)}" if item.kind == CHOICE else ends
    points = f" {item.points}" if item.points else ""
    return f"{item.key} = {item.text} [{item.kind}{points}{answers}]"


def _probe(block: str, number: int) -> dict[str, Json]:
    first, *lines = [line.strip() for line in block.split("\n") if line.strip()]
    probe: dict[str, Json] = {"key": f"probe{number}", **_times(first)}
    if not any(name in probe for name in (STEP, EVERY_STEPS, EVERY_SECONDS, EVENT)):
        raise forms.ValidationError(
            f"“{first}”: begin with when it is asked: “every 10 steps, {USUAL_LIMIT_SECONDS} seconds”."
        )
    if not lines:
        raise forms.ValidationError(f"“{first}”: write a question on the next line.")
    return {**probe, "items": [_item(line, place) for place, line in enumerate(lines, start=1)]}


def _times(line: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for part in (each.strip() for each in line.split(",")):
        matches = ((name, pattern.fullmatch(part)) for name, pattern in _PATTERNS.items())
        name, match = next(((name, match) for name, match in matches if match), ("", None))
        if match is None:
            raise forms.ValidationError(f"“{part}” is no time, such as “after step 5” or “every 10 steps”.")
        found[name] = match[1] if name in (EVENT, "key") else int(match[1])
    return found


def _item(line: str, place: int) -> dict[str, Json]:
    found = bracketed_question(line)
    if found is None or found.kind not in ITEM_KINDS:
        raise forms.ValidationError(
            f"“{line}”: end the question with its answers, such as [likert {USUAL_POINTS}: no | yes]."
        )
    item: dict[str, Json] = {"key": found.key or f"q{place}", "kind": found.kind, "text": found.text}
    return {**item, **_answers(found)}


def _answers(found: BracketedQuestion) -> Mapping[str, Json]:
    if found.kind == TEXT:
        return {}
    if found.kind == CHOICE:
        return {"options": [*found.words]}
    if len(found.words) != 2:
        raise forms.ValidationError("Write the words of both ends with | between them: [slider: low | high].")
    scale = {"points": found.points or USUAL_POINTS} if found.kind == LIKERT else {}
    return {**scale, "low": found.words[0], "high": found.words[1]}
