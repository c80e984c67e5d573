"""Write skills and their outcomes as text for a language model, and read skills from its replies.

A skill is an action of several steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.agent_skills import (
    FREELY,
    MAX_WAIT_STEPS,
    ONCE,
    WAIT,
    PlayStyle,
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    spell_skill,
    wait_skill,
)

_NEXT_SCENE = re.compile(r"^\W{0,4}scene\b", re.IGNORECASE | re.MULTILINE)
_PLAN = re.compile(r"\W{0,4}plan\W{0,4}:", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z0-9]+")
_WAITS = frozenset(("wait", "waits", "waiting"))
MAX_LINE_CHARACTERS = 400
"""Number of characters after a label in which a skill is searched for."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The plan and the predictions that were read from a reply. `plan` is None if no skill could be read."""

    plan: Skill | None
    foreseen: Mapping[int, Skill] = field(default_factory=dict)
    """Predictions by seat."""


def read_plan(text: str, skills: Skills, sight: SeatObservation) -> ReadPlan:
    """Read a plan from a model's reply: the skill for the agent's own seat, and predictions for other seats.

    Each follows a label such as `Plan for Player 0:`. If a seat has several labels, the last one with a
    readable skill counts. Text after an invented next scene is ignored.
    """
    said = before_next_scene(text)
    found = labelled_skills(said, skills, sight)
    plan = found.pop(sight.seat, None) or _alone(said, skills, sight)
    return ReadPlan(plan, {seat: skill for seat, skill in found.items() if skill})


def _alone(text: str, skills: Skills, sight: SeatObservation) -> Skill | None:
    """Return the agent's own plan from an answer without a label: the only line, or an unlabelled line.
    Return None if no skill can be read."""
    lines = [line for line in text.splitlines() if line.strip()]
    plans = [line.partition(":")[2] for line in lines if _PLAN.match(line)]
    return first_skill(plans[-1] if plans else lines[0], skills, sight) if len(lines) == 1 or plans else None


NO_WORDS = "(no words)"
"""Replaces an empty answer in the dialogue: providers refuse empty messages."""


def before_next_scene(text: str) -> str:
    """Return the reply up to the place where the model begins to invent the next scene. If it invents none,
    return the whole reply."""
    match = _NEXT_SCENE.search(text, 1) if text else None
    return text[: match.start()] if match else text


def labelled_skills(text: str, skills: Skills, sight: SeatObservation) -> dict[int, Skill | None]:
    """Return the skill that a text gives each seat. A seat is included if its name occurs as a label, such as
    `Player 0:`. The value is None if no skill could be read.

    If a seat has several labels, the last one with a readable skill counts.
    """
    seats = {_plain(skills.named(seat)): seat for seat in skills.seats(sight)}
    names = "|".join(
        r"[\W_]{0,3}".join(re.findall(r"[A-Za-z]+|\d+", skills.named(s))) for s in seats.values()
    )
    labels = list(re.finditer(rf"(?i)\b({names})\b[\s\"'*_`\])}}>]{{0,6}}:", text))
    ends = [*(label.start() for label in labels[1:]), len(text)]
    found: dict[int, Skill | None] = {}
    for label, end in zip(labels, ends, strict=False):
        after = text[label.end() : min(end, label.end() + MAX_LINE_CHARACTERS)]
        seat = seats[_plain(label[1])]
        found[seat] = first_skill(after, skills, sight) or found.get(seat)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def first_skill(text: str, skills: Skills, sight: SeatObservation) -> Skill | None:
    """Return the first skill that a text names; None if it names none."""
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
    return wait_skill(min(max(number, 1), MAX_WAIT_STEPS))


def wait_steps(skill: Skill) -> int:
    """Return the number of steps of a wait; 0 for any other skill."""
    return int(skill[1]) if skill[0] == WAIT else 0


def titled_parts(parts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return the parts as one text, each below its title; parts without lines are left out."""
    return "\n\n".join(f"# {title}\n" + "\n".join(lines) for title, lines in parts if lines)


def skill_lines(skills: Iterable[tuple[Skill, str]], manner: PlayStyle) -> Iterator[str]:
    """Yield prompt lines that list all skills with their meanings. `manner` decides whether waiting is
    listed."""
    yield "A skill lasts until it is done; you are asked for the next one then. These are all that there are:"
    for skill, meaning in skills:
        yield f"- {spell_skill(skill)}: {meaning}"
    if manner.waits == FREELY:
        yield "- wait(n): do nothing for n steps, from 1 to 20; always possible."
    elif manner.waits == ONCE:
        yield f"- {spell_skill(wait_skill())}: do nothing for one step; always possible."


def refusal_sentence(name: str, skill: Skill, failed: Sequence[SkillCondition]) -> str:
    """Return a sentence that tells the model why this seat (`name`) cannot begin the skill now. It names the
    first condition that does not hold."""
    return f"{name} cannot do {spell_skill(skill)} now: {failed[0].why_not}"


def success_sentence(name: str, skill: str) -> str:
    """Return a sentence that tells the model that this seat (`name`) has completed the skill."""
    return f"{name} succeeded at {skill}."


def plan_line(name: str, skill: Skill) -> str:
    """Return the line of an answer that states the plan: `Plan for Player 0: …`."""
    return f"Plan for {name}: {spell_skill(skill)}"
