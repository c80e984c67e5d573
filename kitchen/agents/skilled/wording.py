"""How skills are written for a language model, and read from what it writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.skills import MOST_WAITING, WAIT, Sight, Skill, Skills, wait

_NEXT_SCENE = re.compile(r"^\W{0,4}scene\b", re.IGNORECASE | re.MULTILINE)
_PLAN = re.compile(r"\W{0,4}plan\W{0,4}:", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z0-9]+")
_WAITS = frozenset(("wait", "waits", "waiting"))
LONGEST = 400
"""Characters after a label in which a skill is looked for."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of an answer. `plan` is None where nothing could be."""

    plan: Skill | None
    foreseen: Mapping[int, Skill] = field(default_factory=dict)
    """By seat."""


def read(text: str, skills: Skills, sight: Sight) -> Read:
    """The plan for one's own seat and what the others are said to do next: after the last label of each, the
    first skill. What the model goes on with, another scene, is cut off."""
    said = before_next_scene(text)
    found = labelled(said, skills, sight)
    plan = found.pop(sight.seat, None) or _alone(said, skills, sight)
    return Read(plan, {seat: skill for seat, skill in found.items() if skill})


def _alone(text: str, skills: Skills, sight: Sight) -> Skill | None:
    """The plan of an answer that is one line, or has a line of its own for it, without a name."""
    lines = [line for line in text.splitlines() if line.strip()]
    plans = [line.partition(":")[2] for line in lines if _PLAN.match(line)]
    return first_skill(plans[-1] if plans else lines[0], skills, sight) if len(lines) == 1 or plans else None


def before_next_scene(text: str) -> str:
    """What a model wrote until it went on with another scene."""
    match = _NEXT_SCENE.search(text, 1) if text else None
    return text[: match.start()] if match else text


def labelled(text: str, skills: Skills, sight: Sight) -> dict[int, Skill | None]:
    """For each seat that has a label the skill of the last that has one."""
    seats = {_plain(skills.named(seat)): seat for seat in skills.seats(sight)}
    names = "|".join(
        r"[\W_]{0,3}".join(re.findall(r"[A-Za-z]+|\d+", skills.named(s))) for s in seats.values()
    )
    labels = list(re.finditer(rf"(?i)\b({names})\b[\s\"'*_`\])}}>]{{0,6}}:", text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    found: dict[int, Skill | None] = {}
    for label, end in zip(labels, ends, strict=False):
        after = text[label.end() : min(end, label.end() + LONGEST)]
        seat = seats[_plain(label[1])]
        found[seat] = first_skill(after, skills, sight) or found.get(seat)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def first_skill(text: str, skills: Skills, sight: Sight) -> Skill | None:
    """The first skill that some words name."""
    words = _WORDS.findall(text)
    for place, word in enumerate(words):
        if word.lower() in _WAITS:
            return _waiting(words[place + 1 :])
        meant = skills.meant(words[place:], sight)
        if meant is not None:
            return meant
    return None


def _waiting(words: Sequence[str]) -> Skill:
    number = next((int(word) for word in words[:2] if word.isdecimal()), 1)
    return wait(min(max(number, 1), MOST_WAITING))


def waits(skill: Skill) -> int:
    """Steps of a wait; 0 for any other skill."""
    return int(skill[1]) if skill[0] == WAIT else 0
