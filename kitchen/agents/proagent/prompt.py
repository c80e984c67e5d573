"""What the model is asked, in our own words: the fixed part, a scene, an explanation, and planning again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.agents.proagent.options import ANALYSIS, INTENTION, Options
from kitchen.agents.skilled.telling import parts_told, plan_line, skills_told
from kitchen.contract.skills import (
    Condition,
    Example,
    Manner,
    Primer,
    Sight,
    Skill,
    Skills,
    spelled,
)

EXPLAINER = (
    "Somebody plays a cooperative game by planning skills, and one of them could not be done. You look at "
    "what it needs, go through that one by one, and say in two sentences at most what is not so."
)
AGAIN = "With the scene in mind and why the last plan failed, analyse and plan again."


def fixed_part(skills: Skills, sight: Sight, options: Options) -> str:
    """The same at every step of an episode, so that a provider can cache it."""
    manner = options.manner(skills.manner(sight))
    primer = skills.primer(sight, manner)
    parts = _parts(primer, skills, sight, manner, options)
    return parts_told(parts)


def _parts(
    primer: Primer, skills: Skills, sight: Sight, manner: Manner, options: Options
) -> Iterator[tuple[str, Sequence[str]]]:
    yield "Your part", [primer.role]
    yield "Rules", primer.rules if options.rules else ()
    yield "How things are made", primer.making if options.making else ()
    yield "Skills", list(skills_told(primer.skills, manner))
    yield "Here", [f"- {line}" for line in primer.remarks] if options.remarks else ()
    yield "Your answer", list(_form(skills, sight, options))
    shown = primer.examples[: options.examples]
    yield "Examples", [line for one in shown for line in _example(one, skills, sight, options)]


def _form(skills: Skills, sight: Sight, options: Options) -> Iterator[str]:
    me = skills.named(sight.seat)
    yield f"Plan exactly one skill for {me}. Answer in this form, with nothing after it:"
    if options.level in (ANALYSIS, INTENTION):
        yield "Analysis: what matters in this scene, in at most three sentences."
    if options.level == INTENTION:
        for other in others(skills, sight):
            yield f"Intention of {skills.named(other)}: the one skill that it will finish next."
    yield f"Plan for {me}: the one skill."


def others(skills: Skills, sight: Sight) -> list[int]:
    """Everybody else's seat."""
    return [seat for seat in skills.seats(sight) if seat != sight.seat]


def _example(one: Example, skills: Skills, sight: Sight, options: Options) -> Iterator[str]:
    yield one.scene
    yield from answer(
        skills, sight, options.level, one.analysis, {others(skills, sight)[0]: one.foresees}, one.plan
    )
    yield ""


def answer(
    skills: Skills, sight: Sight, level: str, analysis: str, foreseen: dict[int, Skill], plan: Skill
) -> Iterator[str]:
    """The lines of an answer in the form that is asked for."""
    if level in (ANALYSIS, INTENTION):
        yield f"Analysis: {analysis}"
    if level == INTENTION:
        for seat, skill in foreseen.items():
            yield f"Intention of {skills.named(seat)}: {spelled(skill)}"
    yield plan_line(skills.named(sight.seat), plan)


def scene_part(scene: str, step: int, beliefs: Sequence[str], again: str = "") -> str:
    """The question of a step (from 1); `again` is why the last plan failed."""
    lines = [f"Scene {step}", scene, *beliefs]
    return "\n".join([*([again, ""] if again else []), *lines, *(["", AGAIN] if again else [])])


def explaining_part(scene: str, step: int, name: str, skill: Skill, conditions: Sequence[Condition]) -> str:
    """The question to the explainer."""
    claims = [f"- assert {one.claim}" for one in conditions]
    return "\n".join(
        [
            f"Scene {step}",
            scene,
            f"{name} failed at {spelled(skill)}. That needs:",
            *claims,
            "Why did it fail?",
        ]
    )


def only_failed(name: str, skill: Skill) -> str:
    """Without any reason."""
    return f"{name} failed at {spelled(skill)}."


def read_as(name: str, skill: Skill) -> str:
    """For the dialogue: what was read of an answer."""
    return f"The plan for {name} is {spelled(skill)}."
