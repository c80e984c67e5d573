"""Write the language-model prompts of the agent ProAgent.

They are the system message, the state of the world, and two follow-ups to a plan that failed. The first
follow-up asks why the plan failed, the second asks for a new plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.agents.proagent.settings import ANALYSIS, INTENTION, ProAgentOptions
from kitchen.agents.skill_agents.skill_text import plan_line, skill_lines, titled_parts
from kitchen.contract.agent_skills import (
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    WorkedExample,
    spell_skill,
)

EXPLAINER_TEXT = (
    "Somebody plays a cooperative game by planning skills, and one of them could not be done. You look at "
    "what it needs, go through that one by one, and say in two sentences at most what is not so."
)
REPLAN_TEXT = "With the scene in mind and why the last plan failed, analyse and plan again."


def fixed_part(skills: Skills, sight: SeatObservation, options: ProAgentOptions) -> str:
    """Return the part of the prompt that is the same at every step of an episode. A provider can cache it."""
    manner = options.manner(skills.manner(sight))
    primer = skills.primer(sight, manner)
    examples = primer.examples[: options.examples]
    return titled_parts(
        [
            ("Your part", [primer.role]),
            ("Rules", primer.rules if options.rules else ()),
            ("How things are made", primer.making if options.making else ()),
            ("Skills", list(skill_lines(primer.skills, manner))),
            ("Here", [f"- {line}" for line in primer.remarks] if options.remarks else ()),
            ("Your answer", list(_form(skills, sight, options))),
            ("Examples", [line for one in examples for line in _example(one, skills, sight, options)]),
        ]
    )


def _form(skills: Skills, sight: SeatObservation, options: ProAgentOptions) -> Iterator[str]:
    me = skills.named(sight.seat)
    yield f"Plan exactly one skill for {me}. Answer in this form, with nothing after it:"
    if options.level in (ANALYSIS, INTENTION):
        yield "Analysis: what matters in this scene, in at most three sentences."
    if options.level == INTENTION:
        for other in other_seats(skills, sight):
            yield f"Intention of {skills.named(other)}: the one skill that it will finish next."
    yield f"Plan for {me}: the one skill."


def other_seats(skills: Skills, sight: SeatObservation) -> list[int]:
    """Return the numbers of all seats except the observing one."""
    return [seat for seat in skills.seats(sight) if seat != sight.seat]


def _example(
    one: WorkedExample, skills: Skills, sight: SeatObservation, options: ProAgentOptions
) -> Iterator[str]:
    yield one.scene
    yield from answer_text(
        skills, sight, options.level, one.analysis, {other_seats(skills, sight)[0]: one.foresees}, one.plan
    )
    yield ""


def answer_text(
    skills: Skills, sight: SeatObservation, level: str, analysis: str, foreseen: dict[int, Skill], plan: Skill
) -> Iterator[str]:
    """Yield the lines of an answer in the form that the prompt requests. `level` says whether the answer
    includes the analysis and the predictions (`foreseen`)."""
    if level in (ANALYSIS, INTENTION):
        yield f"Analysis: {analysis}"
    if level == INTENTION:
        for seat, skill in foreseen.items():
            yield f"Intention of {skills.named(seat)}: {spell_skill(skill)}"
    yield plan_line(skills.named(sight.seat), plan)


def scene_part(scene: str, step: int, beliefs: Sequence[str], again: str = "") -> str:
    """Return the prompt's question for a step, counted from 1. `beliefs` are lines about earlier predictions.
    `again` explains why the last plan failed; empty for the first try."""
    lines = [f"Scene {step}", scene, *beliefs]
    return "\n".join([*([again, ""] if again else []), *lines, *(["", REPLAN_TEXT] if again else [])])


def explaining_part(
    scene: str, step: int, name: str, skill: Skill, conditions: Sequence[SkillCondition]
) -> str:
    """Return a question that asks the model why this skill failed. It lists the conditions of the skill."""
    claims = [f"- assert {one.claim}" for one in conditions]
    return "\n".join(
        [
            f"Scene {step}",
            scene,
            f"{name} failed at {spell_skill(skill)}. That needs:",
            *claims,
            "Why did it fail?",
        ]
    )


def failure_line(name: str, skill: Skill) -> str:
    """Return a sentence that tells the model that the skill of this seat (`name`) failed, without a
    reason."""
    return f"{name} failed at {spell_skill(skill)}."


def read_skill_line(name: str, skill: Skill) -> str:
    """Return the line that the dialogue stores in place of a model's answer. It states the plan that was
    found in the answer."""
    return f"The plan for {name} is {spell_skill(skill)}."
