"""The parts of a study beside the rounds: what each kind is called, says and may be set to. Plain Python.

The order is that of a participant's way; the rounds (an episode and its survey in each condition) come
between `check` and `final`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kitchen.contract.world import Json, WorldError
from kitchen.registry.names import UnknownNameError
from study.design.plan import condition_check
from study.design.practice import PLAYED, practice_played

Check = Callable[[Json], str]
"""Says what is wrong with a value; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class PartKind:
    """One kind of part. `settings` are its defaults, `checks` what their values must keep to, by name."""

    name: str
    words: str
    title: str
    """The usual heading of its page."""
    enabled: bool = False
    needs_text: bool = False
    settings: Mapping[str, Json] = field(default_factory=dict)
    checks: Mapping[str, Check] = field(default_factory=dict)


def _texts(value: Json) -> str:
    good = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return "" if good else "A list of texts is wanted."


def _attempts(value: Json) -> str:
    return "" if type(value) is int and 1 <= value <= 20 else "A whole number from 1 to 20 is wanted."


def _failure(value: Json) -> str:
    return "" if value in FAILURES else f"One of {', '.join(FAILURES)} is wanted."


def _kitchen(value: Json) -> str:
    if not isinstance(value, dict) or value.keys() - set(PLAYED):
        return f"A table with {', '.join(PLAYED)} is wanted."
    try:
        condition_check(**practice_played(value))
    except (WorldError, UnknownNameError, TypeError) as error:
        return str(error)
    return ""


def _truth(value: Json) -> str:
    return "" if isinstance(value, bool) else "true or false is wanted."


FAILURES = {"end": "end the study for this participant", "continue": "go on; the data say so"}
"""What may follow when the last attempt at the check of understanding has failed."""

PARTS: dict[str, PartKind] = {
    kind.name: kind
    for kind in (
        PartKind("welcome", "welcome, on the study's link", "", enabled=True),
        PartKind(
            "consent",
            "consent",
            "Before you take part",
            enabled=True,
            needs_text=True,
            settings={"statements": ["I have read this and I agree to take part."]},
            checks={"statements": _texts},
        ),
        PartKind("about", "questions about the person", "About you"),
        PartKind("guide", "guide", "How to play", enabled=True),
        PartKind(
            "practice",
            "practice episode",
            "Practice",
            settings={"kitchen": practice_played({}), "hints": True},
            checks={"kitchen": _kitchen, "hints": _truth},
        ),
        PartKind(
            "check",
            "check of understanding",
            "A few questions before you start",
            settings={"attempts": 2, "on_failure": "end"},
            checks={"attempts": _attempts, "on_failure": _failure},
        ),
        PartKind("final", "final comparison", "Looking back"),
        PartKind("debriefing", "debriefing", "What this study was about"),
        PartKind("end", "last page", "Thank you, that was the last part", enabled=True),
    )
}
ALWAYS_ON = frozenset({"welcome", "end"})
"""Parts that cannot be switched off: somewhere a study begins and ends."""


def part_problems(kind: str, text: str, enabled: bool, settings: Mapping[str, Json]) -> dict[str, str]:
    """What is wrong with a part, by field; empty if nothing is."""
    part, problems = PARTS[kind], {}
    if not enabled and kind in ALWAYS_ON:
        problems["enabled"] = "This part cannot be switched off."
    if enabled and part.needs_text and not text.strip():
        problems["text"] = "Write what participants agree to."
    if wrong := settings_problem(part, settings):
        problems["settings"] = wrong
    return problems


def settings_problem(part: PartKind, settings: Json) -> str:
    """What is wrong with these settings; empty if nothing is."""
    if not isinstance(settings, dict):
        return "A table is wanted."
    for name, value in settings.items():
        if name not in part.checks:
            return f"{name}: no such setting; there are {', '.join(part.checks) or 'none'}."
        if wrong := part.checks[name](value):
            return f"{name}: {wrong}"
    return ""
